"""Few annotators, or seeds, on every item: the two-way variance, and what it is worth."""

import numpy as np
import pytest
from made_scores import make, rows_by_name
from scipy import stats

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.comparison.evidence.crossed import excess, joined_df, replicate_cells, same_few
from probtruth.errors import InputError
from probtruth.types import Scores

ROUNDING = 1e-9


def equal(n_items):
    return np.full(n_items, 1 / n_items)


# reference


def test_a_complete_table_gives_the_components_of_the_two_way_layout():
    table = np.random.default_rng(0).normal(size=(12, 4)) + np.array([0.0, 0.5, 1.0, -0.4])
    n, m = table.shape
    unit, item = table.mean(0), table.mean(1)
    error = ((table - unit - item[:, None] + table.mean()) ** 2).sum() / ((n - 1) * (m - 1))
    of_unit = n * ((unit - table.mean()) ** 2).sum() / (m - 1)
    found = excess(table, equal(n))
    # a component of variance, by hand: (MS_unit - MS_error)/N, divided by the number of units
    assert found.extra == pytest.approx((of_unit - error) / (n * m), rel=ROUNDING)
    assert found.df == m - 1


@pytest.mark.parametrize("n_items", [4, 60])
def test_missing_cells_leave_the_component_unbiased(n_items):
    """`raw - chance` is a quadratic form: its expectation is the sum of what each independent part alone gives."""
    seen = np.random.default_rng(1).random((n_items, 6)) < 0.6
    seen[:, 0] |= ~seen.any(1)

    def part(table):
        one = excess(np.where(seen, table, np.nan), equal(n_items))
        return one.raw - one.chance

    # units of variance 1, each with its weight in the mean of the items' means
    wanted = ((seen / seen.sum(1, keepdims=True)).mean(0) ** 2).sum()
    assert sum(part(row) for row in np.eye(6)) == pytest.approx(wanted, rel=ROUNDING)
    cells = np.eye(seen.size).reshape(-1, *seen.shape)[seen.ravel()]
    assert sum(map(part, cells)) == pytest.approx(0, abs=ROUNDING)


# properties


def test_neither_the_order_nor_a_shift_of_items_matters():
    rng = np.random.default_rng(2)
    table, weights = rng.normal(size=(20, 5)), rng.dirichlet(np.ones(20))
    found = excess(table, weights)
    rows, columns = rng.permutation(20), rng.permutation(5)
    assert excess(table[rows][:, columns], weights[rows]).raw == pytest.approx(found.raw, rel=ROUNDING)
    assert excess(table + rng.normal(size=(20, 1)), weights).raw == pytest.approx(found.raw, rel=ROUNDING)


def test_one_unit_or_one_item_adds_nothing():
    assert excess(np.ones((5, 1)), equal(5)).extra == 0
    assert excess(np.array([[1.0, 2.0, 4.0]]), equal(1)).extra == 0


def test_units_that_stand_behind_unequal_shares_have_the_freedom_of_fewer():
    table = np.random.default_rng(6).normal(size=(40, 4))
    table[8:, 2] = np.nan
    table[4:, 3] = np.nan
    share = (~np.isnan(table) / (~np.isnan(table)).sum(1, keepdims=True)).mean(0)
    assert excess(table, equal(40)).df == pytest.approx(1 / (share**2).sum() - 1, rel=ROUNDING)


def test_few_units_lean_to_one_side():
    table = np.array([0.0, 0.0, 0.1, 0.0, 3.0]) + np.zeros((30, 1))
    # scipy.stats.skew(..., bias=False) of the five, over root 5, drawn half way to 0
    wanted = stats.skew(table[0], bias=False) / 5**0.5 / 2
    assert excess(table, equal(30)).skewness == pytest.approx(wanted, rel=ROUNDING)
    assert excess(table[:, :3], equal(30)).skewness == 0  # three show none


@pytest.mark.parametrize(("units", "least"), [(2, 0.91), (3, 0.935)])
@pytest.mark.parametrize("spread", [0.5, 2.0, 6.0])
def test_coverage_with_two_or_three_units_whose_part_is_like_the_items(units, least, spread):
    """By Satterthwaite's rule, with squared shares, two covered 0.87 to 0.91 here and three 0.92 to 0.93."""
    rng, runs = np.random.default_rng(7), 4000
    mean = rng.normal(size=runs) * (1 + spread) ** 0.5  # many items: their part of the variance, 1, is known
    raw = spread * rng.chisquare(units - 1, runs) / (units - 1)
    df = joined_df(np.ones(runs), np.full(runs, 1e6), raw, units - 1.0)
    covered = np.abs(mean) <= stats.t(df).ppf(0.975) * (1 + raw) ** 0.5
    assert least < covered.mean() < 0.985


