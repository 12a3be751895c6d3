"""Figures of a comparison: differences of pairs, of the leading models by group, ranks, and what quality costs."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.about import mean_of
from probtruth.report.names import short_names
from probtruth.report.numbers import INFINITE, MINUS, probability
from probtruth.report.plots.axes import BLUE, INK, RED, ROW, Number, margin_for, panel, rows, text
from probtruth.types import Comparison
from probtruth.types.frontier import Frontier
from probtruth.types.pairs import Pair

MOST_PAIRS = 45  # Pairs of a forest; of more, those among the best models
MOST_MODELS = 20  # The best first
MOST_GROUPS = 60  # The first by name
LEAST_CHANCE = 0.001  # Of a rank, to be drawn
FEW_RANKS = 7  # Up to so many columns have room for numbers


WIDE = 20  # Times the cheapest cost from which on the axis is logarithmic
LIKELY = 0.5  # P(on the frontier) from which on a model is filled


def plot_forest(comparison: Comparison, ax: Axes | None = None, *, most: int = MOST_PAIRS) -> Axes:
    """Differences of all pairs with 95 per cent intervals; an interval to the left of 0 favours the model named there.

    Arguments:
        comparison: what `compare` returned.
        ax: the axes to draw on. Of more pairs than `most` those among the best models are drawn.
        most: the number of pairs from which on those among the best models are drawn.

    Returns: the axes, in units of the score: the better placed model minus the other. The ROPE is shaded.

    Errors: `InputError` for anything but a comparison.

    >>> import probtruth as pt
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> comparison = pt.compare(pt.Scores.from_frame(frame, higher_is_better=False), engine="exact")
    >>> pt.figures.plot_forest(comparison).get_xlabel()
    'difference of mean score'
    """
    known = comparison_in(comparison)
    pairs, _ = best_pairs(known, most)
    names = short_names(name for pair in pairs for name in pair.models)
    margin = margin_for(names.values(), 10)
    words = [(names[pair.a], names[pair.b]) for pair in pairs]
    if known.higher_is_better:
        words = [(b, a) for a, b in words]
    heads = ("← favours", "favours →")
    title = f"difference of {mean_of(known, with_units=True)}"
    return intervals(
        ax,
        pairs,
        words,
        heads,
        title,
        known.rope,
        (BLUE, BLUE),
        (margin, margin),
    )


def best_pairs(comparison: Comparison, most: int) -> tuple[list[Pair], int]:
    """All pairs or, where there are more than `most`, those among the best models; and the number of these models."""
    models = [rank.model for rank in comparison.ranked]
    n_models = len(models)
    while n_models * (n_models - 1) // 2 > most:
        n_models -= 1
    best = set(models[:n_models])
    pairs = [pair for pair in comparison.ordered_pairs if pair.a in best and pair.b in best]
    return pairs, n_models


def plot_behind(comparison: Comparison, most: int = MOST_MODELS) -> Axes:
    """The leading model minus each other one, with 95 per cent intervals, and P(best)."""
    ranks = comparison.ranked[:most]
    lead = ranks[0].model
    pairs = [Pair(lead, lead, 0.0)]
    pairs += [comparison.pair(lead, rank.model) for rank in ranks[1:]]
    names = short_names(rank.model for rank in ranks)
    words = [(names[rank.model], probability(rank.p_best)) for rank in ranks]
    title = f"{names[lead]} − model, {mean_of(comparison, with_units=True)}"
    margins = (margin_for(names.values()), 66)
    return intervals(
        None,
        pairs,
        words,
        ("", "P(best)"),
        title,
        comparison.rope,
        favouring(comparison),
        margins,
    )


def favouring(comparison: Comparison) -> tuple[str, str]:
    """The colours of differences below and above 0: blue where the first model is the better one."""
    return (RED, BLUE) if comparison.higher_is_better else (BLUE, RED)


def plot_groups(comparison: Comparison, ax: Axes | None = None, *, people: bool = False) -> Axes:
    """The difference of the two leading models in every group with 95 per cent intervals, partially pooled.

    Arguments:
        comparison: what `compare` returned, with groups.
        ax: the axes to draw on.
        people: draws groups of annotators, each by itself.

    Returns: the axes, in units of the score; the ROPE is shaded, and P(the first model is better) stands on the
    right. Of many groups the first 60 are drawn.

    Errors: `InputError` for anything but a comparison with groups.

    >>> import probtruth as pt
    >>> frame = {"item": [*range(8)] * 2, "model": ["a"] * 8 + ["b"] * 8, "score": [*range(8), 2, 4, 3, 5, 7, 6, 9, 8]}
    >>> scores = pt.Scores.from_frame(frame | {"group": [*"uuuuvvvv"] * 2}, group="group", higher_is_better=False)
    >>> [text.get_text() for text in pt.figures.plot_groups(pt.compare(scores, engine="exact")).texts][2:4]
    ['u', '>0.999']
    """
    known = comparison_in(comparison)
    pairs = (known.leading_pair_by_people if people else known.leading_pair_by_group)[:MOST_GROUPS]
    if not pairs:
        option = "annotator_groups" if people else "groups"
        raise InputError("a comparison without groups", "one with groups", f"Pass {option}= to compare.")
    a, b = short_names((pairs[0].a, pairs[0].b), 16).values()
    names = short_names(str(pair.group) for pair in pairs)
    words = [(names[str(pair.group)], probability(pair.p_a_better)) for pair in pairs]
    title = f"{a} − {b}, {mean_of(known, with_units=True)}"
    margins = (margin_for(names.values()), 96)
    return intervals(
        ax,
        pairs,
        words,
        ("", "P(first)"),
        title,
        known.rope,
        favouring(known),
        margins,
    )


def plot_ranks(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """P(rank = r) of each model, best first, as a bar in the column of the rank.

    Arguments:
        comparison: what `compare` returned.
        ax: the axes to draw on.

    Returns: the axes; the number stands above a bar where there is room. Of many models the best 20 are drawn.

    Errors: `InputError` for anything but a comparison, and for one without joint draws of the means.

    >>> import probtruth as pt
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> comparison = pt.compare(pt.Scores.from_frame(frame, higher_is_better=False), engine="exact")
    >>> pt.figures.plot_ranks(comparison).get_xlabel()
    'rank (1 is best)'
    """
    of_model = comparison_in(comparison).rank_chances
    if not of_model:
        raise InputError(
            "a comparison without ranks", "one with joint draws of two or more finite means", "See its warnings."
        )
    models = list(of_model)[:MOST_MODELS]
    chances: Float[np.ndarray, "model rank"] = np.array([of_model[model] for model in models])
    n_ranks = chances.shape[1]
    if n_ranks > MOST_MODELS:
        drawn = np.nonzero((chances >= LEAST_CHANCE).any(0))[0]
        n_ranks = int(drawn.max(initial=0)) + 1
    names = short_names(models)
    roomy = n_ranks <= FEW_RANKS
    height = ROW + 12 if roomy else ROW
    ax = rows(
        ax,
        len(models),
        "rank (1 is best)",
        margin_for(names.values()),
        12,
        height,
    )
    for position, model in enumerate(models):
        floor = position + 0.42
        full = 0.62 if roomy else 0.85  # the height of a bar of probability 1
        ax.axhline(floor, color=INK, linewidth=0.6, alpha=0.5)
        for rank, p in enumerate(chances[position, :n_ranks].tolist(), 1):
            if p >= LEAST_CHANCE:
                ax.bar(rank, -full * p, 0.7, bottom=floor, color=BLUE, linewidth=0)
            if roomy and p >= 0.005:
                text(ax, rank, floor - full * p - 0.04, probability(p), INK, "center", "bottom", size=10)
        text(
            ax,
            -0.03,
            position + 0.1,
            names[model],
            align="right",
            within=ax.get_yaxis_transform(),
        )
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
    known: Sequence[Pair],
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
    for position, (left, right) in enumerate([heads, *words], -1):
        height = max(position, -0.95)
        text(ax, 0, height, left, align="right", shift=(-9, 0), within=across)
        text(ax, 1, height, right, align="left", shift=(9, 0), within=across)
    for position, pair in enumerate(known):
        if pair.finite:
            _draw_interval(ax, position, pair, colours)
        elif pair.difference is None:
            text(ax, 0.5, position, "not known", align="center", within=across)
        elif pair.difference > 0:
            text(ax, 1, position, INFINITE, align="right", within=across)
        else:
            text(ax, 0, position, MINUS + INFINITE, within=across)
    return ax


def _draw_interval(ax: Axes, position: int, pair: Pair, colours: tuple[str, str]) -> None:
    """A finite difference, and its interval where that is finite too."""
    assert pair.difference is not None
    look: dict[str, Any] = {"color": INK, "fillstyle": "full"}
    if pair.low is not None and pair.high is not None and isfinite(pair.high - pair.low):
        if pair.low <= 0 <= pair.high:
            look["fillstyle"] = "none"
        else:
            look["color"] = colours[0] if pair.high < 0 else colours[1]
        ends = [pair.low, pair.high]
        ax.plot(ends, [position, position], color=look["color"], linewidth=2.2, solid_capstyle="butt")
    ax.plot([pair.difference], [position], "o", markersize=6, **look)


def plot_frontier(comparison: Comparison, frontier: Frontier, ax: Axes | None = None) -> Axes:
    """Mean score against cost with 95 per cent intervals; models that are probably on the frontier are filled.

    Arguments:
        comparison: what `compare` returned.
        frontier: what its `frontier` returned.
        ax: the axes to draw on.

    Returns: the axes; a line joins the models that are probably on the frontier. Costs that differ 20-fold stand on a
    logarithmic scale.

    Errors: `InputError` for anything but a comparison and its frontier.

    >>> import probtruth as pt
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> comparison = pt.compare(pt.Scores.from_frame(frame, higher_is_better=False), engine="exact")
    >>> pt.figures.plot_frontier(comparison, comparison.frontier({"a": 2, "b": 1})).get_xlabel()
    'cost'
    """
    known = comparison_in(comparison)
    offers = check.instance(frontier, Frontier, "comparison.frontier").offers
    rank_of = {rank.model: rank for rank in known.ranks}
    names = short_names(offer.model for offer in offers)
    ax = panel(ax, "cost", mean_of(known, with_units=True), left=72, right=90)
    least = min(offer.cost for offer in offers)
    if 0 < WIDE * least < max(offer.cost for offer in offers):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    likely = [offer for offer in offers if offer.p_frontier >= LIKELY]
    costs = [offer.cost for offer in likely]
    ax.plot(costs, [offer.score for offer in likely], color=BLUE, linewidth=1, drawstyle="steps-post")
    for offer in offers:
        filled = offer in likely
        rank = rank_of[offer.model]
        colour = BLUE if filled else INK
        if rank.low is not None and rank.high is not None:
            ax.plot(
                [offer.cost] * 2,
                [rank.low, rank.high],
                color=colour,
                linewidth=1.5,
            )
        if offer.cost_low is not None and offer.cost_high is not None:
            ax.plot(
                [offer.cost_low, offer.cost_high],
                [offer.score] * 2,
                color=colour,
                linewidth=1.5,
            )
        ax.plot(offer.cost, offer.score, "o", color=colour, markerfacecolor=colour if filled else "white")
        text(
            ax,
            offer.cost,
            offer.score,
            names[offer.model],
            colour,
            shift=(8, 9),
        )
    ax.margins(x=0.08, y=0.1)
    return ax
