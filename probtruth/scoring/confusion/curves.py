"""ROC and precision-recall curves against soft labels: actual ones, and those that the model's probabilities imply."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from probtruth import check, frames
from probtruth.kernels.host import in_order
from probtruth.kernels.shapes import ItemFloats, ItemInts, ItemLabel
from probtruth.scoring.align import AlignedOnHost, align
from probtruth.scoring.confusion.measures import ratio
from probtruth.types import Predictions, Truth
from probtruth.types.shown import Brief

Points = Float[np.ndarray, "*batch point"]

# Above this log-probability, -(1 - p) distinguishes reports, because it has the digits that log p lost.
NEARLY_SURE = -1e-8


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Brief):
    """One curve: a point for each distinct report, from the highest threshold down.

    At `thresholds[i]` the response is the label if its probability is at least that. For kind "roc" x is the false and
    y the true positive rate, starting at (0, 0); for "precision-recall" x is the recall and y the precision. `area` is
    by trapezoids under the ROC curve, by steps (average precision) under the other; higher is better. All is NaN if
    the label has no events, or the ROC curve has no non-events.
    """

    model: str
    label: str
    kind: str
    implied: bool
    thresholds: Float[np.ndarray, " point"]
    x: Float[np.ndarray, " point"]
    y: Float[np.ndarray, " point"]
    area: float


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Brief):
    """Curves of all models and labels: the actual and the implied one."""

    kind: str
    curves: tuple[Curve, ...]

    def of(self, model: object, label: object = None, implied: bool = False) -> Curve:
        """One curve; you may leave out the label if there is only one.

        Errors: `InputError` for an unknown model or label.
        """
        models = list(dict.fromkeys(curve.model for curve in self.curves))
        labels = list(dict.fromkeys(curve.label for curve in self.curves))
        if label is None and len(labels) == 1:
            label = labels[0]
        model = check.one_of(model, models, "model")
        label = frames.one_name(label, labels, "label")
        wanted = (model, label, implied)
        return next(curve for curve in self.curves if (curve.model, curve.label, curve.implied) == wanted)


def roc_curves(predictions: Predictions, truth: Truth, label: str | int | None = None) -> Curves:
    """Receiver operating characteristic of each model against the truth, each label against the rest.

    Formula: with y the probability that the item has the label and p the report, TPR(t) = sum y [p >= t] / sum y and
    FPR(t) = sum (1 - y) [p >= t] / sum (1 - y). The implied curve has p in place of y: what the model expects of
    itself on these items. If it lies above the actual curve, the model is overconfident.

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: the reference, used as it is: what `infer_truth` or `Truth.from_probs` makes, or `result.truth`, in which
            the models' forecasts are evidence of inferred classes too, as in `score`.
        label: the event. Without it the second of two labels, or every one of more.

    Returns: `Curves`; areas are between 0 and 1, higher is better. An area is the probability that an event ranks
    above a non-event when both are drawn with the soft labels as weights, ties counting half (an item may meet
    itself).

    Errors: `InputError` for an unknown label.

    Source: Fawcett (2006), doi:10.1016/j.patrec.2005.10.010; for the implied curve Nelson (2017),
    doi:10.3390/e19060286, Figure 2d.

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.1, 0.9], [0.6, 0.4], [0.7, 0.3]]})
    >>> curves = pt.confusion.roc_curves(pred, pt.Truth.from_probs([[0, 1], [0.5, 0.5], [1, 0]]))
    >>> round(curves.of("a").area, 4), round(curves.of("a", implied=True).area, 4)
    (0.9444, 0.7679)
    """
    return _curves(align(predictions, truth).on_host(), label, "roc")


def precision_recall_curves(predictions: Predictions, truth: Truth, label: str | int | None = None) -> Curves:
    """Precision against recall of each model, each label against the rest; the implied curve as in `roc_curves`.

    Formula: recall(t) = sum y [p >= t] / sum y, precision(t) = sum y [p >= t] / sum [p >= t].

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: the reference, used as it is: what `infer_truth` or `Truth.from_probs` makes, or `result.truth`, in which
            the models' forecasts are evidence of inferred classes too, as in `score`.
        label: as in `roc_curves`.

    Returns and errors: as in `roc_curves`. The area is the average precision, the sum of precision times the step in
    recall; straight lines between the points would make it too large.

    Source: Davis and Goadrich (2006), doi:10.1145/1143844.1143874

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.1, 0.9], [0.6, 0.4], [0.7, 0.3]]})
    >>> curves = pt.confusion.precision_recall_curves(pred, pt.Truth.from_probs([[0, 1], [0.5, 0.5], [1, 0]]))
    >>> round(curves.of("a").area, 4)
    0.9167
    """
    return _curves(align(predictions, truth).on_host(), label, "precision-recall")


def _curves(aligned: AlignedOnHost, label: object, kind: str) -> Curves:
    curves = []
    for model, logs in zip(aligned.models, aligned.log_probs, strict=True):
        for k in chosen_labels(label, aligned.labels):
            label_name = aligned.labels[k]
            order, probs = ranking(logs, k)
            ranked, last = ranks_of(order)
            thresholds = probs[ranked][last]
            if kind == "roc":
                thresholds = np.append(np.inf, thresholds)
            n_answered = np.flatnonzero(last) + 1.0
            for implied, events in ((False, aligned.truth[:, k]), (True, probs)):
                hits = np.cumsum(events[ranked])[last]
                total = np.array([events.sum()])
                x, y, area = RATES[kind](hits, n_answered, total)
                curve = Curve(model, label_name, kind, implied, thresholds, x, y, float(area))
                curves.append(curve)
    return Curves(kind, tuple(curves))


def chosen_labels(label: object, labels: Sequence[str]) -> list[int]:
    """The position of the requested label; by default the second of two, or every one of more."""
    if label is not None:
        return [labels.index(frames.one_name(label, labels, "label"))]
    n_labels = len(labels)
    return [1] if n_labels == 2 else list(range(n_labels))


def ranking(logs: ItemLabel, position: int) -> tuple[ItemFloats, ItemFloats]:
    """Numbers in the order of one label's reports, distinct even if these round to 1; and the reports."""
    logs = logs.astype(np.float64, copy=False)
    reports = logs[:, position]
    rest = np.exp(np.delete(logs, position, axis=1)).sum(1)
    sure = np.maximum(-rest, NEARLY_SURE)  # above all others, though rows sum to 1 only within the tolerance
    order = np.where(reports > NEARLY_SURE, sure, reports)
    return order, np.exp(reports)


