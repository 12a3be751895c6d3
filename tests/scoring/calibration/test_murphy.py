import numpy as np
import pytest
from calibration_cases import FORECAST, HARD, SOFT, WEIGHTS, two_labels
from scipy.integrate import trapezoid

import probtruth as pt
from probtruth.scoring.calibration.reliability import elementary_score

PASTED = 1e-12


def test_agrees_with_model_diagnostics_on_hard_labels():
    # model-diagnostics 1.5.0: ElementaryScore(eta, functional="mean")(y, p, weights=w) for eta .1 .35 .5 .81
    score = elementary_score(FORECAST, HARD, np.array([0.1, 0.35, 0.5, 0.81]), WEIGHTS / WEIGHTS.sum())
    np.testing.assert_allclose(
        score, [0.06333333333333334, 0.12285714285714285, 0.12380952380952381, 0.08123809523809522], rtol=PASTED
    )


@pytest.mark.parametrize("outcomes", [HARD, SOFT], ids=["hard", "soft"])
def test_integrals_over_the_threshold_are_the_scores(outcomes):
    predictions, truth = two_labels(outcomes)
    middle = (np.arange(20_000) + 0.5) / 20_000
    curve = pt.calibration.murphy_diagram(predictions, truth, thresholds=middle).filter(label="1")
    for part in ("expected", "entropy"):
        brier = 4 * curve[part].mean()
        log = (curve[part].to_numpy() / (middle * (1 - middle))).mean()
        for rule, integral in (("brier", brier), ("log", log)):
            mean = pt.decompose(predictions, truth, rule=rule)[part][0]
            np.testing.assert_allclose(integral, mean, rtol=1e-3, atol=1e-6)  # midpoint rule across jumps


def test_divergence_is_not_negative_and_zero_for_the_truth():
    predictions, truth = two_labels(SOFT)
    curve = pt.calibration.murphy_diagram(predictions, truth)
    assert (curve["divergence"] >= 0).all()
    honest = pt.Predictions.from_probs({"a": truth.probs})
    np.testing.assert_allclose(pt.calibration.murphy_diagram(honest, truth)["divergence"].to_numpy(), 0, atol=1e-15)
    grid = curve.filter(label="1")
    assert trapezoid(grid["expected"], grid["threshold"]) > 0


def test_errors():
    predictions, truth = two_labels(SOFT)
    with pytest.raises(pt.InputError, match="thresholds outside 0 to 1"):
        pt.calibration.murphy_diagram(predictions, truth, thresholds=[0.5, 1.5])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_forecast_of_exactly_the_threshold_is_not_above_it(kind):
    """Forecasts in hundredths against thresholds in hundredths, by the formula in integers."""
    written, came = np.arange(101), np.arange(101) % 2
    probs = (np.stack([100 - written, written], 1) / 100).astype(kind)
    curve = pt.calibration.murphy_diagram(pt.Predictions.from_probs({"a": probs}), pt.Truth.from_labels(came, 2))
    expected = [np.where(written <= u, came * (100 - u), (1 - came) * u).mean() / 100 for u in range(101)]
    np.testing.assert_allclose(curve.filter(label="1")["expected"], expected, rtol=PASTED)
