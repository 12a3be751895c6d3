"""Accuracy, precision, recall, specificity and F from tables of counts: for each label and averaged over labels."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

METRICS = ("precision", "recall", "specificity", "f")
AVERAGES = ("macro", "micro", "weighted")


@dataclass(frozen=True)
class Measure:
    """One number about a table of counts: a metric of one label, or its average over the labels."""

    metric: str
    label: str | None = None
    average: str | None = None


def measure_names(labels: tuple[str, ...]) -> tuple[Measure, ...]:
    """The measures in the order of `measure`: accuracy; then for each metric its labels and its three averages."""
    names = [Measure("accuracy")]
    for metric in METRICS:
        names += [Measure(metric, label=label) for label in labels]
        names += [Measure(metric, average=average) for average in AVERAGES]
    return tuple(names)


def measure(
    counts: Float[np.ndarray, "*batch label response"],
) -> tuple[Float[np.ndarray, "*batch measure"], Float[np.ndarray, "*batch measure"]]:
    """The measures of each table, NaN where one is 0/0, and how many labels were undefined behind each number.

    With true positives TP, label totals T (rows), response totals R (columns) and the total N: precision TP/R, recall
    TP/T, specificity (N - T - R + TP)/(N - T), F 2TP/(T + R). Macro is the mean over the labels that are defined,
    weighted the mean weighted by T over them, micro the ratio of the sums over labels.
    """
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    of_label, of_response = counts.sum(-1), counts.sum(-2)
    total = of_label.sum(-1, keepdims=True)
    parts = {
        "precision": (right, of_response),
        "recall": (right, of_label),
        "specificity": (total - of_label - of_response + right, total - of_label),
        "f": (2 * right, of_label + of_response),
    }
    accuracy = ratio(right.sum(-1, keepdims=True), total)
    values, undefined = [accuracy], [np.isnan(accuracy).astype(np.float64)]
    for metric in METRICS:
        above, below = parts[metric]
        each = ratio(above, below)
        hole = np.isnan(each)
        number = hole.sum(-1, keepdims=True, dtype=np.float64)
        filled = np.where(hole, 0.0, each)
        weights = np.where(hole, 0.0, of_label)
        macro = ratio(filled.sum(-1, keepdims=True), each.shape[-1] - number)
        micro = ratio(above.sum(-1, keepdims=True), below.sum(-1, keepdims=True))
        weighted = ratio((weights * filled).sum(-1, keepdims=True), weights.sum(-1, keepdims=True))
        values += [each, macro, micro, weighted]
        undefined += [hole.astype(np.float64), number, np.isnan(micro).astype(np.float64), number]
    return np.concatenate(values, -1), np.concatenate(undefined, -1)


def ratio(
    above: Float[np.ndarray, "*batch value"], below: Float[np.ndarray, "*batch #value"]
) -> Float[np.ndarray, "*batch value"]:
    """above / below, NaN where below is not positive."""
    fine = below > 0
    value: np.ndarray = np.where(fine, above / np.where(fine, below, 1.0), np.nan)
    return value
