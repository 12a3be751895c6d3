"""Metrics that are not means of one number an item, as functions of the items' weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import ItemFloats, ItemInts, ItemLabel, ModelFloats, ModelItemLabel
from probtruth.scoring.align import AlignedOnHost
from probtruth.scoring.calibration.events import bins_of, events
from probtruth.scoring.confusion.curves import RATES, chosen_labels, ranking, ranks_of
from probtruth.scoring.confusion.expected import response_probs
from probtruth.scoring.confusion.measures import Measure, cohens_kappa, measure, measure_names
from probtruth.types.arguments import MetricName, RuleName

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
BINS = 15  # Of calibration error, unless the caller says
NEEDS_ANSWERS = ("accuracy", "precision", "recall", "f1", "macro-f1", "kappa")
RULES = get_args(RuleName.__value__)
STEP = 1e-5  # Of a label's largest total, to see how a metric moves with it
NEVER = {"kappa": "labels and answers are all the same"}


@dataclass(frozen=True, eq=False)
class WeightedMetric:
    """A metric of every model under weights of the units; NaN where it is undefined.

    `linear` is what an item adds if it has a label, to first order: the metric plus its slope by the weight of such an
    item, times the number of items. Its mean over the items and the truth is the metric. `of_answers` is the same of
    every answer that a model can give, whether it does or not; empty where a metric is not one of answers.
    """

    name: str
    label: str | None
    words: str
    higher_is_better: bool
    undefined: str
    events: ModelFloats
    values: ValuesOf
    linear: ModelItemLabel
    of_answers: Float[np.ndarray, "model answer label"]


def weighted_metric(
    aligned: AlignedOnHost,
    unit: ItemInts,
    metric: object,
    label: object = None,
    threshold: object = None,
    n_bins: int = BINS,
) -> WeightedMetric:
    """The metric of the models' predictions against the truth."""
    if metric in RULES:
        hint = f"A mean over items is a rule: evaluate(..., rule={metric!r}) (command line: --rule {metric})."
        raise InputError(f"the rule {metric!r} as a metric", "a metric", hint)
    name = check.literal(metric, MetricName, "metric")
    of_one_label = name in ONE_LABEL
    _check_options(name, label, threshold, n_bins, aligned.labels)
    position = 0
    label_name = None
    words: str = name
    undefined = NEVER.get(name, "there is nothing to average")
    if of_one_label:
        position = chosen_labels(label, aligned.labels)[0]
        label_name = aligned.labels[position]
        words = f"{name} of {check.quote(label_name)}"
        undefined = ONE_LABEL[name]
    truth = aligned.truth
    counted = [truth.sum(0)] * len(aligned.models)
    n_items = len(truth)
    if name in NEEDS_ANSWERS:
        with np.errstate(invalid="ignore"):  # of items that a model lacks
            answers = response_probs(aligned.log_probs, "argmax" if threshold is None else "threshold", threshold)
        answers[aligned.lacking] = np.nan
        values, linear = _from_answers(name, label_name, aligned, answers, unit)
        if name != "recall":
            totals = truth.sum(0)
            counted = [np.stack([totals, answer.sum(0)]) for answer in answers]
    elif name == "ece":
        gaps, linear = _gaps(aligned, truth, n_bins)
        values = _by_units(gaps, unit, _calibration_error)
    else:
        values, linear = _area(name, aligned, position, unit)
    events = np.array([_rarer(name, totals, position) for totals in counted])
    return WeightedMetric(
        name,
        label_name,
        words,
        higher_is_better=name != "ece",
        undefined=undefined,
        events=events,
        values=values,
        linear=linear[:, :n_items],
        of_answers=linear[:, n_items:],
    )


