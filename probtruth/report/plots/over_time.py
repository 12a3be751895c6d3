"""A monitor over time: what is known about the difference, or the evidence, after every item."""

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.plots.axes import BLUE, DASHES, INK, RED, panel, text
from probtruth.report.words.numbers import short_names
from probtruth.study.monitored import Monitor


@check.checks_itself
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
    if not isinstance(watch, Monitor):
        raise InputError(type(watch).__name__, "a Monitor", "Pass on what monitor or read_monitor returned.")
    if not watch.n_items:
        raise InputError("a monitor without items", "at least one item", "Feed it first.")
    what = check.one_of(show, ("difference", "evidence"), "show")
    names = short_names((watch.a, watch.b))
    rows: list[dict[str, Any]] = watch.path().to_dicts()
    return _difference(watch, rows, names, ax) if what == "difference" else _evidence(watch, rows, names, ax)


def _difference(watch: Monitor, rows: list[dict[str, Any]], names: dict[str, str], ax: Axes | None) -> Axes:
    ax = panel(ax, "items", "mean difference", left=64)
    time, mean, low, high = (np.array([row[key] for row in rows]) for key in ("n_items", "difference", "low", "high"))
    below, above = watch.a, watch.b
    if watch.higher_is_better:
        mean, low, high, below, above = -mean, -high, -low, above, below
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
        ax.annotate(
            words, (0.99, y), xycoords="axes fraction", ha="right", va=vertical, color=INK, size=12, parse_math=False,
        )  # fmt: skip
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
    for place, (end, colour, name) in enumerate(ends):
        shift = 0 if apart else 8 if place == 0 else -8
        text(ax, float(time[-1]), end, f"{name} better", colour, shift=(6, shift), size=12)
    text(ax, float(time[-1]), bar, f"{bar:.3g}", INK, shift=(6, 0), size=12)
    return ax


def _time(ax: Axes, time: np.ndarray) -> None:
    ax.set_xscale("log")
    ax.set_xlim(max(1.0, float(time[-1]) / 1000), float(time[-1]) * 1.0001)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
