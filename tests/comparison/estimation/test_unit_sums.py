"""The two-way variance of units that many items share, by hand, by exact algebra and vote by vote."""

import numpy as np
import pytest
from scipy import stats

from probtruth.comparison.estimation.design import Design
from probtruth.comparison.estimation.unit_sums import UnitSums, UnitTotals, squares_apart

ROUNDING = 1e-9


def sums(tables, groups=None, clusters=None):
    """The sums of tables of losses (item x unit, NaN where a unit is not on an item), one for each model."""
    tables = np.asarray(tables if np.ndim(tables) == 3 else [tables], np.float64)
    item, unit = np.nonzero(~np.isnan(tables).any(0))
    plan = Design.of(np.zeros(tables.shape[1], int) if groups is None else groups, clusters)
    names = [f"u{at:03d}" for at in range(tables.shape[2])]
    return UnitSums.of(names, item, unit, tables[:, item, unit], plan)


def excess(table, clusters=None):
    return sums(table, clusters=clusters).units(np.ones(1)).excess(np.array([0]), np.array([-1]))


def told(seen):
    """What a design (item x unit) tells, whatever the losses."""
    return sums(np.where(seen, 0.0, np.nan)).spread(np.ones(1))


# reference


def test_a_complete_table_gives_the_components_of_the_two_way_layout():
    table = np.random.default_rng(0).normal(size=(12, 4)) + np.array([0.0, 0.5, 1.0, -0.4])
    n, m = table.shape
    unit, item = table.mean(0), table.mean(1)
    error = ((table - unit - item[:, None] + table.mean()) ** 2).sum() / ((n - 1) * (m - 1))
    of_unit = n * ((unit - table.mean()) ** 2).sum() / (m - 1)
    found = excess(table)
    # a component of variance, by hand: (MS_unit - MS_error)/N, divided by the number of units
    assert found.raw - found.chance == pytest.approx((of_unit - error) / (n * m), rel=ROUNDING)
    assert found.df == pytest.approx(m - 1, rel=ROUNDING)
    noisy = n / (n - 1)  # noise in the units' part over that of answers in the items'
    known = 1 / (1 + 1 / (n - 1) / np.sqrt(m - 1)) / (1 + ((noisy - 1) / 10) ** 2)
    assert found.counted == pytest.approx(known, rel=ROUNDING)


def test_items_that_only_one_unit_has_say_nothing_of_the_others():
    """Their spread was counted as chance: a person with most of the items alone, and a second one, never differed."""
    rng = np.random.default_rng(4)
    table = rng.normal(size=(300, 2)) + np.array([0.0, 1.0])
    only = table.copy()
    only[60:, 1] = np.nan
    both = excess(table[:60])
    found = excess(only)
    weight = np.array([270.0, 30.0]) / 300
    assert found.raw / (weight**2).sum() == pytest.approx(2 * both.raw, rel=0.01)
    assert found.extra / (weight**2).sum() == pytest.approx(2 * both.extra, rel=0.01)


@pytest.mark.parametrize("own", [False, True])
def test_what_groups_have_in_common(own):
    """Four groups of ten items and two units: the same two in all, or two of their own in each, by hand.

    The mean over groups has 1/2 of a unit's variance, as every group has; or 1/8, of which a group has four times.
    """
    group = np.repeat(np.arange(4), 10)
    seen = np.ones((40, 2), bool)
    if own:
        seen = np.repeat(np.eye(4, dtype=bool), 2, axis=1)[group]
    losses = np.where(seen, np.random.default_rng(0).normal(size=seen.shape), np.nan)
    spread = sums(losses, groups=group).spread(np.full(4, 1 / 4))
    assert spread.in_groups.common == pytest.approx(0.0 if own else 1.0, abs=ROUNDING)
    assert spread.in_groups.own == pytest.approx(np.full(4, 4.0 if own else 0.0), abs=ROUNDING)


def test_common_and_own_parts_add_up_to_the_variance_of_the_mean_over_groups():
    rng = np.random.default_rng(1)
    group = np.sort(rng.integers(3, size=60))
    losses = np.where(rng.random((60, 7)) < 0.3, 0.0, np.nan)
    losses[:, 0] = 0.0
    weights = np.array([0.5, 0.3, 0.2])
    found = sums(losses, groups=group).spread(weights).in_groups
    assert 0 < found.common < 1
    # a group has at least what is common
    assert found.common + found.own @ weights**2 == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(("n_items", "units", "share"), [(400, 8, 0.03), (300, 8, 0.4), (1000, 60, 0.1), (400, 2, 0.3)])
def test_the_part_of_sparse_units_and_that_of_items_are_the_whole_variance(n_items, units, share):
    """Units of variance 1, items and what is left of variance 1 each; most items have one unit in the first case."""
    rng, found, wanted = np.random.default_rng(1), [], []
    for _ in range(300):
        seen = rng.random((n_items, units)) < share
        seen = seen[seen.any(1)]
        n, count = len(seen), seen.sum(1)
        losses = rng.normal(size=(n, 1)) + rng.normal(size=units) + rng.normal(size=seen.shape)
        part = excess(np.where(seen, losses, np.nan))
        item = np.where(seen, losses, 0.0).sum(1) / count
        found.append(part.raw - part.chance + item.var(ddof=1) / n)
        weight = (seen / count[:, None]).mean(0)
        wanted.append(weight @ weight + 1 / n + (1 / count).sum() / n**2)
    assert np.mean(found) == pytest.approx(np.mean(wanted), abs=4 * np.std(found) / 300**0.5)


