"""Generalised means of the probabilities that a model gave to what happened, against those of the source."""

from dataclasses import dataclass
from math import exp, inf, isnan, log, log1p
from typing import Literal

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.scoring.align import align
from probtruth.scoring.nelson.risk import MARKS, RiskProfile
from probtruth.scoring.nelson.source_probability import equal_count_bins, source_probability, whole
from probtruth.scoring.score import check_floor
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import SourceMethod

Rows = Float[np.ndarray, "item label"]

POWERS = tuple(np.linspace(-4, 4, 33).tolist())  # The default spectrum


def risk_profile(
    predictions: Predictions,
    truth: Truth,
    floor: float | None = None,
    powers: ArrayLike = POWERS,
    source: SourceMethod = "isotonic",
    smoothing: float | None = None,
    by_label: bool = True,
) -> RiskProfile:
    """Decisiveness, accuracy, robustness and the spectrum between, of the model and of the source, after Nelson.

    Formula: P_model(m) = (sum over items and labels of y q^m / N)^(1/m), with y the truth, q the reported probability;
    P_source(m) the same with the source probability instead of q; P_div = P_model / P_source. The weights are the true
    events: the paper's equal weights of bins are wrong if bins have unequal numbers of true events.

    Arguments: `floor` is the paper's precision q_lim: it keeps reports and source probabilities between floor and 1 -
    floor; without it one impossible event makes the accuracy 0. `powers` is the spectrum (decisiveness, accuracy and
    robustness are always in it). `source` and `smoothing` say how to estimate the source probability, see
    `source_probability`; with "isotonic" and two labels, or "truth", P_div is at most 1 at power 0. `by_label` sorts
    each label's reports separately, otherwise all labels' reports are pooled.

    Returns: a `RiskProfile`; probabilities from 0 to 1, higher is better.

    Errors: `InputError` for an unknown source, a floor outside 0 to 1/K, or a power that is not a number.

    Source: Nelson (2017), doi:10.3390/e19060286

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.5, 0.5], [0.2, 0.8]]})
    >>> risk = pt.nelson.risk_profile(pred, pt.Truth.from_labels(np.array([0, 1]), n_labels=2))
    >>> [round(float(value[0]), 3) for value in (risk.decisiveness, risk.accuracy, risk.robustness)]
    [0.65, 0.632, 0.621]
    """
    check.own_threads()
    aligned = align(predictions, truth).on_host()
    check.literal(source, SourceMethod, "source")
    limit = check_floor(floor, len(aligned.labels))
    given = check_arrays.as_floats(powers, "power", "powers")
    if np.isnan(given).any():
        raise InputError("a power that is NaN", "numbers (inf and -inf are allowed)", "Check powers=[...].")
    wanted = tuple(sorted({*given.tolist(), *MARKS.values()}))
    events = aligned.truth
    n_bins = whole(smoothing, 1, "bins") if source in ("bins", "bayes-bins") and smoothing is not None else None
    model, like, sigma, lost_items, bins = [], [], [], [], []
    for name, logs in zip(aligned.models, aligned.log_probs, strict=True):
        lost = ((events > 0) & np.isneginf(logs)).any(1)
        reported = np.exp(logs)
        if limit is not None:
            reported = np.clip(reported, limit, 1 - limit)
            logs = np.log(reported)
        frequency = _source(reported, events, source, smoothing, by_label)
        if limit is not None:
            frequency = np.clip(frequency, limit, 1 - limit)
        model.append(_means(logs, events, wanted))
        like.append(_means(_log(frequency), events, wanted))
        sigma.append(_p_sigma(logs, events))
        lost_items.append(tuple(item for item, gone in zip(aligned.items, lost, strict=True) if gone))
        bins += _bubbles(name, aligned.labels, reported, events, n_bins)
    ours, theirs = np.stack(model), np.stack(like)
    return RiskProfile(
        aligned.models,
        aligned.labels,
        wanted,
        ours[:, 0],
        theirs[:, 0],
        ours[:, 1:],
        theirs[:, 1:],
        np.array(sigma),
        tuple(lost_items),
        source,
        limit,
        tuple(bins),
        aligned.audit,
    )


def _source(reported: Rows, events: Rows, method: str, smoothing: object, by_label: bool) -> Rows:
    if not by_label:
        return source_probability(reported.ravel(), events.ravel(), method, smoothing).reshape(reported.shape)
    each = [source_probability(q, y, method, smoothing) for q, y in zip(reported.T, events.T, strict=True)]
    return np.stack(each, -1)


