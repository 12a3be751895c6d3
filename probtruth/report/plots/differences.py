"""The figure of two models' differences on single items."""

import numpy as np
from matplotlib.axes import Axes
from scipy.special import stdtr

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.shapes import ItemFloats
from probtruth.report.names import short_names
from probtruth.report.numbers import MINUS
from probtruth.report.plots.axes import BLUE, DASHES, INK, RED, SIZE, panel, text
from probtruth.report.words import measure, unit
from probtruth.types import Scores

BINS = 41
REACH = 4.0  # Standard deviations on either side that are drawn


def plot_differences(scores: Scores, a: str, b: str, *, ax: Axes | None = None) -> Axes:
    """Differences of two models on each item as a histogram, and those that a normal population predicts as a line.

    Formula: the line is the predictive distribution of one more difference, t with n - 1 degrees of freedom around the
    mean with scale s sqrt(1 + 1/n).

    Arguments:
        scores: what `score` returned or `Scores.from_frame` made.
        a, b: names of models.
        ax: the axes to draw on; new ones by default.

    Returns: the axes; differences are a minus b of the scores as they were given. The mean is marked; items beyond four
    standard deviations count in the bins at the edges.

    Errors: `InputError` for unknown models, and for differences that are infinite or never vary.

    >>> import numpy as np
    >>> import probtruth as pt
    >>> loss = np.random.default_rng(0).gamma(2.0, 0.5, 40)
    >>> rows = {"item": [*range(40)] * 2, "model": ["a"] * 40 + ["b"] * 40, "score": [*loss, *loss[::-1] + 0.1]}
    >>> pt.figures.plot_differences(pt.Scores.from_frame(rows, higher_is_better=False), "a", "b").get_ylabel()
    'share of items'
    """
    scores = check.instance(scores, Scores, "score")
    a = check.one_of(a, scores.models, "model")
    b = check.one_of(b, scores.models, "model")
    if not can_differ(scores, a, b):
        raise InputError(
            f"differences of {a} and {b} that are infinite, fewer than three or never vary",
            "finite differences that vary",
            "Choose other models, or score with a floor.",
        )
    difference = _differences(scores, a, b)
    n, centre, spread = len(difference), float(difference.mean()), float(difference.std(ddof=1))
    low, high = centre - REACH * spread, centre + REACH * spread
    edges = np.linspace(low, high, BINS + 1)
    observed = np.histogram(np.clip(difference, low, high), edges)[0] / n
    scale = spread * np.sqrt(1 + 1 / n)
    expected = np.diff(stdtr(n - 1, (edges - centre) / scale))
    middle = (edges[1:] + edges[:-1]) / 2
    top = 1.18 * float(max(observed.max(), expected.max()))
    units = unit(scores.rule) or measure(scores.rule)
    ax = panel(ax, f"difference on an item ({units})", "share of items", height=310)
    ax.bar(
        middle,
        observed,
        0.86 * (edges[1] - edges[0]),
        color=BLUE,
        linewidth=0,
        label="observed",
    )
    ax.plot(middle, expected, color=RED, linewidth=2, label="normal")
    ax.legend(frameon=False, labelcolor=INK, fontsize=SIZE - 1)
    ax.axvline(centre, color=INK, linewidth=1, linestyle=DASHES)
    ax.set_xlim(low, high)
    ax.set_ylim(0, top)
    text(
        ax,
        centre,
        top,
        f"mean {centre:+.3g}".replace("-", MINUS),
        shift=(6, -14),
    )
    names = short_names((a, b), 18)  # both stand above the axes, side by side
    left, right = (b, a) if scores.higher_is_better else (a, b)
    text(
        ax,
        low,
        top,
        f"← favours {names[left]}",
        shift=(0, 7),
    )
    text(
        ax,
        high,
        top,
        f"favours {names[right]} →",
        align="right",
        shift=(0, 7),
    )
    return ax


def _differences(scores: Scores, a: str, b: str) -> ItemFloats:
    both = scores.values[[scores.models.index(a), scores.models.index(b)]]
    known = both[:, ~np.isnan(both).any(0)]
    with np.errstate(invalid="ignore"):
        return np.asarray(known[0] - known[1])


def can_differ(scores: Scores, a: str, b: str) -> bool:
    difference = _differences(scores, a, b)
    finite = len(difference) > 2 and np.isfinite(difference).all()
    return bool(finite and np.ptp(difference) > 0)