@pytest.mark.parametrize(
    "layout", ["apart", "two clusters each", "all see all", "anyone"], ids=lambda layout: layout.replace(" ", "-")
)
@pytest.mark.parametrize("votes", [1, 3, "either"])
def test_units_within_clusters_count_once(layout, votes):
    """Units, clusters, items and what is left of variance 1 each: the two parts are the variance of the mean.

    What units have in common over a cluster was counted in both: intervals of units with a cluster each were 1.4 times
    as wide as they need be, those of two clusters each 1.7 times.
    """
    rng, found, wanted = np.random.default_rng(1), [], []
    clusters = np.repeat(np.arange(20), 6)
    n_units = {"apart": 60, "two clusters each": 30, "all see all": 6, "anyone": 9}[layout]
    for _ in range(400):
        seen = np.zeros((120, n_units), bool)
        for item, cluster in enumerate(clusters):
            there = np.arange(n_units)
            if layout == "apart":
                there = cluster * 3 + np.arange(3)
            elif layout == "two clusters each":
                there = cluster // 2 * 3 + np.arange(3)
            several = votes == 3 or (votes == "either" and rng.random() < 0.5)
            seen[item, rng.permutation(there)[: 3 if several else 1]] = True
        count = seen.sum(1)
        losses = rng.normal(size=(120, 1)) + rng.normal(size=20)[clusters, None] + rng.normal(size=n_units)
        losses = losses + rng.normal(size=seen.shape)
        part = excess(np.where(seen, losses, np.nan), clusters)
        of_item = np.where(seen, losses, 0.0).sum(1) / count
        of_cluster = np.bincount(clusters, of_item) / 6
        found.append(part.raw - part.chance + of_cluster.var(ddof=1) / 20)
        weight = (seen / count[:, None]).mean(0)
        wanted.append(weight @ weight + 1 / 20 + 1 / 120 + (1 / count).sum() / 120**2)
    assert np.mean(found) == pytest.approx(np.mean(wanted), abs=4 * np.std(found) / 400**0.5)


def test_clusters_of_one_item_are_items():
    rng = np.random.default_rng(8)
    table = np.where(rng.random((40, 7)) < 0.3, rng.normal(size=(40, 7)), np.nan)
    table[:, 0] = rng.normal(size=40)
    one = excess(table)
    other = excess(table, np.arange(40))
    for name in ("raw", "chance", "df", "counted", "skewness"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=ROUNDING), name


def exact_freedom(seen):
    """Satterthwaite's degrees of freedom of the sum of the squared totals, from every pair of units."""
    seen = seen[seen.any(1)]
    count = seen.sum(1)
    shared = seen[count > 1] / count[count > 1][:, None]
    alone = seen[count == 1].sum(0)
    moves = np.diag(shared.sum(0)) - shared.T @ shared  # how every unit's bias moves every unit's total
    if alone.any():
        moves += np.diag(alone) - np.outer(alone, alone) / alone.sum()
    square = moves @ moves.T
    return np.trace(square) ** 2 / np.trace(square @ square)


def dominated(n_students, items, together):
    """One person on 200 items, students on some: on all of these together, or on one each."""
    seen = np.zeros((200, n_students + 1), bool)
    seen[:, 0] = True
    if together:
        seen[:items, 1:] = True
    else:
        seen[np.arange(items), 1 + np.arange(items) % n_students] = True
    return seen


@pytest.mark.parametrize(
    ("seen", "tolerance"),
    [
        (np.ones((30, 6), bool), ROUNDING),
        (np.ones((30, 2), bool), ROUNDING),
        (dominated(1, 40, True), ROUNDING),
        (dominated(10, 40, True), 0.01),
        (dominated(40, 40, False), 0.05),
        (np.kron(np.eye(6), np.ones((10, 2))) > 0, ROUNDING),
        (np.kron(np.eye(4), np.ones((10, 3))) > 0, ROUNDING),
        (np.random.default_rng(0).random((300, 20)) < 0.1, 0.05),
        (np.random.default_rng(1).random((300, 8)) < 0.03, 0.05),
    ],
    ids=[
        "complete",
        "two",
        "a second one",
        "ten on the same items",
        "forty on one item each",
        "six pairs",
        "four teams of three",
        "tenths",
        "alone",
    ],
)
def test_freedom_is_that_of_every_pair_of_units(seen, tolerance):
    assert told(seen).df == pytest.approx(exact_freedom(seen.astype(float)), rel=tolerance)


def test_few_units_are_biased_to_one_side():
    table = np.array([0.0, 0.0, 0.1, 0.0, 3.0]) + np.zeros((30, 1))
    wanted = stats.skew(table[0], bias=False) / 5**0.5
    assert excess(table).skewness == pytest.approx(wanted, rel=ROUNDING)
    assert excess(table[:, :3]).skewness == 0  # three show none


