"""Generalised means of the probabilities that a model gave to what happened, against those of the source."""

from dataclasses import dataclass, field
from math import exp, inf, log1p
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from probtruth import check, check_arrays, frames
from probtruth.errors import InputError
from probtruth.kernels.shapes import ItemLabel, ModelFloats
from probtruth.scoring.align import align
from probtruth.scoring.nelson.source_probability import Entries, check_smoothing, equal_count_bins, source_probability
from probtruth.scoring.score import check_floor, floored, score_aligned
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import SourceMethod
from probtruth.types.index import Audit
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars


MARKS = {"decisiveness": 1.0, "accuracy": 0.0, "robustness": -2 / 3}  # The three powers of the paper
POWERS = tuple(np.linspace(-4, 4, 33).tolist())  # The default spectrum


@dataclass(frozen=True, eq=False, repr=False)
class RiskProfile(Brief):
    """The spectrum of generalised means of each model and of its source, on the scale of probabilities.

    `model[i, m]` is the mean of order `powers[m]` of the probabilities that model i reported for what happened,
    `source[i, m]` that of the source probabilities; the `by_label` arrays are the same for one label's events.
    `p_sigma` is exp(-sd of the log-probabilities). `impossible` names, for each model, the items where something
    happened that the model called impossible. Higher is better, but only the accuracy (power 0) is a proper criterion,
    through its logarithm, and not with a floor.
    """

    models: tuple[str, ...]
    labels: tuple[str, ...]
    powers: tuple[float, ...]
    model: Float[np.ndarray, "model power"]
    source: Float[np.ndarray, "model power"]
    model_by_label: Float[np.ndarray, "model label power"]
    source_by_label: Float[np.ndarray, "model label power"]
    p_sigma: ModelFloats
    impossible: tuple[tuple[str, ...], ...]
    source_method: str
    floor: float | None
    bins: tuple[dict[str, object], ...] = field(repr=False, default=())
    audit: Audit = field(default_factory=Audit)

    @property
    def divergence(self) -> Float[np.ndarray, "model power"]:
        """Divergence probability, model over source: P_model = P_source * P_div."""
        return np.asarray(self.model / self.source)

    @property
    def decisiveness(self) -> ModelFloats:
        """Arithmetic mean (power 1) of the reported probabilities; rewards over-confidence."""
        return self.at(MARKS["decisiveness"])

    @property
    def accuracy(self) -> ModelFloats:
        """Geometric mean (power 0), exp(-log score)."""
        return self.at(MARKS["accuracy"])

    @property
    def robustness(self) -> ModelFloats:
        """Mean of power -2/3; rewards under-confidence."""
        return self.at(MARKS["robustness"])

    def at(self, power: int | float) -> ModelFloats:
        """The models' mean of one of the powers.

        Errors: `InputError` for a power that is not in the spectrum.
        """
        if power not in self.powers:
            hint = "Give it in risk_profile(..., powers=[...])."
            raise InputError(f"power {power!r}", "a power of the profile", hint)
        return self.model[:, self.powers.index(power)]

    @property
    def angle(self) -> ModelFloats:
        """Degrees of the line from robustness to decisiveness in the plot of model against source.

        45 for a calibrated model, more if it is over-confident, less if it is under-confident.
        """
        high, _, low = self._places
        rise = self.model[:, high] - self.model[:, low]
        run = self.source[:, high] - self.source[:, low]
        return np.asarray(np.degrees(np.arctan2(rise, run)))

    @property
    def log_sd_band(self) -> Float[np.ndarray, "model 2"]:
        """Accuracy times and divided by `p_sigma`; the upper end can exceed 1, which is why the paper turns to powers.

        Source: Nelson (2017), Equation 10 (which lost the minus before the root).
        """
        low = self.accuracy * self.p_sigma
        high = self.accuracy / self.p_sigma
        return np.stack([low, high], -1)

    def table(self) -> "polars.DataFrame":
        """One row for each model: the three means of model, source and divergence, angle, log-sd band, impossibles."""
        kinds = {"": self.model, "source_": self.source, "divergence_": self.divergence}
        means: dict[str, ModelFloats] = {}
        for kind, values in kinds.items():
            means |= zip([kind + name for name in MARKS], values[:, self._places].T, strict=True)
        low, high = self.log_sd_band.T
        rest = {"angle": self.angle, "low": low, "high": high, "impossible": list(map(len, self.impossible))}
        return frames.as_polars({"model": self.models, **means, **rest})

    def spectrum(self) -> "polars.DataFrame":
        """One row for each model and power: the probabilities of model, source and divergence."""
        return frames.as_polars(
            {
                "model": np.repeat(self.models, len(self.powers)).tolist(),
                "power": self.powers * len(self.models),
                "model_probability": self.model.ravel(),
                "source_probability": self.source.ravel(),
                "divergence_probability": self.divergence.ravel(),
            }
        )

    def bubbles(self) -> "polars.DataFrame":
        """Bins of equal counts for each model and label: the bubbles of the plot of model against source.

        `source` is the frequency of true events, `reported` the geometric mean of the reported probabilities of the
        true events (NaN without any), `reported_all` that of all entries, `contribution` the share of true events
        times the logarithm of `reported`: over all labels' bins the contributions sum to the log of the accuracy.
        """
        return frames.from_rows(self.bins)

    @property
    def _places(self) -> tuple[int, ...]:
        """The positions of decisiveness, accuracy and robustness among the powers."""
        return tuple(map(self.powers.index, MARKS.values()))


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

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: the reference, used as it is: what `infer_truth` or `Truth.from_probs` makes, or `result.truth`, in which
            the models' forecasts are evidence of inferred classes too, as in `score`.
        floor: the paper's precision q_lim, which keeps reports and source probabilities between floor and 1 - floor.
        powers: the spectrum (decisiveness, accuracy and robustness are always in it).
        source: how the source probability is estimated: "isotonic" is the monotone fit of greatest likelihood, "bins"
            the frequency in bins of equal counts, "bayes-bins" its posterior mean under a Beta prior worth one entry of
            the frequency of all, "kernel" a Gaussian average over similar reports, "truth" the soft labels themselves.
        smoothing: the number of bins (default: root of the number of entries, at most 100), or the kernel's standard
            deviation (1.06 sd n^(-1/5)).
        by_label: sorts each label's reports separately, otherwise all labels' reports are pooled.

    Returns: a `RiskProfile`; probabilities from 0 to 1, higher is better. P_div is at most 1 at power 0 with the source
    "truth", or "isotonic" and two labels.

    Errors: `InputError` for an unknown source or a smoothing that it lacks, a floor outside 0 to 1/K, or a NaN power.

    Source: Nelson (2017), doi:10.3390/e19060286

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.5, 0.5], [0.2, 0.8]]})
    >>> risk = pt.nelson.risk_profile(pred, pt.Truth.from_labels(np.array([0, 1]), n_labels=2))
    >>> [round(float(value[0]), 3) for value in (risk.decisiveness, risk.accuracy, risk.robustness)]
    [0.65, 0.632, 0.621]
    """
    check.own_threads()
    aligned = align(predictions, truth).on_host()
    way = check.literal(source, SourceMethod, "source")
    width = check_smoothing(way, smoothing)
    limit = check_floor(floor, len(aligned.labels))
    listed = check_arrays.as_floats(powers, "power", "powers")
    if np.isnan(listed).any():
        raise InputError("a power that is NaN", "numbers (inf and -inf are allowed)", "Check powers=[...].")
    spectrum = tuple(sorted({*listed.tolist(), *MARKS.values()}))
    events = aligned.truth
    n_bins = None if width is None or "bins" not in way else int(width)
    model_means = []
    source_means = []
    sigma = []
    impossible = []
    bins = []
    for name, logs in zip(aligned.models, aligned.log_probs, strict=True):
        ruled_out = ((events > 0) & np.isneginf(logs)).any(1)
        positions = np.flatnonzero(ruled_out).tolist()
        impossible.append(tuple([aligned.items[item] for item in positions]))
        logs = floored(logs, None)
        reported = np.exp(logs)
        if limit is not None:
            reported = np.clip(reported, limit, 1 - limit)
            logs = np.log(reported)
        frequency = _source(reported, events, way, width, by_label)
        if limit is not None:
            frequency = np.clip(frequency, limit, 1 - limit)
        with np.errstate(divide="ignore"):
            log_frequency = np.log(frequency)
        model_means.append(_means(logs, events, spectrum))
        source_means.append(_means(log_frequency, events, spectrum))
        sigma.append(_one_sigma(logs, events))
        for label, reports, happened in zip(aligned.labels, logs.T, events.T, strict=True):
            bin_of = equal_count_bins(np.exp(reports), n_bins)
            bins += bubbles_of(name, label, reports, happened, bin_of, events.sum())
    of_model = np.stack(model_means)
    of_source = np.stack(source_means)
    return RiskProfile(
        aligned.models,
        aligned.labels,
        spectrum,
        of_model[:, 0],
        of_source[:, 0],
        of_model[:, 1:],
        of_source[:, 1:],
        np.array(sigma),
        tuple(impossible),
        source,
        limit,
        tuple(bins),
        aligned.audit,
    )


def _source(reported: ItemLabel, events: ItemLabel, way: str, width: float | None, by_label: bool) -> ItemLabel:
    """The source probability of every report, from the reports of its label or from all."""
    if not by_label:
        pooled = source_probability(reported.T.ravel(), events.T.ravel(), way, width)
        return pooled.reshape(reported.T.shape).T
    columns = zip(reported.T, events.T, strict=True)
    by_column = [source_probability(reports, happened, way, width) for reports, happened in columns]
    return np.stack(by_column).T


def _one_sigma(logs: ItemLabel, events: ItemLabel) -> float:
    """exp(-sd) of the log-probabilities of what happened; 0 where one of them is infinite."""
    happened = logs[events > 0]
    weights = events[events > 0] / events.sum()
    with np.errstate(invalid="ignore"):
        variance = weights @ (happened - weights @ happened) ** 2
    return float(np.nan_to_num(np.exp(-np.sqrt(variance))))


def _means(logs: ItemLabel, events: ItemLabel, powers: tuple[float, ...]) -> Float[np.ndarray, "all_then_label power"]:
    """The means over all true events and over each label's, NaN for a label without any."""
    n_labels = logs.shape[1]
    means = np.full((1 + n_labels, len(powers)), np.nan)
    columns = [(logs.ravel(), events.ravel())]
    columns += zip(logs.T, events.T, strict=True)
    for row, (values, weights) in enumerate(columns):
        happened = weights > 0
        if happened.any():
            weight = weights[happened]
            share = weight / weight.sum()
            logs_of_events = values[happened]
            means[row] = [_mean(logs_of_events, share, power) for power in powers]
    return means


