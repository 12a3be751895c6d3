"""The cost of every report: the loss of a response to one soft label, under any rule."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax
import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from probtruth import check, check_arrays, frames
from probtruth.errors import InputError
from probtruth.scoring.rules.named import RuleLike, get_rule
from probtruth.scoring.rules.rule import ScoringRule

if TYPE_CHECKING:
    import polars

RULES: tuple[RuleLike, ...] = ("log", "brier")


@check.checks_itself
def loss_curve(
    truth: ArrayLike,
    rules: RuleLike | Sequence[RuleLike] = RULES,
    reports: ArrayLike | None = None,
    label: int = -1,
    match_at: float | None = None,
) -> "polars.DataFrame":
    """Expected loss of every report of one label's probability, under each rule.

    Formula: loss(p, t) where p gives `report` to the label, and the rest to the others in proportion to the truth.
    With `match_at` every rule but the first is moved and scaled so that a certain and right report costs nothing and,
    if the label comes, a report of `match_at` costs what it does under the first rule (at 0.5, (1 - p)^2 is multiplied
    by 4 log 2 to meet the log loss).

    Arguments: `truth` is one distribution, or the probability of the second of two labels; `rules` one rule or several;
    `reports` between 0 and 1 (201 even ones by default; a stretch near 1 zooms in); `label` the position of the label.

    Returns: rows `rule`, `report`, `loss`, and `least` (the loss of reporting the truth for a proper rule: the
    generalised entropy, on the same scale); lower is better.

    Errors: `InputError` for a truth that is not a distribution, reports outside 0 to 1, an unknown rule, and a
    `match_at` at which the losses cannot meet.

    Source: B. Carpenter (2010), "Evaluating with Probabilistic Truth: Log Loss vs. O/1 Loss", LingPipe blog.

    >>> import probtruth as pt
    >>> curve = pt.rules.loss_curve(0.7, rules="log", reports=[0.6, 0.7, 0.8])
    >>> curve["loss"].round(4).to_list(), round(curve["least"][0], 4)
    ([0.6325, 0.6109, 0.639], 0.6109)
    """
    row = _distribution(truth)
    if isinstance(label, bool) or not isinstance(label, (int, np.integer)) or not -len(row) <= label < len(row):
        raise InputError(f"label {label!r}", f"a position below {len(row)}", "Count the labels from 0.")
    grid = (
        np.linspace(0, 1, 201)
        if reports is None
        else check_arrays.as_floats(reports, "report", "reports").astype(float)
    )
    for values in (grid, np.array([0.5 if match_at is None else check.number(match_at, "match_at")])):
        if not ((values >= 0) & (values <= 1)).all():
            raise InputError(
                "a report outside 0 to 1 or NaN", "probabilities", "np.linspace(0, 1, 201) is the default."
            )
    several = rules if isinstance(rules, (list, tuple)) else [rules]
    chosen = [get_rule(rule).for_labels(tuple(map(str, range(len(row))))) for rule in several]
    probs = _reports(row, grid, label)
    rows: list[dict[str, object]] = []
    for rule in chosen:
        shift, factor = (0.0, 1.0) if match_at is None else _matched(rule, chosen[0], row, label, match_at)
        with jax.enable_x64(True):
            expected, entropy = map(np.asarray, _parts(rule, probs, row))
        losses, least = (expected - shift) * factor, (float(entropy) - shift) * factor
        rows += [
            {"rule": rule.name, "report": float(report), "loss": float(loss), "least": least}
            for report, loss in zip(grid, losses, strict=True)
        ]
    return frames.from_rows(rows)


_parts = jax.jit(lambda rule, probs, truth: (rule.expected(probs, truth), rule.entropy(truth)), static_argnums=0)
_label_losses = jax.jit(lambda rule, probs: rule.per_label(probs), static_argnums=0)


def _distribution(truth: object) -> Float[np.ndarray, " label"]:
    values = np.asarray(truth)
    if values.ndim == 0:
        second = check_arrays.as_floats([truth], "label", "truth").astype(np.float64)[0]
        values = np.array([1 - second, second])
    return check_arrays.distribution(values, "truth")


def _reports(
    truth: Float[np.ndarray, " label"], grid: Float[np.ndarray, " report"], label: int
) -> Float[np.ndarray, "report label"]:
    rest = truth.copy()
    rest[label] = 0
    others = np.ones(len(truth))
    others[label] = 0
    spread = rest / rest.sum() if rest.sum() > 0 else others / others.sum()
    probs = (1 - grid)[:, None] * spread
    probs[:, label] = grid
    return probs


def _matched(
    rule: ScoringRule, first: ScoringRule, truth: Float[np.ndarray, " label"], label: int, at: float
) -> tuple[float, float]:
    """Shift and factor that take the losses of a rule, if the label comes, to those of the first rule at `at`."""
    ends = _reports(truth, np.array([1.0, at]), label)
    with jax.enable_x64(True):
        (right, there), (base, wanted) = (np.asarray(_label_losses(each, ends))[:, label] for each in (rule, first))
    if not (np.isfinite([wanted, base, there, right]).all() and there > right):
        raise InputError(
            f"match_at {at!r} for the rules {first.name!r} and {rule.name!r}",
            "a report that both rules give a finite loss, larger than that of certainty",
            "Choose a report between 0 and 1, such as 0.5.",
        )
    return float(right), float((wanted - base) / (there - right))
