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
from probtruth.scoring.rules.named import get_rule
from probtruth.scoring.rules.rule import ScoringRule

CELLS = 1 << 18  # entries of a block on the host: what is computed from it stays in the processor's cache


@dataclass(frozen=True, eq=False)
class MeanScores:
    """Sums of the expected losses over items, by rule; those of parts of the items add up with `+`."""

    rules: tuple[str, ...]
    n_items: int
    totals: Float[np.ndarray, " rule"]
    n_infinite: Int[np.ndarray, " rule"]

    @property
    def means(self) -> Float[np.ndarray, " rule"]:
        """The mean loss by rule, lower is better; infinite where an item's loss is (`n_infinite` counts these)."""
        return self.totals / self.n_items

    def __add__(self, other: "MeanScores") -> "MeanScores":
        """The sums of the items of both.

        Errors: `InputError` for sums under other rules.
        """
        if self.rules != other.rules:
            raise InputError("sums of different rules", "the same in all", "Sum up all parts alike.")
        with np.errstate(invalid="ignore"):
            totals = self.totals + other.totals
        n_items = self.n_items + other.n_items
        n_infinite = self.n_infinite + other.n_infinite
        return MeanScores(self.rules, n_items, totals, n_infinite)


def mean_scores(
    probs: ArrayLike,
    truth: ArrayLike,
    rules: str | ScoringRule | Sequence[str | ScoringRule] = ("log", "brier", "spherical"),
    log_probs: bool = False,
) -> MeanScores:
    """Mean scores of one model under several rules.

    Formula: (1/n) sum_i S(p_i, t_i), with 0 log 0 = 0.

    Arguments:
        probs, truth: arrays (item, label), float32 or float64, NumPy or JAX (also sharded over the items).
        rules: names or `ScoringRule`s.
        log_probs: says that `probs` are log-probabilities. Values are not checked. Losses are computed in the arrays'
            own type and added up in float64. Batches: add their results.

    Errors: `InputError` for shapes that differ, an unknown rule, or a call inside a traced function, where
    `pt.log_score(probs, truth).mean()` and its like are the fast way.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import numpy as np, probtruth as pt
    >>> one, other = np.array([[0.6, 0.4]]), np.array([[0.2, 0.8]])
    >>> means = pt.rules.mean_scores(one, np.array([[0.7, 0.3]])) + pt.rules.mean_scores(other, np.array([[0.5, 0.5]]))
    >>> means.means.round(4).tolist()
    [0.7744, 0.56, -0.6776]
    """
    listed = rules if isinstance(rules, list | tuple) else [rules]
    chosen = tuple(map(get_rule, listed))
    check.unique([rule.name for rule in chosen], "rule")
    if any(isinstance(values, jax.core.Tracer) for values in (probs, truth)):
        hint = "Inside jit use pt.log_score(probs, truth).mean() and its like."
        raise InputError("an array that is being traced", "an array with values", hint)
    tables = [check_arrays.as_float_table(values, "arrays") for values in (probs, truth)]
    forecast, weights = together(tables)
    if forecast.shape != weights.shape or forecast.size == 0:
        got = f"forecasts of shape {forecast.shape} and truth of shape {weights.shape}"
        raise InputError(got, "the same shape, of at least one item and one label", "Check the arrays.")
    n_items, n_labels = forecast.shape
    size = n_items if on_device(forecast) else max(1, CELLS // n_labels)
    if size >= n_items:
        return _sums_of_block(chosen, log_probs, forecast, weights)
    blocks = []
    for start in range(0, n_items, size):
        rows = slice(start, start + size)
        blocks.append(_sums_of_block(chosen, log_probs, forecast[rows], weights[rows]))
    return reduce(MeanScores.__add__, blocks)


def _sums_of_block(rules: tuple[ScoringRule, ...], log_probs: bool, forecast: Table, truth: Table) -> MeanScores:
    totals, n_infinite = _sums(rules, log_probs, forecast, truth)
    names = tuple(rule.name for rule in rules)
    return MeanScores(names, len(forecast), to_host(totals), to_host(n_infinite))


@partial(compiled, static_argnums=(0, 1))
def _sums(rules: tuple[ScoringRule, ...], log_probs: bool, forecast: Table, truth: Table) -> tuple[Array, Array]:
    forecast, truth = simplex.as_floats(forecast, truth)
    totals = []
    n_infinite = []
    for rule in rules:
        expected = rule.expected_from_log if log_probs else rule.expected
        losses = expected(forecast, truth)
        totals.append(losses.sum(dtype=jnp.float64))
        n_infinite.append(jnp.isinf(losses).sum())
    return jnp.array(totals), jnp.array(n_infinite, int)
