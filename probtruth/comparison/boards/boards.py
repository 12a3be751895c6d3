"""Boards with holes: scores that some models lack on some items.

A score is its model's mean, what the item is worth (free: the models that were scored on it tell) and an error, so
that holes which follow difficulty do not bias. The means are those of least squares; their variance comes from what
each item adds to them (its influence), which needs no more than that items are independent. A board without holes has
these means and, about them, n times these influences: all that follows from full scores follows from it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from probtruth.comparison.boards.columns import Columns, Values
from probtruth.comparison.boards.fit import Fit, fits_of
from probtruth.comparison.boards.notes import LEAST_DF, notes_on
from probtruth.comparison.estimation.design import Design, pairs_of, rows_among, totals
from probtruth.comparison.estimation.estimate import About, Estimate, part_of, power_sums, rows_from_models
from probtruth.comparison.estimation.means import estimate_of
from probtruth.comparison.estimation.moments import Moments
from probtruth.kernels.arrays import ratio, to_host
from probtruth.kernels.host import TIE
from probtruth.types import Scores


def board_estimate(sums: Moments, plan: Design, about: About, more: Values | None = None) -> Estimate:
    """The estimate from sums of a board with holes: that without holes, with the degrees of freedom that scores have.

    `more` is what each item, one a column, moves besides (through fitted weights).
    """
    columns = sums.columns
    assert columns is not None
    finite = np.flatnonzero(sums.finite)
    names = [sums.models[at] for at in finite]
    fits = fits_of(columns.of_models(finite), sums.cell_group[columns.cell], plan, names)
    moved = [fit.influence for fit in fits]
    if more is not None:
        for group, influence in enumerate(moved):
            moved[group] = influence + more[np.ix_(finite, plan.of_item() == group)]
    shared_items = np.sum([fit.shared for fit in fits], axis=0).astype(np.int64)
    about = replace(about, values=None, shared_items=shared_items)
    estimate = estimate_of(_without_holes(sums, plan, fits, moved), plan, about)
    share = np.stack([fit.effective(sums.clustered) for fit in fits], axis=1)
    items = estimate.items
    full = items.df + 1
    df = full * share - 1
    df[df < LEAST_DF] = 0.0
    # the moments are those of so many units less the ones that the means use up
    square = items.variance * items.df / full
    cube = items.third * items.df * (items.df - 1) / full**2
    part = part_of(square, cube, df + 1, np.float64(1.0), df)
    estimate = replace(estimate, parts={"items": part}, like_items=estimate.group_items * share)
    notes = (*about.notes, *notes_on(sums, fits, estimate))
    return replace(estimate, about=replace(about, notes=notes))


def _without_holes(sums: Moments, plan: Design, fits: Sequence[Fit], moved: Sequence[Values]) -> Moments:
    """The sums of the board without holes; range and ties are those of the scores themselves."""
    finite = np.flatnonzero(sums.finite)
    powers = np.zeros(sums.powers.shape)
    ends = sums.ends.copy()
    sizes = sums.sizes.copy()
    rows = rows_among(finite, len(sums.models))
    pair_rows = rows[len(finite) :]
    first, second = pairs_of(np.arange(len(finite))).T
    for group, fit in enumerate(fits):
        mean = rows_from_models(fit.mean)
        n_shared = fit.shared[first, second]
        if sums.clustered:
            cells = np.flatnonzero(sums.cell_group == group)
            of_cells = totals(moved[group] * fit.columns.size, fit.columns.cell, len(sums.n))
            apart = rows_from_models(of_cells[:, cells] / sums.n[cells])
            powers[0][np.ix_(rows, cells)] = mean[:, None] + apart
            squares = apart**2 @ sums.n[cells]
            of_pairs = _unit_sizes(fit, len(cells))[:, first, second]
        else:
            squares, cubes = _squares_and_cubes(fit, moved[group])
            powers[:, rows, group] = np.stack([mean, squares, cubes])
            of_pairs = ratio(fit.n_items, n_shared) * sums.sizes[:, pair_rows, group]
        of_pairs[0, n_shared == 0] = plan.group_units[group]  # no ties of two models that share nothing
        sizes[:, pair_rows, group] = of_pairs
        # what two models do not share may tell them apart too
        near = np.sqrt(squares / fit.n_items) + np.stack([-mean, mean])
        ends[:, rows, group] = np.maximum(ends[:, rows, group], near)
    return replace(sums, powers=powers, ends=ends, sizes=sizes)


def _unit_sizes(fit: Fit, n_units: int) -> Float[np.ndarray, "size model model"]:
    """In how many clusters two models' sums over the items that they share differ, and by how much in all.

    Both are what they would be without holes.
    """
    columns = fit.columns
    seen = columns.seen.astype(np.float64)
    scores = np.nan_to_num(columns.values) * columns.size
    largest = np.abs(scores).max(1)
    rounding = TIE * np.maximum.outer(largest, largest)
    sizes = np.zeros((2, *rounding.shape))
    units_shared = np.zeros_like(rounding)
    for cell in np.unique(columns.cell):
        here = np.flatnonzero(columns.cell == cell)
        of_shared = scores[:, here] @ seen[:, here].T
        apart = np.abs(of_shared - of_shared.T)
        sizes += [apart > rounding, apart]
        units_shared += (columns.count * seen)[:, here] @ seen[:, here].T > 0
    return sizes * np.stack([ratio(n_units, units_shared), ratio(fit.n_items, fit.shared)])


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


def filled(values: Values, plan: Design, models: Sequence[str]) -> Values:
    """Scores without holes in place of these."""
    return filling(values, plan, models)(values)


def filling(values: Values, plan: Design, models: Sequence[str]) -> Callable[[Values], Values]:
    """What makes scores without holes of these, or of others with the same holes, such as those under a label.

    Models with an infinite score keep theirs.
    """
    finite = np.flatnonzero(~np.isinf(values).any(1))
    names = [models[at] for at in finite.tolist()]
    of_item = plan.of_item()
    fits = fits_of(Columns.of_items(values[finite], of_item), of_item, plan, names)

    def fill(with_holes: Values) -> Values:
        without = np.nan_to_num(with_holes, posinf=np.inf, neginf=-np.inf)
        for group, fit in enumerate(fits):
            here = np.ix_(finite, np.flatnonzero(of_item == group))
            without[here] = fit.filled(with_holes[here])
        return without

    return fill


def with_filled_labels(scores: Scores, plan: Design) -> Scores:
    """The scores without holes, and the losses under each label, which average to them."""
    behind = scores.labels
    if behind is None:
        return scores
    fill = filling(scores.losses, plan, scores.models)
    counts = (to_host(behind.truth) > 0) | np.isnan(scores.values)[:, :, None]
    # what cannot be may cost infinitely much
    under = np.where(counts, to_host(behind.losses), 0.0)
    labels = np.stack([fill(of_label) for of_label in np.moveaxis(under, 2, 0)], axis=2)
    behind = replace(behind, label_losses=labels)
    return replace(scores, values=scores.sign * fill(scores.losses), labels=behind)
