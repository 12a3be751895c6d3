"""Numbers that are not means of one number an item: what they are under other weights of the items.

The numbers are functions of the weights of the units (clusters or items). Leaving out one unit at a time gives the
moments that a mean has from its residuals, so that all that follows from these follows here too; the Bayesian bootstrap
is a companion.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.design import Structure
from probtruth.comparison.location import GroupMeans, Location, Means, combine, spread_of
from probtruth.comparison.pairs import all_pairs

MOST_UNITS = 500  # More units than this are dealt into so many bundles, which are left out and weighted as wholes
BOOTSTRAPS = 1000  # Draws of the Bayesian bootstrap
CELLS = 1 << 22  # Weights of items that are held at once (32 MiB)
ROUNDING = 1e-13  # What leaving out a unit moves, relative to the largest number, if this is all, is rounding
LEAST_DF = 1.0  # The fewest degrees of freedom that are told from the residuals

Values = Callable[[Float[np.ndarray, "draw unit"]], Float[np.ndarray, "draw model"]]


@dataclass(frozen=True, eq=False)
class Resampled:
    """The models' numbers, without each unit in turn, and under the Bayesian bootstrap."""

    estimate: Float[np.ndarray, " model"]
    left_out: Float[np.ndarray, "unit model"]
    drawn: Float[np.ndarray, "draw model"]

    @property
    def whole(self) -> Bool[np.ndarray, " model"]:
        """Whose number is defined with all units and without any one of them."""
        return np.isfinite(self.estimate) & np.isfinite(self.left_out).all(0)


def bundled(within: Structure, seed: int) -> Structure:
    """Its units, or where they are too many as many bundles of them as can be left out, dealt at random by the seed."""
    units = int(within.n_units.sum())
    if units <= MOST_UNITS:
        return within
    of_unit, rng = within.of_unit(), np.random.default_rng(seed)
    dealt = rng.permutation(units)
    dealt = dealt[np.argsort(of_unit[dealt], kind="stable")]
    size, bundle, first = -(-units // MOST_UNITS), np.empty(units, np.int64), 0
    for count in within.n_units.tolist():
        position = np.arange(count)
        number = max(count // size, min(count, 2))
        bundle[dealt[:count]] = first + position % number
        dealt, first = dealt[count:], first + number
    group = np.empty(first, np.int64)
    group[bundle] = of_unit
    return Structure.of_units(bundle if within.unit is None else bundle[within.unit], group)


def resampled(values: Values, within: Structure, seed: int) -> Resampled:
    """The numbers under the weights of the jackknife and of the Bayesian bootstrap, some draws at a time."""
    units = int(within.n_units.sum())
    step = max(1, CELLS // int(within.n_items.sum()))
    group, sizes = within.of_unit(), _sizes(within)
    rng = np.random.default_rng(seed)

    def jackknife() -> Iterator[Float[np.ndarray, "draw unit"]]:
        for start in range(0, units, step):
            out = np.arange(start, min(start + step, units))
            rest = within.n_items[group[out]] - sizes[out]
            more = within.n_items[group[out]] / np.where(rest > 0, rest, 1)
            weights = np.where(group == group[out][:, None], more[:, None], 1.0)
            weights[np.arange(len(out)), out] = np.where(rest > 0, 0.0, 1.0)  # the only unit of its group stays
            yield weights

    def bootstrap() -> Iterator[Float[np.ndarray, "draw unit"]]:
        for start in range(0, BOOTSTRAPS, step):
            weights = rng.standard_exponential((min(step, BOOTSTRAPS - start), units))
            for stratum in range(within.n_groups):
                own = group == stratum
                weights[:, own] *= within.n_items[stratum] / (weights[:, own] @ sizes[own])[:, None]
            yield weights

    return Resampled(
        values(np.ones((1, units)))[0],
        np.concatenate([values(weights) for weights in jackknife()]),
        np.concatenate([values(weights) for weights in bootstrap()]),
    )


def _sizes(within: Structure) -> Int[np.ndarray, " unit"]:
    """Items of each unit."""
    return np.ones(int(within.n_items.sum()), np.int64) if within.unit_sizes is None else within.unit_sizes


def locations(metrics: Resampled, within: Structure, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
    """The location of every pair's difference and of every model's number."""
    pairs = np.array(all_pairs(len(order)), np.int64).reshape(-1, 2)
    estimate, left_out = metrics.estimate[order], metrics.left_out[:, order]
    differences = estimate[pairs[:, 0]] - estimate[pairs[:, 1]]
    without = left_out[:, pairs[:, 0]] - left_out[:, pairs[:, 1]]
    peak = np.abs(estimate).max(initial=0.0)
    return _location(differences, without, within, peak), _location(estimate, left_out, within, peak)


def _location(
    estimate: Float[np.ndarray, " row"], without: Float[np.ndarray, "unit row"], within: Structure, peak: float
) -> Location:
    """The moments of a mean whose units have the residuals r = (n_g - n_u) (theta - theta_(-u)) n / n_g."""
    group, count, share = within.of_unit(), within.n_units, within.n_items / within.n_items.sum()
    rest = within.n_items[group] - _sizes(within)
    moved = (estimate - without).T
    residual = np.where(np.abs(moved) <= ROUNDING * peak, 0.0, moved) * rest / share[group]
    residual -= (within.group_totals(residual) / count)[:, group]
    square = residual**2 * (1.0 if within.leverage is None else within.leverage)
    variance, third = spread_of(
        within.group_totals(square), within.group_totals(square * residual), count, within.n_items
    )
    mean, nothing = np.repeat(estimate[:, None], within.n_groups, axis=1), np.zeros(len(estimate))
    means = Means(mean, variance, mean, variance, third, nothing, nothing)
    location = combine(GroupMeans.of(within, means, means), means, share)
    second, fourth = square.sum(1), (square**2).sum(1)
    excess = fourth - second**2 / len(group)
    told = 2 * second**2 / np.where(excess > 0, excess, 1.0)
    df = np.where(excess > 0, np.clip(told, LEAST_DF, location.df), location.df)
    return replace(location, mean=estimate, centre=estimate, df=df)


def bootstrap_p_below(
    metrics: Resampled, order: Int[np.ndarray, " finite"], varies: Bool[np.ndarray, " pair"]
) -> list[float | None]:
    """P(difference < 0) + P(difference = 0)/2 of every pair under the Bayesian bootstrap; None where nothing varies."""
    chances: list[float | None] = []
    for (a, b), some in zip(all_pairs(len(order)), varies, strict=True):
        difference = metrics.drawn[:, order[a]] - metrics.drawn[:, order[b]]
        chances.append(float((difference < 0).mean() + (difference == 0).mean() / 2) if some else None)
    return chances
