"""Numbers that are not means of one number an item: what they are under other weights of the items.

The numbers are functions of the weights of the units (clusters or items). Leaving out one unit at a time gives the
moments that a mean has from its residuals, so that all that follows from these follows here too. Of many units those
that can move the numbers most are left out; the others are told from the slopes, which is the same to first order.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float

from probtruth.comparison.estimation.design import Design, pairs_of
from probtruth.comparison.estimation.estimate import About, Estimate, part_of, rows_from_models
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import (
    FiniteInts,
    ItemLabel,
    ModelFloats,
    ModelItem,
    ModelItemLabel,
    ModelUnit,
    PairFloats,
)

MOST_UNITS = 300  # Units that are left out, of each kind
CELLS = 1 << 22  # Weights of items in memory at once (32 MiB)
ROUNDING = 1e-13  # What leaving out a unit moves, relative to the largest number, if this is all, is rounding
LEAST_DF = 1.0  # The fewest degrees of freedom that residuals show
DF_OF_ONE = 2.0  # The degrees of freedom where one unit of many carries the whole difference

Values = Callable[[Float[np.ndarray, "draw unit"]], Float[np.ndarray, "draw model"]]


@dataclass(frozen=True, eq=False)
class Resampled:
    """The models' numbers, the residuals that a mean would have, and whose number is defined without any one unit.

    `least` and `most` are what an item with a label could have for a residual, were it answered like any other.
    """

    estimate: ModelFloats
    residual: ModelUnit
    defined: Bool[np.ndarray, " model"]
    least: Float[np.ndarray, "model label"]
    most: Float[np.ndarray, "model label"]

    def of(self, models: FiniteInts) -> "Resampled":
        rows = {field.name: getattr(self, field.name)[models] for field in fields(self)}
        return Resampled(**rows)

    def could_differ(self, models: FiniteInts) -> PairFloats:
        """The residual of each pair's difference where one item is answered differently, at most."""
        first, second = models[pairs_of(np.arange(len(models)))].T
        up = self.most[first] - self.least[second]
        down = self.most[second] - self.least[first]
        return np.maximum(up, down).max(1)


def resampled(
    values: Values,
    linear: ModelItemLabel,
    of_answers: Float[np.ndarray, "model answer label"],
    truth: ItemLabel,
    plan: Design,
) -> Resampled:
    """The residuals of each unit, whose weight the others of its group take: r = (n_g - n_u) (x - x_(-u)) n / n_g.

    `linear` is what each item adds to the numbers if it has a label, to first order; its mean under the truth is x.
    `of_answers` is the same of items that could come besides.
    """
    group = plan.of_unit()
    estimate = values(np.ones((1, plan.n_units)))[0]
    apart = linear - estimate[:, None, None]
    slope = plan.unit_totals((apart * truth).sum(-1))
    mean = plan.group_totals(slope) / plan.group_sizes
    residual = slope - plan.unit_sizes * mean[:, group]
    # an item moves the numbers so far, or could with another label; of those that are alike all are left out, or none
    reach = np.abs(apart)
    chosen = np.zeros(plan.n_units, bool)
    for of_items in ((reach * truth).sum(-1), reach.max(-1)):
        size = plan.unit_totals(np.nan_to_num(of_items)).max(0)
        chosen |= size > (np.sort(size)[-MOST_UNITS - 1] if plan.n_units > MOST_UNITS else -1.0)
    out = np.flatnonzero(chosen)
    items = plan.group_sizes[group]
    rest = items - plan.unit_sizes
    more = items / np.maximum(rest, 1)
    defined = np.isfinite(estimate)
    step = max(1, CELLS // plan.n_items)
    for some in np.split(out, range(step, len(out), step)):
        weights = np.where(group == group[some, None], more[some, None], 1.0)
        weights[np.arange(len(some)), some] = rest[some] == 0  # the only unit of its group stays
        left_out = values(weights)
        defined = defined & np.isfinite(left_out).all(0)
        shift = estimate - left_out
        share = plan.group_sizes[group[some]] / plan.n_items
        residual[:, some] = shift.T * rest[some] / share
    possible = np.concatenate([apart, of_answers - estimate[:, None, None]], axis=1)
    return Resampled(estimate, residual, defined, least=possible.min(1), most=possible.max(1))


def estimate_of_metrics(
    metrics: Resampled,
    plan: Design,
    order: FiniteInts,
    about: About,
    influence: ModelItem | None = None,
) -> Estimate:
    """The estimate, in one column: the variance is that of a mean with these residuals.

    `influence` is what each item moves the losses by through weights that were fitted on all, times the items.
    """
    n_models = len(order)
    of_models = about.sign * metrics.estimate[order]
    estimate = rows_from_models(of_models)[:, None]
    residual = about.sign * rows_from_models(metrics.residual[order])  # row, unit
    residual[np.abs(residual) <= ROUNDING * plan.n_items * np.abs(of_models).max(initial=0.0)] = 0.0
    if influence is not None:
        residual += rows_from_models(plan.unit_totals(influence[order]))
    group = plan.of_unit()
    share = plan.group_sizes / plan.n_items
    mean = plan.group_totals(residual) / plan.group_units
    residual -= mean[:, group]
    square = residual**2 * plan.leverage
    part = part_of(
        plan.group_totals(square),
        plan.group_totals(square * residual),
        plan.group_units,
        plan.group_sizes,
        plan.df,
    )
    by_group = Estimate(
        names=tuple(about.models[row] for row in order),
        mean=np.repeat(estimate, plan.n_groups, axis=1),
        parts={"items": part},
        design=replace(plan, weights=share),
        about=about,
    )
    over_groups = by_group.over_groups()
    items = over_groups.items
    # few items may carry the whole difference: Satterthwaite's degrees of freedom for the kurtosis of the residuals
    squared_total = square.sum(1, keepdims=True) ** 2
    of_squares = (square**2).sum(1, keepdims=True)
    excess = of_squares - squared_total / len(group)
    df = ratio(2 * squared_total, excess, items.df)
    df = np.clip(df, LEAST_DF, items.df)
    # where no unit tells two models apart, one unit of the next might, by as much as any could
    variance = items.variance.copy()
    alike = np.flatnonzero(variance[n_models:, 0] == 0)
    variance[n_models + alike, 0] = (metrics.could_differ(order)[alike] / plan.n_units) ** 2
    df[n_models + alike] = DF_OF_ONE
    parts = {"items": replace(items, variance=variance, df=df)}
    about = replace(about, means=about.sign * metrics.estimate)
    return replace(over_groups, mean=estimate, parts=parts, design=plan, about=about, n_units=plan.n_units)
