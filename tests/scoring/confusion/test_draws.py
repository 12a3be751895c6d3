import numpy as np
import pytest

import probtruth as pt
from probtruth.scoring.confusion import measures
from probtruth.scoring.confusion.measures import summarise

STANDARD_ERRORS = 5
"""How far a simulated number may be from its expectation, in its own standard errors."""

ROUND_OFF = 1e-12
"""A few thousand additions of numbers near 1 in float64."""


def with_draws(draws, estimand="distribution", **names):
    draws = np.asarray(draws)
    given = pt.Truth.from_probs(draws.mean(0), estimand=estimand, **names)
    return pt.Truth(given.probs, given.index, estimand, "test", draws=draws)


def test_every_draw_is_a_table_of_its_own():
    rng = np.random.default_rng(0)
    draws, probs = rng.dirichlet(np.ones(3), (200, 30)), rng.dirichlet(np.ones(3), 30)
    predictions = pt.Predictions.from_probs({"a": probs})
    found = pt.expected_confusion(predictions, with_draws(draws), method="draws")
    each = [pt.expected_confusion(predictions, pt.Truth.from_probs(draw)).values for draw in draws]
    np.testing.assert_allclose(found.values, np.mean(each, 0), rtol=ROUND_OFF)
    np.testing.assert_allclose(found.sd, np.std(each, 0, ddof=1), rtol=1e-9)
    np.testing.assert_allclose(found.low, np.quantile(each, 0.025, 0), rtol=ROUND_OFF)
    np.testing.assert_allclose(found.high, np.quantile(each, 0.975, 0), rtol=ROUND_OFF)


def test_draws_meet_the_predictions_by_name():
    draws = np.array([[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]])
    truth = with_draws(np.repeat(draws, 2, 0), items=["x", "y", "z"], labels=["a", "b"])
    table = [[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]]
    predictions = pt.Predictions.from_probs({"m": table}, items=["z", "x"], labels=["b", "c", "a"])
    found = pt.expected_confusion(predictions, truth, method="draws")
    assert found.labels == ("a", "b", "c")
    assert found.accuracy[0] == pytest.approx((0.1 + 0.5 * 0.7 + 0.5 * 0.1) / 2, rel=ROUND_OFF)


def test_a_truth_without_draws_has_its_labels_drawn():
    """One hard and one open item: the accuracy of a decided response is 1 or 1/2, each half of the time."""
    truth = pt.Truth.from_probs([[0, 1], [0.5, 0.5]])
    predictions = pt.Predictions.from_labels({"a": np.array([1, 1])}, 2)
    found = pt.expected_confusion(predictions, truth, method="draws", draws=4000)
    assert abs(found.accuracy[0] - 0.75) < STANDARD_ERRORS * 0.25 / np.sqrt(4000)
    assert (found.low[0, 0], found.high[0, 0]) == (0.5, 1.0)
    assert found.plug_in[0, 0] == 0.75
    assert found.undefined[0, found.column("recall", label="0")] == pytest.approx(0.5, abs=0.05)


def test_the_same_labels_serve_all_models():
    truth = pt.Truth.from_probs(np.full((20, 2), 0.5))
    labels = np.random.default_rng(0).integers(2, size=20)
    predictions = pt.Predictions.from_labels({"a": labels, "b": labels}, 2)
    found = pt.expected_confusion(predictions, truth, method="draws")
    np.testing.assert_array_equal(found.values[0], found.values[1])


def test_smoothed_draws_move_the_centre_and_plug_in_does_not():
    """Trap 29: posterior draws of smoothed votes shrink; the plug-in value keeps the unsmoothed shares."""
    counts = np.array([[5, 0], [4, 1], [0, 5]])
    annotations = pt.Annotations.from_counts(counts)
    truth = pt.infer_truth(annotations, method="dirichlet")
    predictions = pt.Predictions.from_labels({"a": np.array([0, 0, 1])}, 2)
    found = pt.expected_confusion(predictions, truth, method="draws")
    assert found.plug_in[0, 0] == pytest.approx(14 / 15, rel=ROUND_OFF)
    assert found.values[0, 0] < found.plug_in[0, 0]


@pytest.mark.parametrize("n_labels", [3, 20])
def test_drawn_labels_follow_their_probabilities(n_labels):
    probs = np.random.default_rng(0).dirichlet(np.ones(n_labels), 2)
    probs[:, 1] = 0
    probs /= probs.sum(1, keepdims=True)
    labels = measures.draw_labels(probs, 40_000, np.random.default_rng(1))
    assert labels.shape == (2, 40_000)
    for row, wanted in zip(labels, probs, strict=True):
        shares = np.bincount(row, minlength=n_labels) / 40_000
        assert (np.abs(shares - wanted) <= STANDARD_ERRORS * np.sqrt(wanted * (1 - wanted) / 40_000)).all()
    assert not (labels == 1).any()


def test_blocks_of_items_add_up(monkeypatch):
    probs = np.random.default_rng(0).dirichlet(np.ones(3), 17)
    monkeypatch.setattr(measures, "CELLS", 50)
    found = measures.sampled_measures(probs, probs[None], 10, 0, respond=True)
    assert not np.isnan(found.values[0, 0])


def test_summary_goes_over_the_draws_that_are_defined():
    values = np.array([[[1.0, np.nan]], [[3.0, np.nan]], [[np.nan, np.nan]]])
    found = summarise(values, np.isnan(values).astype(float))
    np.testing.assert_allclose(found.values, [[2, np.nan]])
    np.testing.assert_allclose(found.sd, [[np.sqrt(2), np.nan]])
    np.testing.assert_allclose(found.undefined, [[1 / 3, 1]])
    np.testing.assert_allclose(found.low, [[1.05, np.nan]])


@pytest.mark.parametrize("seed", [-1, 0.5, "x", None])
def test_a_seed_that_is_none_is_an_error(seed):
    with pytest.raises(pt.InputError, match="seed"):
        pt.expected_confusion(
            pt.Predictions.from_probs({"a": [[0.5, 0.5]]}), pt.Truth.from_probs([[1, 0]]), method="draws", seed=seed
        )


@pytest.mark.parametrize("draws", [1, 2.5, "many"])
def test_too_few_draws_are_an_error(draws):
    with pytest.raises(pt.InputError, match="expected an integer of at least 2"):
        pt.expected_confusion(
            pt.Predictions.from_probs({"a": [[0.5, 0.5]]}), pt.Truth.from_probs([[1, 0]]), draws=draws
        )
