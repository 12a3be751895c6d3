"""The figure of two models' differences on single items."""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from scipy.special import stdtr

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.numbers import MINUS, short_names
from probtruth.report.plots.axes import BLUE, DASHES, INK, RED, panel, text
from probtruth.report.words import measure, unit
from probtruth.types import Scores

BINS = 41
WIDE = 4.0  # Standard deviations on either side that are drawn; items beyond are counted in words


def plot_differences(scores: Scores, a: str, b: str, *, ax: Axes | None = None) -> Axes:
    """Differences of two models on each item as a histogram, and those that a normal population predicts as a line.

    Formula: the line is the predictive distribution of one more difference, t with n - 1 degrees of freedom around the
    mean with scale s sqrt(1 + 1/n).

    Arguments: `scores` is what `score` returned or `Scores.from_frame` made; `a` and `b` are names of models.

    Returns: the axes; differences are a minus b of the scores as they were given. The mean is marked; items beyond four
    standard deviations are counted at the edge.

    Errors: `InputError` for unknown models, and for differences that are infinite or never vary.

    >>> import numpy as np
    >>> import probtruth as pt
    >>> loss = np.random.default_rng(0).gamma(2.0, 0.5, 40)
    >>> rows = {"item": [*range(40)] * 2, "model": ["a"] * 40 + ["b"] * 40, "score": [*loss, *loss[::-1] + 0.1]}
    >>> pt.figures.plot_differences(pt.Scores.from_frame(rows, higher_is_better=False), "a", "b").get_ylabel()
    'share of items'
    """
    scores = check.instance(scores, Scores, "score")
    first, second = (scores.models.index(check.one_of(name, scores.models, "model")) for name in (a, b))
    if not can_differ(scores, a, b):
        raise InputError(
            f"differences of {a} and {b} that are infinite, fewer than three or never vary",
            "finite differences that vary",
            "Choose other models, or score with a floor.",
        )
    differences = scores.values[first] - scores.values[second]
    ax = panel(ax, f"difference on an item ({unit(scores.rule) or measure(scores.rule)})", "share of items", height=310)
    low, high = _drawn(ax, differences)
    names = short_names((str(a), str(b)))
    left, right = (b, a) if scores.higher_is_better else (a, b)
    for name, words, x, align in ((left, "← favours {}", low, "left"), (right, "favours {} →", high, "right")):
        text(ax, x, ax.get_ylim()[1], words.format(names[str(name)]), align=align, shift=(0, 7))
    return ax


def can_differ(scores: Scores, a: str, b: str) -> bool:
    """Whether the differences of two models are finite and vary."""
    with np.errstate(invalid="ignore"):
        differences = scores.values[scores.models.index(a)] - scores.values[scores.models.index(b)]
    return len(differences) > 2 and bool(np.isfinite(differences).all()) and bool(np.ptp(differences) > 0)


def _drawn(ax: Axes, real: Float[np.ndarray, " item"]) -> tuple[float, float]:
    """Bars, line and words; returns the ends of the axis."""
    n, centre, spread = len(real), float(real.mean()), float(real.std(ddof=1))
    edges = np.linspace(centre - WIDE * spread, centre + WIDE * spread, BINS + 1)
    observed = np.histogram(real, edges)[0] / n
    expected = np.diff(stdtr(n - 1, (edges - centre) / (spread * np.sqrt(1 + 1 / n))))
    middle = (edges[1:] + edges[:-1]) / 2
    ax.bar(middle, observed, 0.86 * (edges[1] - edges[0]), color=BLUE, linewidth=0)
    ax.plot(middle, expected, color=RED, linewidth=2)
    top = 1.18 * float(max(observed.max(), expected.max()))
    ax.axvline(centre, color=INK, linewidth=1, linestyle=DASHES)
    text(ax, centre, top, f"mean {centre:+.3g}".replace("-", MINUS), shift=(6, -14))
    at = int(np.argmin(np.abs(middle - centre - 0.2 * WIDE * spread)))
    text(ax, middle[at], expected[at], "normal", RED, shift=(8, 8))
    tallest = int(observed.argmax())
    side, shift = ("right", -12) if middle[tallest] <= centre else ("left", 12)
    text(ax, middle[tallest], observed[tallest], "observed", BLUE, side, shift=(shift, -4))
    if below := int((real < edges[0]).sum()):
        text(ax, float(edges[0]), 0.14 * top, f"← {below:,} beyond")
    if above := int((real > edges[-1]).sum()):
        text(ax, float(edges[-1]), 0.14 * top, f"{above:,} beyond →", align="right")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, top)
    return float(edges[0]), float(edges[-1])
