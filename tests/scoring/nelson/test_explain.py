import numpy as np
import pytest

import probtruth as pt

THREE_DIGITS = 5e-4


@pytest.mark.parametrize(
    ("power", "best"),
    [
        # Lagrange's condition worked out by hand at a truth of .7: t^(1/(1-m)), normalised
        (-2 / 3, 0.624),
        (-1, 0.604),  # perplexity of one item
        (-1 / 10, 0.684),  # perplexity of ten items
        (1 / 10, 0.719),  # inverse perplexity of ten items
        (0, 0.7),
        (1, 1),
        (3, 1),
        (float("-inf"), 0.5),
    ],
)
def test_rewarded_report(power, best):
    told = pt.nelson.explain_metric(power)
    assert abs(told.report([0.7, 0.3])[0] - best) < THREE_DIGITS
    assert told.proper == (power == 0)
    assert ("improper" in str(told)) or power in (0, float("-inf"))


@pytest.mark.parametrize("power", [-3.0, -2 / 3, -0.1, 0.1, 0.5, 1.0, 2.0])
def test_the_search_finds_the_same_report(power):
    def loss(probs, truth):
        return -np.sign(power) * (truth * probs**power).sum(-1)

    truth = np.array([0.7, 0.3])
    np.testing.assert_allclose(
        pt.rules.best_report(loss, truth), pt.nelson.explain_metric(power).report(truth), atol=1e-5
    )


def test_names_and_zeros_and_ties():
    assert pt.nelson.explain_metric("robustness").power == -2 / 3
    np.testing.assert_allclose(pt.nelson.explain_metric(-1).report([0.5, 0.5, 0]), [0.5, 0.5, 0])
    np.testing.assert_allclose(pt.nelson.explain_metric(1).report([0.4, 0.4, 0.2]), [0.5, 0.5, 0])


@pytest.mark.parametrize("power", ["robust", None, float("nan"), True])
def test_errors(power):
    with pytest.raises(pt.InputError):
        pt.nelson.explain_metric(power)
