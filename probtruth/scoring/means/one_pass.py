"""Losses whose sums over the labels are made of sums of terms of one cell: all of them in one read of both arrays.

A rule or a power adds its terms to those of the others; a formula of a few sums then gives an item's loss. The compiler
makes one loop of the terms, the losses and their totals, where separate losses would each read the arrays again.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Float

from probtruth.kernels import simplex
from probtruth.kernels.compensated import PER_ADDITION, Total, add_pairs
from probtruth.scoring.rules import RULES, ScoringRule

UNROLLED = 32
"""Up to so many labels the sums over them are written out, so that not even they are stored between two loops."""


class ForecastCells(NamedTuple):
    """Some cells: the weights of labels, and their probabilities and logarithms (what is not used is not computed)."""

    truth: Array
    probs: Array
    logs: Array


Term = Callable[[ForecastCells], Array]


class Recipe(NamedTuple):
    """The sums that a loss is made of, by name, and the formula that makes it of them."""

    terms: Mapping[str, Term]
    loss: Callable[[Mapping[str, Array]], Array]


TERMS: dict[str, Term] = {
    "t log p": lambda cell: cell.truth * jnp.where(cell.truth != 0, cell.logs, 0),
    "t p": lambda cell: cell.truth * cell.probs,
    "p p": lambda cell: cell.probs * cell.probs,
    "brier": lambda cell: (cell.probs - cell.truth) ** 2 + cell.truth * (1 - cell.truth),
    "quadratic": lambda cell: cell.probs * (cell.probs - 2 * cell.truth),
}
"""The terms of the rules."""


def _made_of(*names: str, loss: Callable[[Mapping[str, Array]], Array]) -> Recipe:
    return Recipe({name: TERMS[name] for name in names}, loss)


RECIPES = {
    "log": _made_of("t log p", loss=lambda sums: -sums["t log p"]),
    "brier": _made_of("brier", loss=lambda sums: sums["brier"]),
    "quadratic": _made_of("quadratic", loss=lambda sums: sums["quadratic"]),
    "linear": _made_of("t p", loss=lambda sums: -sums["t p"]),
    "spherical": _made_of("t p", "p p", loss=lambda sums: -sums["t p"] / jnp.sqrt(sums["p p"])),
}
"""The rules whose losses are made so."""


def recipe(what: str, of: ScoringRule | float) -> Recipe | None:
    """How a quantity is made of sums; None where it is not."""
    if isinstance(of, ScoringRule):
        return RECIPES.get(of.name) if what == "expected" and of is RULES.get(of.name) else None
    if of == 0:
        return _made_of("t log p", loss=lambda sums: sums["t log p"])
    name = f"t (p^{of} - 1)"
    return Recipe({name: lambda cell: box_cox(cell, of)}, lambda sums: sums[name])


def box_cox(cell: ForecastCells, power: float) -> Array:
    """t (p^m - 1)/m; NaN, not infinite, where a power of a positive probability overflows."""
    logs = jnp.where(cell.truth != 0, cell.logs, 0)
    terms = jnp.expm1(power * logs) / power
    lost = jnp.isinf(terms) & jnp.isfinite(logs)
    return cell.truth * jnp.where(lost, jnp.nan, terms)


def losses(
    recipes: list[Recipe], forecast: Float[Array, "item label"], truth: Float[Array, "item label"], is_log: bool
) -> list[Float[Array, " item"]]:
    """Each quantity of each item."""
    terms = {name: term for one in recipes for name, term in one.terms.items()}
    sums = dict(zip(terms, _sums(list(terms.values()), forecast, truth, is_log), strict=True))
    return [one.loss(sums) for one in recipes]


def _sums(terms: list[Term], forecast: Array, truth: Array, is_log: bool) -> list[Array]:
    """The sum of each term over the labels; of many labels as pairs, since plain sums of one term leave the loop."""
    n_labels = forecast.shape[1]
    if n_labels <= UNROLLED:
        columns = [_cells(forecast[:, label], truth[:, label], is_log) for label in range(n_labels)]
        return [sum((term(column) for column in columns[1:]), term(columns[0])) for term in terms]
    cells = _cells(forecast, truth, is_log)
    operands: list[Array] = []
    for term in terms:
        values = term(cells)
        endless = jnp.isinf(values)
        operands += [jnp.where(endless, 0, values), jnp.zeros_like(values), jnp.where(endless, values, 0)]

    def both(one: tuple[Array, ...], other: tuple[Array, ...]) -> tuple[Array, ...]:
        joined: list[Array] = []
        for at in range(0, len(one), 3):
            joined += [*_add(one, other, at), one[at + 2] + other[at + 2]]
        return tuple(joined)

    nothing = jnp.zeros((), forecast.dtype)
    parts = lax.reduce(tuple(operands), (nothing,) * len(operands), both, (1,))
    return [sum(parts[at + 1 : at + 3], parts[at]) for at in range(0, len(parts), 3)]


def _add(one: tuple[Array, ...], other: tuple[Array, ...], at: int) -> list[Array]:
    """The pairs at a position of both, added up."""
    pair = add_pairs((one[at], one[at + 1]), (other[at], other[at + 1]))
    return [jnp.asarray(part) for part in pair]


def _cells(forecast: Array, truth: Array, is_log: bool) -> ForecastCells:
    return (
        ForecastCells(truth, jnp.exp(forecast), forecast)
        if is_log
        else ForecastCells(truth, forecast, simplex.log(forecast))
    )


def totals(columns: list[Float[Array, " item"]]) -> tuple[Total, Array]:
    """The totals over the items of what is not infinite, and how many items are, by sign (plus, minus), in one loop."""
    kind, n = columns[0].dtype, len(columns[0])
    operands: list[Array] = []
    for column in columns:
        finite = jnp.where(jnp.isinf(column), 0, column)
        odd = [(column == sign).astype(jnp.int32) for sign in (jnp.inf, -jnp.inf)]
        operands += [finite, jnp.zeros_like(finite), jnp.abs(finite), *odd]

    def both(one: tuple[Array, ...], other: tuple[Array, ...]) -> tuple[Array, ...]:
        joined: list[Array] = []
        for at in range(0, len(one), 5):
            joined += _add(one, other, at)
            joined += [one[at + more] + other[at + more] for more in (2, 3, 4)]
        return tuple(joined)

    summed = lax.reduce(tuple(operands), tuple(jnp.zeros((), one.dtype) for one in operands), both, (0,))
    high, low, size, up, down = (jnp.stack(summed[part::5]) for part in range(5))
    bound = PER_ADDITION * n * (float(np.finfo(kind).eps) / 2) ** 2
    return Total(high, low, size * jnp.asarray(bound, kind)), jnp.stack([up, down])
