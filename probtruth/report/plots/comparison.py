"""Figures of a comparison: differences of pairs, P(row beats column), ranks."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from probtruth.errors import InputError
from probtruth.report.plots import axes as figures
from probtruth.report.plots.axes import BLUE, INK, RED, SIZE
from probtruth.report.signs import shown
from probtruth.report.tables.candidates import rank_table
from probtruth.report.words.numbers import as_float, probability, short_names
from probtruth.report.words.sentences import with_unit
from probtruth.report.words.verdict import leaders
from probtruth.types import Comparison

MOST_PAIRS = 45
"""Pairs of a forest; of more, those among the best models are drawn."""
MOST_MODELS = 20
"""Models of a matrix or of ranks, the best first."""
MOST_NAMED = 6
"""Models whose names stand above their columns; of more, their numbers do."""
DEEPEST = 0.4
"""Opacity of a cell of probability 0 or 1: the number in it stays legible."""


def plot_forest(comparison: object, ax: Axes | None = None) -> Axes:
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
    given = _comparison(comparison)
    kept = [str(row["model"]) for row in leaders(given.ranks)]
    chosen = [shown(given, row) for row in given.pairs]
    while len(chosen) > MOST_PAIRS:
        gone = kept.pop()
        chosen = [row for row in chosen if gone not in (row["a"], row["b"])]
    label = f"difference of mean {with_unit(given.rule)}"
    return figures.forest(chosen, given.rope, label, ax, given.higher_is_better)


def plot_matrix(comparison: object, ax: Axes | None = None) -> Axes:
    """P(row beats column) of all pairs, best model first: blue where the row is better, orange where the column is.

    Arguments: `comparison` is what `compare` returned; `ax` are the axes to draw on.

    Returns: the axes. Of many models the best 20 are drawn.

    Errors: `InputError` for anything but a comparison.

    >>> import probtruth as pt
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> ax = pt.figures.plot_matrix(pt.compare(pt.Scores.from_frame(frame, higher_is_better=False), engine="exact"))
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b', '.96', '.04', 'a', 'b']
    """
    given = _comparison(comparison)
    order = [str(row["model"]) for row in given.ranks][:MOST_MODELS]
    better: dict[tuple[str, str], object] = {}
    for row in given.pairs:
        better[str(row["a"]), str(row["b"])] = row["p_a_better"]
        better[str(row["b"]), str(row["a"])] = row["p_b_better"]
    names = short_names(order, 18)
    numbered = len(order) > MOST_NAMED
    heads = [str(place) if numbered else names[name] for place, name in enumerate(order, 1)]
    slanted = not numbered and max(map(len, heads)) * len(heads) > 36
    longest = 7.0 * max(map(len, heads))
    ax = ax or figures.panel_of_rows(
        len(order),
        left=12 + figures.room_for(names) + 26 * numbered,
        right=14 + (0.75 * longest if slanted else 0),
        top=16 + 0.62 * longest if slanted else 26,
        bottom=12,
    )
    for place, name in enumerate(order):
        if numbered:
            figures.beside(ax, -0.02, place, str(place + 1), "right")
        where: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
        shift = (-34 if numbered else -8, 0)
        ax.annotate(
            names[name], (0, place), shift, ha="right", va="center", color=INK, size=SIZE, parse_math=False,
            annotation_clip=False, **where,
        )  # fmt: skip
    for row_place, a in enumerate(order):
        for place, b in enumerate(order):
            p = as_float(better.get((a, b)))
            if p is not None:
                depth = abs(2 * p - 1) * DEEPEST
                ax.bar(place, 1, 0.98, bottom=row_place - 0.5, color=BLUE if p > 0.5 else RED, alpha=depth, linewidth=0)
            if a != b and len(order) <= 10:
                figures.write(ax, place, row_place, probability(p), "center", size=SIZE - (len(order) > 8) * 2)
    for place, head in enumerate(heads):
        turned: dict[str, Any] = (
            {"rotation": 35, "ha": "left", "rotation_mode": "anchor"} if slanted else {"ha": "center"}
        )
        ax.text(place, -0.62, head, va="bottom", color=INK, size=SIZE, parse_math=False, **turned)
    ax.set_xlim(-0.5, len(order) - 0.5)
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_axis_off()
    return ax


def plot_ranks(comparison: object, ax: Axes | None = None) -> Axes:
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
    found = rank_table(_comparison(comparison))
    if found is None:
        raise InputError(
            "a comparison without ranks", "one with joint draws of two or more finite means", "See its warnings."
        )
    models, table = found[0][:MOST_MODELS], np.asarray(found[1][:MOST_MODELS])
    return figures.rank_probabilities(models, table, ax)


def _comparison(given: object) -> Comparison:
    inner = getattr(given, "comparison", given)  # a Result is as good
    if not isinstance(inner, Comparison):
        raise InputError(f"a {type(given).__name__}", "a Comparison", "Pass on what compare(...) returned.")
    return inner
