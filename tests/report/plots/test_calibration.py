"""What is drawn is what was given."""

import numpy as np
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
    "plot_murphy": lambda **kw: pt.figures.plot_murphy(pt.calibration.murphy_diagram(PRED, TRUTH), **kw),
    "plot_decomposition": lambda **kw: pt.figures.plot_decomposition(
        pt.calibration.calibration_decomposition(PRED, TRUTH), **kw
    ),
}


def words(ax):
    return [entry.get_text() for entry in ax.texts]


@pytest.mark.parametrize("name", CALLS)
def test_axes_given_are_the_axes_returned_and_named(name):
    ax = Figure().subplots()
    assert CALLS[name](ax=ax) is ax
    assert ax.get_xlabel()
    assert ax.get_ylabel()


def test_reliability_and_murphy_draw_their_tables():
    curve = pt.calibration.reliability_curve(PRED, TRUTH, method="quantile", n_bins=2)
    drawn = pt.figures.plot_reliability(curve, models=["a"]).lines[1]
    rows = curve.filter(model="a", label="1")
    assert drawn.get_ydata().tolist() == rows["observed"].to_list()
    diagram = pt.calibration.murphy_diagram(PRED, TRUTH)
    lines = pt.figures.plot_murphy(diagram).lines
    assert lines[1].get_ydata().tolist() == diagram.filter(model="b", label="1")["expected"].to_list()


def test_decomposition_lines_join_equal_scores():
    table = pt.calibration.calibration_decomposition(PRED, TRUTH, rule="brier", by="joint")
    ax = pt.figures.plot_decomposition(table)
    lines = [line.get_xydata() for line in ax.lines if line.get_marker() != "o"]
    slopes = [(end[1] - start[1]) / (end[0] - start[0]) for start, end in lines]
    np.testing.assert_allclose(slopes, 1, rtol=1e-6)  # of differences of numbers near 1
    assert lines


def test_an_infinite_score_is_named():
    sure = pt.Predictions.from_probs({"sure": [[1, 0], [0, 1]], "b": [[0.6, 0.4], [0.5, 0.5]]})
    truth = pt.Truth.from_labels([1, 1], n_labels=2)
    ax = pt.figures.plot_decomposition(pt.calibration.calibration_decomposition(sure, truth, by="joint"))
    assert any("infinite: 'sure'" in entry for entry in words(ax))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pt.figures.plot_reliability(pt.calibration.murphy_diagram(PRED, TRUTH)), "reliability_curve"),
        (lambda: pt.figures.plot_murphy(pt.calibration.murphy_diagram(PRED, TRUTH), label="x"), "label 'x'"),
        (lambda: pt.figures.plot_decomposition(None), "calibration_decomposition"),
    ],
)
def test_errors(call, message):
    with pytest.raises(pt.InputError, match=message):
        call()
