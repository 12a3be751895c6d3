"""The expected confusion matrix, when neither truth nor response is certain, and what each of its metrics rewards."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.kernels.arrays import to_host
from probtruth.kernels.shapes import ItemFloats, ItemLabel, ModelFloats, ModelItemLabel
from probtruth.scoring.align import align
from probtruth.scoring.confusion import measures
from probtruth.scoring.confusion.measures import AVERAGES, METRICS, Measure, Summary, label_columns
from probtruth.scoring.rules import brier, log
from probtruth.scoring.score import entropies
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import ResponseMode
from probtruth.types.index import Audit
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

ModelLabel = Float[np.ndarray, "model label"]

METHODS = ("ratio", "exact", "draws")
EQUAL = 1e-12  # Two values this close differ only by rounding


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(Brief, Summary):
    """Expected counts of each model and the metrics from them; higher is better.

    `counts[model, j, k]` is the expected number of items whose label is j and whose response is k. `values` are the
    metrics named by `measures`, NaN where undefined; `undefined` is the expected number of undefined labels (for one
    label: the probability) behind each number. `plug_in` are the ratios of expected counts. `sd`, `low` and `high`
    (95%, equal-tailed) are the spread of the metric under the method, NaN if it has none; `mc_error` is the standard
    error of `values` from simulation, 0 if they are exact.
    """

    counts: Float[np.ndarray, "model label label"]
    plug_in: Float[np.ndarray, "model measure"]
    measures: tuple[Measure, ...]
    models: tuple[str, ...]
    labels: tuple[str, ...]
    n_items: int
    response: str
    method: str
    threshold: object = None
    audit: Audit = field(default_factory=Audit)

    @property
    def accuracy(self) -> ModelFloats:
        """Expected share of items whose response is their label."""
        return self.values[:, 0]

    @property
    def precision(self) -> ModelLabel:
        """Precision of each label."""
        return self._of("precision")

    @property
    def recall(self) -> ModelLabel:
        """Recall (sensitivity) of each label."""
        return self._of("recall")

    @property
    def specificity(self) -> ModelLabel:
        """Specificity of each label."""
        return self._of("specificity")

    @property
    def f(self) -> ModelLabel:
        """F-measure of each label, the harmonic mean of its precision and recall."""
        return self._of("f")

    def _of(self, metric: str) -> ModelLabel:
        return self.values[:, label_columns(metric, len(self.labels))]

    def metric(self, metric: object, label: object = None, average: object = None) -> ModelFloats:
        """One metric of every model: accuracy, or precision, recall, specificity or f of a label or averaged.

        Errors: `InputError` for an unknown metric, label or average, and unless you pass either a label or an average.
        """
        return self.values[:, self.column(metric, label, average)]

    def column(self, metric: object, label: object = None, average: object = None) -> int:
        """The position of a metric in `measures`, `values` and the other arrays."""
        name = check.one_of(metric, ("accuracy", *METRICS), "metric")
        if name == "accuracy":
            return 0
        if (label is None) == (average is None):
            hint = f"Give label=... (one of {check.shortlist(self.labels)}) or average=... (one of {AVERAGES})."
            problem = f"metric {name!r} with label {label!r} and average {average!r}"
            raise InputError(problem, "a label or an average", hint)
        if average is not None:
            wanted = Measure(name, average=check.one_of(average, AVERAGES, "average"))
        else:
            wanted = Measure(name, label=frames.one_name(label, self.labels, "label"))
        return self.measures.index(wanted)

    def table(self) -> "polars.DataFrame":
        """A row for each model and metric, with its `label` or `average`; `undefined` counts undefined labels."""
        names = ("values", "sd", "low", "high", "plug_in", "undefined", "mc_error")
        rows = []
        for i, model in enumerate(self.models):
            for j, measure in enumerate(self.measures):
                row: dict[str, object] = {"model": model, **vars(measure)}
                for name in names:
                    row[name.removesuffix("s")] = float(getattr(self, name)[i, j])
                rows.append(row)
        return frames.from_rows(rows)


def expected_confusion(
    predictions: Predictions,
    truth: Truth,
    response: ResponseMode = "sample",
    method: Literal["ratio", "exact", "draws"] = "ratio",
    threshold: float | None = None,
    draws: int = 1000,
    *,
    seed: int = 0,
) -> Confusion:
    """Expected counts of label against response, and accuracy, precision, recall, specificity and F from them.

    Formula: E[count of (j, k)] = sum over items of y_j r_k, where y is the item's distribution over labels and r the
    probability of each response; label and response are drawn independently given the item.

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: the reference, used as it is: what `infer_truth` or `Truth.from_probs` makes, or `result.truth`, in which
            the models' forecasts are evidence of inferred classes too, as in `score`.
        response: how a model answers: "sample" draws from its distribution, "argmax" gives its most probable label
            (ties share), "threshold" the second of two labels if its probability reaches `threshold`.
        method: "ratio" takes ratios of expected counts. "exact" the expectation of each ratio given that it is defined,
            over labels and responses, with the spread of one realisation (averages over labels are simulated: see
            `mc_error`). "draws" the posterior of the ratio over the draws of the truth, or over drawn labels if it has
            none. A posterior that smooths vote shares moves the centre: compare `plug_in`, which does not.
        threshold: the probability from which on `response="threshold"` answers with a label.
        draws, seed: for what is simulated.

    Returns: a `Confusion`; metrics are between 0 and 1, higher is better, and NaN (counted) for 0/0. None of them is a
    proper score: see `degeneracy_report`.

    Errors: `InputError` for an unknown option, a threshold that does not fit, or fewer than 2 draws.

    Source: B. Carpenter (2010), "Evaluating with Probabilistic Truth: Log Loss vs. O/1 Loss", LingPipe blog.

    >>> import probtruth as pt
    >>> truth, pred = pt.Truth.from_probs([[0.3, 0.7]]), pt.Predictions.from_probs({"a": [[0.4, 0.6]]})
    >>> confusion = pt.expected_confusion(pred, truth)
    >>> confusion.counts[0].round(2).tolist()
    [[0.12, 0.18], [0.28, 0.42]]
    >>> round(float(confusion.f[0, 1]), 3), round(float(pt.expected_confusion(pred, truth, method="exact").f[0, 1]), 3)
    (0.646, 0.477)
    """
    check.own_threads()
    way = check.one_of(method, METHODS, "method")
    how = check.literal(response, ResponseMode, "response")
    check.whole(draws, 2, "draws")
    check.whole(seed, 0, "seed")
    aligned = align(predictions, truth).on_host()
    answers = response_probs(aligned.log_probs, how, threshold)
    counts = aligned.truth.T @ answers
    plug_in = measures.measure_table(counts)
    if way == "ratio":
        none = np.full_like(plug_in, np.nan)
        holes = measures.undefined_labels(plug_in, len(aligned.labels))
        summary = Summary(plug_in, holes, none, none, none, np.zeros_like(plug_in))
    elif way == "exact":
        summary = measures.exact_measures(aligned.truth, answers, draws, seed)
    elif truth.draws is None:
        summary = measures.sampled_measures(aligned.truth, answers, draws, seed, respond=False)
    else:
        summary = measures.posterior_measures(np.ascontiguousarray(aligned.of_truth(truth.draws)), answers)
    return Confusion(
        **vars(summary),
        counts=counts,
        plug_in=plug_in,
        measures=measures.measure_names(aligned.labels),
        models=aligned.models,
        labels=aligned.labels,
        n_items=len(aligned.items),
        response=how,
        method=way,
        threshold=threshold,
        audit=aligned.audit,
    )


def response_probs(log_probs: ModelItemLabel, response: str, threshold: object = None) -> ModelItemLabel:
    """The probability of each answer: the model's distribution itself, or 1 at the label that it chooses."""
    if response != "threshold" and threshold is not None:
        hint = "Give response='threshold', or leave the threshold out."
        problem = f"threshold {threshold!r} with response {response!r}"
        raise InputError(problem, "a threshold only with response 'threshold'", hint)
    logs = log_probs.astype(np.float64, copy=False)
    if response == "sample":
        return np.asarray(np.exp(logs))
    if response == "argmax":
        return simplex.shared_by_ties(logs)
    n_labels = log_probs.shape[-1]
    if n_labels != 2:
        got = f"a threshold for {n_labels} labels"
        hint = "Leave the threshold out: the answer is then the most probable label (response='argmax')."
        raise InputError(got, "two labels", hint)
    hint = "Thresholds are probabilities; threshold=0.5 is the usual choice."
    limit = np.array([check.number(threshold, "threshold", hint, above=0, most=1)])
    limit *= 1 - simplex.lost_as_log(limit, log_probs.dtype)
    positive = np.exp(logs[..., 1]) >= limit
    return np.stack([~positive, positive], -1).astype(np.float64)


