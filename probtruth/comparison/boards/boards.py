"""Boards with holes: scores that some models lack on some items.

A score is its model's mean, what the item is worth (free: the models that were scored on it tell) and an error, so
that holes which follow difficulty do not bias. The means are those of least squares; their variance comes from what
each item adds to them (its influence), which needs no more than that items are independent. A board without holes has
these means and, about them, n times these influences: all that follows from full scores follows from it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.boards.columns import Columns, Values
from probtruth.comparison.boards.fit import Fit, fits_of
from probtruth.comparison.boards.notes import LEAST_DF, notes_on
from probtruth.comparison.estimation.design import Design, Pairs, pairs_of, rows_among, totals
from probtruth.comparison.estimation.estimate import About, Estimate, Part, power_sums, rows_from_models
from probtruth.comparison.estimation.means import estimate_of
from probtruth.comparison.estimation.moments import Moments
from probtruth.kernels.arrays import to_host
from probtruth.kernels.host import TIE
from probtruth.types import Scores


@dataclass(frozen=True, eq=False)
class Board:
    """Sums of a board with holes under a design, and the fit of each group, whose models have finite scores alone."""

    sums: Moments
    plan: Design
    finite: Int[np.ndarray, " finite"]
    fits: Sequence[Fit]

    @classmethod
    def of(cls, sums: Moments, plan: Design) -> "Board":
        """From sums that have all models."""
        columns = sums.columns
        assert columns is not None
        finite = np.flatnonzero(sums.finite)
        names = [sums.models[at] for at in finite]
        return cls(sums, plan, finite, fits_of(columns.of_models(finite), sums.cell_group[columns.cell], plan, names))

    def moments(self, more: Values | None = None) -> Moments:
        """The sums of the board without holes; range and ties are those of the scores themselves.

        `more` is what each item, one a column, moves besides (through fitted weights).
        """
        sums = self.sums
        powers = np.zeros(sums.powers.shape)
        ends = sums.ends.copy()
        sizes = sums.sizes.copy()
        n_finite = len(self.finite)
        pairs = pairs_of(np.arange(n_finite))
        rows = rows_among(self.finite, len(sums.models))
        pair_rows = rows[n_finite:]
        sizes[0, pair_rows] = self.plan.group_units  # no ties of two models that share nothing
        for group, fit in enumerate(self.fits):
            moved = fit.influence
            if more is not None:
                moved = moved + more[np.ix_(self.finite, self.plan.of_item() == group)]
            mean = rows_from_models(fit.mean)
            n_shared = fit.shared[tuple(pairs.T)]
            share = np.flatnonzero(n_shared)
            tied_rows = pair_rows[share]
            if sums.clustered:
                cells = np.flatnonzero(sums.cell_group == group)
                of_cells = totals(moved * fit.columns.size, fit.columns.cell, len(sums.n))
                apart = rows_from_models(of_cells[:, cells] / sums.n[cells])
                powers[0][np.ix_(rows, cells)] = mean[:, None] + apart
                squares = apart**2 @ sums.n[cells]
                sizes[:, tied_rows, group] = _unit_sizes(fit, pairs[share], len(sums.n), len(cells))
            else:
                squares, cubes = _squares_and_cubes(fit, moved)
                powers[:, rows, group] = np.stack([mean, squares, cubes])
                sizes[:, tied_rows, group] = fit.n_items / n_shared[share] * sums.sizes[:, tied_rows, group]
            # what two models do not share may tell them apart too
            near = np.sqrt(squares / fit.n_items) + np.stack([-mean, mean])
            ends[:, rows, group] = np.maximum(ends[:, rows, group], near)
        return replace(sums, powers=powers, ends=ends, sizes=sizes)

    def estimate(self, moments: Moments, about: About) -> Estimate:
        """The estimate from the sums without holes, with the degrees of freedom that the scores have."""
        shared_items = np.sum([fit.shared for fit in self.fits], axis=0).astype(np.int64)
        about = replace(about, values=None, shared_items=shared_items, range=self.sums.range)
        estimate = estimate_of(moments, self.plan, about)
        items = estimate.items
        full = items.df + 1
        share = [fit.effective(self.sums.clustered) for fit in self.fits]
        units = full * np.stack(share, axis=1)
        df = np.where(units - 1 < LEAST_DF, 0.0, units - 1)
        # both moments are of so many units less the ones that the means use up
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(df > 0, units / df * items.df / full, np.nan)
            further = np.where(df > 1, scale * units / (df - 1) * (items.df - 1) / full, 0.0)

        def with_holes(part: Part) -> Part:
            return Part(part.variance * scale, part.third * further, df, part.raw)

        like_items = estimate.group_items * np.stack(share, axis=1)
        estimate = replace(estimate.with_items(with_holes), like_items=like_items)
        notes = (*about.notes, *notes_on(self.sums, self.fits, estimate))
        return replace(estimate, about=replace(about, notes=notes))


def _unit_sizes(fit: Fit, pairs: Pairs, n_cells: int, n_units: int) -> Float[np.ndarray, "size pair"]:
    """In how many clusters two models' sums over the items that they share differ, and by how much in all.

    Both are what they would be without holes.
    """
    columns = fit.columns
    found = np.zeros((2, len(pairs)))
    for at, (first, second) in enumerate(pairs):
        apart = columns.size * (columns.values[first] - columns.values[second])
        shared = columns.count * ~np.isnan(apart)
        of_units, shared_items = totals(np.stack([np.nan_to_num(apart), shared]), columns.cell, n_cells)
        rounding = TIE * np.nanmax(np.abs(columns.size * columns.values[[first, second]]), initial=0.0)
        found[0, at] = np.count_nonzero(np.abs(of_units) > rounding) * n_units / np.count_nonzero(shared_items)
        found[1, at] = np.abs(of_units).sum() * fit.n_items / shared_items.sum()
    return found


def _squares_and_cubes(fit: Fit, moved: Values) -> tuple[np.ndarray, np.ndarray]:
    """The sums over items of squares and cubes of what each moves, for models and pairs."""
    squares, cubes = power_sums(moved)
    columns = fit.columns
    n_models = len(moved)
    for at in columns.sets:
        mean = columns.values[:, at] / columns.size[at]
        scores = np.column_stack([mean - fit.mean, np.eye(n_models)])  # the constant, and a score of each model
        scores[np.isnan(mean)] = np.nan
        row = rows_from_models(fit.moved(scores))
        cubes[:, 0] += np.einsum("abc,ra,rb,rc->r", columns.cubes[at], row, row, row, optimize=True)
    return squares[:, 0], cubes[:, 0]


def filled(values: Values, plan: Design, models: Sequence[str]) -> Values:
    """Scores of items without holes; models with an infinite score keep theirs."""
    if not np.isnan(values).any():
        return values
    return filling(values, plan, models)(values)


def filling(values: Values, plan: Design, models: Sequence[str]) -> Callable[[Values], Values]:
    """What makes scores without holes of these, or of others with the same holes, such as those under a label."""
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
    losses = to_host(behind.losses)
    counts = (to_host(behind.truth) > 0) | np.isnan(scores.values)[:, :, None]
    # what cannot be may cost infinitely much
    under = np.where(counts, losses, 0.0)
    labels = np.stack([fill(under[:, :, label]) for label in range(losses.shape[2])], axis=2)
    behind = replace(behind, label_losses=labels)
    return replace(scores, values=scores.sign * fill(scores.losses), labels=behind)
