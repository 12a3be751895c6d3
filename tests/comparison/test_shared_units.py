"""Annotators, or seeds, that many items share: the two-way variance, and what it is worth."""

from dataclasses import replace

import numpy as np
import pytest
from made_scores import estimate_from, make, rows_by_name, without_annotators
from scipy import stats

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.comparison.design import Design
from probtruth.comparison.estimate import Part
from probtruth.comparison.shared_units import UnitSums
from probtruth.errors import InputError
from probtruth.types import Scores

ROUNDING = 1e-9


def sums(tables, groups=None):
    """The sums of tables of losses (item x unit, NaN where a unit is not on an item), one for each model."""
    tables = np.asarray(tables if np.ndim(tables) == 3 else [tables], np.float64)
    item, unit = np.nonzero(~np.isnan(tables).any(0))
    plan = Design.of(np.zeros(tables.shape[1], int) if groups is None else groups)
    names = [f"u{at:03d}" for at in range(tables.shape[2])]
    return UnitSums.of(names, item, unit, lambda cells: tables[:, item[cells], unit[cells]], plan)


def excess(table):
    return sums(table).excess(np.ones(1), np.array([0]), np.array([-1]))


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
    assert found.df == m - 1


@pytest.mark.parametrize(("n_items", "units", "share"), [(400, 8, 0.03), (300, 8, 0.4), (1000, 60, 0.1)])
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


# properties


def test_one_unit_or_one_item_adds_nothing():
    assert excess(np.ones((5, 1))).extra == 0
    assert excess(np.array([[1.0, 2.0, 4.0]])).extra == 0
    assert excess(np.where(np.eye(6) > 0, np.arange(6.0), np.nan)).extra == 0  # a unit of its own for each item


def test_units_that_stand_behind_unequal_shares_have_the_freedom_of_fewer():
    table = np.random.default_rng(6).normal(size=(40, 4))
    table[8:, 2] = np.nan
    table[4:, 3] = np.nan
    share = (~np.isnan(table) / (~np.isnan(table)).sum(1, keepdims=True)).mean(0)
    assert excess(table).df == pytest.approx(1 / (share**2).sum() - 1, rel=ROUNDING)


def test_few_units_are_biased_to_one_side():
    table = np.array([0.0, 0.0, 0.1, 0.0, 3.0]) + np.zeros((30, 1))
    wanted = stats.skew(table[0], bias=False) / 5**0.5
    assert excess(table).skewness == pytest.approx(wanted, rel=ROUNDING)
    assert excess(table[:, :3]).skewness == 0  # three show none


def test_models_that_hardly_differ_have_a_part_of_their_size():
    table = np.random.default_rng(9).normal(size=(50, 6)) + np.arange(6.0)
    units = sums([table, table + 1e-9 * table**2, table])
    assert 0 < units.excess(np.ones(1), np.array([0]), np.array([1])).extra < 1e-15
    assert units.excess(np.ones(1), np.array([0]), np.array([2])).extra == 0


@pytest.mark.parametrize(("units", "least"), [(2, 0.91), (3, 0.935)])
@pytest.mark.parametrize("spread", [0.5, 2.0, 6.0])
def test_coverage_with_two_or_three_units_whose_part_is_like_the_items(units, least, spread):
    """By Satterthwaite's rule, with squared shares, two covered 0.87 to 0.91 here and three 0.92 to 0.93."""
    rng, runs = np.random.default_rng(7), 4000
    mean = rng.normal(size=runs) * (1 + spread) ** 0.5  # many items: their part of the variance, 1, is known
    raw = spread * rng.chisquare(units - 1, runs) / (units - 1)
    df = freedom(np.ones(runs), 1e6, raw, units - 1.0)
    covered = np.abs(mean) <= stats.t(df).ppf(0.975) * (1 + raw) ** 0.5
    assert least < covered.mean() < 0.985


def freedom(variance, df, raw, unit_df):
    """The degrees of freedom of means whose variance has a part of items and one of units."""
    nothing = np.zeros(len(raw))
    of_items = estimate_from(nothing, variance, np.full(len(raw), df))
    of_units = Part(raw[:, None], nothing[:, None], np.full((len(raw), 1), unit_df))
    return replace(of_items, parts={**of_items.parts, "annotators": of_units}).total().df[:, 0]


