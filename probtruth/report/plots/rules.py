"""What a response costs under a rule, for a label that is itself uncertain."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from probtruth import check_arrays
from probtruth.errors import InputError
from probtruth.report.numbers import fixed
from probtruth.report.plots.axes import BLUE, DASHES, INK, keys, panel, text
from probtruth.report.words import unit
from probtruth.scoring.rules import get_rule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.rules.propriety import loss_curve

STEPS = 1000  # Responses at which the loss is drawn, besides the truth


def plot_rules(
    rules: RuleLike | Sequence[RuleLike] = ("log", "brier"),
    y: ArrayLike = 1.0,
    match_at: float | None = None,
    zoom: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Expected loss of every response to one item whose label may be uncertain, on one scale for all rules if wanted.

    Formula: expected(r) = sum over labels k of y_k times the loss of response r if the label is k; with `match_at` the
    divergence (loss above the least one), multiplied so that every rule has the first one's at that response, as
    `pt.rules.loss_curve` has it.

    Arguments:
        rules: one name or rule, or several.
        y: the probability of the second of two labels, or a distribution over any number of labels, of which the last
            is drawn (the others share the rest as they do in the truth).
        match_at: the response at which every rule is to lose as much as the first one.
        zoom: the range of responses to show.
        ax: the axes to draw on; new ones by default.

    Returns: the axes. Of one rule the dashed line is the truth, the point the least expected loss: the generalised
    entropy of the label, on the dashed line if the rule is proper.

    Errors: `InputError` for an unknown rule, a truth that is not a distribution, a response `match_at` at which a rule
    loses nothing or everything, and a range that is none.

    Source: B. Carpenter (2010), "Evaluating with Probabilistic Truth: Log Loss vs. O/1 Loss", LingPipe blog; Rosenberg
    (2021), "Proper Scoring Rules", lecture notes.

    >>> import probtruth as pt
    >>> ax = pt.figures.plot_rules(["log", "brier"], match_at=0.5, zoom=(0.9, 1.0))
    >>> [entry.get_text() for entry in ax.texts]
    ['log', 'brier']
    >>> [entry.get_text() for entry in pt.figures.plot_rules("log", y=0.7).texts]
    ['log', 'truth 0.7', 'least 0.611 at 0.70']
    """
    listed: list[RuleLike] = list(rules) if isinstance(rules, list | tuple) else [rules]  # type: ignore[list-item]
    names = [get_rule(rule).name for rule in listed]
    shown = keys(range(len(names)), what="rule")
    low, high = check_arrays.as_floats(zoom or (0, 1), "response", "zoom").tolist()
    if not 0 <= low < high <= 1:
        raise InputError(f"zoom={zoom!r}", "two responses from 0 to 1, the lower first", "zoom=(0.9, 1.0), say.")
    truth = float(np.ravel(y)[-1])
    steps = low + (high - low) * np.arange(STEPS + 1) / STEPS
    grid = np.unique(np.append(steps, np.clip(truth, low, high)))
    curves = loss_curve(y, listed, grid, match_at=match_at)["loss"].to_numpy()
    losses = curves.reshape(len(names), -1)
    title = "expected loss" if match_at is None else "loss above the least, rescaled"
    if len(names) == 1:
        title += f" ({unit(names[0]) or names[0]})"
    ax = panel(ax, "response: probability of the label", title)
    edge = len(grid) // 50  # where losses grow without bound
    inner = losses[:, edge:-edge]
    top = float(inner[np.isfinite(inner)].max())
    least = float(losses[np.isfinite(losses)].min())
    bottom = least - (0.16 if len(names) == 1 else 0.04) * (top - least)
    ax.set_xlim(low, high)
    ax.set_ylim(bottom, top * (1.02 if top > 0 else 0.98))
    for position, (name, values, key) in enumerate(zip(names, losses, shown, strict=True)):
        ax.plot(grid, values, color=key.colour, linewidth=2)
        text(
            ax,
            0.98,
            0.95 - 0.075 * position,
            name,
            key.colour,
            "right",
            "top",
            within="axes fraction",
        )
    if match_at is not None and low < match_at < high:
        height = float(np.interp(match_at, grid, losses[0]))
        ax.plot(match_at, height, "o", color=INK, markersize=6, zorder=4)
        text(
            ax,
            match_at,
            height,
            f"equal at {match_at:.3g}",
            shift=(9, 7),
        )
    elif len(names) == 1:
        best = float(grid[np.argmin(losses[0])])
        ax.axvline(truth, color=INK, linewidth=1, linestyle=DASHES)
        ax.plot(best, least, "o", color=BLUE, markersize=6, clip_on=False)
        side, shift = ("right", -5) if truth > 0.8 else ("left", 5)
        text(
            ax,
            truth,
            top,
            f"truth {truth:.3g}",
            align=side,
            vertical="top",
            shift=(shift, 0),
        )
        side, shift = ("left", 6) if best < 0.5 else ("right", -6)
        text(
            ax,
            best,
            least,
            f"least {fixed(least, 3)} at {fixed(best, 2)}",
            BLUE,
            side,
            "top",
            (shift, -8),
        )
    return ax