def _mean(logs: Entries, share: Entries, power: float) -> float:
    """`generalized_mean` of events on the host, where it needs no compilation."""
    low = float(logs.min())
    high = float(logs.max())
    if np.isinf(power):
        return exp(high if power > 0 else low)
    if low == -inf and (power <= 0 or high == -inf):
        return 0.0
    spread = high - low
    if abs(power) * spread > 1:
        log_sum = float(logsumexp(power * logs, b=share))
        return exp(log_sum / power)
    centre = float(share @ logs)  # around the geometric mean small powers lose no digits
    if power == 0:
        return exp(centre)
    relative = np.expm1(power * (logs - centre))
    excess = share @ relative
    return exp(centre + log1p(excess) / power)


def bubbles_of(
    model: str, label: str, logs: Entries, events: Entries, bin_of: np.ndarray, n_events: float
) -> list[dict[str, object]]:
    """The rows of `RiskProfile.bubbles` of some reports, of which each lies in a bin."""
    bins, place = np.unique(bin_of, return_inverse=True)
    n = np.bincount(place)
    n_true = np.bincount(place, events)
    with np.errstate(invalid="ignore"):
        of_events = np.where(events > 0, events * logs, 0.0)
        log_of_true = np.bincount(place, of_events)
        columns = {
            "bin": bins,
            "source": n_true / n,
            "reported": np.exp(log_of_true / n_true),
            "reported_all": np.exp(np.bincount(place, logs) / n),
            "n": n,
            "n_true": n_true,
            "contribution": log_of_true / n_events,
        }
    rows = []
    for values in zip(*columns.values(), strict=True):
        numbers = [value.item() for value in values]
        rows.append({"model": model, "label": label, **dict(zip(columns, numbers, strict=True))})
    return rows