def test_freedom_is_that_of_the_part_that_is_all():
    assert freedom(np.array([1.0, 0.0]), 50.0, np.array([0.0, 1.0]), 2.0) == pytest.approx([50, 2])


# annotators who are biased


def biased(rng, n_items, n_annotators, seen=1.0):
    """Annotators who say yes of an item 0.2 more, or less, often than half of the time; no true difference."""
    bias = rng.choice([-0.2, 0.2], n_annotators)
    votes = rng.random((n_items, n_annotators)) < 0.5 + bias
    item, annotator = np.nonzero(rng.random((n_items, n_annotators)) < seen)
    rows = {"item": item, "annotator": annotator, "label": votes[item, annotator].astype(int)}
    annotations = pt.Annotations.from_long({name: [str(one) for one in column] for name, column in rows.items()})
    yes = {"bold": 0.6, "shy": 0.4}
    rows = {name: np.tile([1 - p, p], (annotations.n_items, 1)) for name, p in yes.items()}
    index = annotations.index
    return annotations, pt.Predictions.from_probs(rows, items=index.items, labels=index.labels)


@pytest.mark.parametrize(("n_annotators", "seen"), [(31, 1.0), (20, 0.45), (60, 0.1)])
def test_the_bias_of_any_number_of_annotators_is_part_of_the_answer(n_annotators, seen):
    """Items alone covered 0.17 with 31 annotators, 0.30 with 20 on 45% of the items."""
    rng, covered = np.random.default_rng(3), []
    for _ in range(80):
        annotations, predictions = biased(rng, 200, n_annotators, seen)
        scores = pt.score(predictions, pt.infer_truth(annotations, method="vote-share"))
        row = compare(scores, annotations=annotations, engine="exact").pairs[0]
        covered.append(row["low"] <= 0 <= row["high"])
    assert np.mean(covered) > 0.88


def test_each_source_has_its_own_share_of_the_variance():
    """All items alike and 8 biased annotators: 99.6% was said to come from the choice of items."""
    result = pt.evaluate(*biased(np.random.default_rng(4), 500, 8), method="vote-share", engine="exact")
    shares = result.comparison.uncertainty
    assert shares["annotators"] > 0.9
    assert sum(shares.values()) == pytest.approx(1)


# the whole comparison


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(4)
    votes, (p, q) = leaning(rng, 200, 5)
    rows = {
        "item": np.repeat(np.arange(200), 5),
        "annotator": np.tile(list("abcde"), 200),
        "label": votes.astype(int).ravel(),
    }
    annotations = pt.Annotations.from_long(rows)
    items = annotations.index.items
    predictions = pt.Predictions.from_probs({name: np.stack([1 - one, one], 1) for name, one in (("p", p), ("q", q))})
    assert items == tuple(map(str, range(200)))
    return annotations, predictions


def leaning(rng, n_items, n_annotators):
    """Binary labels of annotators whose thresholds differ, and two forecasts."""
    logit = rng.normal(size=n_items)
    lean = 0.5 * rng.normal(size=n_annotators)
    votes = rng.random((n_items, n_annotators)) < 1 / (1 + np.exp(-(logit[:, None] + lean)))
    return votes, [1 / (1 + np.exp(-(logit * scale + shift))) for scale, shift in ((1.0, 0.3), (1.0, -0.3))]


