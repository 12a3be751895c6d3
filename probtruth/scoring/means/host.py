"""The feeder for arrays on the host: chunks in the processor's cache, by NumPy's ufuncs and BLAS, on every core.

NumPy's own logarithm and BLAS are the quickest on a CPU: XLA's loops over a short last axis do not vectorise.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import jax
import numpy as np
from jaxtyping import Float

from probtruth.kernels.compensated import Total
from probtruth.kernels.host import n_cores
from probtruth.scoring.means.state import NO_POSITION, MeanOptions, MeanState, exactly
from probtruth.scoring.rules import RULES, ScoringRule
from probtruth.scoring.rules.rule import expected_from_log_of, expected_of

CELLS = 1 << 18
"""Entries of a chunk: it and its logarithms stay in the processor's cache."""
COUNTED, MOST_LOTS = 1 << 24, 16
"""Expected counts that are held at once, and into how many lots chunks are cut for them, whatever the cores."""

Rows = Float[np.ndarray, "item label"]
Sum = tuple[float, int]
"""The total of the losses, and how many items have an infinite one (the total is then of no use, but NaN stays)."""

SHORT = 1 << 12
"""Terms whose sum in float32 loses less than its own rounding of one term."""
WIDE = 64
"""From this many labels on, one dot product a row is quicker than a matrix product with ones."""


def dot(one: Rows, other: Rows) -> float:
    """Total of products: at most `SHORT` in the arrays' precision, from there on in float64."""
    flat, weights = one.reshape(-1), other.reshape(-1)
    whole = flat.size // SHORT * SHORT
    body = np.vecdot(flat[:whole].reshape(-1, SHORT), weights[:whole].reshape(-1, SHORT))
    return float(body.sum(dtype=np.float64)) + float(np.dot(flat[whole:], weights[whole:]))