def perplexity(predictions: Predictions, truth: Truth, floor: float | None = None) -> "polars.DataFrame":
    """Perplexity of each model: the number of equally likely labels that would be as surprising.

    Formula: exp of the mean log score = exp(mean entropy) * exp(mean Kullback-Leibler divergence).

    Its expectation over n items is improper: it rewards the report proportional to t^(n/(n+1)), hedged, and inverse
    perplexity t^(n/(n-1)), sharpened. Compare log scores.

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: the reference, used as it is: what `infer_truth` or `Truth.from_probs` makes, or `result.truth`, in which
            the models' forecasts are evidence of inferred classes too, as in `score`.
        floor: as in `score`.

    Returns: one row for each model, from 1, lower is better: `model`, `perplexity`, and its two factors
    `entropy_factor` (the same for all models, and the least that can be reached) and `divergence_factor`.

    Errors: as in `score`.

    Source: Jelinek, Mercer, Bahl and Baker (1977), doi:10.1121/1.2016299

    >>> import probtruth as pt
    >>> pred, truth = pt.Predictions.from_probs({"a": [[0.25, 0.75]]}), pt.Truth.from_labels([0], n_labels=2)
    >>> round(pt.nelson.perplexity(pred, truth)["perplexity"][0], 6)
    4.0
    """
    scores = score_aligned(align(predictions, truth), "log", floor)
    loss = scores.values.mean(1)
    entropy = np.full(len(loss), scores.known.entropy or 0.0)
    with np.errstate(over="ignore"):
        columns = {
            "model": scores.models,
            "perplexity": np.exp(loss),
            "entropy_factor": np.exp(entropy),
            "divergence_factor": np.exp(loss - entropy),
        }
    return frames.as_polars(columns)