def test_it_goes_with_groups_clusters_and_these_items(study):
    annotations, predictions = study
    scores = pt.score(predictions, pt.infer_truth(annotations, method="vote-share"))
    for options in (
        {"groups": np.arange(200) % 4, "weights": {"0": 0.1, "1": 0.2, "2": 0.3, "3": 0.4}},
        {"clusters": np.arange(200) // 4},
        {"population": "these-items"},
    ):
        plain, wide = (compare(one, engine="exact", **options).pairs[0] for one in (without_annotators(scores), scores))
        assert wide["high"] - wide["low"] > plain["high"] - plain["low"]
    groups = {"groups": np.arange(200) % 4, "engine": "exact"}
    one, other = (
        compare(scored, **groups).group_results["population of groups"][0]
        for scored in (without_annotators(scores), scores)
    )
    assert other["high"] - other["low"] > one["high"] - one["low"]


def test_annotations_that_do_not_fit_are_errors(study):
    annotations, predictions = study
    scores = pt.score(predictions, pt.infer_truth(annotations, method="vote-share"))
    counts = pt.Annotations.from_counts(annotations.counts())
    flipped = pt.Annotations(
        annotations.item, 1 - annotations.label, annotations.annotator, annotations.multiplicity, annotations.index
    )
    for given, message in ((counts, "counts"), (flipped, "other than those behind"), ("labels.csv", "type str")):
        with pytest.raises(InputError, match=message):
            compare(scores, annotations=given)
    with pytest.raises(InputError, match="not against vote shares"):
        compare(make(np.random.default_rng(0).normal(size=(2, 9))), annotations=annotations)


# seeds


def seeds(spread, own=0.1):
    rng = np.random.default_rng(5)
    rows = []
    for model, better in (("a", 0.0), ("b", 0.1)):
        for seed in range(5):
            lean = spread * rng.normal()
            for item in range(100):
                rows.append((item, model, seed, better + lean + own * rng.normal()))
    return dict(zip(("item", "model", "replicate", "score"), zip(*rows, strict=True), strict=True))


def test_training_seeds_are_part_of_the_answer_only_when_crossed():
    scores = Scores.from_frame(seeds(0.1), replicate="replicate", higher_is_better=False)
    plain, crossed = (compare(scores, replicates=kind, engine="exact") for kind in ("independent", "crossed"))
    table = scores.replicates.values
    by_seed = (table[0] - table[1]).mean(0)
    row, narrow = rows_by_name(crossed)[0]["a", "b"], rows_by_name(plain)[0]["a", "b"]
    # with so many items the seeds are all that counts: the t of five seeds' means, further out on the side of their
    # skewness (the inverse of Hall's transformation, 1992)
    t, g = stats.t(4).ppf([0.975, 0.025]), stats.skew(by_seed, bias=False) / 5**0.5
    hall = 3 / g * (np.cbrt(1 + g * (t - g / 6)) - 1)
    wanted = by_seed.mean() - stats.sem(by_seed) * np.where(t > 0, np.maximum(t, hall), np.minimum(t, hall))
    assert (row["low"], row["high"]) == pytest.approx(wanted, rel=0.05)
    assert row["high"] - row["low"] > 4 * (narrow["high"] - narrow["low"])
    asked_nothing = compare(scores, engine="exact")
    assert any("differ by more than chance" in said for said in asked_nothing.warnings)
    quiet = compare(Scores.from_frame(seeds(0.0), replicate="replicate", higher_is_better=False), engine="exact")
    assert not any("differ by more than chance" in said for said in quiet.warnings)


def test_models_with_other_seeds_are_not_paired():
    rows = seeds(0.1)
    kept = [place for place, (model, seed) in enumerate(zip(rows["model"], rows["replicate"], strict=True))
            if (model, seed) != ("b", 4)]  # fmt: skip
    rest = {name: [column[k] for k in kept] for name, column in rows.items()}
    fewer = Scores.from_frame(rest, replicate="replicate", higher_is_better=False)
    crossed = compare(fewer, replicates="crossed", engine="exact")
    table = fewer.replicates.values
    # the variances of both models' seeds add up, by hand
    by_model = [table[row][:, ~np.isnan(table[row]).all(0)] for row in (0, 1)]
    wanted = sum(one.mean(0).var(ddof=1) / one.shape[1] for one in by_model)
    t = crossed.model_free[0]["t"]
    assert (crossed.pairs[0]["difference"] / t) ** 2 == pytest.approx(wanted, rel=0.1)


def test_one_annotator_says_nothing_of_others():
    """The share of the annotators was 0, and the answer was said to be about new ones."""
    labels = np.random.default_rng(0).integers(0, 2, 40)
    votes = {"item": range(40), "annotator": ["known"] * 40, "label": labels.tolist()}
    probs = {name: np.stack([1 - p, p], 1) for name, p in (("a", 0.3 + 0.4 * labels), ("b", 0.5 - 0.1 * labels))}
    annotations = pt.Annotations.from_long(votes)
    scores = pt.score(probs, pt.infer_truth(annotations, "vote-share"))
    sums = pt.Moments.of(scores, annotations=annotations)
    for found in (pt.compare(scores, annotations=annotations, engine="exact"), pt.compare(sums, engine="exact")):
        assert "annotators" not in found.estimand
        assert found.uncertainty["annotators"] is None
        assert found.pairs[0]["low"] == pytest.approx(pt.compare(scores, engine="exact").pairs[0]["low"], rel=1e-9)
