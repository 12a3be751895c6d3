"""Figures of studies: what one would show against its size, and a monitor over time."""

from itertools import cycle

import numpy as np
from matplotlib.axes import Axes

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.names import short_names
from probtruth.report.numbers import exact
from probtruth.report.plots.axes import BLUE, COLOURS, DASHES, INK, RED, SIZE, panel, text
from probtruth.study.monitor_state import Monitor
from probtruth.study.plan import SAME_DESIGN, Plan


def plot_plan(plan: Plan, ax: Axes | None = None) -> Axes:
    """How likely a study of each size is to decide, with the power that is wanted.

    Arguments:
        plan: what `plan` returned.
        ax: the axes to draw on.

    Returns: the axes; items on a logarithmic scale. Points are the designs of the table; those off the line buy
    something else than items.

    Errors: `InputError` for something else than a plan.

    >>> import probtruth as pt
    >>> rows = {"item": [*range(20)] * 2, "model": ["x"] * 20 + ["y"] * 20, "score": [0] * 20 + [0, 1] * 10}
    >>> pt.figures.plot_plan(pt.plan(pt.Scores.from_frame(rows, higher_is_better=False))).get_ylabel()
    'probability that the study decides'
    """
    plan = check.instance(plan, Plan, "plan")
    ax = panel(ax, "items", "probability that the study decides", right=30)
    ax.set_xscale("log")
    ax.set_ylim(0, 1.02)
    ax.axhline(plan.power, color=INK, linewidth=1, linestyle=DASHES)
    text(
        ax,
        0.01,
        plan.power,
        exact(plan.power),
        vertical="bottom",
        within=ax.get_yaxis_transform(),
    )
    sizes = [(row["n_items"], row["p_certain"]) for row in plan.sizes]
    ax.plot(*zip(*sizes, strict=True), color=BLUE, linewidth=2)
    designs = [row for row in plan.designs if row["design"] != SAME_DESIGN]
    for row, mark, colour in zip(designs, cycle("o^sDvP*"), cycle(COLOURS), strict=False):
        name = row["design"].replace(" x ", " × ")
        ax.plot(
            row["n_items"],
            row["p_certain"],
            mark,
            color=colour,
            markersize=7,
            label=name,
            zorder=4,
        )
    ax.legend(frameon=False, labelcolor=INK, fontsize=SIZE - 1)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return ax


def plot_monitor(watch: Monitor, ax: Axes | None = None) -> Axes:
    """The mean difference of a monitor over time and its confidence sequence, with 0 and the ROPE.

    Arguments:
        watch: what `monitor` returned.
        ax: the axes to draw on.

    Returns: the axes; time is the number of items, on a logarithmic scale.

    Errors: `InputError` for something else than a monitor, or one without items.

    >>> import probtruth as pt
    >>> rows = {"item": [*range(20)] * 2, "model": ["x"] * 20 + ["y"] * 20, "score": [0] * 20 + [0, 1] * 10}
    >>> pt.figures.plot_monitor(pt.monitor(rows, bounds=(0, 1), higher_is_better=True)).get_xlabel()
    'items'
    """
    watch = check.instance(watch, Monitor, "monitor")
    if not watch.n_items:
        raise InputError("a monitor without items", "at least one item", "Feed it first.")
    ax = panel(ax, "items", "mean difference", left=64)
    path = watch.path()
    last = float(path["n_items"][-1])
    path = path.filter(path["n_items"] >= last / 30)  # the first looks are as wide as the bounds
    time, mean, low, high = (path[name].to_numpy() for name in ("n_items", "difference", "low", "high"))
    colour = {"a": BLUE, "b": RED}.get(watch.decision or "", INK)
    if watch.rope:
        ax.axhspan(-watch.rope, watch.rope, color=INK, alpha=0.22, linewidth=0)
    ax.axhline(0, color=INK, linewidth=1, linestyle=DASHES)
    bounded = np.isfinite(low) & np.isfinite(high)
    ax.fill_between(time, low, high, bounded, color=colour, alpha=0.22, linewidth=0, step="post")
    ax.plot(time, mean, color=colour, linewidth=2)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    better = watch.a if watch.higher_is_better else watch.b
    words = f"above 0: {short_names([better])[better]} better"
    text(ax, 0.99, 0.98, words, INK, "right", "top", within="axes fraction")
    return ax