class Chunk:
    """Forecast and truth of some items, with what several rules share; buffers are used again by the next `load`."""

    def __init__(self, rows: int, n_labels: int, kind: np.dtype, is_log: bool) -> None:
        """Makes buffers for at most so many rows."""
        self.kind, self.is_log = kind, is_log
        self._logs, self._spare, self._probs = (np.empty((rows, n_labels), kind) for _ in range(3))
        self._ones = np.ones(n_labels, kind)
        self._zeros = False

    @cached_property
    def _least(self) -> Rows:
        """The least finite number everywhere: NumPy is quicker with an array than with a number."""
        return np.full_like(self._spare, np.finfo(self.kind).min)

    def load(self, forecast: np.ndarray, truth: np.ndarray) -> None:
        """Takes the next items; what was worked out of the last is forgotten."""
        self.forecast = np.ascontiguousarray(forecast, self.kind)
        self.truth = np.ascontiguousarray(truth, self.kind)
        self._n = len(forecast)
        for name in ("probs", "raw_logs", "log_total", "n_lost"):
            self.__dict__.pop(name, None)

    @cached_property
    def probs(self) -> Rows:
        """The forecast as probabilities."""
        return np.exp(self.forecast, out=self._probs[: self._n]) if self.is_log else self.forecast

    @cached_property
    def raw_logs(self) -> Rows:
        """The logarithm of the forecast, -inf at 0."""
        return self.forecast if self.is_log else np.log(self.forecast, out=self._logs[: self._n])

    @cached_property
    def log_total(self) -> Sum:
        """Total of -sum_k t_k log p_k, and how many items have an impossible label with positive weight."""
        if not self._zeros:
            plain = dot(self.truth, self.raw_logs)
            if np.isfinite(plain):
                return -plain, 0
            self._zeros = True  # where one chunk has some, the next is likely to
        tame = np.maximum(self.raw_logs, self._least[: self._n], out=self._spare[: self._n])
        return -dot(self.truth, tame), self.n_lost

    @cached_property
    def n_lost(self) -> int:
        """How many items have a label of positive weight and probability 0."""
        lost = np.equal(self.raw_logs, -np.inf)
        lost &= np.not_equal(self.truth, 0)
        return len(np.unique(np.flatnonzero(lost) // self.truth.shape[1])) if lost.any() else 0

    def row_sums(self, one: Rows, other: Rows) -> Float[np.ndarray, " item"]:
        """sum_k a_k b_k of each item."""
        products: np.ndarray
        if one.shape[1] >= WIDE:
            products = np.einsum("ij,ij->i", one, other)
        else:
            products = np.multiply(one, other, out=self._spare[: self._n]) @ self._ones
        return products

    def spherical(self) -> float:
        """Total of -t . p / |p|."""
        overlap, squares = self.row_sums(self.truth, self.probs), self.row_sums(self.probs, self.probs)
        return -float((overlap / np.sqrt(squares)).sum(dtype=np.float64))

    def squared_distance(self) -> float:
        """Total of |p - t|^2."""
        apart = np.subtract(self.probs, self.truth, out=self._spare[: self._n])
        return dot(apart, apart)

    def truth_spread(self) -> float:
        """Total of sum_k t_k (1 - t_k)."""
        return dot(self.truth, np.subtract(1, self.truth, out=self._spare[: self._n]))

    def counts(self) -> Float[np.ndarray, "label response"]:
        """sum_i t_ij p_ik."""
        parts = [slice(start, start + SHORT // 4) for start in range(0, self._n, SHORT // 4)]
        products: np.ndarray = np.sum([self.truth[part].T @ self.probs[part] for part in parts], 0, np.float64)
        return products

    def box_cox(self, power: float) -> Sum:
        """Total of sum_k t_k (p_k^m - 1)/m, of sum_k t_k log p_k at m = 0."""
        if power == 0:
            total, number = self.log_total
            return -total, number
        if power == 1:
            return dot(self.truth, self.probs) - float(self.truth.sum(dtype=np.float64)), 0
        scaled = np.multiply(self.raw_logs, self.kind.type(power), out=self._spare[: self._n])
        values = np.expm1(scaled, out=scaled)
        total = dot(self.truth, values)
        if np.isfinite(total):
            return total / power, 0
        beyond = np.isposinf(values) & np.isfinite(self.raw_logs) & (self.truth != 0)
        tame = np.minimum(values, np.finfo(self.kind).max, out=values)
        return np.nan if beyond.any() else dot(self.truth, tame) / power, self.n_lost


QUICK: dict[str, Callable[[Chunk], Sum]] = {
    "log": lambda chunk: chunk.log_total,
    "brier": lambda chunk: (chunk.squared_distance() + chunk.truth_spread(), 0),
    "quadratic": lambda chunk: (chunk.squared_distance() - dot(chunk.truth, chunk.truth), 0),
    "linear": lambda chunk: (-dot(chunk.truth, chunk.probs), 0),
    "spherical": lambda chunk: (chunk.spherical(), 0),
}
"""Totals by NumPy; every other rule goes through its own kernel."""


def fold(options: MeanOptions, forecast: np.ndarray, truth: np.ndarray) -> MeanState:
    """The state of the items of two arrays: expected losses, powers and sampled responses, on every core."""
    kind = np.result_type(forecast.dtype, truth.dtype)
    n, n_labels = forecast.shape
    counted = options.n_labels is not None
    rows = max(1, CELLS // n_labels)
    starts = range(0, n, rows)
    n_lots = min(len(starts), int(np.clip(COUNTED // n_labels**2, 1, MOST_LOTS)) if counted else n_cores())
    size = -(-len(starts) // max(n_lots, 1)) or 1

    def work(first: int) -> tuple[list[list[Sum]], Float[np.ndarray, "label response"]]:
        chunk, sums = Chunk(rows, n_labels, kind, options.log_probs), []
        counts = np.zeros((n_labels, n_labels) if counted else (0, 0))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            for start in starts[first : first + size]:
                chunk.load(forecast[start : start + rows], truth[start : start + rows])
                sums.append([_sum(chunk, of) for _, of in options.columns])
                if counted:
                    counts += chunk.counts()
        return sums, counts

    lots = range(0, len(starts), size)
    if len(lots) <= 1:
        done = [work(lot) for lot in lots]
    else:
        with ThreadPoolExecutor(min(n_cores(), len(lots))) as pool:
            done = list(pool.map(work, lots))
    return _state(options, n, kind, [one for sums, _ in done for one in sums], [counts for _, counts in done])


def _state(options: MeanOptions, n: int, kind: np.dtype, sums: list[list[Sum]], counts: list[np.ndarray]) -> MeanState:
    """The state, in float64, from the sums of chunks (column by column) and the counts of lots of them."""
    columns = options.columns
    totals = np.array([[total for total, _ in chunk] for chunk in sums], np.float64).reshape(len(sums), len(columns))
    lost = np.array([[number for _, number in chunk] for chunk in sums], np.int64).reshape(totals.shape).sum(0)
    summed = np.array([math.fsum(one) if np.isfinite(one).all() else one.sum() for one in totals.T], np.float64)
    unit = SHORT * float(np.finfo(kind).eps) / 2
    up = np.array([isinstance(of, ScoringRule) for _, of in columns], bool)
    n_labels = options.n_labels or 0
    together = np.sum(counts, 0) if counts else np.zeros((n_labels, n_labels))
    return MeanState(
        exactly(np.array(n), np.dtype(np.float64)),
        Total(summed, np.zeros_like(summed), unit * np.abs(totals).sum(0)),
        exactly(np.stack([np.where(up, lost, 0), np.where(up, 0, lost)]), np.dtype(np.float64)),
        Total(together, np.zeros_like(together), unit * together),
        np.full((len(options.rules), 0), NO_POSITION, np.int32),
    )


def _sum(chunk: Chunk, of: ScoringRule | float) -> Sum:
    """The total of one quantity over a chunk, with how many items have an infinite term."""
    if not isinstance(of, ScoringRule):
        return chunk.box_cox(of)
    return QUICK[of.name](chunk) if of is RULES.get(of.name) and of.name in QUICK else _by_kernel(of, chunk)


def _by_kernel(rule: ScoringRule, chunk: Chunk) -> Sum:
    with jax.enable_x64(chunk.kind == np.float64 or jax.config.jax_enable_x64):
        kernel = expected_from_log_of if chunk.is_log else expected_of
        losses = np.asarray(kernel(rule, chunk.forecast, chunk.truth))
    infinite = np.isinf(losses)
    return float(losses.sum(dtype=np.float64, where=~infinite)), int(infinite.sum())
