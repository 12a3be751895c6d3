"""The points are the bins; the words say the numbers."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import probtruth as pt
from probtruth.report.formats.terminal_study import validation_words

LOSS = np.random.default_rng(0).normal([0.5, 0.55], 0.3, (60, 2))
ROWS = {"item": [*range(60)] * 2, "model": ["x"] * 60 + ["y"] * 60, "score": LOSS.T.ravel()}
SCORES = pt.Scores.from_frame(ROWS, higher_is_better=False)


@pytest.fixture(scope="module")
def validation():
    return pt.validate(SCORES, replications=120)


def test_points(validation):
    ax = Figure().subplots()
    assert pt.figures.plot_validation(validation, ax=ax) is ax
    points = next(line for line in ax.lines if len(line.get_xdata()) == len(validation.bins))
    np.testing.assert_array_equal(points.get_xdata(), validation.curve()["p_a_better"].to_numpy())
    np.testing.assert_array_equal(points.get_ydata(), validation.curve()["a_was_better"].to_numpy())
    assert "95% holds" in ax.texts[0].get_text()


def test_words(validation):
    words = validation_words(validation)
    assert f"{validation.rows[3]['coverage']:.3f}" in words
    assert f"{validation.calibration['error']:.3f}" in words


def test_errors():
    with pytest.raises(pt.InputError, match="a Validation"):
        pt.figures.plot_validation(SCORES)
