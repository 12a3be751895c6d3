"""Expected confusion counts over batches, in fixed-point integers."""

from dataclasses import dataclass
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels import sums
from probtruth.scoring.confusion.measures import Measure, measure_names, measure_table
from probtruth.scoring.means.metric import Block, Metric, Parts, apart
from probtruth.scoring.rules import proper

RESPONSES = ("sample", "argmax", "threshold")

SLICE = 8
"""Bits of a probability in one factor of a product."""
N_SLICES = 3
"""A probability is rounded to a multiple of 2^-24."""
GROUP = 1 << (24 - 2 * SLICE)
"""Items whose products of two slices add up without rounding in float32."""
N_LANES = 12
"""Lanes of 8 bits for totals in units of 2^-48."""


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Expected number of items by label (row) and response (column), with the metrics that follow from it.

    `values` are ratios of expected counts, named by `measures`; `undefined` counts labels for which one is 0/0 (NaN).
    """

    counts: Float[np.ndarray, "label response"]
    n_items: int
    values: Float[np.ndarray, " measure"]
    undefined: Float[np.ndarray, " measure"]
    measures: tuple[Measure, ...]


@dataclass(frozen=True)
class StreamCounts(Metric):
    """Expected confusion counts: sum_i t_ij r_ik for label j and response k.

    Formula: t and r rounded to multiples of 2^-24, their products summed exactly: an entry over n items is within
    6e-8 n of the unrounded one, and the rounding has no direction.

    Arguments: `response` is `sample` (r = p), `argmax` (r = 1 at the most probable label, ties share), or
    `threshold`: with `threshold` one number for two labels (the second where its probability is at least that), else
    one for each label (the label of greatest probability divided by threshold).

    Errors: `InputError` for an unknown response or a threshold that does not fit.

    Source: Neal (2015), "Fast exact summation using small and large superaccumulators", arXiv:1505.05571

    >>> import numpy as np, probtruth as pt
    >>> metric = pt.streaming.StreamCounts(n_labels=2, response="argmax")
    >>> state = metric.update(metric.init(), np.array([[0.6, 0.4], [0.2, 0.8]]), np.array([[0.75, 0.25], [0, 1]]))
    >>> metric.finalize(state).counts.tolist()
    [[0.75, 0.0], [0.25, 1.0]]
    """

    n_labels: int
    response: str = "sample"
    threshold: tuple[float | int, ...] | None = None

    def __post_init__(self) -> None:
        """Checks the options."""
        check.one_of(self.response, RESPONSES, "response")
        if (self.threshold is not None) != (self.response == "threshold"):
            raise InputError(
                f"threshold {self.threshold!r} with response {self.response!r}",
                "a threshold with the response 'threshold', and only there",
                "Give both or neither.",
            )
        if self.threshold is not None:
            wanted = (1, 2) if self.n_labels == 2 else (self.n_labels,)
            if len(self.threshold) not in wanted or not all(0 < limit <= 1 for limit in self.threshold):
                raise InputError(
                    f"threshold {self.threshold!r}",
                    f"a tuple of {' or '.join(map(str, wanted))} numbers above 0 and at most 1",
                    "For two labels (0.5,) is the usual choice.",
                )

    def blank(self) -> Int[Array, "label response lane"]:
        """The parts of no items."""
        return jnp.zeros((self.n_labels, self.n_labels, N_LANES), jnp.int32)

    def add(self, parts: Parts, block: Block) -> Int[Array, "label response lane"]:
        """The parts after a block."""
        truth = jnp.where(block.present[:, None], block.truth, 0)
        response = jnp.where(block.present[:, None], apart(self._response(block)), 0)
        products = _products(_slices(truth), _slices(response))
        lanes = [sum(products[j, k] for j in range(N_SLICES) if 0 <= (k := lane - j) < N_SLICES) for lane in range(5)]
        found = jnp.stack([jnp.asarray(lane, jnp.int32) for lane in lanes], -1)
        return sums.carried(parts.at[..., : len(lanes)].add(found), SLICE)

    def settled(self, parts: Parts) -> Int[Array, "label response lane"]:
        """The parts in their one form."""
        found: Array = sums.settle(parts, SLICE)
        return found

    def merged(self, one: Parts, other: Parts) -> Int[Array, "label response lane"]:
        """The parts of both."""
        together: Array = sums.settle(one + other, SLICE)
        return together

    def result(self, n_items: int, parts: Parts) -> ExpectedCounts:
        """Counts and the metrics that follow from them."""
        unit = Fraction(1, 1 << 2 * SLICE * N_SLICES)
        rows = np.asarray(parts).reshape(-1, N_LANES)
        exact = [float(sum(int(lane) << (SLICE * place) for place, lane in enumerate(row)) * unit) for row in rows]
        counts = np.array(exact, np.float64).reshape(self.n_labels, self.n_labels)
        values, undefined = measure_table(counts)
        names = measure_names(tuple(map(str, range(self.n_labels))))
        return ExpectedCounts(counts, n_items, values, undefined, names)

    def _response(self, block: Block) -> Float[Array, "item label"]:
        if self.response == "sample":
            return block.probs
        if self.threshold is None:
            return proper.chosen(block.forecast)
        limits = jnp.asarray(self.threshold, block.forecast.dtype)
        if len(self.threshold) == 1:
            second = (block.probs[:, 1] >= limits[0]).astype(limits.dtype)
            return jnp.stack([1 - second, second], -1)
        return proper.chosen(block.log_probs - jnp.log(limits))


def _slices(probs: Float[Array, "item label"]) -> Float[Array, "slice group member label"]:
    """Whole numbers below 2^8 (2^8 for a probability of 1), lowest first, with probs = sum of them by 2^-24."""
    units = jnp.round(probs.astype(jnp.float32) * 2.0 ** (SLICE * N_SLICES)).astype(jnp.int32)
    low, high = units & 255, units >> (2 * SLICE)
    cut = jnp.stack([low, (units >> SLICE) & 255, high]).astype(jnp.float32)
    return cut.reshape(N_SLICES, -1, min(GROUP, probs.shape[0]), probs.shape[1])


def _products(
    truth: Float[Array, "slice group member label"], response: Float[Array, "slice group member label"]
) -> Int[Array, "slice slice label label"]:
    """Sums over the items of the products of every two slices: each group's is exact, then integers."""
    found = jnp.einsum(
        "agnj,bgnk->abgjk", truth, response, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
    )
    return found.astype(jnp.int32).sum(2, dtype=jnp.int32)
