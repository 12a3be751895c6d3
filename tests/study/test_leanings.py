"""leanings.py: few annotators or seeds behind all items, in pilots and in the studies that are planned from them."""

from dataclasses import replace

import numpy as np
import pytest
from made_scores import make
from scipy import stats

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.comparison.evidence.crossed import excess, wider
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import Moments, combine, means_of
from probtruth.comparison.posterior.margins import Margin, margins
from probtruth.types import Replicates

CLOSE = 0.1
"""How near a predicted width and a predicted chance must be to those of simulated studies."""
ROUNDING = 1e-9


def table(rng, n_items, n_units, leaning, mean=0.0):
    """The difference of two models, as each unit sees it."""
    each = rng.normal(size=(n_items, 1)) + rng.normal(size=(n_items, n_units))
    return mean + each + leaning * rng.normal(size=n_units)


def seeds(values, own=False):
    """Scores of two models by seed, with this difference; `own` if the models do not share their seeds."""
    n_units, other = values.shape[1], 0 * values
    scores = make([values.mean(1), other.mean(1)], "ab")
    if own:
        gap = np.full_like(values, np.nan)
        stacked = np.stack([np.hstack([values, gap]), np.hstack([gap, other])])
        return replace(scores, replicates=Replicates(stacked, tuple(map(str, range(2 * n_units))), n_units))
    return replace(scores, replicates=Replicates(np.stack([values, other]), tuple(map(str, range(n_units))), n_units))


def crossed(values, own=False):
    return pt.Result.of_scores(seeds(values, own), engine="exact", replicates="crossed")


def judged(values) -> Margin:
    """What `compare` makes of a table of differences, without its draws."""
    item, n_items = values.mean(1)[None], len(values)
    within = Structure.ungrouped(n_items)
    means = means_of(item, np.abs(item).max(1), within, None)
    location = combine(Moments.of(within, means, means), means, np.ones(1))
    return margins(wider(location, [(excess(values, np.full(n_items, 1 / n_items)),)]))[0]


def rows(made):
    return {row["design"]: row for row in made.designs}


# reference


def test_parts_of_the_variance_are_those_of_the_two_way_layout():
    values = table(np.random.default_rng(0), 60, 6, 0.7)
    n, m = values.shape
    unit, item = values.mean(0), values.mean(1)
    error = ((values - unit - item[:, None] + values.mean()) ** 2).sum() / ((n - 1) * (m - 1))
    made = pt.plan(crossed(values), n_items=120, n_replicates=12)
    # by hand: the components of variance of units and items, and what is left
    leaning = unit.var(ddof=1) - error / n
    assert made.variance["leaning"] == pytest.approx(leaning, rel=ROUNDING)
    assert made.variance["replicate"] == pytest.approx(error, rel=0.02)
    assert made.variance["items"] == pytest.approx(item.var(ddof=1) - made.variance["replicate"] / m, rel=ROUNDING)
    assert made.error**2 == pytest.approx(item.var(ddof=1) / n + leaning / m, rel=ROUNDING)
    assert set(rows(made)) == {"pilot again", "study", "items x 2", "replicates x 2"}


def test_a_comparison_says_the_same_as_its_result():
    result = crossed(table(np.random.default_rng(1), 40, 5, 0.5))
    assert pt.plan(result.comparison, n_items=80).designs == pt.plan(result, n_items=80).designs


# the short study: plans against studies of the planned size


@pytest.mark.parametrize(
    ("n_items", "n_units", "leaning", "truth"), [(200, 3, 0.3, 0.7), (200, 10, 0.3, 0.3), (300, 5, 0.0, 0.2)]
)
def test_width_and_chance_are_those_of_studies(n_items, n_units, leaning, truth):
    rng = np.random.default_rng(2)
    values = table(rng, 400, 40, leaning, truth)
    if leaning:  # a pilot whose leanings are what they are in the world
        unit = values.mean(0)
        values += (leaning * (unit - unit.mean()) / unit.std(ddof=1)) - (unit - unit.mean())
    made = pt.plan(crossed(values), n_items=n_items, n_replicates=n_units, difference=truth)
    found = [judged(table(rng, n_items, n_units, leaning, truth)) for _ in range(1500)]
    width = np.mean([np.ptp(margin.interval()) for margin in found])
    decided = np.mean([max(margin.below(0.0), margin.above(0.0)) > 0.95 for margin in found])
    study = rows(made)["study"]
    assert study["width"] == pytest.approx(width, rel=CLOSE)
    assert study["p_certain"] == pytest.approx(decided, rel=CLOSE)


def test_more_items_alone_do_not_help_where_seeds_are_all_that_varies():
    values = table(np.random.default_rng(3), 200, 4, 2.0)
    made = rows(pt.plan(crossed(values), difference=0.5))
    assert made["items x 2"]["width"] == pytest.approx(made["study"]["width"], rel=0.02)
    assert made["replicates x 2"]["width"] < 0.7 * made["study"]["width"]


