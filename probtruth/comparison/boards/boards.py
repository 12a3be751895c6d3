"""Boards with holes: scores that some models lack on some items.

A score is its model's mean, what the item is worth (free: the models that were scored on it tell) and an error, so
that holes which follow difficulty do not bias. The means are those of least squares; their variance comes from what
each item adds to them (its influence), which needs no more than that items are independent. A board without holes has
these means and, about them, n times these influences: all that follows from full scores follows from it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from probtruth.comparison.boards.columns import Columns, Values
from probtruth.comparison.boards.fit import Fit, fits_of
from probtruth.comparison.boards.notes import LEAST_DF, notes_on
from probtruth.comparison.estimation.design import Design, pairs_of, totals
from probtruth.comparison.estimation.estimate import About, Estimate, Part, part_of, power_sums, rows_from_models
from probtruth.comparison.estimation.means import estimate_of
from probtruth.comparison.estimation.moments import Moments, SizeSums
from probtruth.kernels.arrays import ratio, to_host
from probtruth.types import Scores


def board_estimate(sums: Moments, plan: Design, about: About, more: Values | None = None) -> Estimate:
    """The estimate from sums of a board with holes: that without holes, with the degrees of freedom that scores have.

    `more` is what each item, one a column, moves besides (through fitted weights).
    """
    columns = sums.columns
    assert columns is not None
    fits = fits_of(columns, sums.cell_group[columns.cell], plan, sums.models)
    shared_items = np.sum([fit.shared for fit in fits], axis=0).astype(np.int64)
    about = replace(about, values=None, shared_items=shared_items)
    moments, sizes = _without_holes(sums, plan, fits, more)
    estimate = estimate_of(moments, plan, about, sizes)
    share = np.stack([fit.effective(sums.clustered) for fit in fits], axis=1)
    freedom = estimate.items.df
    full = freedom + 1
    df = full * share - 1
    df[df < LEAST_DF] = 0.0

    def with_holes(part: Part) -> Part:
        # the moments are those of so many units less the ones that the means use up
        square = part.variance * freedom / full
        cube = part.third * freedom * (freedom - 1) / full**2
        return part_of(square, cube, df + 1, np.float64(1.0), df)

    estimate = replace(estimate.with_items(with_holes), like_items=estimate.group_items * share)
    notes = (*about.notes, *notes_on(fits, estimate))
    return replace(estimate, about=replace(about, notes=notes))


def _without_holes(sums: Moments, plan: Design, fits: Sequence[Fit], more: Values | None) -> tuple[Moments, SizeSums]:
    """The sums of the board without holes, with the range of the scores themselves, and its units' sizes.

    These are as they would be if two models differed on all units as on those that they share.
    """
    powers = sums.powers.copy()
    ends = sums.ends.copy()
    sizes = sums.unit_sizes.copy()
    n_models = len(sums.models)
    first, second = pairs_of(np.arange(n_models)).T
    for group, fit in enumerate(fits):
        mean = rows_from_models(fit.mean)
        moved = fit.influence
        if more is not None:
            moved = moved + more[:, plan.of_item() == group]
        units_shared = fit.shared
        if sums.clustered:
            cells = np.flatnonzero(sums.cell_group == group)
            n = sums.n[cells]
            of_cells = totals(moved * fit.columns.size, fit.columns.cell, len(sums.n))
            apart = rows_from_models(of_cells[:, cells] / n)
            powers[0][:, cells] = mean[:, None] + apart
            squares = apart**2 @ n
            seen = fit.columns.seen.astype(np.float64)
            units_shared = np.zeros_like(fit.shared)
            for cell in cells:
                of_cell = seen[:, fit.columns.cell == cell]
                units_shared += of_cell @ of_cell.T > 0
        else:
            squares, cubes = _squares_and_cubes(fit, moved)
            powers[:, :, group] = np.stack([mean, squares, cubes])
        # what two models do not share may tell them apart too
        near = np.sqrt(squares / fit.n_items) + np.stack([-mean, mean])
        ends[:, :, group] = np.maximum(ends[:, :, group], near)
        n_units = plan.group_units[group]
        n_shared = np.stack([units_shared, fit.shared])[:, first, second]
        sizes[:, n_models:, group] *= ratio(np.array([[n_units], [fit.n_items]]), n_shared)
        sizes[0, n_models:, group][n_shared[0] == 0] = n_units  # no ties of two models that share nothing
    return replace(sums, powers=powers, ends=ends), sizes


def _squares_and_cubes(fit: Fit, moved: Values) -> tuple[np.ndarray, np.ndarray]:
    """The sums over items of squares and cubes of what each moves, for models and pairs."""
    squares, cubes = power_sums(moved)
    columns = fit.columns
    for at in columns.sets:
        mean = columns.values[:, at] / columns.size[at]
        scores = np.column_stack([mean - fit.mean, np.eye(len(mean))])  # the constant, and a score of each model
        scores[np.isnan(mean)] = np.nan
        row = rows_from_models(fit.moved(scores))
        cubes[:, 0] += np.einsum("abc,ra,rb,rc->r", columns.cubes[at], row, row, row, optimize=True)
    return squares[:, 0], cubes[:, 0]


def filled(values: Values, plan: Design, models: Sequence[str], *others: Values) -> list[Values]:
    """Scores without holes in place of these, and of others with the same holes, such as those under a label.

    Models with an infinite score keep theirs.
    """
    finite = np.flatnonzero(~np.isinf(values).any(1))
    names = [models[at] for at in finite.tolist()]
    of_item = plan.of_item()
    fits = fits_of(Columns.of_items(values[finite], of_item), of_item, plan, names)
    found = []
    for with_holes in (values, *others):
        without = np.nan_to_num(with_holes, posinf=np.inf, neginf=-np.inf)
        for group, fit in enumerate(fits):
            here = np.ix_(finite, of_item == group)
            mean = fit.mean[:, None]
            without[here] = mean + fit.moved(with_holes[here] - mean)  # what each item moves, about the means
        found.append(without)
    return found


def with_filled_labels(scores: Scores, plan: Design) -> Scores:
    """The scores without holes, and the losses under each label, which average to them."""
    behind = scores.labels
    if behind is None:
        return scores
    counts = (to_host(behind.truth) > 0) | np.isnan(scores.values)[:, :, None]
    # what cannot be may cost infinitely much
    under = np.where(counts, to_host(behind.losses), 0.0)
    losses, *of_labels = filled(scores.losses, plan, scores.models, *np.moveaxis(under, 2, 0))
    behind = replace(behind, label_losses=np.stack(of_labels, axis=2))
    return replace(scores, values=scores.sign * losses, labels=behind)
