"""Mean scores of large arrays at the speed of memory: one pass, chunk by chunk, on every core of the host.

NumPy's own logarithm and BLAS are the quickest on a CPU: XLA's loops over a short last axis do not vectorise. What is
on another device stays there and is reduced there. For the same bits from any batches use `probtruth.streaming`.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.cores import n_cores
from probtruth.scoring.means.chunk import Chunk, add_up
from probtruth.scoring.means.device import device_totals
from probtruth.scoring.means.metric import Metric, StreamTogether
from probtruth.scoring.means.stream_counts import StreamCounts
from probtruth.scoring.means.stream_powers import StreamPowerMeans, power_mean
from probtruth.scoring.means.stream_scores import StreamScores
from probtruth.scoring.rules import ScoringRule, get_rule

CELLS = 1 << 18
"""Entries of a chunk: it and its logarithms stay in the processor's cache."""
COUNTED, MOST_LOTS = 1 << 24, 16
"""Expected counts that are held at once, and into how many lots chunks are cut for them, whatever the cores."""


@dataclass(frozen=True, eq=False)
class QuickMeans:
    """Means over the items, in the order of `rules`: lower is better; infinite where an item's loss is.

    `power_means` are the generalised means of the probability of the label, in the order of `powers`; `counts` is the
    expected number of items by label (row) and sampled response (column), where asked for. NaN input gives NaN.
    """

    rules: tuple[str, ...]
    n_items: int
    means: Float[np.ndarray, " rule"]
    n_infinite: Int[np.ndarray, " rule"]
    powers: tuple[float, ...] = ()
    power_means: Float[np.ndarray, " power"] | None = None
    counts: Float[np.ndarray, "label response"] | None = None


def mean_score(probs: object, truth: object, rule: object = "log", log_probs: bool = False) -> float:
    """The mean expected loss over all items, as fast as memory allows.

    Formula: (1/n) sum_i S(p_i, t_i); an item of infinite loss makes it infinite, 0 log 0 = 0.

    Arguments: `probs` and `truth` are arrays (item, label), float32 or float64, NumPy or JAX, read in place; `rule` a
    name or a `ScoringRule`; `log_probs` says that `probs` are log-probabilities. Values are not checked.

    Returns: units of the rule, lower is better. Sums of float32 are kept in float32 for at most 2^18 entries, in
    float64 from there on.

    Errors: `InputError` for shapes that differ, an unknown rule, or a call inside a traced function.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import numpy as np, probtruth as pt
    >>> round(pt.streaming.mean_score(np.array([[0.6, 0.4]]), np.array([[0.7, 0.3]])), 4)
    0.6325
    """
    return float(mean_scores(probs, truth, (rule,), log_probs=log_probs).means[0])


def mean_scores(
    probs: object,
    truth: object,
    rules: object = ("log", "brier", "spherical"),
    powers: Sequence[float] = (),
    confusion: bool = False,
    log_probs: bool = False,
) -> QuickMeans:
    """Mean scores under several rules in one pass, with generalised means and expected counts if asked for.

    Formula: as `mean_score`; the generalised mean of power m is (1/n sum_i sum_k t_ik p_ik^m)^(1/m), its limit
    exp(mean of sum_k t_ik log p_ik) at 0; the counts are sum_i t_ij p_ik.

    Arguments: `probs`, `truth` and `log_probs` as in `mean_score`; `rules` names or `ScoringRule`s; `powers` finite
    numbers; `confusion` asks for counts.

    Errors: as `mean_score`, and for powers that are not finite.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; Nelson (2017), doi:10.3390/e19060286

    >>> import numpy as np, probtruth as pt
    >>> pt.streaming.mean_scores(np.array([[0.6, 0.4]]), np.array([[0.7, 0.3]])).means.round(4).tolist()
    [0.6325, 0.44, -0.7488]
    """
    chosen = tuple(get_rule(rule) for rule in (rules if isinstance(rules, list | tuple) else (rules,)))
    exponents = _finite(powers)
    forecast, weights = (_array(values) for values in (probs, truth))
    if forecast.shape != weights.shape or forecast.ndim != 2 or forecast.size == 0:
        raise InputError(
            f"forecasts of shape {forecast.shape} and truth of shape {weights.shape}",
            "the same two axes (item, label) for both, neither empty",
            "Scores of one item are pt.log_score(probs, truth) and its like.",
        )
    names = tuple(rule.name for rule in chosen)
    n_devices = max(_n_devices(array) for array in (forecast, weights))
    if n_devices > 1:
        return _from_shards(forecast, weights, chosen, exponents, confusion, log_probs)
    if n_devices:
        totals = device_totals(forecast, weights, chosen, exponents, confusion, log_probs)
    else:
        totals = _host_totals(np.asarray(forecast), np.asarray(weights), chosen, exponents, confusion, log_probs)
    return _means(names, exponents, forecast.shape, confusion, *totals)


