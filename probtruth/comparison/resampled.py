"""Numbers that are not means of one number an item: what they are under other weights of the items.

The numbers are functions of the weights of the units (clusters or items). Leaving out one unit at a time gives the
moments that a mean has from its residuals, so that all that follows from these follows here too.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.design import Design
from probtruth.comparison.estimate import About, Estimate, Part
from probtruth.comparison.means import spread_of
from probtruth.comparison.pairs import rows_of

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


def bundled(plan: Design, seed: int) -> Design:
    """Its units, or where they are too many as many bundles of them as can be left out, dealt at random by the seed."""
    units = plan.n_units
    if units <= MOST_UNITS:
        return plan
    of_unit, rng = plan.of_unit(), np.random.default_rng(seed)
    dealt = rng.permutation(units)
    dealt = dealt[np.argsort(of_unit[dealt], kind="stable")]
    size, bundle, first = -(-units // MOST_UNITS), np.empty(units, np.int64), 0
    for count in plan.group_units.tolist():
        number = max(count // size, min(count, 2))
        bundle[dealt[:count]] = first + np.arange(count) % number
        dealt, first = dealt[count:], first + number
    group = np.empty(first, np.int64)
    group[bundle] = of_unit
    return Design.of_units(bundle if plan.unit is None else bundle[plan.unit], group)


def resampled(values: Values, plan: Design) -> Resampled:
    units, step = plan.n_units, max(1, CELLS // plan.n_items)
    group, items, left_out = plan.of_unit(), plan.group_sizes[plan.of_unit()], []
    rest = items - (1 if plan.unit_sizes is None else plan.unit_sizes)
    for start in range(0, units, step):
        out = np.arange(start, min(start + step, units))
        more = items[out] / np.where(rest[out] > 0, rest[out], 1)
        weights = np.where(group == group[out][:, None], more[:, None], 1.0)
        weights[np.arange(len(out)), out] = np.where(rest[out] > 0, 0.0, 1.0)  # the only unit of its group stays
        left_out.append(values(weights))
    return Resampled(values(np.ones((1, units)))[0], np.concatenate(left_out))


def estimate_of_metrics(
    metrics: Resampled, within: Design, plan: Design, order: Int[np.ndarray, " finite"], about: About
) -> Estimate:
    """The estimate, in one column; `within` is the design whose units were left out.

    The variance is that of a mean whose units have the residuals r = (n_g - n_u) (theta - theta_(-u)) n / n_g.
    """
    first, second = rows_of(order).T
    alone = second < 0
    estimate = np.where(alone, metrics.estimate[first], metrics.estimate[first] - metrics.estimate[second])
    left_out = metrics.left_out
    without = np.where(alone, left_out[:, first], left_out[:, first] - left_out[:, second])
    group = within.of_unit()
    count = within.group_units
    share = within.group_sizes / within.n_items
    rest = within.group_sizes[group] - (1 if within.unit_sizes is None else within.unit_sizes)
    shift = (estimate - without).T
    shift[np.abs(shift) <= ROUNDING * np.abs(metrics.estimate[order]).max(initial=0.0)] = 0.0
    residual = shift * rest / share[group]
    residual -= (within.group_totals(residual) / count)[:, group]
    square = residual**2 * within.leverage
    cube = square * residual
    variance, third = spread_of(within.group_totals(square), within.group_totals(cube), count, within.group_sizes)
    df = np.broadcast_to(within.df, variance.shape)
    by_group = Estimate(
        names=tuple(about.models[row] for row in order),
        mean=np.repeat(estimate[:, None], within.n_groups, axis=1),
        parts={"items": Part(variance, third, df)},
        design=replace(within, weights=share),
        about=about,
    )
    whole = by_group.over_groups()
    items = whole.items
    # few items may carry the whole difference: Satterthwaite's degrees of freedom for the kurtosis of the residuals
    second_power = square.sum(1)
    fourth = (square**2).sum(1)
    excess = fourth - second_power**2 / len(group)
    peaked = excess > 0
    df = items.df[:, 0].copy()
    df[peaked] = np.clip(2 * second_power[peaked] ** 2 / excess[peaked], LEAST_DF, df[peaked])
    part = Part(items.variance, items.third, df[:, None])
    return replace(whole, mean=estimate[:, None], parts={"items": part}, design=plan, n_units=within.n_units)
