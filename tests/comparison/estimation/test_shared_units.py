"""Annotators, or seeds, that many items share: the two-way variance, and what it is worth."""

from dataclasses import replace

import numpy as np
import pytest
from made_scores import estimate_from, make, rows_by_name, without_annotators
from scipy import stats

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.comparison.estimation.estimate import Part
from probtruth.errors import InputError
from probtruth.types import Scores

ROUNDING = 1e-9


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


@pytest.mark.parametrize("unit_df", [1.0, 2.0, 7.0])
def test_freedom_of_equal_parts_by_hand(unit_df):
    """Half of the variance is the units': their share counts by its power unit_df/(unit_df + 1)."""
    share = 0.5 ** (unit_df / (unit_df + 1))
    wanted = 1 / (share / unit_df + (1 - share) / 50.0)
    assert freedom(np.ones(1), 50.0, np.ones(1), unit_df) == pytest.approx(max(wanted, 1.0), rel=ROUNDING)


def test_units_that_chance_explains_leave_the_freedom_of_the_items():
    """Of four clusters and forty annotators who add nothing, intervals were 0.70 times as wide as without the names."""
    nothing = np.zeros(1)
    of_items = estimate_from(nothing, np.ones(1), np.full(1, 3.0))
    by_chance = Part(nothing[:, None], nothing[:, None], np.full((1, 1), 39.0), np.ones((1, 1)))
    joined = replace(of_items, parts={**of_items.parts, "annotators": by_chance}).total()
    assert joined.df == pytest.approx(3.0, rel=ROUNDING)


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


@pytest.mark.parametrize(
    ("n_annotators", "seen"),
    [*(pytest.param(*setting, marks=pytest.mark.long) for setting in ((31, 1.0), (20, 0.45))), (60, 0.1)],
)
def test_the_bias_of_any_number_of_annotators_is_part_of_the_answer(n_annotators, seen):
    """Items alone covered 0.17 with 31 annotators, 0.30 with 20 on 45% of the items."""
    rng, covered = np.random.default_rng(3), []
    for _ in range(50):
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


def table_of(scores):
    """The values of each model by item and replicate."""
    repeated = scores.replicates
    table = np.full((len(scores.models), len(scores.items), len(repeated.names)), np.nan)
    table[:, repeated.item, repeated.replicate] = repeated.values
    return table


def test_training_seeds_are_part_of_the_answer_unless_answers_are_independent():
    scores = Scores.from_frame(seeds(0.1), replicate="replicate", higher_is_better=False)
    plain, crossed = (compare(scores, replicates=kind, engine="exact") for kind in ("independent", "crossed"))
    table = table_of(scores)
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
    found = rows_by_name(asked_nothing)[0]["a", "b"]
    assert (found["low"], found["high"]) == pytest.approx((row["low"], row["high"]), rel=0.1)  # chance does not do that
    assert any("differ by more than chance" in said for said in asked_nothing.warnings)
    quiet = compare(Scores.from_frame(seeds(0.0), replicate="replicate", higher_is_better=False), engine="exact")
    assert not any("differ by more than chance" in said for said in quiet.warnings)


def test_models_with_other_seeds_are_not_paired():
    rows = seeds(0.1)
    named = [f"{model}{seed}" for model, seed in zip(rows["model"], rows["replicate"], strict=True)]
    apart = Scores.from_frame(rows | {"replicate": named}, replicate="replicate", higher_is_better=False)
    crossed = compare(apart, replicates="crossed", engine="exact")
    # the variances of both models' seeds add up, by hand
    table = np.array(rows["score"]).reshape(2, 5, 100)
    wanted = sum(one.mean(1).var(ddof=1) / 5 for one in table)
    t = crossed.model_free[0]["t"]
    assert (crossed.pairs[0]["difference"] / t) ** 2 == pytest.approx(wanted, rel=0.1)


def test_a_seed_that_one_model_lacks_leaves_the_others_paired():
    """All seeds lean alike in both models: paired, they add nothing, and a missing one did away with the pairs."""
    rows = seeds(0.0)
    lean = np.random.default_rng(8).normal(size=5)
    rows["score"] = [score + lean[seed] for score, seed in zip(rows["score"], rows["replicate"], strict=True)]
    there = [(model, seed) != ("b", 4) for model, seed in zip(rows["model"], rows["replicate"], strict=True)]
    rest = {name: [one for one, kept in zip(column, there, strict=True) if kept] for name, column in rows.items()}
    widths = []
    for table in (rows, rest):
        scores = Scores.from_frame(table, replicate="replicate", higher_is_better=False)
        row = compare(scores, replicates="crossed", engine="exact").pairs[0]
        widths.append(row["high"] - row["low"])
    both = 2 * 2.78 * (lean.var(ddof=1) * (1 / 5 + 1 / 4)) ** 0.5  # unpaired, by hand: the t of 4 degrees of freedom
    assert widths[0] < 0.05 * both
    assert widths[1] < 0.65 * both


