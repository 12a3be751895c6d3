"""Figures of a comparison: differences of pairs, P(row beats column), ranks.

The figure of a pair's differences item by item, beside replicated ones.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from probtruth import check
from probtruth.check import as_float
from probtruth.errors import InputError
from probtruth.line.analysis.predictive_check import ReplicatedDifferences, replicated
from probtruth.report.plots import axes as figures
from probtruth.report.plots.axes import BLUE, DASHES, INK, RED, SIZE, panel, text
from probtruth.report.tables.models import rank_table
from probtruth.report.tables.pairs import chances_of_pairs
from probtruth.report.words.numbers import INFINITE, MINUS, probability, short_names, shown
from probtruth.report.words.sentences import mean_with_unit, measure, unit
from probtruth.types import Comparison, Scores
from probtruth.types.comparison import Row, leaders

MOST_PAIRS = 45
"""Pairs of a forest; of more, those among the best models are drawn."""
MOST_MODELS = 20
"""Models of a matrix or of ranks, the best first."""
LEAST_CHANCE = 0.001
"""Of a rank, to be drawn."""
MOST_NAMED = 6
"""Models whose names stand above their columns; of more, their numbers do."""
DEEPEST = 0.4
"""Opacity of a cell of probability 0 or 1: the number in it stays legible."""


@check.checks_itself
def plot_forest(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Differences of all pairs with 95 per cent intervals; an interval to the left of 0 favours the model named there.

    Arguments: `comparison` is what `compare` returned; `ax` are the axes to draw on.

    Returns: the axes, in units of the score; the ROPE is shaded. Of many models the best are drawn.

    Errors: `InputError` for anything but a comparison.

    >>> import probtruth as pt
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> comparison = pt.compare(pt.Scores.from_frame(frame, higher_is_better=False), engine="exact")
    >>> pt.figures.plot_forest(comparison).get_xlabel()
    'difference of mean score'
    """
    known = comparison_in(comparison)
    rows = best_pairs(known, MOST_PAIRS)[0]
    return forest(rows, known.rope, difference_title(known), ax, known.higher_is_better)


def best_pairs(comparison: Comparison, most: int) -> tuple[list[Row], int]:
    """All pairs or, where there are more than `most`, those among the best models; and the number of these models."""
    models = [str(row["model"]) for row in leaders(comparison.ranks)]
    while math.comb(len(models), 2) > most:
        models.pop()
    chosen = set(models)
    rows = [shown(comparison, row) for row in comparison.pairs if row["a"] in chosen and row["b"] in chosen]
    return rows, len(models)


def difference_title(comparison: Comparison) -> str:
    """The title of an axis of differences."""
    return f"difference of {mean_with_unit(comparison)}"


