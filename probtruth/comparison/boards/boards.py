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
from probtruth.comparison.boards.fit import Fit, need_connected
from probtruth.comparison.boards.notes import LEAST_DF, beyond, notes_on, unknown
from probtruth.comparison.estimation.design import Design, pair_rows_of, pairs_of, totals
from probtruth.comparison.estimation.estimate import About, Estimate, Part, power_sums, rows_from_models
from probtruth.comparison.estimation.means import estimate_of
from probtruth.comparison.estimation.moments import Moments
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.types import Scores

Rows = Float[np.ndarray, "row group"]


@dataclass(frozen=True, eq=False)
class Board:
    """Sums of a board with holes under a design, and the fit of each group, whose models have finite scores alone.

    `shared` is on how many items of each group both models were scored, and `effective` what of the independent units
    each row of the estimate effectively rests on.
    """

    sums: Moments
    plan: Design
    finite: Int[np.ndarray, " finite"]
    fits: Sequence[Fit]
    shared: Float[np.ndarray, "group finite finite"]
    effective: Rows

    @classmethod
    def of(cls, sums: Moments, plan: Design) -> "Board":
        """From sums that have all models."""
        columns = sums.columns
        assert columns is not None
        without = np.flatnonzero(np.isnan(columns.values).all(1))
        if len(without):
            model = sums.models[without[0]]
            raise InputError(f"no score of model {model!r}", "a score of every model", "Leave the model out.")
        finite = np.flatnonzero(sums.finite)
        names = [sums.models[at] for at in finite]
        group = sums.cell_group[columns.cell]
        fits = []
        shared = []
        effective = []
        for at in range(plan.n_groups):
            of_group = columns.chosen(finite, np.flatnonzero(group == at))
            need_connected(of_group.values, names, plan.group_names[at] if plan.grouped else None)
            fit = Fit.of(of_group)
            fits.append(fit)
            seen = fit.seen.astype(np.float64)
            shared.append(seen * of_group.count @ seen.T)
            effective.append(fit.effective(of_group.cell if sums.clustered else None))
        return cls(sums, plan, finite, fits, np.stack(shared), np.stack(effective, axis=1))

    @property
    def rows(self) -> Int[np.ndarray, " row"]:
        """Where the rows of models with finite scores stand among those of all."""
        n_models = len(self.sums.models)
        return np.concatenate([self.finite, n_models + pair_rows_of(pairs_of(self.finite), n_models)])

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
        rows = self.rows
        n_models = len(self.finite)
        pairs = pairs_of(np.arange(n_models))
        for group, fit in enumerate(self.fits):
            apart = fit.moved(fit.columns.values - fit.mean[:, None], fit.seen)
            if more is not None:
                apart = apart + more[np.ix_(self.finite, sums.cell_group[columns.cell] == group)]
            shared = self.shared[group][tuple(pairs.T)]
            known = np.flatnonzero(shared > 0)
            at = rows[n_models + known]
            if sums.clustered:
                cells, of_column = np.unique(fit.columns.cell, return_inverse=True)
                moved = totals(apart * fit.columns.count, of_column, len(cells))
                moved = moved / sums.n[cells] + fit.mean[:, None]
                of_cells = rows_from_models(moved)
                powers[0][np.ix_(rows, cells)] = of_cells
                near = np.stack([-of_cells.min(1), of_cells.max(1)])
                tied = self._unit_sizes(fit, of_column, len(cells))[:, known]
            else:
                mean = rows_from_models(fit.mean)
                squares, cubes = _squares_and_cubes(fit, apart)
                powers[:, rows, group] = np.stack([mean, squares, cubes])
                near = np.sqrt(squares / fit.n_items) + np.stack([-mean, mean])
                tied = fit.n_items / shared[known] * sums.sizes[:, at, group]
            # what two models do not share may tell them apart too
            ends[:, rows, group] = np.maximum(ends[:, rows, group], near)
            sizes[0, rows[n_models:], group] = self.plan.group_units[group]
            sizes[:, at, group] = tied
        return replace(sums, powers=powers, ends=ends, sizes=sizes)

    def _unit_sizes(self, fit: Fit, unit: Int[np.ndarray, " column"], n_units: int) -> Float[np.ndarray, "size pair"]:
        """In how many clusters two models' sums over the items that they share differ, and by how much in all.

        Both are what they would be without holes.
        """
        found = []
        count = fit.columns.count.astype(np.float64)
        for at, row in enumerate(fit.columns.values):
            apart = count * (row - fit.columns.values[at + 1 :])
            shared = totals(count * ~np.isnan(apart), unit, n_units)
            of_units = np.abs(totals(np.nan_to_num(apart), unit, n_units))
            shared_units = np.maximum((shared > 0).sum(1), 1)
            shared_items = np.maximum(shared.sum(1), 1)
            differ = (of_units > 0).sum(1) * n_units / shared_units
            size = of_units.sum(1) * fit.n_items / shared_items
            found.append(np.stack([differ, size]))
        return np.concatenate(found, axis=1)

    def estimate(self, moments: Moments, about: About) -> Estimate:
        """The estimate from the sums without holes, with the degrees of freedom that the scores have."""
        shared = self.shared.sum(0)
        about = replace(about, values=None, shared_items=shared.astype(np.int64), range=self.sums.range)
        estimate = estimate_of(moments, self.plan, about)
        items = estimate.items
        full = items.df + 1
        units = full * self.effective
        df = np.where(units - 1 < LEAST_DF, 0.0, units - 1)
        # both moments are of so many units less the ones that the means use up
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(df > 0, units / df * items.df / full, np.nan)
            further = np.where(df > 1, units / (df - 1) * (items.df - 1) / full, 0.0)
        part = Part(items.variance * scale, items.third * scale * further, df, items.raw)
        notes = notes_on(self.sums, estimate.names, self.fits, shared)
        notes += unknown(estimate, df) + beyond(estimate, about.range)
        about = replace(about, notes=(*about.notes, *notes))
        return replace(estimate, about=about, parts={next(iter(estimate.parts)): part})