def _from_shards(
    forecast: np.ndarray | jax.Array,
    truth: np.ndarray | jax.Array,
    rules: tuple[ScoringRule, ...],
    powers: tuple[float, ...],
    confusion: bool,
    log_probs: bool,
) -> QuickMeans:
    """From states of the devices' own items: nothing else travels."""
    asked: dict[str, Metric] = {"scores": StreamScores(rules, log_probs)} if rules else {}
    asked |= {"powers": StreamPowerMeans(powers, log_probs)} if powers else {}
    asked |= {"counts": StreamCounts(n_labels=forecast.shape[1], log_probs=log_probs)} if confusion else {}
    metric = StreamTogether(tuple(asked.values()))
    found = dict(zip(asked, metric.finalize(metric.update(metric.init(), forecast, truth)), strict=True))
    means, n_infinite = (
        (found["scores"].expected, found["scores"].n_infinite) if rules else (np.zeros(0), np.zeros(0, np.int64))
    )
    levels = found["powers"].values if powers else None
    counts = found["counts"].counts if confusion else None
    return QuickMeans(tuple(rule.name for rule in rules), len(forecast), means, n_infinite, powers, levels, counts)


def _means(
    names: tuple[str, ...],
    powers: tuple[float, ...],
    shape: tuple[int, ...],
    confusion: bool,
    totals: Float[np.ndarray, " total"],
    n_infinite: Int[np.ndarray, " total"],
) -> QuickMeans:
    """Totals of the rules, then of the powers, then the counts, as means."""
    n, n_rules, n_powers = shape[0], len(names), len(powers)
    found = np.where(np.isnan(totals) | (n_infinite == 0), totals / n, np.inf)
    centres = np.where(np.isinf(found), -np.inf, found)[n_rules : n_rules + n_powers]
    levels = np.array([power_mean(float(centre), power) for centre, power in zip(centres, powers, strict=True)])
    counts = totals[n_rules + n_powers :].reshape(shape[1], shape[1]) if confusion else None
    return QuickMeans(names, n, found[:n_rules], n_infinite[:n_rules], powers, levels if powers else None, counts)


def _host_totals(
    forecast: np.ndarray,
    truth: np.ndarray,
    rules: tuple[ScoringRule, ...],
    powers: tuple[float, ...],
    confusion: bool,
    log_probs: bool,
) -> tuple[Float[np.ndarray, " total"], Int[np.ndarray, " total"]]:
    kind = np.result_type(forecast.dtype, truth.dtype)
    n, n_labels = forecast.shape
    rows = max(1, CELLS // n_labels)
    starts = range(0, n, rows)
    n_lots = min(len(starts), int(np.clip(COUNTED // n_labels**2, 1, MOST_LOTS)) if confusion else n_cores())
    size = -(-len(starts) // n_lots)

    def work(first: int) -> tuple[list[tuple[np.ndarray, np.ndarray]], Float[np.ndarray, "label response"]]:
        chunk, found = Chunk(rows, n_labels, kind, log_probs), []
        counts = np.zeros((n_labels, n_labels) if confusion else (0, 0))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            for start in starts[first : first + size]:
                chunk.load(forecast[start : start + rows], truth[start : start + rows])
                found.append(add_up(chunk, rules, powers))
                if confusion:
                    counts += chunk.counts()
        return found, counts

    lots = range(0, len(starts), size)
    if len(lots) == 1:
        done = [work(0)]
    else:
        with ThreadPoolExecutor(min(n_cores(), len(lots))) as pool:
            done = list(pool.map(work, lots))
    parts = [part for found, _ in done for part in found]
    totals = np.stack([total for total, _ in parts])
    summed = [math.fsum(column) if np.isfinite(column).all() else column.sum() for column in totals.T]
    counts = np.sum([own for _, own in done], 0).ravel()
    n_infinite = np.stack([number for _, number in parts]).sum(0)
    return np.concatenate([summed, counts]), np.concatenate([n_infinite, np.zeros(len(counts), np.int64)])


def _array(values: object) -> np.ndarray | jax.Array:
    if isinstance(values, jax.core.Tracer):
        raise InputError(
            "an array that is being traced",
            "an array with values",
            "Inside jit use pt.log_score(probs, truth).mean() and its like, or pt.streaming.",
        )
    if isinstance(values, jax.Array):
        return values
    array = np.asarray(values)
    if array.dtype not in (np.float32, np.float64):
        array = check.as_floats(array, "item label", "arrays")
    return array


def _n_devices(array: np.ndarray | jax.Array) -> int:
    """How many accelerators, or forced host devices, an array lies on; 0 for the one CPU of this process."""
    if not isinstance(array, jax.Array):
        return 0
    devices = array.devices()
    return 0 if len(devices) == 1 and next(iter(devices)).platform == "cpu" else len(devices)


def _finite(powers: Sequence[float]) -> tuple[float, ...]:
    numbers = tuple(float(power) for power in powers)
    for number in numbers:
        if not math.isfinite(number):
            raise InputError(f"power {number}", "a finite number", "The limits are the least and the largest value.")
    return numbers
