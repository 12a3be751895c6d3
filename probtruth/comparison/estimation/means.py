"""From sums over items to the estimate: every mean's variance and third moment, with what rare differences need."""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from probtruth.comparison.estimation.design import Design, pairs_of
from probtruth.comparison.estimation.estimate import About, Estimate, Part, part_of
from probtruth.comparison.estimation.moments import Moments, PowerSums, SizeSums
from probtruth.kernels.arrays import ratio
from probtruth.kernels.host import ROUNDING
from probtruth.kernels.shapes import CellInts, RowGroup


def estimate_of(moments: Moments, plan: Design, about: About, sizes: SizeSums | None = None) -> Estimate:
    """The means of models whose scores are finite, and of their pairs, by group.

    With clusters they are those of the item-weighted ratio estimator, linearised. `sizes` are the units' where scores
    have holes, which the sums then lack.
    """
    n_models = len(moments.models)
    largest = moments.largest
    ends = moments.ends.copy()
    rounding = ends.max((0, 2), initial=0.0) <= ROUNDING * largest
    powers = moments.powers.copy()
    powers[0, rounding] = 0.0
    ends[:, rounding] = 0.0
    low = 0.0 - ends[0]
    high = ends[1]
    mean = powers[0]
    unit_totals = moments.n * mean
    if plan.unit_group is not None:
        mean = plan.group_totals(unit_totals) / plan.group_sizes
    above = high - mean
    below = mean - low
    apart = np.maximum(above, below).max(1, initial=0.0)
    constant = apart <= ROUNDING * largest
    square, cube = _about(mean, constant, plan, moments.n, powers)
    part = part_of(square, cube, plan.group_units, plan.group_sizes, plan.df)
    least_and_most = np.stack([low.min(1), high.max(1)])
    estimate = Estimate(moments.models, mean, {"items": part}, plan, about, ends=least_and_most)
    differ, total = moments.unit_sizes if sizes is None else sizes
    differ = np.where(rounding[:, None], 0, differ)
    constant_group = differ == 0
    if about.range is not None:  # else nothing says by how much a constant difference could vary
        constant_group |= high - low <= ROUNDING * largest[:, None]
    n_ties = np.where(constant_group, plan.group_units, plan.group_units - differ)
    weight = n_ties / plan.group_units
    weight[:, plan.group_units < 2] = 0.0
    weight[:n_models] = 0.0
    if not weight.any():
        return estimate
    clustered = plan.unit_group is not None
    squares = plan.group_totals(unit_totals**2) if clustered else moments.n * mean**2 + powers[1]
    # how large a difference is, by what it adds to the sum: of a constant group, that of all; of ties, the bound
    total = np.where(rounding[:, None], 0.0, total)
    of_group = ratio(squares, total)
    of_ties = np.zeros(len(mean))
    if about.range is not None:
        of_ties += about.bound * plan.n_items / plan.n_units
    if about.shared_items is not None:  # an item counts for those that the pair does not share
        first, second = pairs_of(np.arange(n_models)).T
        shared = about.shared_items[first, second]
        of_ties[n_models:] *= plan.n_items / np.maximum(shared, 1)
    of_all = ratio(squares.sum(1), total.sum(1), of_ties)
    size = np.where(constant_group, of_all[:, None], of_group)
    weight[size <= 0] = 0.0
    if not weight.any():
        return estimate
    rare, centre = _with_rare(estimate, moments.n, powers, constant, weight, size)
    together = None
    if plan.grouped:
        # of the mean over groups, each has what it has of the variance where all items vary alike
        of_variance = plan.weights**2 * plan.group_units / plan.group_sizes**2
        share = of_variance / of_variance.sum()
        together, centre = _with_rare(estimate, moments.n, powers, constant, share * weight, size)
    plain = estimate.items
    return replace(estimate, parts={"items": rare}, together=together, centre=centre, plain=plain)


def _about(
    centre: RowGroup, constant: Bool[np.ndarray, " row"], plan: Design, n: CellInts, powers: PowerSums
) -> tuple[RowGroup, RowGroup]:
    """Sums of squares and of cubes of the units' residuals about centres; 0 of a constant about itself.

    `n` and `powers` are those of the cells.
    """
    mean = powers[0]
    if plan.unit_group is not None:
        apart = mean - centre[:, plan.of_unit()]
        residual = n * apart
        of_units = n * mean
        largest = np.abs(of_units).max(1, initial=0.0)
        same = np.abs(residual).max(1, initial=0.0) <= ROUNDING * largest
        residual[constant & same] = 0.0
        square = residual**2 * plan.leverage
        cube = square * residual
        return plan.group_totals(square), plan.group_totals(cube)
    square, cube = np.where(constant[:, None], 0.0, powers[1:])
    shift = mean - centre
    shift[np.abs(shift) <= ROUNDING * np.abs(centre)] = 0.0
    of_shift = n * shift**2
    cube = cube + shift * (3 * square + of_shift)
    return square + of_shift, cube


def _with_rare(
    estimate: Estimate,
    n: CellInts,
    powers: PowerSums,
    constant: Bool[np.ndarray, " row"],
    weight: RowGroup,
    size: RowGroup,
) -> tuple[Part, RowGroup]:
    """The items' part and the means with a part of a unit more in groups, whose difference is of this size and of
    either sign.

    Where nearly all units agree, the variance would miss what is rare. The weight is the share of ties: of a group one
    unit at most, and of the mean over groups together, so that groups and none give the same variance; one tie more
    changes little.
    """
    rows = np.flatnonzero(weight.any(1))
    plan = estimate.design
    items = estimate.items
    unit_size = plan.group_sizes / plan.group_units
    weight = weight[rows]
    n_items = plan.group_sizes + weight * unit_size
    centre = estimate.mean.copy()
    centre[rows] *= plan.group_sizes / n_items
    square, cube = _about(centre[rows], constant[rows], plan, n, powers[:, rows])
    # the unit differs from the centre by its size, up or down, and by that of the centre
    shift = unit_size * centre[rows]
    size_square = size[rows] ** 2
    shift_square = shift**2
    square = square + weight * (size_square + shift_square)
    cube = cube - weight * (3 * size_square + shift_square) * shift
    part = part_of(square, cube, plan.group_units + weight, n_items, plan.df)
    variance = items.variance.copy()
    third = items.third.copy()
    variance[rows] = part.variance
    third[rows] = np.where(plan.group_units > 2, part.third, 0.0)
    return Part(variance, third, items.df), centre


def correlated_folds(estimate: Estimate, correlation: float) -> Estimate:
    r"""The estimate whose items are folds: every variance times $1 + n \rho/(1 - \rho)$, n of the group."""
    factor = 1 + estimate.group_items * correlation / (1 - correlation)
    items = estimate.items
    # a fold is a mean over many items: folds that tie hide no rare difference
    variance = items.variance if estimate.plain is None else estimate.plain.variance
    parts = {"items": Part(variance * factor, np.zeros_like(items.third), items.df)}
    return replace(estimate, parts=parts, together=None, centre=None, plain=None, n_items=estimate.group_items / factor)
