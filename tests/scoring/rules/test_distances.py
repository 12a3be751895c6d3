"""Distances to the shares of the votes, the official scores of shared tasks, beside the proper rules of their kind."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from compiled_once import x64
from scipy.spatial.distance import cityblock
from scipy.stats import wasserstein_distance

import probtruth as pt
from probtruth.io.scores import write_scores
from probtruth.report import tables as tables_of
from probtruth.scoring.rules import DISTANCES

ROUNDING = 1e-12  # Relative error of sums of a few terms in float64
FLOAT32 = 1e-6  # Sums of three float32 terms below 1
VOTES = [5, 5, 5, 5, 5, 5, 4, 3, 2, 0]  # of 5 for "yes", on ten items: mean share 0.78, median 1
EVERY = pytest.mark.parametrize("rule", DISTANCES.values(), ids=DISTANCES)


def tables(n_labels: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(n_labels), 20), rng.dirichlet(np.ones(n_labels), 20)


def annotated(times: int = 30) -> tuple[pt.Annotations, pt.Predictions]:
    """Votes of five annotators, a constant forecast of their mean share, and one that is more certain."""
    yes = np.random.default_rng(0).permutation(VOTES * times)
    annotations = pt.Annotations.from_counts(np.stack([5 - yes, yes], 1), labels=["no", "yes"])
    base = np.tile([0.22, 0.78], (len(yes), 1))
    extreme = np.tile([0.05, 0.95], (len(yes), 1))
    return annotations, pt.Predictions.from_probs({"base": base, "extreme": extreme}, labels=["no", "yes"])


OF_SCIPY = {"manhattan": cityblock, "wasserstein": partial(wasserstein_distance, range(4), range(4))}


@EVERY
def test_distances_are_those_of_scipy_add_up_and_stay_in_their_range(rule: pt.ScoringRule) -> None:
    probs, truth = tables()
    expected = x64(rule.expected, probs, truth)
    wanted = [OF_SCIPY[rule.name](one, other) for one, other in zip(probs, truth, strict=True)]
    np.testing.assert_allclose(expected, wanted, rtol=ROUNDING)
    np.testing.assert_allclose(expected, x64(rule.divergence, probs, truth), rtol=ROUNDING)
    np.testing.assert_allclose(expected, x64(rule.expected_from_log, np.log(probs), truth), rtol=ROUNDING)
    np.testing.assert_allclose(expected, x64(rule.divergence_from_log, np.log(probs), truth), rtol=ROUNDING)
    np.testing.assert_array_equal(x64(rule.entropy, truth), 0)
    corners = x64(rule.per_label, np.eye(4))
    assert (corners.min(), corners.max()) == rule.range_for(4)


@EVERY
def test_few_annotators_reward_another_report_where_the_proper_rule_of_the_kind_does_not(rule: pt.ScoringRule) -> None:
    assert not rule.proper
    assert pt.rules.check_proper(rule, 3) is None, "against the true shares themselves nothing beats them"
    found = pt.rules.check_proper(rule, 3, annotators=5)
    assert found.loss_of_report < found.loss_of_truth
    assert pt.rules.check_proper(rule.proper_kin, 3, annotators=5) is None


@EVERY
def test_scores_are_distances_to_the_shares(rule: pt.ScoringRule) -> None:
    annotations, predictions = annotated(1)
    truth = pt.infer_truth(annotations)
    distance = np.abs(0.78 - np.random.default_rng(0).permutation(VOTES) / 5)
    if rule.name == "manhattan":
        distance = 2 * distance
    scores = pt.score(predictions, truth, rule=rule.name)
    np.testing.assert_allclose(scores.values[0], distance, rtol=FLOAT32)
    assert scores.known.proper is False
    rows = pt.decompose(predictions, truth, rule=rule.name)
    np.testing.assert_allclose(rows["expected"][0], distance.mean(), rtol=FLOAT32)
    np.testing.assert_allclose(rows["divergence"][0], distance.mean(), rtol=FLOAT32)


def test_manhattan_prefers_the_extreme_forecast_and_proper_rules_the_base_rate() -> None:
    annotations, predictions = annotated()
    for rule, better in (("manhattan", "extreme"), ("brier", "base"), ("log", "base")):
        comparison = pt.compare(pt.score(predictions, pt.infer_truth(annotations), rule=rule))
        pair = comparison.pair(better, "base" if better == "extreme" else "extreme")
        assert pair.p_a_better > 0.975


def test_the_proper_rule_of_the_kind_stands_in_every_result(tmp_path: Path) -> None:
    annotations, predictions = annotated()
    result = pt.evaluate(annotations, predictions, rule="manhattan")
    (said,) = [line for line in result.warnings if "the proper rule of its kind" in line]
    assert said.startswith("by 'manhattan' 'extreme' is best (P = 1.000), by 'brier'")
    brier = pt.evaluate(annotations, predictions, rule="brier")
    written = result.to_dict()["proper_rule"]
    assert (written["rule"], written["pairwise"]) == ("brier", brier.to_dict()["pairwise"])
    assert brier.to_dict()["proper_rule"] is None
    table = tables_of.proper_rule(result)
    assert table.columns["P(best), brier"] == ["<0.001", ">0.999"]
    assert any("not proper" in line for line in result.warnings)
    scores = pt.score(predictions, pt.infer_truth(annotations), rule="manhattan")
    write_scores(scores, tmp_path / "scores.parquet")
    assert any("compare by 'brier'" in line for line in pt.compare(tmp_path / "scores.parquet").warnings)
    half = scores.part(np.arange(2), np.arange(0, 300, 2))
    assert half.by_proper_rule.values.tolist() == scores.by_proper_rule.values[:, ::2].tolist()
    assert result.analysis.decomposition is not None
    assert not any("distance" in line for line in pt.evaluate(annotations, predictions, rule="brier").warnings)


def test_errors() -> None:
    probs = pt.Predictions.from_probs({"a": [[0.2, 0.3, 0.5]]}, labels=["low", "medium", "high"])
    shares = pt.Truth.from_probs([[0.2, 0.3, 0.5]], labels=["low", "medium", "high"])
    with pytest.raises(pt.InputError, match=re.escape("--rule wasserstein:lowest,...,highest")):
        pt.score(probs, shares, rule="wasserstein")
    ordered = pt.score(probs, shares, rule="wasserstein", order=["low", "medium", "high"])
    assert ordered.values[0, 0] == pytest.approx(0, abs=FLOAT32)
    classes = pt.Truth.from_probs([[0.2, 0.3, 0.5]], labels=["low", "medium", "high"], estimand="class")
    with pytest.raises(pt.InputError, match=re.escape("the rule 'manhattan' under the estimand 'class'")):
        pt.score(probs, classes, rule="manhattan")