def _check_options(name: str, label: object, threshold: object, n_bins: int, labels: Sequence[str]) -> None:
    """Raises where a metric has no use for an option, or needs a label."""
    if label is not None and name not in ONE_LABEL:
        hint = f"It is for {', '.join(ONE_LABEL)}."
        raise InputError(f"label {label!r} with metric {name!r}", "no label", hint)
    if threshold is not None and name not in NEEDS_ANSWERS:
        hint = f"It is for {', '.join(NEEDS_ANSWERS)}."
        raise InputError(f"a threshold with metric {name!r}", "no threshold", hint)
    if n_bins != BINS and name != "ece":
        raise InputError(f"n_bins={n_bins!r} with metric {name!r}", "no bins", "They are for 'ece'.")
    if name in ONE_LABEL and label is None and len(labels) != 2:
        got = f"metric {name!r} without a label, with {len(labels)} labels"
        hint = f"Give label={labels[0]!r} (command line: --metric {name}:{labels[0]}); macro-f1 needs none."
        raise InputError(got, f"one of {check.shortlist(labels)}", hint)


def _from_answers(
    name: str,
    label: str | None,
    aligned: AlignedOnHost,
    answers: ModelItemLabel,
    unit: ItemInts,
) -> tuple[ValuesOf, Float[np.ndarray, "model row label"]]:
    """A metric of the table of labels and answers, from its diagonal and its two margins.

    What an item adds is that of the items, then that of each answer.
    """
    right = aligned.truth * answers
    of_label = np.broadcast_to(aligned.truth, answers.shape)
    cells: Float[np.ndarray, "model item part label"] = np.stack([right, of_label, answers], axis=2)
    average = "macro" if name == "macro-f1" else None
    wanted = Measure("f" if name.endswith("f1") else name, label, average)
    column = 0 if name == "kappa" else measure_names(aligned.labels).index(wanted)

    def of_totals(totals: CellTotals) -> Values:
        right, of_label, of_response = np.moveaxis(totals, -2, 0)
        if name == "kappa":
            return cohens_kappa(right, of_label, of_response)
        return measure(right, of_label, of_response)[..., column]

    by_units = _by_units(cells.swapaxes(0, 1), unit, of_totals)
    n_models, _, n_labels = answers.shape
    each = np.broadcast_to(np.eye(n_labels), (n_models, n_labels, n_labels))
    answers = np.concatenate([answers, each], axis=1)
    if name == "accuracy":
        return by_units, answers
    every = cells.sum(1)
    of_right, of_truth, of_answer = np.moveaxis(_slopes(of_totals, every), 1, 0)[:, :, None]  # model, 1, label
    slope = of_right * answers + of_truth + (of_answer * answers).sum(-1, keepdims=True)
    (metric,) = of_totals(every[None])
    return by_units, metric[:, None, None] + len(unit) * slope


def _slopes(of_totals: Callable[[CellTotals], Values], totals: Float[np.ndarray, "model part label"]) -> np.ndarray:
    """How a metric of totals moves with each of them; 0 for labels that no item has and no model answers."""
    step = STEP * totals.max(1)
    slopes = np.zeros_like(totals)
    for part, label in np.ndindex(totals.shape[1:]):
        moved = np.zeros_like(totals)
        moved[:, part, label] = step[:, label]
        above, below = of_totals(np.stack([totals + moved, totals - moved]))
        slopes[:, part, label] = ratio(above - below, 2 * step[:, label])
    return slopes


def _area(name: str, aligned: AlignedOnHost, position: int, unit: ItemInts) -> tuple[ValuesOf, ModelItemLabel]:
    """The area under the curve of one label against the rest."""
    rates = RATES["roc" if name == "roc-auc" else "precision-recall"]
    orders = [ranks_of(ranking(logs, position)[0]) for logs in aligned.log_probs]

    def values(weights: Weights) -> Values:
        areas = []
        for ranked, last in orders:
            weight: Float[np.ndarray, "draw item"] = weights[:, unit[ranked]]
            events = aligned.truth[ranked, position]
            hits = np.cumsum(weight * events, axis=1)
            answered = np.cumsum(weight, axis=1)
            total = hits[:, -1:]
            at_steps = (hits[:, last], answered[:, last])
            _, _, area = rates(*at_steps, total)
            areas.append(area)
        return np.stack(areas, axis=1)

    of_items = _roc_items if name == "roc-auc" else _precision_items
    linear = np.empty((len(orders), *aligned.truth.shape))
    for row, (ranked, last) in zip(linear, orders, strict=True):
        events = aligned.truth[ranked, position]
        step = np.cumsum(last) - last  # of the curve, at which an item enters
        as_event, as_other = of_items(events, step)
        row[ranked] = as_other[:, None]
        row[ranked, position] = as_event
    return values, linear


