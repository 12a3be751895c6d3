"""Numbers that are not means of one number an item: what they are under other weights of the items.

The numbers are functions of the weights of the units (clusters or items). Leaving out one unit at a time gives the
moments that a mean has from its residuals, so that all that follows from these follows here too.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from probtruth.comparison.estimation.design import Design, totals
from probtruth.comparison.estimation.estimate import About, Estimate, part_of, rows_from_models
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import FiniteInts, ModelFloats, ModelItem

MOST_UNITS = 500  # More units than this are dealt into so many bundles, which are left out as wholes
CELLS = 1 << 22  # Weights of items in memory at once (32 MiB)
ROUNDING = 1e-13  # What leaving out a unit moves, relative to the largest number, if this is all, is rounding
LEAST_DF = 1.0  # The fewest degrees of freedom that residuals show

Values = Callable[[Float[np.ndarray, "draw unit"]], Float[np.ndarray, "draw model"]]


@dataclass(frozen=True, eq=False)
class Resampled:
    """The models' numbers, and those without each unit in turn."""

    estimate: ModelFloats
    left_out: Float[np.ndarray, "unit model"]

    @property
    def defined(self) -> Bool[np.ndarray, " model"]:
        """Whose number is defined with all units and without any one of them."""
        return np.isfinite(self.estimate) & np.isfinite(self.left_out).all(0)


def bundled(plan: Design, seed: int) -> Design:
    """Its units, or where they are too many as many bundles of them as can be left out, dealt at random by the seed."""
    n_units = plan.n_units
    if n_units <= MOST_UNITS:
        return plan
    of_unit = plan.of_unit()
    dealt = np.random.default_rng(seed).permutation(n_units)
    dealt = dealt[np.argsort(of_unit[dealt], kind="stable")]
    size = -(-n_units // MOST_UNITS)
    bundle = np.empty(n_units, np.int64)
    start = 0
    n_bundles = 0
    for count in plan.group_units.tolist():
        units = dealt[start : start + count]
        bundles_of_group = max(count // size, min(count, 2))
        bundle[units] = n_bundles + np.arange(count) % bundles_of_group
        start += count
        n_bundles += bundles_of_group
    if plan.unit is not None:
        bundle = bundle[plan.unit]
    return Design.of(plan.of_item(), bundle)


def resampled(values: Values, plan: Design) -> Resampled:
    """The numbers, and those with each unit left out, whose weight the others of its group take."""
    group = plan.of_unit()
    items = plan.group_sizes[group]
    rest = items - plan.unit_sizes
    stays = rest == 0  # the only unit of its group
    more = items / np.maximum(rest, 1)
    step = max(1, CELLS // plan.n_items)
    left_out = []
    for out in np.array_split(np.arange(plan.n_units), range(step, plan.n_units, step)):
        weights = np.where(group == group[out, None], more[out, None], 1.0)
        weights[np.arange(len(out)), out] = stays[out]
        left_out.append(values(weights))
    every_unit = np.ones((1, plan.n_units))
    return Resampled(values(every_unit)[0], np.concatenate(left_out))


def estimate_of_metrics(
    metrics: Resampled,
    within: Design,
    plan: Design,
    order: FiniteInts,
    about: About,
    influence: ModelItem | None = None,
) -> Estimate:
    """The estimate, in one column; `within` is the design whose units were left out.

    `influence` is what each item moves the numbers by through weights that were fitted on all, times the items.

    The variance is that of a mean whose units have the residuals r = (n_g - n_u) (theta - theta_(-u)) n / n_g.
    """
    of_models = metrics.estimate[order]
    rounding = ROUNDING * np.abs(of_models).max(initial=0.0)
    estimate = rows_from_models(of_models)[:, None]
    shift = estimate - rows_from_models(metrics.left_out.T[order])  # row, unit
    shift[np.abs(shift) <= rounding] = 0.0
    group = within.of_unit()
    share = within.group_sizes / within.n_items
    rest = within.group_sizes[group] - within.unit_sizes
    residual = shift * rest / share[group]
    if influence is not None:
        unit = np.arange(within.n_items) if within.unit is None else within.unit
        residual += rows_from_models(totals(influence[order], unit, within.n_units))
    mean = within.group_totals(residual) / within.group_units
    residual -= mean[:, group]
    square = residual**2 * within.leverage
    part = part_of(
        within.group_totals(square),
        within.group_totals(square * residual),
        within.group_units,
        within.group_sizes,
        within.df,
    )
    by_group = Estimate(
        names=tuple(about.models[row] for row in order),
        mean=np.repeat(estimate, within.n_groups, axis=1),
        parts={"items": part},
        design=replace(within, weights=share),
        about=about,
    )
    over_groups = by_group.over_groups()
    items = over_groups.items
    # few items may carry the whole difference: Satterthwaite's degrees of freedom for the kurtosis of the residuals
    squared_total = square.sum(1, keepdims=True) ** 2
    of_squares = (square**2).sum(1, keepdims=True)
    excess = of_squares - squared_total / len(group)
    df = ratio(2 * squared_total, excess, items.df)
    parts = {"items": replace(items, df=np.clip(df, LEAST_DF, items.df))}
    about = replace(about, means=metrics.estimate)
    return replace(over_groups, mean=estimate, parts=parts, design=plan, about=about, n_units=within.n_units)
