"""Bounds on a comparison under the estimand `class`, where annotators may err together."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import probtruth as pt
from probtruth.line import bounds as module
from probtruth.line.analysis.standing import standing_of
from probtruth.line.bounds import Bounds
from probtruth.line.informed_truth import ScoredTruth
from probtruth.report.words.verdict import verdict
from probtruth.scoring.rules import get_rule
from probtruth.streaming.compare_files import ScoringOptions

N, K = 120, 3


def world(right=0.8, n_votes=4, seed=1, order=(0, 1, 2)):
    """Annotators, and three models that know the class better and better; `order` renames the labels."""
    rng = np.random.default_rng(seed)
    true = rng.integers(K, size=N)
    wrong = (true[:, None] + rng.integers(1, K, (N, n_votes))) % K
    label = np.where(rng.random((N, n_votes)) < right, true[:, None], wrong)
    names = np.array(order)
    annotations = pt.Annotations.from_long(
        {
            "item": [f"{row:03d}" for row in np.repeat(np.arange(N), n_votes)],
            "annotator": [f"j{one}" for one in np.tile(np.arange(n_votes), N)],
            "label": [f"l{names[one]}" for one in label.ravel()],
        }
    )
    noise = rng.standard_normal((N, K))
    probs = {}
    for model, scale in (("poor", 0.3), ("fair", 1.0), ("good", 2.0)):
        powers = np.exp(scale * (2 * np.eye(K)[true] + noise))
        probs[model] = (powers / powers.sum(1, keepdims=True))[:, np.argsort(names)]
    items, labels = [f"{row:03d}" for row in range(N)], [f"l{one}" for one in range(K)]
    return annotations, pt.Predictions.from_probs(probs, items=items, labels=labels)


def evaluated(annotations, predictions, **options):
    options = {"method": "dawid-skene-em", "engine": "exact", **options}
    return pt.evaluate(annotations, predictions, **options)


@pytest.fixture(scope="module")
def result():
    return evaluated(*world())


def test_bounds_hold_the_answer_and_its_interval(result):
    rows = result.to_dict()["bounds"]["pairs"]
    assert [(row["a"], row["b"]) for row in rows] == [(row["a"], row["b"]) for row in result.comparison.pairs]
    for row, plain in zip(rows, result.comparison.pairs, strict=True):
        assert row["lowest"] <= plain["difference"] <= row["highest"]
        assert row["low"] < row["lowest"]
        assert row["highest"] < row["high"]
    assert "good" in result.bounds.could_be_best
    lowest, highest = result.bounds.of("good", "poor")
    assert result.bounds.of("poor", "good") == (-highest, -lowest)


def test_no_share_is_the_plain_answer_and_more_is_wider(result, monkeypatch):
    whole = module.Lure.of

    scored = ScoredTruth(result.truth, result.labelled.aligned, result.scores)

    def of_share(share):
        monkeypatch.setattr(module.Lure, "of", lambda counts: replace(whole(counts), share=share))
        plain = ScoringOptions(get_rule("log"), None, None, None, None)
        return module.bounds(result.annotations, scored, result.comparison, plain).pairs

    ends = [of_share(share) for share in (0.0, 0.05, 0.2, 0.5)]
    for row, plain in zip(ends[0], result.comparison.pairs, strict=True):
        np.testing.assert_allclose([row["lowest"], row["highest"]], plain["difference"], atol=1e-12)
        np.testing.assert_allclose([row["low"], row["high"]], [plain["low"], plain["high"]], atol=1e-12)
    for less, more in pairwise(ends):
        for narrow, wide in zip(less, more, strict=True):
            assert wide["lowest"] <= narrow["lowest"]
            assert narrow["highest"] <= wide["highest"]


def test_ends_are_the_definition(result):
    """Of one pair: the mean over items of the worst of three losses, by its probability."""
    annotations, predictions = world()
    lure = module.Lure.of(annotations.counts())
    losses = result.scores.label_values
    order = [result.scores.models.index(name) for name in ("fair", "good")]
    gap = losses[order[0]] - losses[order[1]]
    pool = np.exp(predictions.log_probs.astype(float).mean(0)) * lure.classes
    known = result.scores.values[order[0]] - result.scores.values[order[1]]
    views = [known, (lure.classes * gap).sum(1), (pool / pool.sum(1, keepdims=True) * gap).sum(1)]
    p = lure.p_lured()
    ends = [((1 - p) * known + p * pick(views, axis=0)).mean() for pick in (np.min, np.max)]
    np.testing.assert_allclose(result.bounds.of("fair", "good"), ends, rtol=1e-6)


def test_of_many_models_only_pairs_near_the_first_have_bounds(result, monkeypatch):
    monkeypatch.setattr(module, "MOST_MODELS", 1)
    scored = ScoredTruth(result.truth, result.labelled.aligned, result.scores)
    plain = ScoringOptions(get_rule("log"), None, None, None, None)
    rows = module.bounds(result.annotations, scored, result.comparison, plain).pairs
    first = result.standing.lead
    assert len(rows) == len(result.comparison.models) - 1
    assert all(first in (row["a"], row["b"]) for row in rows)


def test_labels_have_no_names(result):
    other = evaluated(*world(order=(2, 0, 1)))
    for one, two in zip(result.bounds.pairs, other.bounds.pairs, strict=True):
        np.testing.assert_allclose([one["lowest"], one["high"]], [two["lowest"], two["high"]], rtol=1e-5)


def test_one_vote_an_item_has_a_reason_instead():
    single = evaluated(*world(n_votes=1), method="majority")
    assert single.bounds.share is None
    assert "one vote" in single.to_dict()["bounds"]["reason"]
    assert any("err independently" in line for line in single.warnings)
    assert not any("err independently" in line for line in evaluated(*world(n_votes=2), method="majority").warnings)


def test_clusters_widen_the_interval_as_they_widen_the_plain_one():
    annotations, predictions = world()
    clusters = {item: f"c{row // 6}" for row, item in enumerate(annotations.index.items)}
    result = evaluated(annotations, predictions, clusters=clusters)
    for row, plain in zip(result.bounds.pairs, result.comparison.pairs, strict=True):
        assert row["low"] < plain["low"] + 1e-9
        assert np.isfinite(row["low"])


def test_an_infinite_loss_is_an_infinite_end():
    """The bold model excludes a label that a lure may hide: nothing bounds what that costs."""
    annotations, _ = world(right=1.0)
    top = annotations.counts().argmax(1)
    bold = np.where(np.eye(K)[top] == 1, 1.0, 0.0)
    flat = np.full((N, K), 1 / K)
    items, labels = [f"{row:03d}" for row in range(N)], [f"l{one}" for one in range(K)]
    models = pt.Predictions.from_probs({"bold": bold, "flat": flat}, items=items, labels=labels)
    result = evaluated(annotations, models, method="majority", evidence="annotators")
    (row,) = result.to_dict()["bounds"]["pairs"]
    assert (row["highest"], row["high"]) == (np.inf, np.inf)
    np.testing.assert_allclose(row["lowest"], np.log(1 / K), rtol=1e-6)  # a lure costs the bold model, never less
    assert set(result.bounds.could_be_best) == {"bold", "flat"}


def test_only_a_claim_that_shared_errors_turn_loses_its_headline(result):
    lead = result.standing.lead
    other = next(model for model in result.comparison.models if model != lead)
    narrow = Bounds(0.1, [{"a": lead, "b": other, "lowest": -0.3, "highest": -0.1, "low": -0.4, "high": 0.1}])
    wide = Bounds(0.1, [{"a": lead, "b": other, "lowest": -0.3, "highest": 0.2, "low": -0.4, "high": 0.3}])
    truth, ranks = result.truth, result.comparison.ranks
    comparison, open_one = (
        replace(result.comparison, ranks=[{**row, "p_best": p if row["model"] == lead else 0.01} for row in ranks])
        for p in (0.98, 0.7)
    )
    assert "shared_errors" not in standing_of(comparison, truth, None, None, narrow).turned_by
    turned = standing_of(comparison, truth, None, None, wide)
    assert turned.turned_by == ("shared_errors",)
    assert turned.shared.behind == 0.2
    assert turned.to_dict()["shared_errors"] == {"other": other, "share": 0.1, "behind": 0.2}
    assert standing_of(open_one, truth, None, None, wide).turned_by == ()
    labelled = replace(result.labelled, bounds=wide, other=None)
    said = verdict(replace(result, comparison=comparison, labelled=labelled))
    assert said.level == "open"
    headline = "".join(map(str, said.headline))
    assert headline == (
        f"Annotators alone cannot decide: {lead} leads {other}, but errors that they share could turn the order."
    )
    assert any("−0.30 to 0.20" in "".join(map(str, line)) for line in said.details)


def test_one_label_leaves_no_other_to_be_drawn_to():
    annotations = pt.Annotations.from_long(
        {"item": list("uuvvw"), "annotator": list("ababa"), "label": ["x"] * 5}, labels=["x"]
    )
    models = pt.Predictions.from_probs({name: [[1.0]] * 3 for name in "ab"}, items=list("uvw"), labels=["x"])
    result = pt.evaluate(annotations, models, method="dawid-skene-em", engine="exact")
    assert result.bounds is None
    assert result.comparison.pairs[0]["difference"] == 0
