"""What is drawn is what was given, on the reader's own axes if wanted."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from probtruth.report.plots import axes as figures
from probtruth.report.plots import comparison, rules

PAIR = {"a": "a", "b": "b", "difference": -0.2, "low": -0.3, "high": -0.1}


def contrast(colour: str, background: str) -> float:
    """Contrast ratio of WCAG 2.2 (relative luminance)."""

    def luminance(code: str) -> float:
        parts = [int(code[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    light, dark = sorted((luminance(colour), luminance(background)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("background", ["#ffffff", "#111418"])
def test_colours_stand_out_on_light_and_dark(background):
    for colour in (figures.INK, figures.BLUE, figures.RED):
        assert contrast(colour, background) >= 3  # WCAG 2.2, criterion 1.4.11: graphics need 3 to 1
    assert contrast(figures.INK, background) >= 4.2


def test_axes_given_are_the_axes_returned():
    figure = Figure()
    axes = figure.subplots(2, 2).ravel()
    assert comparison.forest([PAIR], ax=axes[0]) is axes[0]
    row = {"model": "a", "advantage": 0.0, "low": None, "high": None, "p_best": 1.0}
    assert comparison.behind_leader([row], ax=axes[1]) is axes[1]
    assert comparison.rank_probabilities(["a", "b"], np.eye(2), ax=axes[2]) is axes[2]
    assert rules.loss_curve(ax=axes[3]) is axes[3]


def test_forest_draws_each_interval_in_its_row():
    ax = comparison.forest([PAIR, {**PAIR, "difference": 0.05, "low": -0.1, "high": 0.2}], rope=0.01, unit="nats")
    intervals = [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_xdata()[0] != 0]
    assert [tuple(line.get_xdata()) for line in intervals] == [(-0.3, -0.1), (-0.1, 0.2)]
    assert [line.get_ydata()[0] for line in intervals] == [0, 1]
    assert [line.get_color() for line in intervals] == [figures.BLUE, figures.INK]  # the second reaches 0
    assert ax.get_xlabel() == "nats"
    assert ax.yaxis_inverted()


@pytest.mark.parametrize(
    ("difference", "text"),
    [(float("inf"), "∞"), (-float("inf"), "−∞"), (None, "not known"), (float("nan"), "not known")],
)
def test_what_cannot_be_placed_is_written(difference, text):
    ax = comparison.forest([{**PAIR, "difference": difference, "low": None, "high": None}])
    assert text in [entry.get_text() for entry in ax.texts]


def test_names_are_not_mathematics():
    ax = comparison.forest([{**PAIR, "a": "$x^2$", "b": "_y_"}])
    texts = {entry.get_text(): entry for entry in ax.texts}
    assert not texts["$x^2$"].get_parse_math()
    assert "_y_" in texts


def test_rank_bars_have_the_height_of_their_probability():
    table = np.array([[0.75, 0.25, 0.0], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]])
    ax = comparison.rank_probabilities(["a", "b", "c"], table)
    heights = [-bar.get_height() for bar in ax.patches]
    assert np.array(heights) / heights[0] == pytest.approx(table[table > 0] / table[0, 0])
    assert [entry.get_text() for entry in ax.texts].count("0.25") == 4


def test_loss_curve_is_least_at_the_label():
    """Minima by hand: H(0.7) = -0.7 ln 0.7 - 0.3 ln 0.3 = 0.6108643; Brier 2 (0.7)(0.3) = 0.42."""
    ax = rules.loss_curve(0.7)
    curves = [line for line in ax.lines if len(line.get_xdata()) > 2]
    for line, least in zip(curves, (0.6108643, 0.42), strict=True):
        place = int(np.argmin(line.get_ydata()))
        step = float(np.diff(line.get_xdata())[0])
        assert line.get_xdata()[place] == pytest.approx(0.7, abs=step)
        assert line.get_ydata()[place] == pytest.approx(least, rel=1e-5)  # second order in the step of the grid
    dashed = next(line for line in ax.lines if line.get_linestyle() == "--")
    assert dashed.get_xdata()[0] == 0.7
    assert {"0.611", "0.420"} <= {entry.get_text() for entry in ax.texts}


@pytest.mark.process
def test_pyplot_is_never_loaded():
    import subprocess
    import sys

    code = "import sys; import probtruth.report.formats.html; sys.exit('matplotlib.pyplot' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_notebook_shows_a_figure_that_pyplot_does_not_know():
    # what IPython asks a value of a cell for; without it the cell showed only `<Axes: ...>`
    ax = rules.plot_rule("log")
    for shown in (ax, ax.figure):
        assert shown._repr_png_().startswith(b"\x89PNG")
    own = Figure().subplots()
    assert not hasattr(rules.plot_rule("log", ax=own), "_repr_png_")
