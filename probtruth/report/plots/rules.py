"""What a response costs under a rule, for a label that is itself uncertain."""

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.report.plots.axes import (
    BLUE,
    COLOURS,
    DASHES,
    FRACTION,
    INK,
    RED,
    SIZE,
    few,
    finish,
    panel,
    panel_of_rows,
    text,
)
from probtruth.report.words.numbers import fixed, probability
from probtruth.report.words.sentences import unit
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.rules.named import RuleLike

STEPS = 1000
"""Responses from 0 to 1 at which the loss is drawn; the truth is among them."""
Curve = Float[np.ndarray, " response"]


@check.checks_itself
def plot_rule(rule: RuleLike = "log", y: ArrayLike = 0.7, ax: Axes | None = None) -> Axes:
    """Expected loss of every response to one item whose label is uncertain.

    Formula: expected(r) = sum over labels k of y_k times the loss of response r if the label is k.

    Arguments: `rule` is a name or a `ScoringRule`; `y` is the probability of the second of two labels, or a
    distribution over any number of labels, of which the last is drawn (the others share the rest as they do in the
    truth); `ax` are the axes to draw on, new ones unless given.

    Returns: the axes. The dashed line is the truth, the point the least expected loss: the generalised entropy of the
    label, on the dashed line if the rule is proper.

    Errors: `InputError` for an unknown rule, or a truth that is not a distribution.

    Source: B. Carpenter (2010), "Evaluating with Probabilistic Truth: Log Loss vs. O/1 Loss", LingPipe blog.

    >>> import probtruth as pt
    >>> ax = pt.figures.plot_rule("log", y=0.7)
    >>> [entry.get_text() for entry in ax.texts]
    ['truth 0.7', 'least 0.611 at 0.70']
    """
    chosen, truth = get_rule(rule), _truth(y)
    grid = _grid(truth)
    losses = _expected(chosen, grid, truth)
    at = int(np.argmin(losses))
    ax = panel(ax, "response: probability of the label", f"expected loss ({unit(chosen.name) or chosen.name})")
    finite = losses[np.isfinite(losses)]
    low = float(finite[at]) if np.isfinite(losses[at]) else float(finite.min())
    top = float(min(finite.max(), low + max(2.5 * (float(np.median(finite)) - low), 0.8)))
    ax.axvline(truth[-1], color=INK, linewidth=1, linestyle=DASHES)
    ax.plot(grid, losses, color=COLOURS[0], linewidth=2)
    ax.plot(grid[at], losses[at], "o", color=COLOURS[0], markersize=6, clip_on=False)
    ax.set_xlim(0, 1)
    pad = 0.08 * (top - low)
    ax.set_ylim(min(low - 2 * pad, 0.0) if low >= 0 else low - 2 * pad, top + pad)
    right = truth[-1] > 0.8
    text(ax, truth[-1], top + pad, f"truth {truth[-1]:.3g}", align="right" if right else "left", vertical="top",
         shift=(-5 if right else 5, 0))  # fmt: skip
    words = f"least {fixed(float(losses[at]), 3)} at {fixed(float(grid[at]), 2)}"
    side = "left" if grid[at] < 0.5 else "right"
    text(ax, grid[at], losses[at], words, COLOURS[0], side, "top", (6 if side == "left" else -6, -8))
    return ax


