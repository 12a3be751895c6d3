"""Numbers that are not means of one number an item: what they are under other weights of the items.

The numbers are functions of the weights of the units (clusters or items). Leaving out one unit at a time gives the
moments that a mean has from its residuals, so that all that follows from these follows here too.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.design import Structure
from probtruth.comparison.location import GroupMeans, Location, Means, combine, spread_of
from probtruth.comparison.pairs import all_pairs

MOST_UNITS = 500  # More units than this are dealt into so many bundles, which are left out as wholes
CELLS = 1 << 22  # Weights of items in memory at once (32 MiB)
ROUNDING = 1e-13  # What leaving out a unit moves, relative to the largest number, if this is all, is rounding
LEAST_DF = 1.0  # The fewest degrees of freedom that residuals show

Values = Callable[[Float[np.ndarray, "draw unit"]], Float[np.ndarray, "draw model"]]


@dataclass(frozen=True, eq=False)
class Resampled:
    """The models' numbers, and those without each unit in turn."""

    estimate: Float[np.ndarray, " model"]
    left_out: Float[np.ndarray, "unit model"]

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


def resampled(values: Values, within: Structure) -> Resampled:
    """The numbers under the weights of the jackknife, some units at a time."""
    units = int(within.n_units.sum())
    step = max(1, CELLS // int(within.n_items.sum()))
    group, sizes, left_out = within.of_unit(), _sizes(within), []
    for start in range(0, units, step):
        out = np.arange(start, min(start + step, units))
        rest = within.n_items[group[out]] - sizes[out]
        more = within.n_items[group[out]] / np.where(rest > 0, rest, 1)
        weights = np.where(group == group[out][:, None], more[:, None], 1.0)
        weights[np.arange(len(out)), out] = np.where(rest > 0, 0.0, 1.0)  # the only unit of its group stays
        left_out.append(values(weights))
    return Resampled(values(np.ones((1, units)))[0], np.concatenate(left_out))


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
    shift = (estimate - without).T
    residual = np.where(np.abs(shift) <= ROUNDING * peak, 0.0, shift) * rest / share[group]
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
    known = 2 * second**2 / np.where(excess > 0, excess, 1.0)
    df = np.where(excess > 0, np.clip(known, LEAST_DF, location.df), location.df)
    return replace(location, mean=estimate, centre=estimate, df=df)