@pytest.mark.parametrize("n_annotators", [2, 3, 5, 7])
def test_rounding_of_annotators_who_agree_is_no_spread(n_annotators):
    """The same log loss on every item: no certainty, whatever the digits of its mean over annotators."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n_items = int(rng.integers(5, 20))
        seen = rng.random((n_items, n_annotators)) < 0.6
        seen[:, 0] = True
        item, annotator = np.nonzero(seen)
        rows = {"item": item, "annotator": annotator, "label": np.zeros(len(item), int)}
        models = {name: np.tile(rng.dirichlet(np.ones(3)), (n_items, 1)) for name in "ab"}
        forecasts = pt.Predictions.from_probs(models, items=range(n_items), labels=range(3))
        result = pt.evaluate(pt.Annotations.from_long(rows), forecasts, engine="exact")
        (pair,) = result.comparison.pairs
        assert (pair.p_a_better, pair.low) == (None, None)


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


# vote by vote


def person_and_students(rng, n_items, votes):
    """A person's labels of all items, and students' labels in the order in which they come: (item, student)."""
    logit = rng.normal(size=n_items)
    lean = np.concatenate([[0.0], 0.8 * rng.normal(size=60)])
    items = np.concatenate([np.arange(n_items), [item for item, _ in votes]]).astype(int)
    people = np.concatenate([np.zeros(n_items), [student for _, student in votes]]).astype(int)
    label = rng.random(len(items)) < 1 / (1 + np.exp(-(logit[items] + lean[people])))
    index = [f"i{place:03d}" for place in range(n_items)]
    probs = {name: 1 / (1 + np.exp(-(logit + shift))) for name, shift in (("p", 0.4), ("q", -0.4))}
    predictions = pt.Predictions.from_probs(
        {name: np.stack([1 - one, one], 1) for name, one in probs.items()}, items=index, labels=["0", "1"]
    )
    columns = {
        "item": [index[item] for item in items],
        "annotator": [f"s{one:02d}" for one in people],
        "label": label.astype(int).astype(str).tolist(),
    }
    return columns, predictions


def compared(columns, predictions, n_votes):
    first = {name: column[:n_votes] for name, column in columns.items()}
    truth = pt.infer_truth(pt.Annotations.from_long(first), "vote-share")
    return compare(pt.score(predictions, truth, rule="brier"), engine="exact", draws=10)


ORDERS = {
    "one student": lambda vote: (vote, 1),
    "forty by one, then a third": lambda vote: (vote, 1) if vote < 40 else (vote - 40, 2),
    "ten on the same items in turn": lambda vote: (vote // 10, 1 + vote % 10),
    "each by another": lambda vote: (vote, 1 + vote % 59),
}


@pytest.mark.parametrize(
    "order", [pytest.param(name, marks=pytest.mark.long if name[0] in "oe" else ()) for name in ORDERS]
)
def test_no_vote_moves_an_interval_by_more_than_a_tenth(order):
    """From one annotator to sixty; the second vote of a second one, or one of a third, made it five times as wide."""
    votes = [ORDERS[order](vote) for vote in range(70)]
    columns, predictions = person_and_students(np.random.default_rng(11), 150, votes)
    ends = []
    for n_votes in range(150, 221):
        row = compared(columns, predictions, n_votes).pairs[0]
        ends.append((row["low"], row["high"]))
    width = np.diff(ends, axis=1)[:, 0]
    moves = np.abs(np.diff(ends, axis=0)).max(1)
    assert (moves <= 0.1 * np.maximum(width[1:], width[:-1])).all()


def test_one_dominant_annotator_is_said_once_and_both_answers_stand_side_by_side():
    votes = [(vote, 1) for vote in range(30)]
    columns, predictions = person_and_students(np.random.default_rng(11), 150, votes)
    found = compared(columns, predictions, 180)
    said = [warning for warning in found.warnings if "annotators" in warning]
    assert len(said) == 1
    assert "barely known" in said[0]
    assert set(found.group_results) == {"these annotators", "new annotators"}
    these, new = (rows[0] for rows in found.group_results.values())
    alone = compare(without_annotators(found.scored), engine="exact").pairs[0]
    assert (these["low"], these["high"]) == pytest.approx((alone["low"], alone["high"]), rel=ROUNDING)
    shown = found.pairs[0]
    assert these["high"] - these["low"] < shown["high"] - shown["low"] < new["high"] - new["low"]
    assert "these annotators and, as far as these tell of them, new ones" in found.estimand
    both = compared(columns, predictions, 150)
    assert not both.group_results  # one annotator: the answer is about this one


def test_shares_of_the_variance_have_intervals_as_wide_as_few_annotators_leave_them(study):
    annotations, predictions = study
    result = pt.evaluate(annotations, predictions, method="vote-share", engine="exact")
    shares = result.comparison.uncertainty
    intervals = result.comparison.uncertainty_intervals
    assert set(intervals) == set(shares)
    for name, ends in intervals.items():
        assert 0 <= ends[0] <= shares[name] <= ends[1] <= 1
    low, high = intervals["annotators"]
    assert high - low > 0.05  # of five annotators
    assert result.to_dict()["uncertainty_intervals"] == dict(intervals)


def test_the_interval_of_a_share_by_hand():
    """Of two equal parts, one known and one of four units more than one: 1/(1 + chi-square/4), by its quantiles."""
    ones = np.ones((3, 1))
    estimate = replace(estimate_from(np.zeros(3), np.ones(3), np.full(3, 1e9)), names=("a", "b"))
    units = Part(ones, 0 * ones, 4 * ones)
    _, found = replace(estimate, parts={**estimate.parts, "annotators": units}).shares(0, 1, 0)
    wanted = 1 / (1 + stats.chi2(4).ppf([0.975, 0.025]) / 4)
    assert found["annotators"] == pytest.approx(wanted, abs=0.03)
    assert found["items"] == pytest.approx(1 - wanted[::-1], abs=0.03)