@check.checks_itself
def plot_rules(
    rules: Sequence[RuleLike] = ("log", "brier"),
    y: ArrayLike = 1.0,
    match_at: float | None = None,
    zoom: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Losses of several rules for every response to one item, on one scale if wanted.

    Formula: the expected loss; with `match_at` the divergence (loss above the least one), multiplied so that every rule
    has the first one's at that response. For a certain label, log and Brier agree at 0.5 when the Brier score is
    multiplied by 2 ln 2 = 1.386, which is 4 ln 2 = 2.773 times (1 - p)^2, its half.

    Arguments: `rules` are names or rules; `y` is the truth, as in `plot_rule`; `zoom` is the range of responses
    to show; `ax` are the axes to draw on.

    Returns: the axes.

    Errors: `InputError` as in `plot_rule`; for a response `match_at` at which a rule loses nothing or everything, and
    for a range that is none.

    Source: Rosenberg (2021), "Proper Scoring Rules", lecture notes.

    >>> import probtruth as pt
    >>> ax = pt.figures.plot_rules(["log", "brier"], match_at=0.5, zoom=(0.9, 1.0))
    >>> ax.texts[1].get_text()
    'brier × 1.386'
    """
    chosen, truth = [get_rule(rule) for rule in rules], _truth(y)
    few([rule.name for rule in chosen], "rules")
    low, high = (0.0, 1.0) if zoom is None else _zoom(zoom)
    grid = np.unique(np.concatenate([np.linspace(low, high, STEPS + 1), [min(max(truth[-1], low), high)]]))
    title = "expected loss" if match_at is None else "loss above the least, rescaled"
    ax = panel(ax, "response: probability of the label", title)
    curves = []
    for rule in chosen:
        if match_at is None:
            curves.append((rule.name, _expected(rule, grid, truth)))
        else:
            factor = _factor(rule, chosen[0], match_at, truth)
            name = rule.name if rule is chosen[0] else f"{rule.name} × {factor:.4g}"
            curves.append((name, factor * _divergence(rule, grid, truth)))
    _draw(ax, grid, curves)
    if match_at is not None and low < match_at < high:
        height = float(np.interp(match_at, grid, curves[0][1]))
        ax.plot(match_at, height, "o", color=INK, markersize=6, zorder=4)
        text(ax, match_at, height, f"equal at {match_at:.3g}", shift=(9, 7))
    return ax


def loss_curve(truth: float = 0.7, ax: Axes | None = None) -> Axes:
    """Expected log and Brier loss of every response to a yes-no item that is `yes` with probability `truth`.

    Log: -y ln p - (1 - y) ln(1 - p), in nats, least at p = y, where it is the entropy of the label; Brier: |p - e|²
    summed over both labels, least at the same place. Neither minimum is 0: the label itself is uncertain.
    """
    response = np.linspace(0.005, 0.995, 397)
    log = -truth * np.log(response) - (1 - truth) * np.log1p(-response)
    brier = 2 * (truth * (1 - response) ** 2 + (1 - truth) * response**2)
    ax = ax or panel_of_rows(8, left=46, right=20)
    ax.axvline(truth, color=INK, linewidth=1, linestyle=DASHES)
    for values, colour, name, x, y in (
        (log, RED, "log loss (nats)", 0.24, 1.16),
        (brier, BLUE, "Brier score", 0.05, 0.74),
    ):
        lowest = int(values.argmin())
        ax.plot(response, values, color=colour, linewidth=2)
        ax.plot(response[lowest], values[lowest], "o", color=colour, markersize=5)
        note = fixed(values[lowest], 3)
        text(ax, response[lowest] + 0.015, values[lowest] - 0.04, note, colour, vertical="top")
        text(ax, x, y, name, colour, vertical="bottom")
    text(ax, truth + 0.015, 2.2, f"label {probability(truth)}", vertical="top")
    finish(ax, None, "response: probability of yes")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 2.2)
    ax.set_ylabel("expected loss", color=INK, size=SIZE)
    ax.tick_params(axis="y", labelsize=SIZE, labelcolor=INK, color=INK)
    return ax


def _draw(ax: Axes, grid: Curve, curves: Sequence[tuple[str, Curve]]) -> None:
    """The curves, each named where it stands highest above or furthest from the others."""
    low, high = float(grid[0]), float(grid[-1])
    inner = slice(len(grid) // 50, len(grid) - len(grid) // 50)
    top = max(float(values[inner][np.isfinite(values[inner])].max()) for _, values in curves)
    least = min(float(values[np.isfinite(values)].min()) for _, values in curves)
    ax.set_xlim(low, high)
    ax.set_ylim(least - 0.04 * (top - least), top * (1.02 if top > 0 else 0.98))
    starts = []
    for (_, values), colour in zip(curves, COLOURS, strict=False):
        ax.plot(grid, values, color=colour, linewidth=2)
        starts.append(float(np.clip(np.interp(low + 0.06 * (high - low), grid, values), least, top)))
    order = np.argsort(starts)[::-1]
    for rank, position in enumerate(order):
        name = curves[position][0]
        text(ax, 0.98, 0.95 - 0.075 * rank, name, COLOURS[position], "right", "top", within=FRACTION)


def _truth(y: object) -> Float[np.ndarray, " label"]:
    values = check_arrays.as_floats(np.atleast_1d(np.asarray(y)), "label", "y")
    if len(values) == 1:
        values = np.array([1 - values[0], values[0]])
    if (values < 0).any() or not np.isclose(values.sum(), 1, rtol=0, atol=1e-6):
        raise InputError(f"y={y!r}", "a probability, or a distribution over the labels", "plot_rule(y=0.7), say.")
    return values


def _grid(truth: Float[np.ndarray, " label"]) -> Curve:
    return np.unique(np.concatenate([np.arange(STEPS + 1) / STEPS, truth[-1:]]))


def _responses(grid: Curve, truth: Float[np.ndarray, " label"]) -> Float[np.ndarray, "response label"]:
    """The last label's probability as in the grid; the others share the rest as they do in the truth."""
    rest = truth[:-1].sum()
    shares = truth[:-1] / rest if rest > 0 else np.full(len(truth) - 1, 1 / (len(truth) - 1))
    return np.concatenate([(1 - grid)[:, None] * shares, grid[:, None]], 1)


def _expected(rule: ScoringRule, grid: Curve, truth: Float[np.ndarray, " label"]) -> Curve:
    with jax.enable_x64(True):
        return np.asarray(jax.jit(rule.expected)(_responses(grid, truth), truth), np.float64)


def _divergence(rule: ScoringRule, grid: Curve, truth: Float[np.ndarray, " label"]) -> Curve:
    with jax.enable_x64(True):
        return np.asarray(jax.jit(rule.divergence)(_responses(grid, truth), truth), np.float64)


def _factor(rule: ScoringRule, first: ScoringRule, at: float, truth: Float[np.ndarray, " label"]) -> float:
    wanted, own = (float(_divergence(one, np.array([at]), truth)[0]) for one in (first, rule))
    if not (np.isfinite([wanted, own]).all() and wanted > 0 and own > 0):
        raise InputError(f"match_at={at!r}", "a response that costs something under every rule", "Try 0.5.")
    return wanted / own


def _zoom(zoom: object) -> tuple[float, float]:
    low, high = check_arrays.as_floats(zoom, "response", "zoom").tolist()
    if not 0 <= low < high <= 1:
        raise InputError(f"zoom={zoom!r}", "two responses from 0 to 1, the lower first", "zoom=(0.9, 1.0), say.")
    return low, high