def test_freedom_is_that_of_the_part_that_is_all():
    assert joined_df(np.array(1.0), np.array(50.0), np.array(0.0), 2.0) == pytest.approx(50)
    assert joined_df(np.array(0.0), np.array(50.0), np.array(1.0), 2.0) == pytest.approx(2)


# the short study: annotators who lean, 5 on all of 1,000 items


def leaning(rng, n_items, n_annotators):
    """Binary labels of annotators whose thresholds differ, and two forecasts."""
    logit = rng.normal(size=n_items)
    lean = 0.5 * rng.normal(size=n_annotators)
    votes = rng.random((n_items, n_annotators)) < 1 / (1 + np.exp(-(logit[:, None] + lean)))
    return votes, [1 / (1 + np.exp(-(logit * scale + shift))) for scale, shift in ((1.0, 0.3), (1.0, -0.3))]


def test_coverage_with_five_annotators_who_lean():
    rng = np.random.default_rng(3)
    n_items, n_annotators, replications = 1000, 5, 300
    truth = 0.0  # the forecasts lean as far to one side as to the other
    plain, two_way = 0, 0
    for _ in range(replications):
        votes, (p, q) = leaning(rng, n_items, n_annotators)
        loss = np.where(votes, np.log(q / p)[:, None], np.log((1 - q) / (1 - p))[:, None])
        item = loss.mean(1)
        variance, one = item.var(ddof=1) / n_items, excess(loss, equal(n_items))
        df = (variance + one.extra) ** 2 / (variance**2 / (n_items - 1) + one.raw**2 / one.df)
        plain += abs(item.mean() - truth) <= stats.t(n_items - 1).ppf(0.975) * variance**0.5
        two_way += abs(item.mean() - truth) <= stats.t(df).ppf(0.975) * (variance + one.extra) ** 0.5
    assert plain / replications < 0.6  # the items' spread knows nothing of the leanings
    assert two_way / replications > 0.93


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


def test_evaluate_sees_the_same_few_annotators_and_says_so(study):
    annotations, predictions = study
    assert same_few(annotations)
    result = pt.evaluate(annotations, predictions, method="vote-share", engine="exact")
    assert any("the same annotators stand behind many items" in said for said in result.warnings)
    assert "new annotators like these" in result.comparison.estimand
    plain = compare(result.scores, engine="exact").pairs[0]
    wide = result.comparison.pairs[0]
    assert wide["difference"] == plain["difference"]
    assert wide["high"] - wide["low"] > 1.5 * (plain["high"] - plain["low"])


def test_the_same_few_have_each_seen_at_least_half_of_the_items():
    def crowd(seen_by_b):
        items = [*range(8), *range(seen_by_b)]
        rows = {"item": items, "annotator": ["a"] * 8 + ["b"] * seen_by_b, "label": ["x", "y"] * 4 + ["x"] * seen_by_b}
        return pt.Annotations.from_long(rows)

    assert same_few(crowd(8))
    assert same_few(crowd(4))
    assert not same_few(crowd(3))


def test_it_goes_with_groups_clusters_and_these_items(study):
    annotations, predictions = study
    scores = pt.score(predictions, pt.infer_truth(annotations, method="vote-share"))
    for options in (
        {"groups": np.arange(200) % 4, "weights": [0.1, 0.2, 0.3, 0.4]},
        {"clusters": np.arange(200) // 4},
        {"population": "these-items"},
    ):
        plain, wide = (
            compare(scores, annotations=given, engine="exact", **options).pairs[0] for given in (None, annotations)
        )
        assert wide["high"] - wide["low"] > plain["high"] - plain["low"]
    groups = {"groups": np.arange(200) % 4, "engine": "exact"}
    one, other = (
        compare(scores, annotations=given, **groups).group_results["population of groups"][0]
        for given in (None, annotations)
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
    # skewness (the inverse of Hall's transformation, 1992, with half of scipy's unbiased skewness)
    t, g = stats.t(4).ppf([0.975, 0.025]), stats.skew(by_seed, bias=False) / 5**0.5 / 2
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
    cells = replicate_cells(fewer)
    assert [cells.paired(*pair) for pair in ((0, 1), (1, 0), (0, 0))] == [False, False, True]
