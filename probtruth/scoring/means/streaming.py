"""Means over batches: a state is fed with arrays, merged with others, and turned into a result."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int, Real
from numpy.typing import ArrayLike

from probtruth import check_arrays
from probtruth.errors import InputError
from probtruth.kernels import compensated
from probtruth.kernels.arrays import on_device, to_host
from probtruth.scoring.confusion.measures import Measure, measure_names, measure_table
from probtruth.scoring.means import devices, host, state
from probtruth.scoring.means.state import NO_POSITION, MeanOptions, MeanState
from probtruth.scoring.rules import ScoringRule
from probtruth.types.arguments import RuleName

Batch = Real[Array | np.ndarray, "..."]

_MERGE, _NEXT_POSITION = jax.jit(state.merge), jax.jit(state.next_position)
"""One program each: without `jit`, every operation on every shape of a state is compiled by itself."""


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


@dataclass(frozen=True, eq=False)
class MeanScores:
    """Means over the items. Lower is better; a mean is infinite where one item's loss is, and NaN without items.

    By rule: `means` are expected losses, `error` bounds what adding up moved them (each loss is rounded to the arrays'
    type before), and `n_infinite` counts items of infinite loss. With `parts`, `means` = `entropy` + `divergence`, and
    `infinite_items` are the lowest positions of such items, at most 16; else these are None.

    `power_means` are the generalised means of the probability of the label, in the order of `powers`: between 0 and 1,
    higher is better, and 0 where a label of positive weight had probability 0 and the power is not positive
    (`n_impossible` counts such items). `counts` is the expected number of items by label (row) and response (column).
    """

    rules: tuple[str, ...]
    n_items: int
    means: Float[np.ndarray, " rule"]
    error: Float[np.ndarray, " rule"]
    n_infinite: Int[np.ndarray, " rule"]
    entropy: Float[np.ndarray, " rule"] | None
    divergence: Float[np.ndarray, " rule"] | None
    infinite_items: tuple[tuple[int, ...], ...] | None
    powers: tuple[float, ...]
    power_means: Float[np.ndarray, " power"]
    n_impossible: Int[np.ndarray, " power"]
    counts: Float[np.ndarray, "label response"] | None

    def confusion(self) -> ExpectedCounts:
        """The counts with the metrics that follow from them.

        Errors: `InputError` where counts were not among the options.
        """
        if self.counts is None:
            raise InputError("means without counts", "means with counts", "Give n_labels (or confusion=True).")
        values, undefined = measure_table(self.counts)
        names = measure_names(tuple(map(str, range(len(self.counts)))))
        return ExpectedCounts(self.counts, self.n_items, values, undefined, names)


class RunningMeans(MeanOptions):
    """Mean scores of any number of batches: expected loss, entropy and divergence, generalised means, counts.

    Formula: sum_i S(p_i, t_i) / n. The generalised mean of power m is (1/n sum_i sum_k t_ik p_ik^m)^(1/m), its limit
    exp(1/n sum_i sum_k t_ik log p_ik) at 0. Counts are sum_i t_ij r_ik for label j and response k.

    A state is a pytree of pairs of floats (see `MeanState`): states merge in any order, to within `error`. `update` and
    `merge` run inside `jit` and `vmap` too.

    Arguments: `rules` are names or `ScoringRule`s; `powers` finite numbers: 1 is decisiveness, 0 accuracy, -2/3
    robustness; `n_labels` asks for counts; `response` is `sample` (r = p), `argmax` (r = 1 at the most probable label,
    ties share) or `threshold`: with `threshold` one number for two labels (the second where its probability is at least
    that), else one for each label (the label of greatest probability divided by threshold). `parts=False` leaves out
    entropy, divergence and positions, which is quicker. `log_probs` says that forecasts come as log-probabilities.

    Errors: `InputError` for an unknown or repeated rule, a power that is not finite, or a threshold that does not fit.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; Nelson (2017), doi:10.3390/e19060286

    >>> import numpy as np, probtruth as pt
    >>> means = pt.streaming.RunningMeans(("log", "brier"))
    >>> state = means.init()
    >>> for batch in range(3):
    ...     state = means.update(state, np.array([[0.6, 0.4]]), np.array([[0.7, 0.3]]))
    >>> means.finalize(state).means.round(4).tolist()
    [0.6325, 0.44]
    """

    def update(self, so_far: MeanState, probs: Batch, truth: Batch, start: int | Array | None = None) -> MeanState:
        """The state after a batch of items.

        Arguments: `so_far` is what `init` or an earlier `update` returned; `probs` and `truth` are arrays (item,
        label): NumPy or JAX, on one device or sharded over their items, or traced; `start` is the position of the first
        item among all, for batches that do not come in order (without it, positions are counted on from the state).

        Errors: `InputError` for shapes that differ, or an array that is sharded over its labels.
        """
        if start is None:
            with jax.enable_x64(True):  # counts are float64 pairs
                start = _NEXT_POSITION(so_far)
        return self.merge(so_far, self.of(probs, truth, start))

    def of(self, probs: Batch, truth: Batch, start: int | Array = 0) -> MeanState:
        """The state of one batch; `probs`, `truth` and `start` as in `update`."""
        forecast, weights = (values if isinstance(values, Array) else np.asarray(values) for values in (probs, truth))
        _need_alike(forecast, weights)
        if self.n_labels not in (None, forecast.shape[1]):
            raise InputError(f"{forecast.shape[1]} labels", f"n_labels = {self.n_labels}", "Counts have one size.")
        if any(isinstance(array, jax.core.Tracer) for array in (forecast, weights, start)):
            first = jnp.asarray(start, jnp.int32)
            return devices.fold(self, jnp.asarray(forecast), jnp.asarray(weights), first, jax.default_backend())
        with jax.enable_x64(True):  # types are named everywhere: float32 stays float32
            where = [device for array in (forecast, weights) if on_device(array) for device in array.devices()]
            here = len(set(where)) < 2 and all(device.platform == "cpu" for device in where)
            if here and not self.parts and self.response == "sample":
                return host.fold(self, np.asarray(forecast), np.asarray(weights))
            return devices.fold_there(self, forecast, weights, start)

    def merge(self, one: MeanState, other: MeanState) -> MeanState:
        """The state of the items of both, in any order; `one` and `other` are states of different items."""
        with jax.enable_x64(True):
            merged: MeanState = _MERGE(one, other)
        return merged

    def finalize(self, of: MeanState) -> MeanScores:
        """The means, on the host, in float64 whatever the batches' type; `of` is the state of all items."""
        n_rules, n_powers = len(self.rules), len(self.powers)
        means, errors = state.means(of), state.errors(of)
        losses = means[: len(means) - n_powers].reshape(3 if self.parts else 1, n_rules)
        up, down = state.whole(of.infinite)
        first = to_host(of.first)
        centres = means[len(means) - n_powers :]
        return MeanScores(
            tuple(rule.name for rule in self.rules),
            int(state.whole(of.n)),
            losses[0],
            errors[:n_rules],
            (up + down)[:n_rules],
            losses[1] if self.parts else None,
            losses[2] if self.parts else None,
            tuple(tuple(int(at) for at in row if at < NO_POSITION) for row in first) if self.parts else None,
            self.powers,
            np.array([power_mean(float(centre), m) for centre, m in zip(centres, self.powers, strict=True)]),
            down[len(means) - n_powers :],
            None if self.n_labels is None else compensated.value(of.counts),
        )


