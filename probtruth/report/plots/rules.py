"""What a response costs under a rule, for a label that is itself uncertain."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.report.numbers import fixed
from probtruth.report.plots.axes import BLUE, DASHES, INK, SIZE, keys, panel, text
from probtruth.scoring.rules import get_rule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.rules.rule import ScoringRule

STEPS = 1000  # Responses at which the loss is drawn, besides the truth


def plot_rules(
    rules: RuleLike | Sequence[RuleLike] = ("log", "brier"),
    y: float = 1.0,
    match_at: float | None = None,
    zoom: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Expected loss of every response to one item whose label may be uncertain, on one scale for all rules if wanted.

    Formula: expected(r) = sum over labels k of y_k times the loss of response r if the label is k; with `match_at` the
    divergence (loss above the least one), multiplied so that every rule has the first one's at that response: for a
    certain label the Brier score by 2 log 2, which is (1 - p)^2 by 4 log 2, to meet log at 0.5.

    Arguments:
        rules: one name or rule, or several.
        y: the probability of the second of two labels.
        match_at: the response at which every rule is to lose as much as the first one.
        zoom: the range of responses to show.
        ax: the axes to draw on; new ones by default.

    Returns: the axes. Of one rule the dashed line is the truth, the point the least expected loss: the generalised
    entropy of the label, on the dashed line if the rule is proper.

    Errors: `InputError` for an unknown rule, a truth that is no probability, a response `match_at` at which a rule
    loses nothing or everything, and a range that is none.

    Source: B. Carpenter (2010), "Evaluating with Probabilistic Truth: Log Loss vs. O/1 Loss", LingPipe blog; Rosenberg
    (2021), "Proper Scoring Rules", lecture notes.

    >>> import probtruth as pt
    >>> ax = pt.figures.plot_rules("log", y=0.7)
    >>> [entry.get_text() for entry in ax.texts]
    ['least 0.611 at 0.70']
    """
    listed: list[RuleLike] = list(rules) if isinstance(rules, list | tuple) else [rules]  # type: ignore[list-item]
    low, high = check_arrays.as_floats(zoom or (0, 1), "response", "zoom").tolist()
    if not 0 <= low < high <= 1:
        raise InputError(f"zoom={zoom!r}", "two responses from 0 to 1, the lower first", "zoom=(0.9, 1.0), say.")
    y = check.number(y, "truth", least=0, most=1)
    truth = np.array([1 - y, y])
    chosen = [get_rule(rule).for_labels(("0", "1")) for rule in listed]
    shown = keys(range(len(chosen)), what="rule")
    steps = low + (high - low) * np.arange(STEPS + 1) / STEPS
    grid = np.unique(np.append(steps, np.clip(y, low, high)))
    losses = np.array([_losses(rule, grid, truth, match_at) for rule in chosen])
    if match_at is not None:
        at_match = np.array([_losses(rule, np.array([match_at]), truth, match_at) for rule in chosen])
        usable = np.isfinite(at_match) & (at_match > 0)
        if not (0 <= match_at <= 1 and usable.all()):
            wanted = "a response from 0 to 1 that costs something, and not everything, under every rule"
            raise InputError(f"match_at {match_at!r}", wanted, "Choose one that is not the truth, such as 0.5.")
        losses = losses * at_match[0] / at_match
    title = "expected loss" if match_at is None else "loss above the least, rescaled"
    ax = panel(ax, "response: probability of the label", title)
    edge = len(grid) // 50  # where losses grow without bound
    inner = losses[:, edge:-edge]
    top = float(inner[np.isfinite(inner)].max())
    least = float(losses[np.isfinite(losses)].min())
    ax.set_xlim(low, high)
    ax.set_ylim(least - 0.16 * (top - least), top * (1.02 if top > 0 else 0.98))
    for rule, values, key in zip(chosen, losses, shown, strict=True):
        ax.plot(grid, values, color=key.colour, linewidth=2, label=rule.name)
    ax.legend(frameon=False, labelcolor="linecolor", fontsize=SIZE)
    if len(chosen) == 1:
        best = float(grid[np.argmin(losses[0])])
        ax.axvline(y, color=INK, linewidth=1, linestyle=DASHES)
        ax.plot(best, least, "o", color=BLUE, markersize=6, clip_on=False)
        align = "left" if best < 0.5 else "right"
        words = f"least {fixed(least, 3)} at {fixed(best, 2)}"
        text(ax, best, least, words, BLUE, align, "top", (0, -8))
    return ax


def _losses(
    rule: ScoringRule, responses: np.ndarray, truth: np.ndarray, match_at: float | None
) -> Float[np.ndarray, " response"]:
    """The expected loss of each probability of the second label, or what of it is above the least."""
    probs = np.column_stack([1 - responses, responses])
    if match_at is None:
        return np.asarray(rule.expected(probs, truth))
    return np.asarray(rule.divergence(probs, truth))