def ranks_of(order: ItemFloats) -> tuple[ItemInts, Bool[np.ndarray, " item"]]:
    """The items from the highest report down, and which of them are the last of their ties, which enter together."""
    ranked, first = in_order(-order)
    return ranked, np.append(first[1:], True)


def precision_recall(
    hits: Points, taken: Points, events: Float[np.ndarray, "*batch one"]
) -> tuple[Points, Points, Float[np.ndarray, "*batch"]]:
    """Recall, precision and average precision, of the weights of events and of all items above each threshold."""
    recall = ratio(hits, events)
    precision = np.where(events > 0, ratio(hits, taken), np.nan)
    steps = np.diff(recall, prepend=0.0)
    areas = np.where(steps == 0, 0.0, steps * precision)
    return recall, precision, np.asarray(areas.sum(-1))


def roc(
    hits: Points, taken: Points, events: Float[np.ndarray, "*batch one"]
) -> tuple[Float[np.ndarray, "*batch more"], Float[np.ndarray, "*batch more"], Float[np.ndarray, "*batch"]]:
    """False and true positive rate from (0, 0) on and the area, of weights as in `precision_recall`."""
    others_taken = np.maximum(taken - hits, 0)
    others = taken[..., -1:] - events
    false_positive = ratio(others_taken, others)
    true_positive = ratio(hits, events)
    origin = np.zeros_like(true_positive[..., :1])
    x = np.concatenate([origin, false_positive], axis=-1)
    y = np.concatenate([origin, true_positive], axis=-1)
    return x, y, np.asarray(np.trapezoid(y, x))


RATES = {"precision-recall": precision_recall, "roc": roc}