def _need_alike(forecast: Array | np.ndarray, weights: Array | np.ndarray) -> None:
    if forecast.ndim != 2 or forecast.shape != weights.shape:
        raise InputError(
            f"forecasts of shape {forecast.shape} and truth of shape {weights.shape}",
            "the same two axes (item, label) for both",
            "Scores of one item are pt.log_score(probs, truth) and its like; for several models use jax.vmap.",
        )


def power_mean(centre: float, power: float) -> float:
    """The mean of order m from the mean of (p^m - 1)/m (of log p at 0); it is 0 where that is minus infinity."""
    if power == 0 or math.isnan(centre):
        return math.exp(centre)
    inner = power * centre
    if inner <= -1 or math.isinf(inner):
        return 0.0
    return math.exp(math.log1p(inner) / power)


def mean_score(
    probs: ArrayLike, truth: ArrayLike, rule: RuleName | ScoringRule = "log", log_probs: bool = False
) -> float:
    """The mean expected loss over all items, as fast as memory allows.

    Formula: (1/n) sum_i S(p_i, t_i); an item of infinite loss makes it infinite, 0 log 0 = 0.

    Arguments: `probs` and `truth` are arrays (item, label), float32 or float64, NumPy or JAX, read in place; `rule` a
    name or a `ScoringRule`; `log_probs` says that `probs` are log-probabilities. Values are not checked.

    Returns: units of the rule, lower is better. On the host, sums of float32 are kept in float32 for at most 2^12
    terms, in float64 from there on; `mean_scores` gives a bound of the error.

    Errors: `InputError` for shapes that differ, an unknown rule, or a call inside a traced function.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import numpy as np, probtruth as pt
    >>> round(pt.streaming.mean_score(np.array([[0.6, 0.4]]), np.array([[0.7, 0.3]])), 4)
    0.6325
    """
    return float(mean_scores(probs, truth, (rule,), log_probs=log_probs).means[0])


