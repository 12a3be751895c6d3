"""The exact distribution of the whole table of counts, if few tables are possible.

How a model that reports a distribution answers: drawing from it, naming its most probable label, by thresholds.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.scoring.confusion.measures import Summary, measure_table, ratio

MOST_TABLES = 30_000
"""Above this many possible tables (two labels: 54 items; three: 9) the averages over labels are simulated."""

SURE = 1e-15
"""Probabilities below this are rounding."""


def table_distribution(
    truth: Float[np.ndarray, "item label"], answer: Float[np.ndarray, "item label"]
) -> tuple[Float[np.ndarray, "table label label"], Float[np.ndarray, " table"]] | None:
    """Every possible table of counts and its probability; None if there are more than `MOST_TABLES`."""
    n_items, n_labels = truth.shape
    if n_labels**2 * np.log2(n_items + 1) > 62:
        return None
    digit = (n_items + 1) ** np.arange(n_labels**2, dtype=np.int64)
    codes, mass = np.zeros(1, np.int64), np.ones(1)
    for label, response in zip(truth, answer, strict=True):
        cells = np.outer(label, response).ravel()
        possible = cells > 0
        codes, inverse = np.unique((codes[:, None] + digit[possible]).ravel(), return_inverse=True)
        mass = np.bincount(inverse, (mass[:, None] * cells[possible]).ravel())
        if len(codes) > MOST_TABLES:
            return None
    tables = codes[:, None] // digit % (n_items + 1)
    return tables.reshape(-1, n_labels, n_labels).astype(np.float64), mass


def table_measures(
    truth: Float[np.ndarray, "item label"], answers: Float[np.ndarray, "model item label"]
) -> Summary | None:
    """Exact expectation, spread and interval of every measure; None if there are too many tables."""
    rows = []
    for answer in answers:
        distribution = table_distribution(truth, answer)
        if distribution is None:
            return None
        tables, mass = distribution
        values, undefined = measure_table(tables)
        each = [distribution_summary(column, mass[None]) for column in values.T]
        mean, sd, low, high = (np.array([float(one[part][0]) for one in each]) for part in range(4))
        rows.append((mean, mass @ undefined / mass.sum(), sd, low, high, np.zeros_like(mean)))
    return Summary(*(np.stack(part) for part in zip(*rows, strict=True)))


def distribution_summary(
    values: Float[np.ndarray, " value"], mass: Float[np.ndarray, "label value"]
) -> tuple[
    Float[np.ndarray, " label"], Float[np.ndarray, " label"], Float[np.ndarray, " label"], Float[np.ndarray, " label"]
]:
    """Mean, sd and equal-tailed 95% interval over the values that are not NaN, for each row of masses."""
    order = np.argsort(values, kind="stable")[: int((~np.isnan(values)).sum())]
    if order.size == 0:
        nothing = np.full(len(mass), np.nan)
        return nothing, nothing, nothing, nothing
    value, part = values[order], mass[:, order]
    share = ratio(part, part.sum(1, keepdims=True))
    mean = share @ value
    sd = np.sqrt((share * (value - mean[:, None]) ** 2).sum(1))
    reached = np.cumsum(share, axis=1)
    ends = [value[(reached >= level - SURE).argmax(1)] for level in (0.025, 0.975)]
    low, high = (np.where(np.isnan(mean), np.nan, end) for end in ends)
    return mean, sd, low, high


RESPONSES = ("sample", "argmax", "threshold")


def response_probs(
    log_probs: Float[np.ndarray, "model item label"], response: str, threshold: object = None
) -> Float[np.ndarray, "model item label"]:
    """The probability of each answer: the model's distribution itself, or 1 at the label that it chooses.

    Labels that tie for the highest probability share the answer equally, so their order does not matter. A threshold
    is a number for two labels (the second label is the answer if its probability, to rounding, is at least that), or
    one number for each label (the answer is the label of greatest probability divided by threshold).
    """
    chosen = check_threshold(response, threshold, log_probs.shape[-1])
    if response == "sample":
        return np.exp(log_probs.astype(np.float64))
    if response == "argmax":
        return _shared_by_ties(log_probs)
    assert chosen is not None  # a threshold is needed for this response
    if len(chosen) == 1:
        limit = np.asarray(chosen)
        limit *= 1 - simplex.lost_as_log(limit, log_probs.dtype)
        positive = np.exp(log_probs[..., 1].astype(np.float64)) >= limit
        return np.stack([~positive, positive], -1).astype(np.float64)
    return _shared_by_ties(log_probs - np.log(chosen))


def check_threshold(response: str, threshold: object, n_labels: int) -> tuple[float, ...] | None:
    """The thresholds: one for two labels, else one for each label; None where the response has none."""
    if response != "threshold" and threshold is not None:
        raise InputError(
            f"threshold {threshold!r} with response {response!r}",
            "a threshold only with response 'threshold'",
            "Give response='threshold', or leave the threshold out.",
        )
    if response != "threshold":
        return None
    limits = _limits(threshold, n_labels)
    return tuple(np.atleast_1d(limits).tolist())


def _shared_by_ties(values: Float[np.ndarray, "model item label"]) -> Float[np.ndarray, "model item label"]:
    winners: Bool[np.ndarray, "model item label"] = values == values.max(-1, keepdims=True)
    shared: np.ndarray = winners / winners.sum(-1, keepdims=True)
    return shared


def _limits(threshold: object, n_labels: int) -> np.ndarray:
    wanted = f"a number above 0 and at most 1, or {n_labels} of them (one for each label)"
    if isinstance(threshold, (int, float)) and not isinstance(threshold, bool):
        if n_labels != 2:
            raise InputError(
                f"one threshold for {n_labels} labels",
                f"{n_labels} thresholds, one for each label",
                "The answer is then the label of greatest probability divided by threshold.",
            )
        limits = np.asarray(float(threshold))
    elif isinstance(threshold, Sequence | np.ndarray) and not isinstance(threshold, str):
        limits = check_arrays.as_floats(threshold, "label", "thresholds").astype(np.float64)
        check.length(len(limits), n_labels, "thresholds")
    else:
        raise InputError(f"threshold {threshold!r}", wanted, "For two labels threshold=0.5 is the usual choice.")
    if not ((limits > 0) & (limits <= 1)).all():
        raise InputError(f"threshold {limits.tolist()}", wanted, "Thresholds are probabilities.")
    return limits
