"""One chunk of items in the processor's cache: what each rule needs of it, by NumPy's ufuncs and BLAS."""

from collections.abc import Callable
from functools import cached_property

import jax
import numpy as np
from jaxtyping import Float, Int

from probtruth.scoring.rules import ScoringRule

Rows = Float[np.ndarray, "item label"]
Total = tuple[float, int]
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
        for name in ("probs", "raw_logs", "log_total", "n_lost", "overlap", "squares"):
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
    def log_total(self) -> Total:
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
        found: np.ndarray
        if one.shape[1] >= WIDE:
            found = np.einsum("ij,ij->i", one, other)
        else:
            found = np.multiply(one, other, out=self._spare[: self._n]) @ self._ones
        return found

    @cached_property
    def overlap(self) -> Float[np.ndarray, " item"]:
        """t . p of each item."""
        return self.row_sums(self.truth, self.probs)

    @cached_property
    def squares(self) -> Float[np.ndarray, " item"]:
        """|p|^2 of each item."""
        return self.row_sums(self.probs, self.probs)

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
        found: np.ndarray = np.sum([self.truth[part].T @ self.probs[part] for part in parts], 0, np.float64)
        return found

    def box_cox(self, power: float) -> Total:
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


def _brier(chunk: Chunk) -> Total:
    return chunk.squared_distance() + chunk.truth_spread(), 0


def _quadratic(chunk: Chunk) -> Total:
    return chunk.squared_distance() - dot(chunk.truth, chunk.truth), 0


def _linear(chunk: Chunk) -> Total:
    return -dot(chunk.truth, chunk.probs), 0


def _spherical(chunk: Chunk) -> Total:
    return -float((chunk.overlap / np.sqrt(chunk.squares)).sum(dtype=np.float64)), 0


QUICK: dict[str, Callable[[Chunk], Total]] = {
    "log": lambda chunk: chunk.log_total,
    "brier": _brier,
    "quadratic": _quadratic,
    "linear": _linear,
    "spherical": _spherical,
}
"""Totals by NumPy; every other rule goes through its own kernel."""


def add_up(
    chunk: Chunk, rules: tuple[ScoringRule, ...], powers: tuple[float, ...]
) -> tuple[Float[np.ndarray, " total"], Int[np.ndarray, " total"]]:
    """Totals of the rules and of the powers, with how many items have an infinite term in each."""
    found = [QUICK[rule.name](chunk) if rule.name in QUICK else _by_kernel(rule, chunk) for rule in rules]
    found += [chunk.box_cox(power) for power in powers]
    return np.array([total for total, _ in found], np.float64), np.array([number for _, number in found], np.int64)


_expected = jax.jit(lambda rule, probs, truth: rule.expected(probs, truth), static_argnums=0)
_expected_from_log = jax.jit(lambda rule, logs, truth: rule.expected_from_log(logs, truth), static_argnums=0)


def _by_kernel(rule: ScoringRule, chunk: Chunk) -> Total:
    with jax.enable_x64(chunk.kind == np.float64 or jax.config.jax_enable_x64):
        losses = np.asarray((_expected_from_log if chunk.is_log else _expected)(rule, chunk.forecast, chunk.truth))
    infinite = np.isinf(losses)
    return float(losses.sum(dtype=np.float64, where=~infinite)), int(infinite.sum())