def _log(values: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    with np.errstate(divide="ignore"):
        return np.log(values)


def _means(logs: Rows, events: Rows, powers: tuple[float, ...]) -> Float[np.ndarray, "all_then_label power"]:
    """The means over all true events and over each label's, NaN for a label without any."""
    means = np.full((1 + logs.shape[1], len(powers)), np.nan)
    for row, values, weights in zip(means, (logs.ravel(), *logs.T), (events.ravel(), *events.T), strict=True):
        happened = weights > 0
        if happened.any():
            share = weights[happened] / weights[happened].sum()
            row[:] = [_mean(values[happened], share, power) for power in powers]
    return means


def _mean(logs: Float[np.ndarray, " event"], share: Float[np.ndarray, " event"], power: float) -> float:
    """`generalized_mean` of events on the host, where it needs no compilation."""
    low, high = float(logs.min()), float(logs.max())
    if np.isinf(power):
        return exp(high if power > 0 else low)
    if low == -inf and (power <= 0 or high == -inf):
        return 0.0
    centre = float(share @ logs)
    if abs(power) * (high - low) <= 1:  # around the geometric mean: small powers lose no digits
        return exp(centre + (log1p(share @ np.expm1(power * (logs - centre))) / power if power else 0.0))
    top = high if power > 0 else low
    return exp(top + log(share @ np.exp(power * (logs - top))) / power)


def _p_sigma(logs: Rows, events: Rows) -> float:
    """exp(-sd of the log-probabilities of what happened), 0 if one of them is infinite."""
    happened = events > 0
    values, weights = logs[happened], events[happened] / events.sum()
    if np.isneginf(values).any():
        return 0.0
    mean = float(weights @ values)
    return float(np.exp(-np.sqrt(weights @ (values - mean) ** 2)))


def _bubbles(
    model: str, labels: tuple[str, ...], reported: Rows, events: Rows, n_bins: int | None
) -> list[dict[str, object]]:
    """The bins of each label, in the order of their reports."""
    rows: list[dict[str, object]] = []
    for label, q, y in zip(labels, reported.T, events.T, strict=True):
        logs = _log(q)
        bin_of = equal_count_bins(q, n_bins)
        for here in np.unique(bin_of):
            inside = bin_of == here
            true = y[inside]
            total, happened = float(true.sum()), true > 0
            log_mean = float(true[happened] @ logs[inside][happened] / total) if total > 0 else np.nan
            rows.append(
                {
                    "model": model,
                    "label": label,
                    "bin": int(here),
                    "source": total / len(true),
                    "reported": float(np.exp(log_mean)),
                    "reported_all": float(np.exp(logs[inside].mean())),
                    "n": len(true),
                    "n_true": total,
                    "contribution": total / float(events.sum()) * log_mean if total > 0 else 0.0,
                }
            )
    return rows


@dataclass(frozen=True)
class MetricExplanation:
    """What a generalised mean of the probabilities of what happened rewards in a forecaster.

    `exponent` e says that the best report under the truth t is t^e, normalised: 1 is honesty, above 1 sharpened, below
    1 hedged, 0 uniform, infinite certainty of the most probable label. `text` says so in words.
    """

    power: float
    exponent: float
    proper: bool
    text: str

    def __str__(self) -> str:
        """The explanation in words."""
        return self.text

    def report(self, truth: object) -> Float[np.ndarray, "... label"]:
        """The report that the metric rewards most if labels follow `truth`; ties share certainty."""
        probs = np.asarray(truth, np.float64)
        if self.exponent == inf:
            return simplex.shared_by_ties(probs)
        weights = np.where(probs > 0, probs, 1) ** self.exponent * (probs > 0)
        return np.asarray(weights / weights.sum(-1, keepdims=True))


def explain_metric(power: float | Literal["decisiveness", "accuracy", "robustness"]) -> MetricExplanation:
    """Which report the generalised mean of power m rewards, and whether that is the truth.

    Formula: (mean of p^m)^(1/m) over the probabilities p of what happened is expected to be greatest at the report
    proportional to t^(1/(1-m)) for m < 1, and at certainty of the most probable label for m >= 1. Only m = 0, the
    geometric mean (the log score), rewards the truth. Perplexity of n items together is the power -1/n, inverse
    perplexity 1/n: their expectation rewards t^(n/(n+1)) and t^(n/(n-1)).

    Arguments: `power` is a number (minus infinity allowed), or "decisiveness" (1), "accuracy" (0), "robustness" (-2/3).

    Returns: a `MetricExplanation`; its `report(truth)` is the rewarded report.

    Errors: `InputError` for another name or NaN.

    Source: Nelson (2017), doi:10.3390/e19060286, for the means; the rewarded report follows by Lagrange's condition.

    >>> import probtruth as pt
    >>> told = pt.nelson.explain_metric("robustness")
    >>> told.proper, told.report([0.7, 0.3]).round(3).tolist()
    (False, [0.624, 0.376])
    """
    if isinstance(power, str):
        value = MARKS[check.one_of(power, tuple(MARKS), "metric")]
    else:
        try:
            value = float(power)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            value = float("nan")
        if isnan(value) or isinstance(power, bool):
            raise InputError(
                f"power {power!r}", f"a number or one of {', '.join(MARKS)}", "0 is the geometric mean, the log score."
            )
    exponent = inf if value >= 1 else 1 / (1 - value)
    return MetricExplanation(value, exponent, value == 0, _text(value, exponent))


def _text(power: float, exponent: float) -> str:
    if power == 0:
        what = "is the geometric mean, the exponential of the log score: it rewards the truth, and is proper"
    elif exponent == 0:
        what = "is the least probability: it rewards equal probabilities for all possible labels, not the truth"
    elif exponent == inf:
        what = "rewards certainty of the most probable label, whatever its probability: it is improper"
    else:
        way = "hedged towards equal probabilities" if exponent < 1 else "sharpened towards the most probable label"
        what = f"rewards the truth raised to the power {exponent:.4g} and normalised, {way}: it is improper"
    return f"The generalised mean of power {power:.4g} {what}."
