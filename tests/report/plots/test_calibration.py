"""What is drawn is what was given."""

import pytest
from matplotlib.figure import Figure

import probtruth as pt

TRUTH = pt.Truth.from_probs([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7], [0.5, 0.5]])
PRED = pt.Predictions.from_probs(
    {
        "a": [[0.95, 0.05], [0.7, 0.3], [0.1, 0.9], [0.2, 0.8], [0.6, 0.4]],
        "b": [[0.6, 0.4], [0.5, 0.5], [0.4, 0.6], [0.45, 0.55], [0.5, 0.5]],
    }
)
CALLS = {
    "plot_reliability": lambda **kw: pt.figures.plot_reliability(pt.calibration.reliability_curve(PRED, TRUTH), **kw),
}


def words(ax):
    return [entry.get_text() for entry in ax.texts]


@pytest.mark.parametrize("name", CALLS)
def test_axes_given_are_the_axes_returned_and_named(name):
    ax = Figure().subplots()
    assert CALLS[name](ax=ax) is ax
    assert ax.get_xlabel()
    assert ax.get_ylabel()


def test_reliability_draws_its_table():
    curve = pt.calibration.reliability_curve(PRED, TRUTH, method="quantile", n_bins=2)
    drawn = pt.figures.plot_reliability(curve, models=["a"]).lines[1]
    rows = curve.filter(model="a", label="1")
    assert drawn.get_ydata().tolist() == rows["observed"].to_list()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pt.figures.plot_reliability(pt.calibration.murphy_diagram(PRED, TRUTH)), "reliability_curve"),
    ],
)
def test_errors(call, message):
    with pytest.raises(pt.InputError, match=message):
        call()
