"""Metrics that are not means of one number an item, as functions of the items' weights."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.scoring.align import AlignedOnHost
from probtruth.scoring.calibration.events import bins_of, events
from probtruth.scoring.confusion.curves import RATES, chosen_labels, ranking, ranks_of
from probtruth.scoring.confusion.expected import response_probs
from probtruth.scoring.confusion.measures import Measure, cohens_kappa, measure, measure_names, ratio
from probtruth.types.arguments import MetricName

Weights = Float[np.ndarray, "draw unit"]
Values = Float[np.ndarray, "draw model"]
ValuesOf = Callable[[Weights], Values]
CellTotals = Float[np.ndarray, "draw model part label"]

ONE_LABEL = {
    "precision": "no item is answered with the label",
    "recall": "no item has the label",
    "f1": "no item has the label and none is answered with it",
    "roc-auc": "all items have the label, or none",
    "average-precision": "no item has the label",
}  # The metrics of one label, and when they are undefined
NEEDS_ANSWERS = ("accuracy", "precision", "recall", "f1", "macro-f1", "kappa")
NEVER = {"kappa": "labels and answers are all the same"}


@dataclass(frozen=True, eq=False)
class WeightedMetric:
    """A metric of every model under weights of the units; NaN where it is undefined."""

    name: str
    label: str | None
    words: str
    higher_is_better: bool
    undefined: str
    events: Float[np.ndarray, " model"]
    values: ValuesOf


def weighted_metric(
    aligned: AlignedOnHost,
    unit: Int[np.ndarray, " item"],
    metric: object,
    label: object = None,
    threshold: object = None,
    n_bins: int = 15,
) -> WeightedMetric:
    """The metric of the models' predictions against the truth."""
    name = check.literal(metric, MetricName, "metric")
    one = name in ONE_LABEL
    if label is not None and not one:
        raise InputError(f"label {label!r} with metric {name!r}", "no label", f"It is for {', '.join(ONE_LABEL)}.")
    if threshold is not None and name not in NEEDS_ANSWERS:
        raise InputError(f"a threshold with metric {name!r}", "no threshold", f"It is for {', '.join(NEEDS_ANSWERS)}.")
    if one and label is None and len(aligned.labels) != 2:
        got = f"metric {name!r} without a label, with {len(aligned.labels)} labels"
        raise InputError(got, f"one of {check.shortlist(aligned.labels)}", "Give label=..., or take macro-f1.")
    position = chosen_labels(label, aligned.labels)[0] if one else 0
    own = aligned.labels[position] if one else None
    words = name if own is None else f"{name} of {check.quote(own)}"
    undefined = ONE_LABEL[name] if one else NEVER.get(name, "there is nothing to average")
    truth = aligned.truth
    counted = [truth.sum(0)] * len(aligned.models)
    if name in NEEDS_ANSWERS:
        answers = response_probs(aligned.log_probs, "argmax" if threshold is None else "threshold", threshold)
        cells = np.stack([truth * answers, np.broadcast_to(truth, answers.shape), answers], axis=2)
        wanted = Measure("f" if name.endswith("f1") else name, own, "macro" if name == "macro-f1" else None)

        def of_cells(totals: CellTotals) -> Values:
            sides = (totals[..., part, :] for part in range(3))
            if name == "kappa":
                return cohens_kappa(*sides)
            return measure(*sides)[..., measure_names(aligned.labels).index(wanted)]

        values = _by_units(cells.swapaxes(0, 1), unit, of_cells)
        if name != "recall":
            counted = [np.stack([labels, answer.sum(0)]) for labels, answer in zip(counted, answers, strict=True)]
    elif name == "ece":
        gaps = _gaps(aligned, truth, n_bins)
        values = _by_units(gaps, unit, lambda sums: ratio(np.abs(sums[..., :-1]).sum(-1), sums[..., -1]))
    else:
        kind = "roc" if name == "roc-auc" else "precision-recall"
        orders = [ranks_of(ranking(logs, position)[0]) for logs in aligned.log_probs]

        def values(weights: Weights) -> Values:
            columns = []
            for ranked, last in orders:
                heavy = weights[:, unit[ranked]]
                hits = np.cumsum(heavy * truth[ranked, position], axis=1)
                columns.append(RATES[kind](hits[:, last], np.cumsum(heavy, axis=1)[:, last], hits[:, -1:])[2])
            return np.stack(columns, axis=1)

    events = np.array([_rarer(name, totals, position) for totals in counted])
    return WeightedMetric(name, own, words, name != "ece", undefined, events, values)


def _rarer(name: str, totals: Float[np.ndarray, "*side label"], position: int) -> float:
    """On how many items a metric rests that has these totals of labels, or of labels and of answers."""
    if name in ("accuracy", "ece"):
        return float("inf")
    total = totals.sum(-1)
    count = totals[..., position] if name in ONE_LABEL else totals.max(-1)
    return float((np.minimum(count, total - count) if name in ONE_LABEL else total - count).min())


def _by_units(cells: np.ndarray, unit: Int[np.ndarray, " item"], finish: Callable[[np.ndarray], Values]) -> ValuesOf:
    """A function of the weighted totals over units."""
    totals = np.zeros((int(unit.max()) + 1, *cells.shape[1:]))
    np.add.at(totals, unit, cells)

    def values(weights: Weights) -> Values:
        added = weights @ totals.reshape(len(totals), -1)
        return finish(added.reshape(len(weights), *totals.shape[1:]))

    return values


def _gaps(aligned: AlignedOnHost, truth: np.ndarray, n_bins: int) -> Float[np.ndarray, "item model column"]:
    """Of each item outcome minus forecast of its most probable label, in the column of its bin; 1 in the last one."""
    table = np.zeros((len(truth), len(aligned.models), n_bins + 1))
    table[..., n_bins] = 1
    for model, logs in enumerate(aligned.log_probs):
        ((_, forecasts, outcomes),) = events(logs, truth, aligned.labels, "top-label")
        table[np.arange(len(truth)), model, bins_of(forecasts, n_bins, "uniform", logs.dtype)] = outcomes - forecasts
    return table