@check.checks_itself
def plot_matrix(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """P(row beats column) of all pairs, best model first: blue where the row is better, orange where the column is.

    Arguments: `comparison` is what `compare` returned; `ax` are the axes to draw on.

    Returns: the axes. Of many models the best 20 are drawn.

    Errors: `InputError` for anything but a comparison.

    >>> import probtruth as pt
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> ax = pt.figures.plot_matrix(pt.compare(pt.Scores.from_frame(frame, higher_is_better=False), engine="exact"))
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b', 'a', 'b', '0.96', '0.04']
    """
    known = comparison_in(comparison)
    order = [str(row["model"]) for row in known.ranks][:MOST_MODELS]
    better = chances_of_pairs(known)
    names = short_names(order, 18)
    numbered = len(order) > MOST_NAMED
    heads = [str(position) if numbered else names[name] for position, name in enumerate(order, 1)]
    ax = matrix_axes(ax, len(order), heads, numbered, 12 + figures.room_for(names) + 26 * numbered)
    for position, name in enumerate(order):
        if numbered:
            figures.beside(ax, -0.02, position, str(position + 1), "right")
        shift = (-34 if numbered else -8, 0)
        text(ax, 0, position, names[name], align="right", shift=shift, within=ax.get_yaxis_transform())
    for row_position, a in enumerate(order):
        for position, b in enumerate(order):
            p = as_float(better.get((a, b)))
            if p is not None:
                coloured_cell(ax, row_position, position, p)
            if a != b and len(order) <= 10:
                text(ax, position, row_position, probability(p), align="center", size=SIZE - (len(order) > 8) * 2)
    return ax


def matrix_axes(ax: Axes | None, rows: int, heads: Sequence[str], numbered: bool, left: figures.Number) -> Axes:
    """Axes for the cells of a matrix, with the heads above its columns: slanted where names have no room."""
    longest = 7.0 * max(map(len, heads))
    slanted = not numbered and longest * len(heads) > 250
    ax = ax or figures.panel_of_rows(
        rows, left=left, right=14 + (0.75 * longest if slanted else 0), top=16 + 0.62 * longest if slanted else 26,
        bottom=12,
    )  # fmt: skip
    turned: dict[str, Any] = {"rotation": 35, "ha": "left", "rotation_mode": "anchor"} if slanted else {"ha": "center"}
    for column, head in enumerate(heads):
        ax.text(column, -0.62, head, va="bottom", color=INK, size=SIZE, parse_math=False, **turned)
    ax.set_xlim(-0.5, len(heads) - 0.5)
    ax.set_ylim(rows - 0.5, -0.5)
    ax.set_axis_off()
    return ax


def coloured_cell(ax: Axes, row: int, column: int, p: float) -> None:
    """A cell in blue where p is above one half, else in orange: the deeper, the surer."""
    colour, depth = BLUE if p > 0.5 else RED, abs(2 * p - 1) * DEEPEST
    ax.bar(column, 1, 0.98, bottom=row - 0.5, color=colour, alpha=depth, linewidth=0)


@check.checks_itself
def plot_ranks(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """P(rank = r) of each model, best first, as a bar in the column of the rank.

    Arguments: `comparison` is what `compare` returned; `ax` are the axes to draw on.

    Returns: the axes. Of many models the best 20 are drawn.

    Errors: `InputError` for anything but a comparison, and for one without joint draws of the means.

    >>> import probtruth as pt
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> comparison = pt.compare(pt.Scores.from_frame(frame, higher_is_better=False), engine="exact")
    >>> pt.figures.plot_ranks(comparison).get_xlabel()
    'rank (1 is best)'
    """
    ranked = rank_table(comparison_in(comparison))
    if ranked is None:
        raise InputError(
            "a comparison without ranks", "one with joint draws of two or more finite means", "See its warnings."
        )
    models, table = ranked[0][:MOST_MODELS], np.asarray(ranked[1][:MOST_MODELS])
    return rank_probabilities(models, table, ax)


def behind_leader(
    rows: Sequence[Row], rope: figures.Number | None = None, unit: str = "", ax: Axes | None = None
) -> Axes:
    """How much worse each model is than the leading one, with 95 per cent intervals.

    Arguments: `rows`, best first, have `model`, `advantage` (of the leader, positive), `low`, `high` and `p_best`; the
    leader's own advantage is 0 and its interval None. `unit` is the title of the axis.
    """
    names = short_names(str(row["model"]) for row in rows)
    ax = ax or figures.panel_of_rows(len(rows), left=figures.room_for(names), right=66)
    words = [(names[str(row["model"])], probability(row["p_best"])) for row in rows]
    shown = [{**row, "difference": row["advantage"]} for row in rows]
    return intervals(ax, shown, words, ("", "P(best)"), unit, rope, (BLUE, RED))


def forest(
    pairs: Sequence[Row],
    rope: figures.Number | None = None,
    unit: str = "",
    ax: Axes | None = None,
    higher_is_better: bool = False,
) -> Axes:
    """Differences of pairs with 95 per cent intervals: an interval to the left of 0 favours the model named there.

    Arguments: `pairs` have `a`, `b`, `difference`, `low`, `high` (a minus b, negative favours a, or positive where
    `higher_is_better`); `rope` is shaded.
    """
    left, right = ("b", "a") if higher_is_better else ("a", "b")
    names = short_names(str(row[side]) for row in pairs for side in ("a", "b"))
    ax = ax or figures.panel_of_rows(len(pairs), left=figures.room_for(names, 10), right=figures.room_for(names, 10))
    words = [(names[str(row[left])], names[str(row[right])]) for row in pairs]
    return intervals(ax, pairs, words, ("← favours", "favours →"), unit, rope, (BLUE, BLUE), apart=0.04)


def rank_probabilities(
    models: Sequence[str], probability_of_rank: Float[np.ndarray, "model rank"], ax: Axes | None = None
) -> Axes:
    """P(rank = r) of each model as a bar in the column of the rank; the number stands above where there is room.

    Of many ranks, those after the last that any of these models may have are not drawn.
    """
    n_models, n_ranks = probability_of_rank.shape
    if n_ranks > MOST_MODELS:
        n_ranks = int(np.nonzero((probability_of_rank >= LEAST_CHANCE).any(0))[0].max(initial=0)) + 1
    names = short_names(models)
    roomy = n_ranks <= 7
    ax = ax or figures.panel_of_rows(
        n_models, left=figures.room_for(names), right=12, row=figures.ROW + 12 if roomy else figures.ROW
    )
    full = 0.62 if roomy else 0.85
    for position, model in enumerate(models):
        floor = position + 0.42
        ax.plot([0.5, n_ranks + 0.5], [floor, floor], color=INK, linewidth=0.6, alpha=0.5)
        for rank in range(n_ranks):
            p = float(probability_of_rank[position, rank])
            if p >= LEAST_CHANCE:
                ax.bar(rank + 1, -full * p, 0.7, bottom=floor, color=BLUE, linewidth=0)
            if roomy and p >= 0.005:
                text(ax, rank + 1, floor - full * p - 0.04, probability(p), INK, "center", "bottom", size=10)
        figures.beside(ax, -0.03, position + 0.1, names[model], "right")
    figures.finish(ax, n_models, "rank (1 is best)")
    ax.set_xlim(0.5, n_ranks + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(min(n_ranks, 12), integer=True, steps=[1, 2, 5, 10]))
    ax.tick_params(axis="x", length=0)
    ax.spines["bottom"].set_visible(False)
    ax.grid(visible=False)
    return ax


def comparison_in(value: object) -> Comparison:
    """The comparison, also of a result."""
    inner = getattr(value, "comparison", value)  # a Result is as good
    return check.instance(inner, Comparison, "compare")


def intervals(
    ax: Axes,
    rows: Sequence[Row],
    words: Sequence[tuple[str, str]],
    heads: tuple[str, str],
    title: str,
    rope: figures.Number | None,
    colours: tuple[str, str],
    apart: float = 0.03,
) -> Axes:
    """Differences with their intervals, one below the other, between words on either side; the ROPE is shaded.

    Arguments: `colours` are those of sure differences below and above 0; `apart` is how far the words are from the
    axes, in fractions of these.
    """
    if rope is not None and rope > 0:
        ax.axvspan(-rope, rope, color=INK, alpha=0.22, linewidth=0)
    ax.axvline(0, color=INK, linewidth=1)

    def beside(position: figures.Number, sides: tuple[str, str]) -> None:
        for x, align, side in zip((-apart, 1 + apart), ("right", "left"), sides, strict=True):
            if side:
                figures.beside(ax, x, position, side, align)

    for position, (row, sides) in enumerate(zip(rows, words, strict=True)):
        _interval(ax, position, row, colours)
        beside(position, sides)
    beside(-0.95, heads)
    figures.finish(ax, len(rows), title)
    return ax


def _interval(ax: Axes, position: int, row: Row, colours: tuple[str, str]) -> None:
    """A point and its interval; what is infinite is written at the edge it lies beyond."""
    centre, low, high = (as_float(row[key]) for key in ("difference", "low", "high"))
    if centre is None or not np.isfinite(centre):
        shown = "not known" if centre is None else f"{MINUS if centre < 0 else ''}{INFINITE}"
        side = 0.5 if centre is None else float(centre > 0)
        align = "center" if centre is None else "right" if centre > 0 else "left"
        figures.beside(ax, side, position, shown, align)
        return
    crosses = low is None or high is None or low <= 0 <= high
    colour = INK if crosses else colours[centre >= 0]
    if low is not None and high is not None and np.isfinite([low, high]).all():
        ax.plot([low, high], [position, position], color=colour, linewidth=2.2, solid_capstyle="butt")
    ax.plot(centre, position, "o", color=colour, markersize=6)


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
    scores = check.instance(scores, Scores, "score")
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
    for name, words, position, align in ((left, "← favours {}", low, "left"), (right, "favours {} →", high, "right")):
        text(ax, position, ax.get_ylim()[1], words.format(names[name]), align=align, shift=(0, 7))
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
    ax.axvline(centre, color=INK, linewidth=1, linestyle=DASHES)
    text(ax, centre, top, f"mean {centre:+.3g}".replace("-", MINUS), shift=(6, -14))
    at = int(np.argmin(np.abs(middle - centre - 0.2 * reach)))
    text(ax, middle[at], line[at], "replicated", RED, shift=(8, 8))
    tallest = int(observed.argmax())
    side = "right" if middle[tallest] <= centre else "left"
    text(ax, middle[tallest], observed[tallest], "observed", BLUE, side, shift=(-12 if side == "right" else 12, -4))
    for beyond, position, align in ((real < edges[0], 0.0, "left"), (real > edges[-1], 1.0, "right")):
        if n := int(beyond.sum()):
            words = f"← {n:,} beyond" if position == 0 else f"{n:,} beyond →"
            where = edges[0] if position == 0 else edges[-1]
            text(ax, float(where), 0.14 * top, words, align=align)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, top)
    return float(edges[0]), float(edges[-1])
