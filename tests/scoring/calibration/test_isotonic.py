import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from probtruth.scoring.calibration.events import Isotone

ROUNDING = 1e-12


@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**31))
def test_agrees_with_scikit_learn(weighted, seed):
    rng = np.random.default_rng(seed)
    forecasts = np.round(rng.random(50), 1)  # many ties
    outcomes, weights = rng.random(50), rng.uniform(0.1, 2, 50) if weighted else np.ones(50)
    order = Isotone.of(forecasts)
    fitted = order.fit(outcomes, weights)[order.point_of]
    theirs = IsotonicRegression().fit(forecasts, outcomes, sample_weight=weights).predict(forecasts)
    np.testing.assert_allclose(fitted, theirs, rtol=ROUNDING, atol=ROUNDING)


def test_pools_equal_forecasts_first():
    # .9 0 at the same forecast count as .45, so that nothing has to be pooled with the .4 before
    order = Isotone.of(np.array([0.1, 0.2, 0.2]))
    np.testing.assert_allclose(order.fit(np.array([0.4, 0.9, 0.0]), np.ones(3)), [0.4, 0.45], rtol=ROUNDING)


def test_points_without_weight_lie_between_their_neighbours():
    order = Isotone.of(np.array([0.0, 0.5, 1.0]))
    fitted = order.fit(np.array([0.2, 0.9, 0.4]), np.array([1.0, 0.0, 1.0]))
    np.testing.assert_allclose(fitted, [0.2, 0.3, 0.4], rtol=ROUNDING)