def _roc_items(events: ItemFloats, step: ItemInts) -> tuple[ItemFloats, ItemFloats]:
    """What an item of each step adds to the area under the ROC curve, as an event and as another; see `linear`."""
    of_events = np.bincount(step, events)
    of_others = np.bincount(step, 1 - events)
    n_events = of_events.sum()
    n_others = of_others.sum()
    above = np.cumsum(of_events) - of_events / 2
    below = n_others - np.cumsum(of_others) + of_others / 2
    area = ratio(of_events @ below, n_events * n_others, np.nan)
    as_event = ratio(below, n_others) - area
    as_other = ratio(above, n_events) - area
    n_items = len(step)
    return area + ratio(n_items * as_event, n_events)[step], area + ratio(n_items * as_other, n_others)[step]


def _precision_items(events: ItemFloats, step: ItemInts) -> tuple[ItemFloats, ItemFloats]:
    """The same of average precision."""
    of_events = np.bincount(step, events)
    hits = np.cumsum(of_events)
    taken = np.cumsum(np.bincount(step))
    precision = hits / taken
    n_events = hits[-1]
    area = ratio(of_events @ precision, n_events, np.nan)
    from_here = np.cumsum((of_events / taken)[::-1])[::-1]
    lost = np.cumsum((of_events * precision / taken)[::-1])[::-1]
    as_event = precision + from_here - lost - area
    n_items = len(step)
    return area + ratio(n_items * as_event, n_events)[step], area - ratio(n_items * lost, n_events)[step]


def _rarer(name: str, totals: Float[np.ndarray, "*side label"], position: int) -> float:
    """On how many items a metric rests that has these totals of labels, or of labels and of answers."""
    if name in ("accuracy", "ece"):
        return float("inf")
    total = totals.sum(-1)
    if name in ONE_LABEL:
        count = totals[..., position]
        return float(np.minimum(count, total - count).min())
    return float((total - totals.max(-1)).min())


def _by_units(cells: np.ndarray, unit: ItemInts, finish: Callable[[np.ndarray], Values]) -> ValuesOf:
    """A function of the weighted totals over units."""
    n_units = int(unit.max()) + 1
    shape = cells.shape[1:]
    totals = np.zeros((n_units, *shape))
    np.add.at(totals, unit, cells)
    flat = totals.reshape(n_units, -1)

    def values(weights: Weights) -> Values:
        weighted = weights @ flat
        return finish(weighted.reshape(len(weights), *shape))

    return values


def _calibration_error(sums: Float[np.ndarray, "draw model column"]) -> Values:
    gaps = np.abs(sums[..., :-1])
    n_items = sums[..., -1]
    return np.asarray(ratio(gaps.sum(-1), n_items, np.nan))


def _gaps(
    aligned: AlignedOnHost, truth: ItemLabel, n_bins: int
) -> tuple[Float[np.ndarray, "item model column"], ModelItemLabel]:
    """Of each item outcome minus forecast of its most probable label, in the column of its bin; 1 in the last one."""
    n_items = len(truth)
    items = np.arange(n_items)
    table = np.zeros((n_items, len(aligned.models), n_bins + 1))
    table[..., n_bins] = 1
    linear = response_probs(aligned.log_probs, "argmax")
    for model, logs in enumerate(aligned.log_probs):
        ((_, forecasts, outcomes),) = events(logs, truth, aligned.labels, "top-label")
        bins = bins_of(forecasts, n_bins, logs.dtype)
        table[items, model, bins] = outcomes - forecasts
        gap = table[:, model].sum(0)
        linear[model] -= forecasts[:, None]
        linear[model] *= np.sign(gap)[bins, None]
    return table, linear
