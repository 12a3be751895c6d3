"""Boards with holes: scores that some models lack on some items.

A score is its model's mean, what the item is worth (free: the models that were scored on it tell) and an error, so
that holes which follow difficulty do not bias. The means are those of least squares; their variance comes from what
each item adds to them (its influence), which needs no more than that items are independent. A board without holes has
these means and, about them, n times these influences: all that follows from full scores follows from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.boards.columns import Columns, Values
from probtruth.comparison.boards.fit import Fit, fits_of
from probtruth.comparison.boards.notes import LEAST_DF, notes_on
from probtruth.comparison.estimation.design import Design, pair_rows_of, pairs_of, totals
from probtruth.comparison.estimation.estimate import About, Estimate, Part, power_sums, rows_from_models
from probtruth.comparison.estimation.means import estimate_of
from probtruth.comparison.estimation.moments import Moments
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.types import Scores


@dataclass(frozen=True, eq=False)
class Board:
    """Sums of a board with holes under a design, and the fit of each group, whose models have finite scores alone.

    `shared` is on how many items of each group both models were scored.
    """

    sums: Moments
    plan: Design
    finite: Int[np.ndarray, " finite"]
    fits: Sequence[Fit]
    shared: Float[np.ndarray, "group finite finite"]

    @classmethod
    def of(cls, sums: Moments, plan: Design) -> "Board":
        """From sums that have all models."""
        columns = sums.columns
        assert columns is not None
        for model, lacks_all in zip(sums.models, np.isnan(columns.values).all(1), strict=True):
            if lacks_all:
                raise InputError(f"no score of model {model!r}", "a score of every model", "Leave the model out.")
        finite = np.flatnonzero(sums.finite)
        names = [sums.models[at] for at in finite]
        fits = fits_of(columns.of_models(finite), sums.cell_group[columns.cell], plan, names)
        shared = [(fit.seen * fit.columns.count) @ fit.seen.T.astype(np.float64) for fit in fits]
        return cls(sums, plan, finite, fits, np.stack(shared))

    def moments(self, more: Values | None = None) -> Moments:
        """The sums of the board without holes; range and ties are those of the scores themselves.

        `more` is what each item, one a column, moves besides (through fitted weights).
        """
        sums = self.sums
        columns = sums.columns
        assert columns is not None
        powers = np.zeros(sums.powers.shape)
        ends = sums.ends.copy()
        sizes = sums.sizes.copy()
        n_models = len(sums.models)
        pairs = pairs_of(np.arange(len(self.finite)))
        pair_rows = n_models + pair_rows_of(self.finite[pairs], n_models)
        rows = np.append(self.finite, pair_rows)
        for group, fit in enumerate(self.fits):
            moved = fit.influence
            if more is not None:
                moved = moved + more[np.ix_(self.finite, sums.cell_group[columns.cell] == group)]
            n_shared = self.shared[group][tuple(pairs.T)]
            share = n_shared > 0
            if sums.clustered:
                cells = np.flatnonzero(sums.cell_group == group)
                of_cells = totals(moved * fit.columns.size, fit.columns.cell, len(sums.n))[:, cells] / sums.n[cells]
                mean = rows_from_models(of_cells + fit.mean[:, None])
                powers[0][np.ix_(rows, cells)] = mean
                near = np.stack([-mean.min(1), mean.max(1)])
                tied = _unit_sizes(fit, len(sums.n), len(cells))[:, share]
            else:
                mean = rows_from_models(fit.mean)
                squares, cubes = _squares_and_cubes(fit, moved)
                powers[:, rows, group] = np.stack([mean, squares, cubes])
                near = np.sqrt(squares / fit.n_items) + np.stack([-mean, mean])
                tied = fit.n_items / n_shared[share] * sizes[:, pair_rows[share], group]
            # what two models do not share may tell them apart too
            ends[:, rows, group] = np.maximum(ends[:, rows, group], near)
            sizes[0, pair_rows, group] = self.plan.group_units[group]
            sizes[:, pair_rows[share], group] = tied
        return replace(sums, powers=powers, ends=ends, sizes=sizes)

    def estimate(self, moments: Moments, about: About) -> Estimate:
        """The estimate from the sums without holes, with the degrees of freedom that the scores have."""
        shared_items = self.shared.sum(0).astype(np.int64)
        about = replace(about, values=None, shared_items=shared_items, range=self.sums.range)
        estimate = estimate_of(moments, self.plan, about)
        items = estimate.items
        full = items.df + 1
        share = [fit.effective(fit.columns.cell if self.sums.clustered else None) for fit in self.fits]
        units = full * np.stack(share, axis=1)
        df = np.where(units - 1 < LEAST_DF, 0.0, units - 1)
        # both moments are of so many units less the ones that the means use up
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(df > 0, units / df * items.df / full, np.nan)
            further = np.where(df > 1, units / (df - 1) * (items.df - 1) / full, 0.0)
        part = Part(items.variance * scale, items.third * scale * further, df, items.raw)
        estimate = replace(estimate, parts={"items": part})
        notes = (*about.notes, *notes_on(self.sums, self.fits, estimate))
        return replace(estimate, about=replace(about, notes=notes))


def _unit_sizes(fit: Fit, n_cells: int, n_units: int) -> Float[np.ndarray, "size pair"]:
    """In how many clusters two models' sums over the items that they share differ, and by how much in all.

    Both are what they would be without holes.
    """
    columns = fit.columns
    found = []
    for first, second in pairs_of(np.arange(len(fit.mean))):
        apart = columns.size * (columns.values[first] - columns.values[second])
        both = ~np.isnan(apart)
        of_units = np.abs(np.bincount(columns.cell[both], apart[both], n_cells))
        n_shared = np.bincount(columns.cell[both], columns.count[both], n_cells)
        differ = np.count_nonzero(of_units) * n_units / np.maximum(np.count_nonzero(n_shared), 1)
        size = of_units.sum() * fit.n_items / np.maximum(n_shared.sum(), 1)
        found.append((differ, size))
    return np.array(found).reshape(-1, 2).T


def _squares_and_cubes(fit: Fit, moved: Values) -> tuple[np.ndarray, np.ndarray]:
    """The sums over items of squares and cubes of what each moves, for models and pairs."""
    squares, cubes = power_sums(moved)
    n_models = len(moved)
    for at, of_set in fit.columns.cubes.items():
        mean = fit.columns.values[:, at] / fit.columns.size[at]
        scores = np.column_stack([mean - fit.mean, np.eye(n_models)])  # the constant, and a score of each model
        seen = np.repeat(fit.seen[:, [at]], n_models + 1, axis=1)
        row = rows_from_models(fit.moved(scores, seen))
        cubes[:, 0] += np.einsum("abc,ra,rb,rc->r", of_set, row, row, row, optimize=True)
    return squares[:, 0], cubes[:, 0]


def filled(values: Values, plan: Design, models: Sequence[str], also: Sequence[Values] = ()) -> list[Values]:
    """Scores of items without holes; and others with the same holes, such as those under a label, filled alike.

    Models with an infinite score keep theirs.
    """
    finite = np.flatnonzero(~np.isinf(values).any(1))
    names = [models[at] for at in finite.tolist()]
    of_item = plan.of_item()
    fits = fits_of(Columns.of_items(values[finite], of_item), of_item, plan, names)
    made = []
    for with_holes in (values, *also):
        without = np.nan_to_num(with_holes, posinf=np.inf, neginf=-np.inf)
        for group, fit in enumerate(fits):
            here = np.ix_(finite, np.flatnonzero(of_item == group))
            without[here] = fit.filled(with_holes[here])
        made.append(without)
    return made


def with_filled_labels(scores: Scores, plan: Design) -> Scores:
    """The scores without holes, and the losses under each label, which average to them."""
    behind = scores.labels
    if behind is None:
        return scores
    losses = to_host(behind.losses)
    possible = to_host(behind.truth) > 0
    # what cannot be may cost infinitely much
    under = [np.where(possible[:, label], losses[:, :, label], 0.0) for label in range(losses.shape[2])]
    values, *of_labels = filled(scores.losses, plan, scores.models, under)
    behind = replace(behind, label_losses=np.stack(of_labels, axis=2))
    return replace(scores, values=scores.sign * values, labels=behind)