def degeneracy_report(truth: Truth) -> "polars.DataFrame":
    """For each metric the response that it rewards most under this truth, against answers drawn from the truth.

    The best response maximises the ratio of expected counts. Accuracy: the most probable label of every item. Recall of
    a label: always that label; specificity: never; precision: only for the items most likely to have it; F: for all
    items above a threshold, which is half of the best F. For log and Brier scores the truth itself is best.

    Arguments:
        truth: the reference, as `infer_truth` or `Truth.from_probs` makes it.

    Returns: one row for each metric (and label): `honest` and `best` values, `best_response` in words, and
    `honest_is_best`. Higher is better, for the two scores lower.

    Errors: `InputError` for anything but a `Truth`.

    Source: B. Carpenter (2010), "Evaluating with Probabilistic Truth: Log Loss vs. O/1 Loss", LingPipe blog (which
    says that accuracy is the same for all responses at y = 0; it is at y = 0.5); for F Lipton, Elkan and Naryanaswamy
    (2014), doi:10.1007/978-3-662-44851-9_15.

    >>> import probtruth as pt
    >>> report = pt.confusion.degeneracy_report(pt.Truth.from_probs([[0.3, 0.7]]))
    >>> report.select("metric", "label", "honest", "best", "honest_is_best").rows()[0]
    ('accuracy', None, 0.58, 0.7, False)
    """
    check.instance(truth, Truth, "infer_truth, Truth.from_probs or Truth.from_labels")
    by_votes = truth.estimand != "class" and truth.shares is not None
    table = truth.shares if by_votes and truth.shares is not None else to_host(truth.probs)
    y = table.astype(np.float64)
    honest = measures.measure_table(y.T @ y)
    best, response = _best_accuracy(y)
    rows = [_row("accuracy", None, float(honest[0]), best, response)]
    for metric in METRICS:
        values = honest[label_columns(metric, y.shape[1])].tolist()
        by_label = zip(truth.index.labels, values, y.T, strict=True)
        for label, value, column in by_label:
            best, response = _best(metric, label, column)
            rows.append(_row(metric, label, value, best, response))
    for rule in (log, brier):
        value = float(entropies(rule, y).mean())
        rows.append(_row(rule.name, None, value, value, "the truth itself"))
    return frames.from_rows(rows)


