"""probtruth/report/plots: what is drawn is what was given, on the reader's own axes if wanted."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import probtruth as pt
from probtruth.report.plots import axes as style

SAME = 1e-9  # Rounding of float64 in a few operations

TRUTH = pt.Truth.from_probs([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7], [0.5, 0.5]])
PRED = pt.Predictions.from_probs(
    {
        "a": [[0.95, 0.05], [0.7, 0.3], [0.1, 0.9], [0.2, 0.8], [0.6, 0.4]],
        "b": [[0.6, 0.4], [0.5, 0.5], [0.4, 0.6], [0.45, 0.55], [0.5, 0.5]],
    }
)
CURVE = pt.calibration.reliability_curve(PRED, TRUTH)
RISK = pt.nelson.risk_profile(PRED, TRUTH, source="truth")
CALLS = {
    "plot_rules": lambda **kw: pt.figures.plot_rules(**kw),
    "plot_nelson": lambda **kw: pt.figures.plot_nelson(RISK, model="a", **kw),
    "plot_reliability": lambda **kw: pt.figures.plot_reliability(CURVE, **kw),
    "plot_curves": lambda **kw: pt.figures.plot_curves(pt.confusion.roc_curves(PRED, TRUTH), **kw),
    "plot_divergence": lambda **kw: pt.figures.plot_divergence(RISK, model="a", **kw),
}


def words(ax):
    return [entry.get_text() for entry in ax.texts]


def luminance(colour):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


@pytest.mark.parametrize("background", ["#ffffff", "#111418"])
def test_colours_stand_out_on_light_and_dark(background):
    for colour in style.COLOURS:
        light, dark = sorted((luminance(colour), luminance(background)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3  # WCAG 2.2, criterion 1.4.11: graphics need 3 to 1


@pytest.mark.parametrize("name", CALLS)
def test_axes_given_are_the_axes_returned_and_named(name):
    ax = Figure().subplots()
    assert CALLS[name](ax=ax) is ax
    assert ax.get_xlabel()
    assert ax.get_ylabel()


def test_log_loss_for_a_label_of_seven_tenths():
    # B. Carpenter's post draws it with R's curve(); minimum H(.7) = -.7 ln .7 - .3 ln .3 = .6109 at .7
    ax = pt.figures.plot_rules("log", y=0.7)
    curve, dashed, least = ax.lines
    assert dashed.get_xdata()[0] == pytest.approx(0.7, rel=SAME)
    assert float(curve.get_ydata().min()) == pytest.approx(0.6108643020548935, rel=SAME)
    assert (least.get_xdata()[0], words(ax)) == (0.7, ["least 0.611 at 0.70"])


@pytest.mark.parametrize(
    "rule",
    [
        *pt.rules.RULES.values(),
        pytest.param(pt.rules.power(3), marks=pytest.mark.long),
        pytest.param(pt.rules.beta(0.5, 1), marks=pytest.mark.long),
    ],
)
def test_the_least_loss_of_a_proper_rule_is_the_entropy(rule):
    ax = pt.figures.plot_rules(rule, y=0.7)
    least = float(ax.lines[2].get_ydata()[0])
    with np.errstate(all="ignore"):
        entropy = float(rule.entropy(np.array([0.3, 0.7])))
    assert least == pytest.approx(entropy, rel=1e-6)  # the entropy is computed in float32 here
    if rule.strictly_proper:
        assert ax.lines[2].get_xdata()[0] == 0.7


def test_log_and_brier_agree_at_one_half():
    # D. S. Rosenberg's slides: the factor is 4 ln 2 for (1 - p)^2, so 2 ln 2 for the sum over both labels
    log, brier = pt.figures.plot_rules(match_at=0.5).lines[:2]
    x = log.get_xdata()
    half = int(np.searchsorted(x, 0.5))
    assert log.get_ydata()[half] == pytest.approx(brier.get_ydata()[half], rel=SAME)
    inner = (x > 0) & (x < 1)
    np.testing.assert_allclose(brier.get_ydata()[inner], 4 * np.log(2) * (1 - x[inner]) ** 2, rtol=1e-6)


def test_zoom_near_certainty():
    # the same slides: .01005 and .00100 (log), 2.77e-4 and 2.77e-6 (Brier) at .99 and .999
    ax = pt.figures.plot_rules(match_at=0.5, zoom=(0.9, 1.0))
    values = [np.interp([0.99, 0.999], line.get_xdata(), line.get_ydata()) for line in ax.lines]
    np.testing.assert_allclose(values[0], [0.01005, 0.0010005], rtol=1e-3)
    np.testing.assert_allclose(values[1], [2.7726e-4, 2.7726e-6], rtol=1e-3)
    assert ax.get_xlim() == (0.9, 1.0)


def test_nelson_marks_bubbles_and_angle():
    ax = pt.figures.plot_nelson(RISK, model="a")
    marks = {line.get_marker(): line for line in ax.lines if line.get_markersize() == 8}
    assert marks["o"].get_xydata()[0].tolist() == [RISK.source[0, RISK.powers.index(0.0)], RISK.accuracy[0]]
    assert f"angle {RISK.angle[0]:.0f}°" in words(ax)
    drawn = np.concatenate([group.get_sizes() for group in ax.collections])
    wanted = np.array([row["n_true"] for row in RISK.bins if row["model"] == "a" and row["n_true"] > 0])
    np.testing.assert_allclose(drawn / drawn.max(), wanted / wanted.max(), rtol=SAME)


def test_reliability_draws_its_table():
    drawn = pt.figures.plot_reliability(CURVE, models=["a"]).lines[1]
    assert drawn.get_ydata().tolist() == CURVE.filter(model="a", label="1")["observed"].to_list()


@pytest.mark.parametrize("make", [pt.confusion.roc_curves, pt.confusion.precision_recall_curves])
def test_curves_and_their_areas(make):
    curves = make(PRED, TRUTH)
    ax = pt.figures.plot_curves(curves, models=["b"])
    implied, actual = [line for line in ax.lines if len(line.get_xdata()) > 2]
    np.testing.assert_array_equal(actual.get_ydata(), curves.of("b").y)
    np.testing.assert_array_equal(implied.get_ydata(), curves.of("b", implied=True).y)
    assert f"b {curves.of('b').area:.3f}" in words(ax)[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pt.figures.plot_rules("lgo"), "rule 'lgo'"),
        (lambda: pt.figures.plot_rules(y=1.2), "truth"),
        (lambda: pt.figures.plot_rules(match_at=1.0), "match_at 1.0"),
        (lambda: pt.figures.plot_rules(match_at=1.5), "match_at 1.5"),
        (lambda: pt.figures.plot_rules(zoom=(1.0, 0.5)), "the lower first"),
        (lambda: pt.figures.plot_rules(["log"] * 5), "5 rules"),
        (lambda: pt.figures.plot_reliability(pt.decompose(PRED, TRUTH)), "reliability_curve"),
        (lambda: pt.figures.plot_nelson(RISK), "model 'None'"),
        (lambda: pt.figures.plot_nelson(PRED, "a"), "a RiskProfile"),
        (lambda: pt.figures.plot_curves(RISK), "expected Curves. Hint: Pass on what roc_curves"),
    ],
)
def test_errors(call, message):
    with pytest.raises(pt.InputError, match=message.replace("(", r"\(").replace(".", r"\.")):
        call()


def test_divergence_is_the_line_prolonged():
    ax = pt.figures.plot_divergence(RISK, model="b")
    at = RISK.powers.index(0.0)
    end = ax.lines[1].get_xydata()[1]
    assert end.tolist() == [1.0, RISK.divergence[1, at]]
    assert end[1] * RISK.source[1, at] == pytest.approx(RISK.model[1, at], rel=SAME)
