"""The figure of a pair's differences item by item, beside replicated ones."""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from probtruth import check
from probtruth.comparison.posterior.predictive_check import replicated
from probtruth.errors import InputError
from probtruth.line.analysis.replicates import ReplicatedDifferences
from probtruth.report.plots.axes import BLUE, INK, RED, panel, text
from probtruth.report.words.numbers import MINUS, short_names
from probtruth.report.words.sentences import measure, unit
from probtruth.types import Scores

BINS = 41
WIDE = 4.0
"""Standard deviations on either side that are drawn; what lies beyond is counted in words."""


@check.checks_itself
def plot_differences(scores: Scores, a: str, b: str, *, seed: int = 0, ax: Axes | None = None) -> Axes:
    """Differences of two models on each item as a histogram, and those that the normal program replicates as a line.

    Arguments: `scores` is what `score` returned or `Scores.from_frame` made; `a` and `b` are names of models; `seed` is
    that of the replicated differences; `ax` are the axes to draw on.

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
    if not isinstance(scores, Scores):
        raise InputError(f"a {type(scores).__name__}", "Scores", "Pass on what score(...) returned.")
    first, second = (scores.models.index(check.one_of(name, scores.models, "model")) for name in (a, b))
    with np.errstate(invalid="ignore"):
        differences = (-1.0 if scores.higher_is_better else 1.0) * (scores.values[first] - scores.values[second])
    rows, again = replicated(differences, seed)
    if not rows:
        raise InputError(
            f"differences of {a} and {b} that are infinite, fewer than three or never vary",
            "finite differences that vary",
            "Choose other models, or score with a floor.",
        )
    return draw_differences(
        ReplicatedDifferences(str(a), str(b), scores.higher_is_better, differences, rows, again), scores.rule, ax
    )


def draw_differences(pair: ReplicatedDifferences, rule: str, ax: Axes | None = None) -> Axes:
    """The differences of a pair of models, beside the replicated ones."""
    ax = panel(ax, f"difference on an item ({unit(rule) or measure(rule)})", "share of items", height=310, left=62)
    low, high = _drawn(ax, pair.differences, pair.replicated)
    names = short_names((pair.a, pair.b))
    left, right = (pair.b, pair.a) if pair.higher_is_better else (pair.a, pair.b)
    for name, words, place, align in ((left, "← favours {}", low, "left"), (right, "favours {} →", high, "right")):
        text(ax, place, ax.get_ylim()[1], words.format(names[name]), align=align, shift=(0, 7))
    return ax


def _drawn(ax: Axes, real: Float[np.ndarray, " item"], again: Float[np.ndarray, " value"]) -> tuple[float, float]:
    """Bars, line and words; returns the ends of the axis."""
    centre, reach = float(real.mean()), WIDE * float(real.std(ddof=1))
    edges = np.linspace(centre - reach, centre + reach, BINS + 1)
    observed = np.histogram(real, edges)[0] / len(real)
    line = np.histogram(again, edges)[0] / len(again)
    middle = (edges[1:] + edges[:-1]) / 2
    ax.bar(middle, observed, 0.86 * (edges[1] - edges[0]), color=BLUE, linewidth=0)
    ax.plot(middle, line, color=RED, linewidth=2)
    top = 1.18 * max(observed.max(), line.max())
    ax.axvline(centre, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    text(ax, centre, top, f"mean {centre:+.3g}".replace("-", MINUS), shift=(6, -14))
    at = int(np.argmin(np.abs(middle - centre - 0.2 * reach)))
    text(ax, middle[at], line[at], "replicated", RED, shift=(8, 8))
    tallest = int(observed.argmax())
    side = "right" if middle[tallest] <= centre else "left"
    text(ax, middle[tallest], observed[tallest], "observed", BLUE, side, shift=(-12 if side == "right" else 12, -4))
    for beyond, place, align in ((real < edges[0], 0.0, "left"), (real > edges[-1], 1.0, "right")):
        if n := int(beyond.sum()):
            words = f"← {n:,} beyond" if place == 0 else f"{n:,} beyond →"
            where = edges[0] if place == 0 else edges[-1]
            text(ax, float(where), 0.14 * top, words, align=align)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, top)
    return float(edges[0]), float(edges[-1])