def test_models_with_seeds_of_their_own():
    rng = np.random.default_rng(4)
    made = pt.plan(crossed(table(rng, 300, 12, 0.5), own=True))
    # b's seeds are all alike: all of the leaning is a's
    assert made.variance["leaning"] == pytest.approx(pt.plan(crossed(table(np.random.default_rng(4), 300, 12, 0.5)))
                                                     .variance["leaning"], rel=ROUNDING)  # fmt: skip


def test_the_cheapest_design_buys_units_where_items_do_not_help():
    values = table(np.random.default_rng(5), 100, 8, 0.5, 0.3)
    made = pt.plan(crossed(values), difference=0.3, costs={"item": 1, "replicate": 0.01})
    best = rows(made)["cheapest"]
    assert best["n_replicates"] > 8
    assert best["p_certain"] >= 0.8
    nowhere = pt.plan(crossed(values), width=1e-4, costs={"item": 1})
    assert any("no design" in said for said in nowhere.warnings)


def test_a_kept_pilot():
    result = crossed(table(np.random.default_rng(6), 100, 8, 0.2, 1.0))
    kept, fresh = (rows(pt.plan(result, n_items=300, n_replicates=16, keep=keep))["study"] for keep in (True, False))
    assert kept["width"] == fresh["width"]
    assert kept["p_certain"] > 0.95


# annotators


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(7)
    logit, lean = rng.normal(size=150), 0.8 * rng.normal(size=6)
    votes = rng.random((150, 6)) < 1 / (1 + np.exp(-(logit[:, None] + lean)))
    items = [f"i{place:03d}" for place in range(150)]
    named = {"item": np.repeat(items, 6), "annotator": np.tile(list("abcdef"), 150), "label": votes.astype(int).ravel()}
    probs = {name: 1 / (1 + np.exp(-(logit + shift))) for name, shift in (("p", 0.3), ("q", -0.3))}
    annotations = pt.Annotations.from_long(named)
    predictions = pt.Predictions.from_probs(
        {name: np.stack([1 - one, one], 1) for name, one in probs.items()}, items=items, labels=["0", "1"]
    )
    return annotations, predictions


def test_a_result_with_the_same_few_annotators_is_planned_with_their_leanings(labelled):
    annotations, predictions = labelled
    result = pt.evaluate(annotations, predictions, method="vote-share", engine="exact")
    made = pt.plan(result, n_annotators=12)
    row = result.comparison.pairs[0]
    assert made.variance["leaning"] > 0
    again = rows(made)["pilot again"]
    assert again["n_annotators"] == pytest.approx(6)
    assert 0.5 < again["width"] / (row["high"] - row["low"]) < 2
    assert rows(made)["study"]["width"] < 0.8 * again["width"]
    same = pt.plan(result.scores, annotations=annotations, n_annotators=12)
    assert same.designs == made.designs
    assert pt.plan(result.comparison, annotations=annotations, n_annotators=12).designs == made.designs
    with pytest.raises(pt.InputError, match="without their annotations"):
        pt.plan(result.comparison)
    with pytest.raises(pt.InputError, match="one annotator behind all items"):
        pt.plan(result, n_annotators=1)


def test_labels_that_only_the_predictions_have():
    """Annotations of the labels a and c, forecasts of a, b and c: the same annotations, but other positions."""
    rng = np.random.default_rng(8)
    label = rng.choice(["a", "c"], (40, 3))
    items = [f"i{place:02d}" for place in range(40)]
    named = {"item": np.repeat(items, 3), "annotator": np.tile(list("xyz"), 40), "label": label.ravel()}
    annotations = pt.Annotations.from_long(named)
    probs = {name: rng.dirichlet([1, 1, 1], 40) for name in "pq"}
    predictions = pt.Predictions.from_probs(probs, items=items, labels=["a", "b", "c"])
    scores = pt.score(predictions, pt.infer_truth(annotations, method="vote-share"), rule="brier")
    by_name = annotations.with_labels(predictions.index)
    wanted = pt.plan(scores, annotations=by_name).designs
    assert pt.plan(scores, annotations=annotations).designs == wanted


def test_few_annotators_are_said_to_be_few(labelled):
    annotations, predictions = labelled
    few = annotations.of_items(np.arange(150))
    keep = few.annotator < 3
    three = {"item": few.item[keep], "annotator": few.annotator[keep], "label": few.label[keep]}
    named = {
        "item": [annotations.index.items[place] for place in three["item"]],
        "annotator": three["annotator"],
        "label": [annotations.index.labels[place] for place in three["label"]],
    }
    result = pt.evaluate(pt.Annotations.from_long(named), predictions, method="vote-share", engine="exact")
    assert any("3 annotators: if these lean the same way" in said for said in result.warnings)
    assert any("how much annotators lean is known from 3" in said for said in pt.plan(result).warnings)


def test_annotations_need_scores():
    comparison = compare(make([stats.norm.rvs(size=9, random_state=1), np.zeros(9)], "ab"), engine="exact")
    with pytest.raises(pt.InputError, match="annotations without scores"):
        pt.plan(comparison, annotations=pt.Annotations.from_long({"item": [1], "annotator": ["a"], "label": ["x"]}))