# properties


def test_one_unit_or_one_item_adds_nothing():
    assert excess(np.ones((5, 1))).extra == 0
    assert excess(np.array([[1.0, 2.0, 4.0]])).extra == 0
    assert excess(np.where(np.eye(6) > 0, np.arange(6.0), np.nan)).extra == 0  # a unit of its own for each item


def test_of_one_unit_nothing_is_known_and_of_two_of_equal_weight_all():
    assert told(np.ones((50, 1), bool)).counted == 0
    assert told(np.ones((5000, 2), bool)).counted == pytest.approx(1, abs=0.02)
    few, some, many = (told(dominated(1, items, True)) for items in (2, 40, 150))
    assert 0 < few.counted < some.counted < many.counted < 1
    assert 1 < few.effective < some.effective < many.effective < 2
    assert told(dominated(10, 40, True)).counted > 0.8  # how ten students differ is known


def test_a_unit_without_votes_changes_nothing():
    table = np.random.default_rng(2).normal(size=(30, 5))
    wider = np.column_stack([table, np.full(30, np.nan)])
    one, other = excess(table), excess(wider)
    assert (one.raw, one.chance, one.df, one.counted) == (other.raw, other.chance, other.df, other.counted)


@pytest.mark.parametrize("size", [1e-3, 1e-5, 1e-9])
def test_models_that_hardly_differ_have_a_part_of_their_size(size):
    """Below 3e-4 of the scores, what chance gives was taken for 0: the part jumped 1.4-fold."""
    rng = np.random.default_rng(9)
    table = rng.normal(size=(50, 6)) + np.arange(6.0)
    apart = rng.normal(size=(50, 6)) + np.arange(6.0) / 4
    units = sums([table, table + size * apart, table])
    found = units.units(np.ones(1)).excess(np.array([1]), np.array([0]))
    wanted = excess(apart)
    assert found.chance / size**2 == pytest.approx(wanted.chance, rel=1e-5)
    assert found.extra / size**2 == pytest.approx(wanted.extra, rel=1e-5)
    assert units.units(np.ones(1)).excess(np.array([0]), np.array([2])).extra == 0


def test_parts_of_the_items_add_up():
    rng = np.random.default_rng(3)
    table = np.where(rng.random((2, 40, 7)) < 0.4, rng.normal(size=(2, 40, 7)), np.nan)
    table[:, :, 0] = rng.normal(size=(2, 40))
    table[1, np.isnan(table[0])] = np.nan
    table[0, np.isnan(table[1])] = np.nan
    whole, first, rest = sums(table), sums(table[:, :15]), sums(table[:, 15:])
    one, other = (each.units(np.ones(1)).excess(np.array([0]), np.array([1])) for each in (whole, first + rest))
    assert other.extra == pytest.approx(one.extra, rel=ROUNDING)
    assert other.df == pytest.approx(one.df, rel=ROUNDING)
    assert other.counted == pytest.approx(one.counted, rel=ROUNDING)


def apart(tables):
    """What the units add to the difference of two tables, which may lack other cells."""
    sets, noise = [], np.zeros((2, 2, np.size(tables[0])))
    for at, table in enumerate(tables):
        plan = Design.of(np.zeros(len(table), int))
        item, unit = np.nonzero(~np.isnan(table))
        found = sums(table)
        sets.append(found.units(np.ones(1)))
        cells = item * table.shape[1] + unit
        noise[at][:, cells] = found.noise(np.ones(1), item, table[None, item, unit], plan)[0]
    of_all = np.concatenate([one.totals for one in sets])
    joined = UnitTotals(of_all, squares_apart(noise.reshape(2, -1)), [one.spreads[0] for one in sets])
    return joined.excess(np.array([0]), np.array([1])), sets


def test_two_models_of_the_same_cells_are_paired_by_either_way():
    rng = np.random.default_rng(5)
    tables = np.where(rng.random((40, 7)) < 0.4, rng.normal(size=(2, 40, 7)), np.nan)
    found, _ = apart(tables)
    wanted = sums(tables).units(np.ones(1)).excess(np.array([0]), np.array([1]))
    for name in ("raw", "chance", "df", "counted", "skewness"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=ROUNDING), name


def test_two_models_of_different_units_are_those_of_welch():
    """Variances add up, and degrees of freedom by Satterthwaite's rule."""
    table = np.random.default_rng(6).normal(size=(2, 30, 9)) + np.arange(9.0)
    table[0, :, 4:] = table[1, :, :4] = np.nan
    found, sets = apart(table)
    one, two = (each.excess(np.array([0]), np.array([-1])) for each in sets)
    assert found.raw == pytest.approx(one.raw + two.raw, rel=ROUNDING)
    assert found.chance == pytest.approx(one.chance + two.chance, rel=ROUNDING)
    welch = (one.raw + two.raw) ** 2 / (one.raw**2 / 3 + two.raw**2 / 4)
    assert found.df == pytest.approx(welch, rel=ROUNDING)
