"""The expected confusion matrix: what to count when neither the truth nor the response is certain."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.scoring.align import align
from probtruth.scoring.measures import AVERAGES, METRICS, Measure, measure, measure_names
from probtruth.scoring.responses import response_probs
from probtruth.types.index import Audit

if TYPE_CHECKING:
    import polars

METHODS = ("ratio",)


@dataclass(frozen=True, eq=False)
class Confusion:
    """Expected counts of each model and the metrics that follow from them; more is better.

    `counts[model, j, k]` is the expected number of items whose label is j and whose response is k. `values` are the
    metrics named by `measures`, NaN where undefined; `undefined` is the expected number of labels (for one label: the
    probability) that were undefined behind each number.
    """

    counts: Float[np.ndarray, "model label label"]
    values: Float[np.ndarray, "model measure"]
    undefined: Float[np.ndarray, "model measure"]
    measures: tuple[Measure, ...]
    models: tuple[str, ...]
    labels: tuple[str, ...]
    n_items: int
    response: str
    method: str
    threshold: object = None
    audit: Audit = field(default_factory=Audit)

    @property
    def accuracy(self) -> Float[np.ndarray, " model"]:
        """Expected share of items whose response is their label."""
        return self.values[:, 0]

    @property
    def precision(self) -> Float[np.ndarray, "model label"]:
        """Precision of each label."""
        return self._of_labels("precision")

    @property
    def recall(self) -> Float[np.ndarray, "model label"]:
        """Recall (sensitivity) of each label."""
        return self._of_labels("recall")

    @property
    def specificity(self) -> Float[np.ndarray, "model label"]:
        """Specificity of each label."""
        return self._of_labels("specificity")

    @property
    def f(self) -> Float[np.ndarray, "model label"]:
        """F-measure of each label, the harmonic mean of its precision and recall."""
        return self._of_labels("f")

    def _of_labels(self, metric: str) -> Float[np.ndarray, "model label"]:
        return self.values[:, [self.place(metric, label=label) for label in self.labels]]

    def metric(self, metric: str, label: object = None, average: object = None) -> Float[np.ndarray, " model"]:
        """One metric of every model: accuracy, or precision, recall, specificity or f of a label or averaged.

        Errors: `InputError` for an unknown metric, label or average, and where neither or both of the two are given.
        """
        return self.values[:, self.place(metric, label, average)]

    def place(self, metric: str, label: object = None, average: object = None) -> int:
        """Where a metric stands in `measures`, `values` and the other arrays."""
        check.one_of(metric, ("accuracy", *METRICS), "metric")
        if metric == "accuracy":
            return 0
        if (label is None) == (average is None):
            raise InputError(
                f"metric {metric!r} with label {label!r} and average {average!r}",
                "a label or an average",
                f"Give label=... (one of {check.shortlist(self.labels)}) or average=... (one of {AVERAGES}).",
            )
        start = 1 + METRICS.index(metric) * (len(self.labels) + len(AVERAGES))
        if label is not None:
            return start + self.labels.index(check.one_of(str(label), self.labels, "label"))
        return start + len(self.labels) + AVERAGES.index(check.one_of(average, AVERAGES, "average"))

    def table(self) -> "polars.DataFrame":
        """A row for each model and metric; `label` or `average` says what of, `undefined` counts undefined labels."""
        rows = [
            {
                "model": model,
                "metric": name.metric,
                "label": name.label,
                "average": name.average,
                "value": float(self.values[i, j]),
                "undefined": float(self.undefined[i, j]),
            }
            for i, model in enumerate(self.models)
            for j, name in enumerate(self.measures)
        ]
        return frames.from_rows(rows)


def expected_confusion(
    predictions: object, truth: object, response: str = "sample", method: str = "ratio", threshold: object = None
) -> Confusion:
    """Expected counts of label against response, and accuracy, precision, recall, specificity and F from them.

    E[count of (j, k)] = sum over items of y_j r_k, where y is the item's distribution over labels and r the
    probability of each response; label and response are drawn independently given the item.

    Arguments: `response` is how a model answers: "sample" draws from its distribution, "argmax" gives its most
    probable label (ties share), "threshold" the second label where its probability reaches `threshold` (or, with one
    threshold for each label, the label of greatest probability divided by threshold). `method` "ratio" takes the ratio
    of expected counts.

    Returns: a `Confusion`; metrics are between 0 and 1, more is better, and NaN (counted) where 0/0. None of them is a
    proper score but for the report of a single label: see `degeneracy_report`.

    Errors: `InputError` for an unknown option or a threshold that does not fit.

    Source: B. Carpenter (2010), "Evaluating with Probabilistic Truth: Log Loss vs. O/1 Loss", LingPipe blog.

    >>> import probtruth as pt
    >>> truth = pt.Truth.from_probs([[0.3, 0.7]])
    >>> confusion = pt.expected_confusion(pt.Predictions.from_probs({"a": [[0.4, 0.6]]}), truth)
    >>> confusion.counts[0].round(2).tolist()
    [[0.12, 0.18], [0.28, 0.42]]
    >>> [round(float(value), 3) for value in (confusion.accuracy[0], confusion.recall[0, 1], confusion.f[0, 1])]
    [0.54, 0.6, 0.646]
    """
    check.one_of(method, METHODS, "method")
    aligned = align(predictions, truth)
    answers = response_probs(aligned.log_probs, response, threshold)
    counts = expected_counts(aligned.truth, answers)
    values, undefined = measure(counts)
    return Confusion(
        counts,
        values,
        undefined,
        measure_names(aligned.labels),
        predictions.models,  # type: ignore[attr-defined]
        aligned.labels,
        len(aligned.items),
        response,
        method,
        threshold,
        aligned.audit,
    )


def expected_counts(
    truth: Float[np.ndarray, "item label"], answers: Float[np.ndarray, "model item label"]
) -> Float[np.ndarray, "model label label"]:
    """Sum over items of the outer product of label and response probabilities."""
    return np.stack([truth.T @ answer for answer in answers])