def mean_scores(
    probs: ArrayLike,
    truth: ArrayLike,
    rules: str | ScoringRule | Sequence[str | ScoringRule] = ("log", "brier", "spherical"),
    powers: Sequence[float | int] = (),
    confusion: bool = False,
    log_probs: bool = False,
) -> MeanScores:
    """Mean scores under several rules in one pass, with generalised means and expected counts on request.

    Formula: as `mean_score`; the generalised mean of power m is (1/n sum_i sum_k t_ik p_ik^m)^(1/m), its limit
    exp(mean of sum_k t_ik log p_ik) at 0; the counts are sum_i t_ij p_ik.

    Arguments: `probs`, `truth` and `log_probs` as in `mean_score`; `rules` names or `ScoringRule`s; `powers` finite
    numbers; `confusion` adds counts. For batches, entropy and divergence use `RunningMeans`.

    Where arrays of JAX lie on a GPU, or on several devices, both are read once for the counts, the powers and the rules
    "log", "brier", "quadratic", "linear" and "spherical" together; other rules read them again. Totals are pairs of
    floats there, off by at most 4 n u^2 of the sum of absolute losses (u = 6e-8 for float32, n items), which
    `error` bounds; each loss is rounded to the arrays' type before, by less than K u times its terms' size.

    Errors: as `mean_score`, and for powers that are not finite.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; Nelson (2017), doi:10.3390/e19060286

    >>> import numpy as np, probtruth as pt
    >>> pt.streaming.mean_scores(np.array([[0.6, 0.4]]), np.array([[0.7, 0.3]])).means.round(4).tolist()
    [0.6325, 0.44, -0.7488]
    """
    forecast, weights = _array(probs), _array(truth)
    _need_alike(forecast, weights)
    if forecast.size == 0:
        raise InputError(f"arrays of shape {forecast.shape}", "at least one item and one label", "Check the arrays.")
    n_labels = forecast.shape[1] if confusion else None
    means = RunningMeans(rules, tuple(powers), n_labels=n_labels, parts=False, log_probs=log_probs)
    return means.finalize(means.of(forecast, weights))


def _array(values: ArrayLike) -> np.ndarray | jax.Array:
    if isinstance(values, jax.core.Tracer):
        raise InputError(
            "an array that is being traced",
            "an array with values",
            "Inside jit use pt.log_score(probs, truth).mean() and its like, or pt.streaming.RunningMeans.",
        )
    if isinstance(values, jax.Array):
        return values
    array = np.asarray(values)
    if array.dtype not in (np.float32, np.float64):
        array = check_arrays.as_floats(array, "item label", "arrays")
    return array
