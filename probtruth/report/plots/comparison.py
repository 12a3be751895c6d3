"""Figures of a comparison: differences of pairs, of the leading models by group, and ranks."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from probtruth import check
from probtruth.check import as_float
from probtruth.errors import InputError
from probtruth.report.numbers import (
    INFINITE,
    MINUS,
    advantage,
    best_pairs,
    of_leaders,
    probability,
    rank_chances,
    short_names,
)
from probtruth.report.plots.axes import BLUE, INK, RED, ROW, Number, margin_for, rows, text
from probtruth.report.words import mean_of
from probtruth.types import Comparison
from probtruth.types.comparison import Row, leaders, leading_pair

# Pairs of a forest (of more, those among the best models), models (the best first) and groups (the first by name).
MOST_PAIRS, MOST_MODELS, MOST_GROUPS = 45, 20, 60
LEAST_CHANCE = 0.001  # Of a rank, to be drawn


def plot_forest(comparison: Comparison, ax: Axes | None = None, *, most: int = MOST_PAIRS) -> Axes:
    """Differences of all pairs with 95 per cent intervals; an interval to the left of 0 favours the model named there.

    Arguments: `comparison` is what `compare` returned; `ax` are the axes to draw on; of more pairs than `most` those
    among the best models are drawn.

    Returns: the axes, in units of the score; the ROPE is shaded.

    Errors: `InputError` for anything but a comparison.

    >>> import probtruth as pt
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> comparison = pt.compare(pt.Scores.from_frame(frame, higher_is_better=False), engine="exact")
    >>> pt.figures.plot_forest(comparison).get_xlabel()
    'difference of mean score'
    """
    known = comparison_in(comparison)
    pairs = best_pairs(known, most)[0]
    left, right = ("b", "a") if known.higher_is_better else ("a", "b")
    names = short_names(str(row[side]) for row in pairs for side in ("a", "b"))
    margin = margin_for(names.values(), 10)
    words = [(names[str(row[left])], names[str(row[right])]) for row in pairs]
    heads, title = ("← favours", "favours →"), f"difference of {mean_of(known, with_units=True)}"
    return intervals(ax, pairs, words, heads, title, known.rope, (BLUE, BLUE), (margin, margin))


def plot_behind(comparison: Comparison, most: int = MOST_MODELS) -> Axes:
    """How much worse each model is than the leading one, with 95 per cent intervals, and P(best)."""
    ranked = leaders(comparison.ranks)[:most]
    lead = str(ranked[0]["model"])
    behind: list[Row] = [{"difference": 0.0, "low": None, "high": None}]
    behind += [advantage(comparison, lead, str(row["model"])) for row in ranked[1:]]
    names = short_names(str(row["model"]) for row in ranked)
    words = [(names[str(row["model"])], probability(row["p_best"])) for row in ranked]
    worse = "lower" if comparison.higher_is_better else "higher"
    title = f"{mean_of(comparison, with_units=True)}: how much {worse} than the leader's"
    margins = (margin_for(names.values()), 66)
    return intervals(None, behind, words, ("", "P(best)"), title, comparison.rope, (BLUE, RED), margins)


def plot_groups(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """The difference of the two leading models in every group with 95 per cent intervals, partially pooled.

    Arguments: `comparison` is what `compare` returned, with groups; `ax` are the axes to draw on.

    Returns: the axes, in units of the score; the ROPE is shaded, and P(the model named there is better) stands on the
    right. Of many groups the first 60 are drawn.

    Errors: `InputError` for anything but a comparison with groups.

    >>> import probtruth as pt
    >>> frame = {"item": [*range(8)] * 2, "model": ["a"] * 8 + ["b"] * 8, "score": [*range(8), 2, 4, 3, 5, 7, 6, 9, 8]}
    >>> scores = pt.Scores.from_frame(frame | {"group": [*"uuuuvvvv"] * 2}, group="group", higher_is_better=False)
    >>> [text.get_text() for text in pt.figures.plot_groups(pt.compare(scores, engine="exact")).texts][2:4]
    ['u', '>0.999']
    """
    known = comparison_in(comparison)
    groups = of_leaders(known)[:MOST_GROUPS]
    if not groups:
        raise InputError("a comparison without groups", "one with groups", "Pass groups= to compare.")
    a, b = short_names(leading_pair(known.ranks), 16).values()
    names = short_names(str(row["group"]) for row in groups)
    words = [(names[str(row["group"])], probability(row["p_a_better"])) for row in groups]
    title = f"{a} − {b}, {mean_of(known, with_units=True)}"
    colours = (RED, BLUE) if known.higher_is_better else (BLUE, RED)
    margins = (margin_for(names.values()), 96)
    return intervals(ax, groups, words, ("", "P(first)"), title, known.rope, colours, margins)


def plot_ranks(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """P(rank = r) of each model, best first, as a bar in the column of the rank.

    Arguments: `comparison` is what `compare` returned; `ax` are the axes to draw on.

    Returns: the axes; the number stands above a bar where there is room. Of many models the best 20 are drawn.

    Errors: `InputError` for anything but a comparison, and for one without joint draws of the means.

    >>> import probtruth as pt
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> comparison = pt.compare(pt.Scores.from_frame(frame, higher_is_better=False), engine="exact")
    >>> pt.figures.plot_ranks(comparison).get_xlabel()
    'rank (1 is best)'
    """
    of_model = rank_chances(comparison_in(comparison))
    if not of_model:
        raise InputError(
            "a comparison without ranks", "one with joint draws of two or more finite means", "See its warnings."
        )
    models = list(of_model)[:MOST_MODELS]
    chances = np.array([of_model[model] for model in models])
    n_ranks = chances.shape[1]
    if n_ranks > MOST_MODELS:
        n_ranks = int(np.nonzero((chances >= LEAST_CHANCE).any(0))[0].max(initial=0)) + 1
    names = short_names(models)
    roomy = n_ranks <= 7
    ax = rows(ax, len(models), "rank (1 is best)", margin_for(names.values()), 12, ROW + 12 * roomy)
    full = 0.62 if roomy else 0.85
    for position, model in enumerate(models):
        floor = position + 0.42
        ax.axhline(floor, color=INK, linewidth=0.6, alpha=0.5)
        for rank, p in enumerate(chances[position, :n_ranks].tolist(), 1):
            if p >= LEAST_CHANCE:
                ax.bar(rank, -full * p, 0.7, bottom=floor, color=BLUE, linewidth=0)
            if roomy and p >= 0.005:
                text(ax, rank, floor - full * p - 0.04, probability(p), INK, "center", "bottom", size=10)
        text(ax, -0.03, position + 0.1, names[model], align="right", within=ax.get_yaxis_transform())
    ax.set_ylim(len(models) - 0.5, -0.5)
    ax.set_xlim(0.5, n_ranks + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(min(n_ranks, 12), integer=True, steps=[1, 2, 5, 10]))
    ax.grid(visible=False)
    return ax


def comparison_in(value: object) -> Comparison:
    inner = getattr(value, "comparison", value)  # a Result is as good
    return check.instance(inner, Comparison, "compare")


def intervals(
    ax: Axes | None,
    known: Sequence[Row],
    words: Sequence[tuple[str, str]],
    heads: tuple[str, str],
    title: str,
    rope: Number | None,
    colours: tuple[str, str],
    margins: tuple[Number, Number] = (60, 60),
) -> Axes:
    """Differences with their intervals, one below the other, between words on either side; the ROPE is shaded.

    `colours` are those of intervals below and above 0; one that holds 0 is hollow and grey. What is infinite is written
    at the edge it lies beyond. `margins` are for the words, in points.
    """
    ax = rows(ax, len(known), title, *margins)
    if rope is not None and rope > 0:
        ax.axvspan(-rope, rope, color=INK, alpha=0.22, linewidth=0)
    ax.axvline(0, color=INK, linewidth=1)
    across = ax.get_yaxis_transform()
    for position, sides in enumerate([heads, *words], -1):
        for x, shift, align, side in zip((0, 1), (-9, 9), ("right", "left"), sides, strict=True):
            text(ax, x, max(position, -0.95), side, align=align, shift=(shift, 0), within=across)
    for position, row in enumerate(known):
        centre, low, high = (as_float(row[key]) for key in ("difference", "low", "high"))
        if centre is None:
            text(ax, 0.5, position, "not known", align="center", within=across)
        elif not np.isfinite(centre):
            shown, align = (INFINITE, "right") if centre > 0 else (f"{MINUS}{INFINITE}", "left")
            text(ax, float(centre > 0), position, shown, align=align, within=across)
        else:
            crosses, colour = False, INK
            if low is not None and high is not None and np.isfinite([low, high]).all():
                crosses = low <= 0 <= high
                colour = INK if crosses else colours[centre >= 0]
                ax.plot([low, high], [position, position], color=colour, linewidth=2.2, solid_capstyle="butt")
            ax.plot(centre, position, "o", color=colour, markersize=6, fillstyle="none" if crosses else "full")
    return ax
