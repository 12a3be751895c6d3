"""What each metric of a confusion matrix rewards when the truth is uncertain: rarely an honest report."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from probtruth import frames
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.scoring.confusion.measures import METRICS, label_columns, measure_table
from probtruth.types.truth import Truth

if TYPE_CHECKING:
    import polars

EQUAL = 1e-12  # Two values this close differ only by rounding

ANY = "any response"


def degeneracy_report(truth: Truth) -> "polars.DataFrame":
    """For each metric the response that it rewards most under this truth, compared with the truth itself as the
    answer.

    The honest model reports each item's distribution and answers by drawing from it. The best response maximises the
    ratio of expected counts (for the two scores: minimises the expected score). Accuracy: the most probable label of
    every item. Recall of a label: always that label; specificity: never; precision: only for the items most likely to
    have it; F: for all items above a threshold, which is half of the best F. For log and Brier scores, which are
    proper, the truth itself is best.

    Returns: one row for each metric (and label): `honest` and `best` values, `best_response` in words, and
    `honest_is_best`. For accuracy, precision, recall, specificity and F higher is better, for the scores lower.

    Errors: `InputError` for anything but a `Truth`.

    Source: B. Carpenter (2010), "Evaluating with Probabilistic Truth: Log Loss vs. O/1 Loss", LingPipe blog (which
    says that accuracy is the same for all responses at y = 0; it is at y = 0.5); for F Lipton, Elkan and Naryanaswamy
    (2014), doi:10.1007/978-3-662-44851-9_15.

    >>> import probtruth as pt
    >>> report = pt.confusion.degeneracy_report(pt.Truth.from_probs([[0.3, 0.7]]))
    >>> report.select("metric", "label", "honest", "best", "honest_is_best").rows()[0]
    ('accuracy', None, 0.58, 0.7, False)
    """
    if not isinstance(truth, Truth):
        raise InputError(f"truth of type {type(truth).__name__}", "a probtruth.Truth", "Make it with Truth.from_probs.")
    table = truth.shares if truth.estimand != "class" and truth.shares is not None else to_host(truth.probs)
    y = table.astype(np.float64)
    honest = measure_table(y.T @ y)
    same = np.ptp(y, axis=1).max() <= EQUAL
    best = float(y.max(1).mean()), ANY if same else "the most probable label of every item"
    found: list[tuple[str, str | None, float, float, str]] = [("accuracy", None, float(honest[0]), *best)]
    for metric in METRICS:
        values = honest[label_columns(metric, y.shape[1])].tolist()
        for label, value, column in zip(truth.index.labels, values, y.T, strict=True):
            found.append((metric, label, value, *_best(metric, label, column)))
    entropy = float(-(y * np.log(np.where(y > 0, y, 1))).sum(1).mean())
    for name, value in (("log", entropy), ("brier", float((1 - (y**2).sum(1)).mean()))):
        found.append((name, None, value, value, "the truth itself"))
    columns = ("metric", "label", "honest", "best", "best_response", "honest_is_best")
    return frames.from_rows(
        [dict(zip(columns, (*row, bool(abs(row[3] - row[2]) <= EQUAL)), strict=True)) for row in found]
    )


def _best(metric: str, label: str, y: Float[np.ndarray, " item"]) -> tuple[float, str]:
    """The greatest value of a metric of one label, and the response that reaches it."""
    if y.sum() == 0 and metric in ("recall", "f"):
        return np.nan, "none: the label never happens"
    if metric == "recall":
        return 1.0, f"always {label!r}"
    if metric == "specificity":
        return (1.0, f"never {label!r}") if y.sum() < len(y) else (np.nan, "none: the label always happens")
    if metric == "precision":
        if np.ptp(y) <= EQUAL:
            return float(y[0]), f"{label!r} for any of the items"
        number = int((y >= y.max() - EQUAL).sum())
        return float(y.max()), f"{label!r} only for the {number} of {len(y)} items most likely to have it"
    values = 2 * np.cumsum(np.sort(y)[::-1]) / (np.arange(1, len(y) + 1) + y.sum())
    number = int(values.argmax()) + 1
    best = float(values[number - 1])
    return best, f"{label!r} for the {number} of {len(y)} items above {best / 2:.3g}, half of the best F"
