"""The cost of every report: the loss of a response to one soft label, under any rule."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from probtruth import check, check_arrays, frames
from probtruth.errors import InputError
from probtruth.scoring.rules.named import RuleLike, get_rule

if TYPE_CHECKING:
    import polars

RULES: tuple[RuleLike, ...] = ("log", "brier")


def loss_curve(
    truth: ArrayLike,
    rules: RuleLike | Sequence[RuleLike] = RULES,
    reports: ArrayLike | None = None,
    label: int = -1,
    match_at: float | None = None,
) -> "polars.DataFrame":
    """Expected loss of every report of one label's probability, under each rule.

    Formula: expected(p, t) where p gives `report` to the label, and the rest to the others in proportion to the truth.
    With `match_at` it is the divergence (loss above the least), multiplied so that every rule has the first one's at
    that report: for a certain label the Brier score by 2 log 2, which is (1 - p)^2 by 4 log 2, to meet log at 0.5.

    Arguments: `truth` is one distribution, or the probability of the second of two labels; `rules` one rule or several;
    `reports` between 0 and 1 (201 even ones by default; a stretch near 1 zooms in); `label` the position of the label.

    Returns: rows `rule`, `report`, `loss`, and `least`, the loss of reporting the truth under a proper rule (0 with
    `match_at`); lower is better.

    Errors: `InputError` for a truth that is not a distribution, reports outside 0 to 1, an unknown rule, and a
    `match_at` that costs nothing or everything under some rule.

    Source: B. Carpenter (2010), "Evaluating with Probabilistic Truth: Log Loss vs. O/1 Loss", LingPipe blog.

    >>> import probtruth as pt
    >>> curve = pt.rules.loss_curve(0.7, rules="log", reports=[0.6, 0.7, 0.8])
    >>> curve["loss"].round(4).to_list(), round(curve["least"][0], 4)
    ([0.6325, 0.6109, 0.639], 0.6109)
    """
    row = np.asarray(truth)
    if row.ndim == 0:
        second = check_arrays.as_floats([truth], "label", "truth").astype(np.float64)[0]
        row = np.array([1 - second, second])
    row = check_arrays.distribution(row, "truth")
    if isinstance(label, bool) or not isinstance(label, (int, np.integer)) or not -len(row) <= label < len(row):
        raise InputError(f"label {label!r}", f"a position below {len(row)}", "Count the labels from 0.")
    given = np.linspace(0, 1, 201) if reports is None else reports
    grid = check_arrays.as_floats(given, "report", "reports").astype(float)
    matched = np.array([] if match_at is None else [check.number(match_at, "match_at")])
    values = np.concatenate([matched, grid])
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError("a report outside 0 to 1 or NaN", "probabilities", "np.linspace(0, 1, 201) is the default.")
    others = np.arange(len(row)) != label % len(row)
    rest = row * others if (row * others).any() else others
    probs = (1 - values)[:, None] * rest / rest.sum()
    probs[:, label] = values
    several = rules if isinstance(rules, (list, tuple)) else [rules]
    rows: list[dict[str, object]] = []
    wanted = None
    for rule in (get_rule(rule).for_labels(tuple(map(str, range(len(row))))) for rule in several):
        if match_at is None:
            losses, least = np.asarray(rule.expected(probs, row)), float(rule.entropy(row))
        else:
            losses, least = np.asarray(rule.divergence(probs, row)), 0.0
            wanted = losses[0] if wanted is None else wanted
            if not (np.isfinite([wanted, losses[0]]).all() and wanted > 0 and losses[0] > 0):
                raise InputError(
                    f"match_at {match_at!r} for the rule {rule.name!r}",
                    "a report that costs something, and not everything, under every rule",
                    "Choose a report between 0 and 1 that is not the truth, such as 0.5.",
                )
            losses = (losses * (wanted / losses[0]))[1:]
        rows += [
            {"rule": rule.name, "report": float(report), "loss": float(loss), "least": least}
            for report, loss in zip(grid, losses, strict=True)
        ]
    return frames.from_rows(rows)
