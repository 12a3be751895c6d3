"""From the exact sums of a state to the evidence that a comparison takes from the items."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int, Shaped

from probtruth.comparison.evidence.design import Design, Structure, design_of, known_weights
from probtruth.comparison.evidence.evidence import Evidence, Facts, check_size
from probtruth.comparison.evidence.from_scores import by_content, reach
from probtruth.comparison.evidence.moments import Location, Moments, means_from
from probtruth.comparison.evidence.sweeps import ALONE, ROUNDING, Extremes, Pairs, alone, pairs_of, pseudo_items
from probtruth.errors import InputError
from probtruth.types import Partition, RuleFacts

if TYPE_CHECKING:
    from probtruth.streaming.comparison_state import ComparisonState

Exact = Shaped[np.ndarray, "power row group"]
"""Fractions: exact sums of the numbers of a row, of their squares and of their cubes."""


def all_rows(n_models: int) -> Pairs:
    """The rows of a state: the models' own scores, then the differences of all pairs."""
    models = np.arange(n_models)
    return np.concatenate([alone(models), pairs_of(models)])


@dataclass(frozen=True, eq=False)
class StateRows:
    """Some rows of a state, as `RowSums` has those of parts."""

    within: Structure
    sums: Exact
    extremes: Extremes

    @classmethod
    def of(cls, state: "ComparisonState", pairs: Pairs) -> "StateRows":
        """The differences a minus b (or a's own scores); a state has them the other way round where a is behind b."""
        stored = {(int(a), int(b)): row for row, (a, b) in enumerate(all_rows(len(state.models)))}
        sign = np.array([-1 if b != ALONE and a > b else 1 for a, b in pairs], np.int64)
        rows = [stored[(b, a) if turned < 0 else (a, b)] for (a, b), turned in zip(pairs.tolist(), sign, strict=True)]
        ends, turned = state.extremes.of(np.array(rows, np.int64)), (sign < 0)[:, None]
        turned_ends = replace(
            ends, low=np.where(turned, -ends.high, ends.low), high=np.where(turned, -ends.low, ends.high)
        )
        sums = state.sums[:, rows] * np.array([sign, np.ones_like(sign), sign]).astype(object)[..., None]
        return cls(Structure(state.n_items), sums, turned_ends)

    def totals(self) -> Float[np.ndarray, "row group"]:
        """The total of each row in each group."""
        rounded: np.ndarray = self.sums[0].astype(np.float64)
        return rounded

    def powers(
        self, chosen: Int[np.ndarray, " chosen"], centre: Float[np.ndarray, "chosen group"], largest: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares and of cubes of the residuals; 0 where all that is left is rounding."""
        ends = self.extremes.of(chosen)
        peak = np.maximum(ends.high - centre, centre - ends.low).max(1)
        constant = (peak <= ROUNDING * largest)[:, None]
        one, two, three = self.sums[:, chosen]
        n = np.array([Fraction(int(size)) for size in self.within.n_items], object)
        middle = np.vectorize(Fraction, otypes=[object])(centre)
        square = two - 2 * middle * one + n * middle**2
        cube = three - 3 * middle * two + 3 * middle**2 * one - n * middle**3
        return np.where(constant, 0.0, square.astype(np.float64)), np.where(constant, 0.0, cube.astype(np.float64))

    def described(self) -> Float[np.ndarray, "row sum"]:
        """Sums of powers in every group: what tells rows apart."""
        return np.concatenate(list(self.sums.astype(np.float64)), axis=1)

    def pseudo(self, reach: float) -> Float[np.ndarray, " row"]:
        """Where the pseudo-items of each row lie, 0 where it needs none."""
        return pseudo_items(self.extremes, int(self.within.n_units.sum()), reach)


@dataclass(frozen=True, eq=False)
class NoItems:
    """What is unsure with the items held fixed, where the items are not at hand: unknown."""

    def variance(self, a: int, b: int) -> None:
        """Unknown."""

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        """Unknown, which is an error."""
        raise InputError("sums of scores", "the scores of every item", "Use compare with population='these-items'.")


def evidence_of_state(state: "ComparisonState", weights: Mapping[str, float] | None) -> Evidence:
    """What a comparison takes from the items of a state; `weights` are those of the groups by name."""
    design = _design(state, weights)
    state = state if design.grouped else state.ungrouped()
    share = [Fraction(float(weight)) for weight in design.weights / state.n_items]
    up, down = state.infinite
    finite = np.nonzero((up + down).sum(1) == 0)[0]
    check_size(float(_largest(state).max(initial=0.0)))
    counted = design.weights > 0
    above, below = (counts[:, counted].any(1) for counts in (up, down))
    means = np.where(above & below, np.nan, np.where(above, inf, -inf))
    usable = ~(above | below)
    means[usable] = (state.sums[0, : len(state.models)] @ np.array(share, object)).astype(np.float64)[usable]

    def describe(first: int | None) -> list[list[float]]:
        pairs = alone(finite)
        if first is not None:  # its difference from itself, which nobody asks for, is none of the rows of a state
            others = np.arange(len(finite)) != first
            pairs[others] = np.stack([np.full_like(finite, finite[first]), finite], axis=1)[others]
        listed: list[list[float]] = StateRows.of(state, pairs).described().tolist()
        return listed

    totals = StateRows.of(state, alone(finite)).sums[0].sum(-1).astype(np.float64).tolist()
    order = finite[by_content(totals, [state.models[row] for row in finite], describe)]
    furthest = reach(state.bounds, state.steps)
    return Evidence(
        facts=Facts(
            models=state.models,
            rule=state.rule,
            higher_is_better=state.higher_is_better,
            known=RuleFacts(range=state.bounds),
        ),
        design=design,
        parts=None,
        means=means,
        n_infinite=state.infinite.sum((0, 2)),
        infinite_items=state.infinite_items,
        order=order,
        moments=_moments(state, order, furthest) if len(order) else None,
        fixed_items=NoItems(),
        reach=furthest,
    )


def _design(state: "ComparisonState", weights: Mapping[str, float] | None) -> Design:
    if len(state.groups) > 1 and (state.n_items == 1).all():
        return design_of(state.groups, None, None, weights, Partition(np.arange(len(state.groups)), state.groups))
    structure = Structure(state.n_items)
    if len(state.groups) == 1:
        if weights is not None:
            raise InputError("weights without groups", "groups to weight", "Leave weights out.")
        return Design(("all",), structure, np.ones(1))
    return Design(state.groups, structure, known_weights(weights, state.groups, state.n_items))


def _largest(state: "ComparisonState") -> Float[np.ndarray, " model"]:
    """The largest size of each model's scores."""
    ends = state.extremes
    return np.asarray(np.maximum(ends.high, -ends.low).max(1)[: len(state.models)])


def _moments(state: "ComparisonState", order: Int[np.ndarray, " finite"], furthest: float) -> Moments:
    largest, pairs = _largest(state), pairs_of(order)
    of_pairs = means_from(StateRows.of(state, pairs), largest[pairs].max(1), furthest)
    levels = means_from(StateRows.of(state, alone(order)), largest[order], None)
    return Moments.of(Structure(state.n_items), of_pairs, levels)
