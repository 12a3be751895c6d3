"""From sums over items to the estimate: every mean's variance and third moment, with what rare differences need."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from probtruth.comparison.design import Design
from probtruth.comparison.estimate import About, Estimate, Part, PerGroup, PerRow
from probtruth.comparison.moments import RARE, Moments, few_sizes
from probtruth.comparison.pairs import pair_rows_of, pairs_of

# Differences that spread by less than this, relative to the scores, are one constant difference.
ROUNDING = 8 * np.finfo(np.float64).eps
# Above this share of ties, all others of at least this share of the largest in size, pseudo-items are added.
TIES = 0.2
ALIKE = 0.5


def estimate_of(moments: Moments, plan: Design, about: About) -> Estimate:
    """The means of the models with finite scores and of their pairs, by group.

    With clusters they are those of the item-weighted ratio estimator, linearised.
    """
    models = np.flatnonzero(moments.finite)
    pairs = pairs_of(models)
    rows = np.concatenate([models, len(moments.models) + pair_rows_of(pairs, len(moments.models))])
    largest = np.concatenate([moments.largest[models], moments.largest[pairs].max(1)])
    low, high = moments.ends[:, rows]
    size = np.maximum(high, -low).max(1, initial=0.0)
    rounding = size <= ROUNDING * largest
    sums = _Sums(plan, moments.n, moments.powers[:, rows].copy())
    sums.powers[0, rounding] = 0.0
    low = np.where(rounding[:, None], 0.0, low)
    high = np.where(rounding[:, None], 0.0, high)
    mean = sums.powers[0]
    unit_totals = None
    if plan.n_clusters is not None:
        unit_totals = sums.n * mean
        mean = plan.group_totals(unit_totals) / plan.group_sizes
    apart = np.maximum(high - mean, mean - low).max(1, initial=0.0)
    constant = apart <= ROUNDING * largest
    square, cube = sums.about(mean, constant)
    variance, third = spread_of(square, cube, plan.group_units, plan.group_sizes)
    df = np.broadcast_to(plan.df, mean.shape)
    names = tuple(moments.models[row] for row in models)
    ends = np.stack([low.min(1), high.max(1)])
    plain = {"items": Part(variance, third, df)}
    estimate = Estimate(names, mean, plain, plan, about, ends=ends)
    if plan.grouped:
        return estimate
    differ, least, most = moments.sizes[:, rows] if unit_totals is None else few_sizes(unit_totals)
    same = (low == high).all(1) | (differ == 0)
    rare = (differ < (1 - TIES) * plan.n_units) & (differ < RARE) & (least >= ALIKE * most)
    unit = plan.n_items / plan.n_units
    out = np.where(rare, most, 0.0)
    out[same] = 0.0 if about.range is None else about.bound * unit
    out[rounding & ~same] = 0.0
    out[: len(models)] = 0.0
    return _with_rare(estimate, sums, constant, out)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The number of items and the powers of every row, by cell."""

    design: Design
    n: Int[np.ndarray, " cell"]
    powers: Float[np.ndarray, "power row cell"]

    def about(self, centre: PerGroup, constant: Bool[np.ndarray, " row"]) -> tuple[PerGroup, PerGroup]:
        """Sums of squares and of cubes of the units' residuals about centres; 0 of a constant about itself."""
        plan = self.design
        mean = self.powers[0]
        if plan.n_clusters is not None:
            residual = self.n * (mean - centre[:, plan.of_unit()])
            largest = np.abs(self.n * mean).max(1, initial=0.0)
            same = np.abs(residual).max(1, initial=0.0) <= ROUNDING * largest
            residual[constant & same] = 0.0
            square = residual**2 * plan.leverage
            return plan.group_totals(square), plan.group_totals(square * residual)
        square, cube = np.where(constant[:, None], 0.0, self.powers[1:])
        shift = mean - centre
        shift[np.abs(shift) <= ROUNDING * np.abs(centre)] = 0.0
        return square + self.n * shift**2, cube + 3 * square * shift + self.n * shift**3


def spread_of(
    square: PerGroup, cube: PerGroup, n: Int[np.ndarray, " group"], weight: Num[np.ndarray, " group"]
) -> tuple[PerGroup, PerGroup]:
    """Variance and third central moment of a mean, from the sums of powers of n units that weigh so many items."""
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(n > 1, n / (n - 1) / weight**2 * square, np.nan)
        third = np.where(n > 2, n**2 / ((n - 1) * (n - 2)) / weight**3.0 * cube, 0.0)
    return variance, third


def _with_rare(estimate: Estimate, sums: _Sums, constant: Bool[np.ndarray, " row"], out: PerRow) -> Estimate:
    """The estimate with one unit more in the rows where `out` is not 0, whose difference is as large, of either sign.

    Where nearly all units agree, the variance would miss what is rare.
    """
    rows = np.flatnonzero(out)
    if not len(rows):
        return estimate
    plan = estimate.design
    items = estimate.items
    unit = plan.n_items / plan.n_units
    centre = estimate.mean.copy()
    centre[rows] *= plan.n_items / (plan.n_items + unit)
    chosen = _Sums(plan, sums.n, sums.powers[:, rows])
    square, cube = chosen.about(centre[rows], constant[rows])
    shift = unit * centre[rows]
    size = out[rows, None]
    square = square + size**2 + shift**2
    cube = cube - (3 * size**2 + shift**2) * shift
    variance = items.variance.copy()
    third = items.third.copy()
    variance[rows], third[rows] = spread_of(square, cube, plan.group_units + 1, plan.group_sizes + unit)
    parts = {"items": Part(variance, third, items.df)}
    return replace(estimate, parts=parts, centre=centre, plain=items.variance)


def correlated_folds(estimate: Estimate, correlation: float) -> Estimate:
    r"""The estimate whose items are folds: every variance times $1 + n \rho/(1 - \rho)$, n of the group."""
    factor = 1 + estimate.group_items * correlation / (1 - correlation)
    items = estimate.items
    parts = {"items": Part(items.variance * factor, np.zeros_like(items.third), items.df)}
    plain = None if estimate.plain is None else estimate.plain * factor
    return replace(estimate, parts=parts, plain=plain, n_items=estimate.group_items / factor)