def _squares_and_cubes(fit: Fit, apart: Values) -> tuple[np.ndarray, np.ndarray]:
    """The sums over items of squares and cubes of what each moves, for models and pairs."""
    few = np.ones(apart.shape[1], bool)
    few[list(fit.columns.many)] = False
    squares, cubes = power_sums(apart[:, few])
    squares = squares[:, 0]
    cubes = cubes[:, 0]
    n_models = len(apart)
    for at, many in fit.columns.many.items():
        seen = np.repeat(fit.seen[:, [at]], n_models, axis=1)
        count = fit.columns.count[at]
        unit = rows_from_models(fit.moved(np.eye(n_models), seen))  # what a score of each model moves
        shift = rows_from_models(apart[:, at])
        square = np.square(unit @ many.root.T).sum(1)
        squares += square + count * shift**2
        of_three = np.einsum("abc,ra,rb,rc->r", many.third, unit, unit, unit, optimize=True)
        cubes += of_three + 3 * shift * square + count * shift**3
    return squares, cubes


def filled(values: Values, plan: Design, models: Sequence[str], also: Sequence[Values] = ()) -> list[Values]:
    """Scores of items without holes; and others with the same holes, such as those under a label, filled alike.

    Models with an infinite score keep theirs.
    """
    finite = np.flatnonzero(~np.isinf(values).any(1))
    names = [models[at] for at in finite.tolist()]
    given = [values, *also]
    made = [np.where(np.isnan(one), 0.0, one) for one in given]
    of_item = plan.of_item()
    for group in range(plan.n_groups):
        here = np.ix_(finite, np.flatnonzero(of_item == group))
        need_connected(values[here], names, plan.group_names[group] if plan.grouped else None)
        fit = Fit.of(Columns.of_items(values[here], of_item[of_item == group]))
        for one, its in zip(made, given, strict=True):
            one[here] = fit.filled(its[here])
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
