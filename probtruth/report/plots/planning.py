"""What a study would show, against its size."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.plots.axes import BLUE, DASHES, INK, RED, panel, spread, text
from probtruth.report.words.numbers import exact
from probtruth.study.plan import Plan

GAP = 0.06
"""Between labels, in parts of the height."""


@check.checks_itself
def plot_plan(plan: Plan, show: Literal["chance", "width"] = "chance", ax: Axes | None = None) -> Axes:
    """How likely a study of each size is to decide, or how wide its interval will be.

    Arguments: `plan` is what `plan` returned; `show` is "chance" (the probability that the study decides, with the
    power that is wanted) or "width" (of the 95 per cent interval); `ax` are the axes to draw on.

    Returns: the axes; items on a logarithmic scale. Points are the designs of the table; those off the line buy
    something else than items.

    Errors: `InputError` for something else than a plan.

    >>> import probtruth as pt
    >>> rows = {"item": [*range(20)] * 2, "model": ["x"] * 20 + ["y"] * 20, "score": [0] * 20 + [0, 1] * 10}
    >>> pt.figures.plot_plan(pt.plan(pt.Scores.from_frame(rows, higher_is_better=False))).get_ylabel()
    'probability that the study decides'
    """
    if not isinstance(plan, Plan):
        raise InputError(type(plan).__name__, "a Plan", "Pass on what plan returned.")
    chance = check.one_of(show, ("chance", "width"), "show") == "chance"
    key, wanted = ("p_certain", plan.power) if chance else ("width", plan.width)
    ax = panel(ax, "items", "probability that the study decides" if chance else "width of the interval", right=30)
    ax.set_xscale("log")
    if wanted is not None:
        ax.axhline(wanted, color=INK, linewidth=1, linestyle=DASHES)
    ax.plot(*_line(plan, key), color=BLUE, linewidth=2)
    if chance:
        ax.set_ylim(0, 1.02)
    else:
        top = max(float(str(row[key])) for row in plan.designs if row["design"] != "pilot again")
        ax.set_ylim(0, 1.6 * max(top, wanted or 0.0, 1e-300))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    _points(ax, plan, key, wanted)
    if wanted is not None:
        ax.annotate(
            exact(wanted), (0.01, wanted), xycoords=ax.get_yaxis_transform(), ha="left", va="bottom", color=INK, size=12
        )
    return ax


def _line(plan: Plan, key: str) -> tuple[np.ndarray, np.ndarray]:
    size, height = (np.array([float(str(row[name])) for row in plan.sizes]) for name in ("n_items", key))
    return size, height


def _points(ax: Axes, plan: Plan, key: str, wanted: float | None) -> None:
    """A point and a name for each design: to the right of the line's own, to the left of those that do better.

    Names stand above the line of what is wanted, not on it.
    """
    rows: list[Mapping[str, Any]] = [row for row in plan.designs if row["design"] != "pilot again"]
    size, height_of = _line(plan, key)
    gap = GAP * float(np.ptp(ax.get_ylim()))
    places = [(float(row["n_items"]), float(row[key])) for row in rows]
    own = [abs(y - float(np.interp(np.log(x), np.log(size), height_of))) < gap / 3 for x, y in places]
    for side in (True, False):
        chosen = [at for at, mine in enumerate(own) if mine == side]
        heights = spread([places[at][1] for at in chosen], gap)
        for at, height in zip(chosen, heights.tolist(), strict=True):
            name = str(rows[at]["design"])
            colour = RED if name == "cheapest" else INK if name == "study" else BLUE
            ax.plot(*places[at], "o", color=colour, markersize=7, zorder=4)
            align, shift = ("left", 8) if side else ("right", -8)
            up = 9 if wanted is not None and abs(height - wanted) < gap / 2 else 0
            text(ax, places[at][0], height, name.replace(" x ", " × "), colour, align, shift=(shift, up), size=12)
