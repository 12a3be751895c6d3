"""Figures of studies: what one would show against its size, and a monitor over time."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.numbers import exact, short_names
from probtruth.report.plots.axes import BLUE, DASHES, FRACTION, INK, RED, panel, spread, text
from probtruth.study.monitor_state import Monitor
from probtruth.study.plan import Plan

GAP = 0.06  # Between labels, in parts of the height


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
    plan = check.instance(plan, Plan, "plan")
    chance = check.one_of(show, ("chance", "width"), "show") == "chance"
    key, wanted = ("p_certain", plan.power) if chance else ("width", plan.width)
    ax = panel(ax, "items", "probability that the study decides" if chance else "width of the interval", right=30)
    ax.set_xscale("log")
    if wanted is not None:
        ax.axhline(wanted, color=INK, linewidth=1, linestyle=DASHES)
    rows: list[Mapping[str, Any]] = [row for row in plan.designs if row["design"] != "pilot again"]
    line: Sequence[Mapping[str, Any]] = plan.sizes
    size, height = (np.array([row[name] for row in line], np.float64) for name in ("n_items", key))
    ax.plot(size, height, color=BLUE, linewidth=2)
    if chance:
        ax.set_ylim(0, 1.02)
    else:
        top = max(row[key] for row in rows)
        ax.set_ylim(0, 1.6 * max(top, wanted or 0.0, 1e-300))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    _points(ax, [(str(row["design"]), row["n_items"], row[key]) for row in rows], size, height, wanted)
    if wanted is not None:
        text(ax, 0.01, wanted, exact(wanted), vertical="bottom", size=12, within=ax.get_yaxis_transform())
    return ax


def _points(
    ax: Axes,
    designs: Sequence[tuple[str, float, float]],
    size: Float[np.ndarray, " study"],
    height: Float[np.ndarray, " study"],
    wanted: float | None,
) -> None:
    """A point and a name for each design: to the right of the line's own, to the left of those that do better."""
    gap = GAP * float(np.ptp(ax.get_ylim()))

    def on_line(x: float, y: float) -> bool:
        return bool(abs(y - np.interp(np.log(x), np.log(size), height)) < gap / 3)

    for side in (True, False):
        chosen = [(name, x, y) for name, x, y in designs if on_line(x, y) == side]
        for (name, x, y), place in zip(chosen, spread([y for _, _, y in chosen], gap).tolist(), strict=True):
            colour = RED if name == "cheapest" else INK if name == "study" else BLUE
            ax.plot(x, y, "o", color=colour, markersize=7, zorder=4)
            align, shift = ("left", 8) if side else ("right", -8)
            up = 9 if wanted is not None and abs(place - wanted) < gap / 2 else 0
            text(ax, x, place, name.replace(" x ", " × "), colour, align, shift=(shift, up), size=12)


def plot_monitor(
    watch: Monitor, show: Literal["difference", "evidence"] = "difference", ax: Axes | None = None
) -> Axes:
    """The confidence sequence of a monitor over time, or the evidence for each model.

    Arguments: `watch` is what `monitor` returned; `show` is "difference" (the mean and its sequence, 0 and the ROPE) or
    "evidence" (e-values, and the bar at which the decision falls); `ax` are the axes to draw on.

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
    what = check.one_of(show, ("difference", "evidence"), "show")
    names = short_names((watch.a, watch.b))
    rows: list[dict[str, Any]] = watch.path().to_dicts()
    return _difference(watch, rows, names, ax) if what == "difference" else _evidence(watch, rows, names, ax)


def _difference(watch: Monitor, rows: list[dict[str, Any]], names: dict[str, str], ax: Axes | None) -> Axes:
    ax = panel(ax, "items", "mean difference", left=64)
    time, mean, low, high = (np.array([row[key] for row in rows]) for key in ("n_items", "difference", "low", "high"))
    below, above = (watch.b, watch.a) if watch.higher_is_better else (watch.a, watch.b)
    colour = {"a": BLUE, "b": RED}.get(watch.decision or "", INK)
    if watch.rope:
        ax.axhspan(-watch.rope, watch.rope, color=INK, alpha=0.22, linewidth=0)
    ax.axhline(0, color=INK, linewidth=1, linestyle=DASHES)
    known = np.isfinite(low) & np.isfinite(high)
    ax.fill_between(time[known], low[known], high[known], color=colour, alpha=0.22, linewidth=0, step="post")
    ax.plot(time, mean, color=colour, linewidth=2)
    ends = np.concatenate([low[known], high[known], [0.0]])
    late = time >= time[-1] / 30  # the first looks are as wide as the bounds
    shown = np.concatenate([low[known & late], high[known & late], mean[late], [0.0]])
    room = 0.08 * max(float(np.ptp(shown)), 1e-300)
    ax.set_ylim(max(float(shown.min()), float(min(ends.min(), mean.min()))) - room, float(shown.max()) + room)
    _time(ax, time)
    for y, name, vertical in ((0.02, below, "bottom"), (0.98, above, "top")):
        words = f"{'below' if name == below else 'above'} 0: {names[name]} better"
        text(ax, 0.99, y, words, INK, "right", vertical, size=12, within=FRACTION)
    return ax


def _evidence(watch: Monitor, rows: list[dict[str, Any]], names: dict[str, str], ax: Axes | None) -> Axes:
    ax = panel(ax, "items", "e-value", left=64, right=110)
    time = np.array([row["n_items"] for row in rows])
    bar = 2 / watch.alpha
    ax.axhline(bar, color=INK, linewidth=1, linestyle=DASHES)
    ends = []
    for key, colour, name in (("e_a_better", BLUE, watch.a), ("e_b_better", RED, watch.b)):
        values = np.clip([row[key] for row in rows], 1e-4, 1e8)
        ax.plot(time, values, color=colour, linewidth=2)
        ends.append((float(values[-1]), colour, names[name]))
    ax.set_yscale("log")
    _time(ax, time)
    apart = abs(np.log(ends[0][0] / ends[1][0])) > 0.5
    for position, (end, colour, name) in enumerate(ends):
        shift = 0 if apart else 8 if position == 0 else -8
        text(ax, float(time[-1]), end, f"{name} better", colour, shift=(6, shift), size=12)
    text(ax, float(time[-1]), bar, f"{bar:.3g}", INK, shift=(6, 0), size=12)
    return ax


def _time(ax: Axes, time: np.ndarray) -> None:
    ax.set_xscale("log")
    ax.set_xlim(max(1.0, float(time[-1]) / 1000), float(time[-1]) * 1.0001)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
