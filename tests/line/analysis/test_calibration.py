"""Curves, bubbles and numbers of the models that are shown."""

from dataclasses import replace

import numpy as np
import pytest

import probtruth as pt
from probtruth import demo
from probtruth.line.analysis import calibration as module
from probtruth.line.labelled import Labelled, Options
from probtruth.report.data_tables import calibration
from probtruth.report.names import unmarked
from probtruth.scoring.align import align
from probtruth.scoring.rules import get_rule
from probtruth.types import scores

ROUND_OFF = 1e-12  # Sums of about a thousand numbers near 1 in float64

SINGLE = 1e-7
"""The demo's probabilities are float32: their logarithms, and the logarithms of their means, differ by as much."""


@pytest.fixture(scope="module")
def found(result):
    made = result.analysis.calibration
    return made


def test_bare_scores_have_none(make):
    assert make["bare"](3).analysis.calibration is None


def test_the_parts_are_those_of_the_public_functions(found, result):
    predictions, truth = demo.load()[1], result.truth
    parts = pt.decompose(predictions, truth, rule="log").to_dicts()
    by_model = {row["model"]: row for row in parts}
    for row in found.rows:
        assert row["miscalibration"] == pytest.approx(by_model[row["model"]]["miscalibration"], abs=ROUND_OFF)
    errors = pt.calibration.calibration_error(predictions, truth).to_dicts()
    assert {row["model"]: row["error"] for row in found.rows} == pytest.approx(
        {row["model"]: row["error"] for row in errors}, abs=ROUND_OFF
    )


def test_models_are_in_the_order_of_the_ranking(found, result):
    assert list(found.models) == [row["model"] for row in result.comparison.ranks]
    assert [unmarked(cells[0]) for cells in calibration(result).rows] == list(found.models)


def test_two_labels_are_judged_by_the_last(make):
    rng = np.random.default_rng(1)
    truth = pt.Truth.from_labels(rng.integers(0, 2, 40), n_labels=2)
    probs = {name: rng.dirichlet([1, 1], 40) for name in "ab"}
    bare = make["bare"](2, 40)
    scores = replace(bare.scores, models=("a", "b"), rule="brier")
    ranks = [replace(row, model=name) for row, name in zip(bare.comparison.ranks, "ab", strict=True)]
    comparison = replace(bare.comparison, ranks=ranks)
    predictions = pt.Predictions.from_probs(probs)
    labelled = Labelled(truth, truth, align(predictions, truth), scores, comparison, Options(get_rule("brier")))
    found = replace(bare, labelled=labelled, scores=scores, comparison=comparison).analysis.calibration
    assert found.event == "1"
    assert {row["label"] for row in found.risk.bins} == {"0", "1"}


def test_many_items_are_sampled_and_the_note_says_so(result, monkeypatch):
    monkeypatch.setattr(scores, "MOST_ITEMS", 100)
    monkeypatch.setattr(module, "MOST_MODELS", 2)
    few = replace(result)
    found = few.analysis.calibration
    assert (found.n_items, found.n_all, len(found.models)) == (100, 899, 2)
    note = calibration(few).note
    assert "The 2 best models." in note
    assert "random sample of 100 of the 899 items" in note
    assert found.curve.equals(replace(result).analysis.calibration.curve)


def test_a_rule_without_a_name_has_no_parts(result):
    mine = replace(result, scores=replace(result.scores, rule="mine"))
    found = mine.analysis.calibration
    assert "miscalibration" not in found.rows[0]
    assert "Miscalibration" not in calibration(mine).heads
