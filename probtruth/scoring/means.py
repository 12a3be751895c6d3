"""Mean scores of large arrays: float64 sums over blocks of items, which merge."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.kernels.arrays import Table, on_device, to_host, together
from probtruth.kernels.precision import compiled
from probtruth.scoring.rules import ScoringRule, get_rule

CELLS = 1 << 18  # entries of a block on the host: what is computed from it stays in the processor's cache


@dataclass(frozen=True, eq=False)
class MeanScores:
    """Sums over items, and the means that follow from them; those of parts of the items add up with `+`.

    `means` are expected losses by rule, lower is better; a mean is infinite where an item's loss is (`n_infinite`
    counts these items), and NaN without items. `power_means` are the generalised means of the probability of the label
    by power, between 0 and 1, higher is better: 0 where a label of positive weight had probability 0 and the power is
    not positive. `counts` is the expected number of items by label (row) and response (column).
    """

    rules: tuple[str, ...]
    powers: tuple[float, ...]
    n_items: int
    totals: Float[np.ndarray, " term"]  # of the rules' losses, then of (p^m - 1)/m, log p for m = 0
    infinite: Int[np.ndarray, " term"]
    counts: Float[np.ndarray, "label response"] | None = None

    @property
    def means(self) -> Float[np.ndarray, " rule"]:
        """The mean loss by rule."""
        return self._centres[: len(self.rules)]

    @property
    def n_infinite(self) -> Int[np.ndarray, " rule"]:
        """How many items have an infinite loss, by rule."""
        return self.infinite[: len(self.rules)]

    @property
    def power_means(self) -> Float[np.ndarray, " power"]:
        """The generalised mean of the probability of the label, by power."""
        centres, powers = self._centres[len(self.rules) :], np.array(self.powers)
        with np.errstate(all="ignore"):
            means = np.exp(np.log1p(np.maximum(powers * centres, -1)) / powers)
        return np.where(powers == 0, np.exp(centres), means)

    @property
    def _centres(self) -> Float[np.ndarray, " term"]:
        with np.errstate(invalid="ignore"):
            return self.totals / self.n_items if self.n_items else np.full(len(self.totals), np.nan)

    def __add__(self, other: "MeanScores") -> "MeanScores":
        """The sums of the items of both.

        Errors: `InputError` for sums under other rules, powers or labels.
        """
        shapes = [None if one.counts is None else one.counts.shape for one in (self, other)]
        if (self.rules, self.powers, shapes[0]) != (other.rules, other.powers, shapes[1]):
            raise InputError("sums of different rules, powers or labels", "the same in all", "Sum up all parts alike.")
        with np.errstate(invalid="ignore"):
            totals = self.totals + other.totals
        counts = None if self.counts is None or other.counts is None else self.counts + other.counts
        n_items, infinite = self.n_items + other.n_items, self.infinite + other.infinite
        return MeanScores(self.rules, self.powers, n_items, totals, infinite, counts)


def mean_scores(
    probs: ArrayLike,
    truth: ArrayLike,
    rules: str | ScoringRule | Sequence[str | ScoringRule] = ("log", "brier", "spherical"),
    powers: Sequence[float | int] = (),
    confusion: bool = False,
    log_probs: bool = False,
) -> MeanScores:
    """Mean scores of one model under several rules, with generalised means and expected counts on request.

    Formula: (1/n) sum_i S(p_i, t_i), with 0 log 0 = 0; the generalised mean of power m is
    (1/n sum_i sum_k t_ik p_ik^m)^(1/m), its limit exp(mean of sum_k t_ik log p_ik) at 0; counts are sum_i t_ij p_ik.

    Arguments: `probs` and `truth` are arrays (item, label), float32 or float64, NumPy or JAX (also sharded over the
    items); `rules` names or `ScoringRule`s; `powers` finite numbers (1 is decisiveness, 0 accuracy, -2/3 robustness);
    `confusion` adds counts; `log_probs` says that `probs` are log-probabilities. Values are not checked. Losses are
    computed in the arrays' own type and added up in float64. Batches: add their results.

    Errors: `InputError` for shapes that differ, an unknown rule, powers that are not finite, or a call inside a traced
    function, where `pt.log_score(probs, truth).mean()` and its like are the fast way.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; Nelson (2017), doi:10.3390/e19060286

    >>> import numpy as np, probtruth as pt
    >>> one, other = np.array([[0.6, 0.4]]), np.array([[0.2, 0.8]])
    >>> means = pt.mean_scores(one, np.array([[0.7, 0.3]])) + pt.mean_scores(other, np.array([[0.5, 0.5]]))
    >>> means.means.round(4).tolist()
    [0.7744, 0.56, -0.6776]
    """
    chosen = tuple(get_rule(rule) for rule in (rules if isinstance(rules, list | tuple) else (rules,)))
    check.unique([rule.name for rule in chosen], "rule")
    exponents = tuple(check.number(power, "power", "1, 0 and -2/3 are the usual ones.") for power in powers)
    if any(isinstance(values, jax.core.Tracer) for values in (probs, truth)):
        hint = "Inside jit use pt.log_score(probs, truth).mean() and its like."
        raise InputError("an array that is being traced", "an array with values", hint)
    forecast, weights = together([check_arrays.as_float_table(values, "arrays") for values in (probs, truth)])
    if forecast.ndim != 2 or forecast.shape != weights.shape:
        raise InputError(
            f"forecasts of shape {forecast.shape} and truth of shape {weights.shape}",
            "the same two axes (item, label) for both",
            "Scores of one item are pt.log_score(probs, truth) and its like; call this for each model.",
        )
    if forecast.size == 0:
        raise InputError(f"arrays of shape {forecast.shape}", "at least one item and one label", "Check the arrays.")
    names, n_items = tuple(rule.name for rule in chosen), len(forecast)
    size = n_items if on_device(forecast) else max(1, CELLS // forecast.shape[1])
    blocks = []
    for start in range(0, n_items, size):
        rows = slice(start, min(start + size, n_items))
        one, other = (forecast, weights) if size == n_items else (forecast[rows], weights[rows])
        totals, infinite, counts = map(to_host, _sums(chosen, exponents, confusion, log_probs, one, other))
        n_rows, table = rows.stop - start, counts if confusion else None
        blocks.append(MeanScores(names, exponents, n_rows, totals, infinite, table))
    return reduce(MeanScores.__add__, blocks)


@partial(compiled, static_argnums=(0, 1, 2, 3))
def _sums(
    rules: tuple[ScoringRule, ...],
    powers: tuple[float, ...],
    confusion: bool,
    log_probs: bool,
    forecast: Float[Table, "item label"],
    truth: Float[Table, "item label"],
) -> tuple[Array, Array, Array]:
    forecast, truth = simplex.as_floats(forecast, truth)
    logs = forecast if log_probs else simplex.log(forecast)
    losses = [rule.expected_from_log(logs, truth) if log_probs else rule.expected(forecast, truth) for rule in rules]
    gains = [simplex.expectation(truth, jnp.expm1(m * logs) / m if m else logs) for m in powers]
    terms = [*losses, *gains]
    wide = [table.astype(jnp.float64) for table in (truth, jnp.exp(logs) if log_probs else forecast)]
    counts = wide[0].T @ wide[1] if confusion else jnp.zeros((0, 0))
    totals = jnp.array([one.sum(dtype=jnp.float64) for one in terms])
    return totals, jnp.array([jnp.isinf(one).sum() for one in terms], int), counts