def _row(metric: str, label: str | None, honest: float, best: float, response: str) -> dict[str, object]:
    return {
        "metric": metric,
        "label": label,
        "honest": honest,
        "best": best,
        "best_response": response,
        "honest_is_best": bool(abs(best - honest) <= EQUAL),
    }


def _best_accuracy(y: ItemLabel) -> tuple[float, str]:
    best = float(y.max(1).mean())
    all_alike = np.ptp(y, axis=1).max() <= EQUAL
    return best, "any response" if all_alike else "the most probable label of every item"


def _best(metric: str, label: str, y: ItemFloats) -> tuple[float, str]:
    """The greatest value of a metric of one label, and the response that reaches it."""
    total = y.sum()
    n_items = len(y)
    if total == 0 and metric in ("recall", "f"):
        return np.nan, "none: the label never happens"
    if metric == "recall":
        return 1.0, f"always {label!r}"
    if metric == "specificity":
        if total == n_items:
            return np.nan, "none: the label always happens"
        return 1.0, f"never {label!r}"
    if metric == "precision":
        highest = y.max()
        if np.ptp(y) <= EQUAL:
            return float(y[0]), f"{label!r} for any of the items"
        number = int((y >= highest - EQUAL).sum())
        return float(highest), f"{label!r} only for the {number} of {n_items} items most likely to have it"
    descending = np.sort(y)[::-1]
    hits = np.cumsum(descending)  # if the most likely 1, 2, ... items get the label
    n_answered = np.arange(1, n_items + 1)
    values = 2 * hits / (n_answered + total)
    position = int(values.argmax())
    best = float(values[position])
    response = f"{label!r} for the {position + 1} of {n_items} items above {best / 2:.3g}, half of the best F"
    return best, response
