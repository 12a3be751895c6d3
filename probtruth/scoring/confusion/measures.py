"""Accuracy, precision, recall, specificity and F from tables of counts: for each label and averaged over labels."""

import warnings
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Labels = Float[np.ndarray, "*batch label"]
Measures = Float[np.ndarray, "*batch measure"]
Drawn = Float[np.ndarray, "draw model measure"]

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


def label_columns(metric: str, n_labels: int) -> slice:
    """Positions of the labels of a metric among the measures."""
    start = 1 + METRICS.index(metric) * (n_labels + len(AVERAGES))
    return slice(start, start + n_labels)


def average_column(metric: str, average: str, n_labels: int) -> int:
    """Position of an average of a metric among the measures."""
    return int(label_columns(metric, n_labels).stop) + AVERAGES.index(average)


def measure(right: Labels, of_label: Labels, of_response: Labels) -> tuple[Measures, Measures]:
    """The measures of each table, NaN for 0/0, and the number of undefined labels behind each."""
    total = of_label.sum(-1, keepdims=True)
    parts = {
        "precision": (right, of_response),
        "recall": (right, of_label),
        "specificity": (np.maximum(total - of_label - of_response + right, 0), total - of_label),
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


def measure_table(counts: Float[np.ndarray, "*batch label response"]) -> tuple[Measures, Measures]:
    """`measure` of whole tables, rows = labels, columns = responses."""
    return measure(np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(-1), counts.sum(-2))


def cohens_kappa(right: Labels, of_label: Labels, of_response: Labels) -> Float[np.ndarray, "*batch"]:
    """(accuracy - chance) / (1 - chance) of each table, chance being sum T R / N^2; NaN where chance is 1."""
    total = of_label.sum(-1)
    chance = (of_label * of_response).sum(-1)
    return ratio(right.sum(-1) * total - chance, total**2 - chance)


def ratio(
    above: Float[np.ndarray, "*batch value"], below: Float[np.ndarray, "*batch #value"]
) -> Float[np.ndarray, "*batch value"]:
    """above / below, NaN if below is not positive."""
    fine = below > 0
    value: np.ndarray = np.where(fine, above / np.where(fine, below, 1.0), np.nan)
    return value


@dataclass(frozen=True, eq=False)
class Summary:
    """Each measure's value, spread and 95% interval, and the error of the value."""

    values: Float[np.ndarray, "model measure"]
    undefined: Float[np.ndarray, "model measure"]
    sd: Float[np.ndarray, "model measure"]
    low: Float[np.ndarray, "model measure"]
    high: Float[np.ndarray, "model measure"]
    mc_error: Float[np.ndarray, "model measure"]


def summarise(values: Drawn, undefined: Drawn) -> Summary:
    """Mean, sd and equal-tailed 95% interval over the draws in which a measure is defined."""
    number = (~np.isnan(values)).sum(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where a measure is never defined all of these are NaN
        mean, sd = np.nanmean(values, 0), np.nanstd(values, 0, ddof=1)
        low, high = np.nanquantile(values, [0.025, 0.975], axis=0)
    return Summary(mean, undefined.mean(0), sd, low, high, ratio(sd, np.sqrt(number)))
