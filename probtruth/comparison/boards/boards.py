"""Boards with holes: scores that some models lack on some items.

A score is its model's mean, what the item is worth (free: the models that were scored on it tell) and an error, so
that holes which follow difficulty do not bias. The means are those of least squares; their variance comes from what
each item adds to them (its influence), which needs no more than that items are independent. `filled` makes a board
without holes of it, whose rows have these means and, about them, n times these influences: all that follows from full
scores follows from it. A board without holes stays as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtr

from probtruth import check
from probtruth.comparison.estimation.design import Design, totals
from probtruth.comparison.estimation.estimate import Estimate, Part, rows_from_models
from probtruth.comparison.estimation.moments import Moments, steps_of
from probtruth.comparison.estimation.pairs import leading, pairs_of
from probtruth.errors import PosteriorError
from probtruth.kernels.arrays import to_host
from probtruth.types import Scores

SHOWN = 3  # Models that a note names
FEW_MISSING = 5  # Missing scores below which nobody asks whether they are failures
MORE = 3  # A model that lacks so many times what the next one lacks stands out
ENOUGH_SHARED = 10  # Shared items from which a pair's own difference is looked at
CHANCE = 0.01  # Probability, over all pairs, of a difference between the two that is said without a reason
ROUNDING = 1e-9  # Errors below this share of the differences are rounding
MOST_ITEMS = 500  # Effective numbers are counted over this many items, evenly spaced, where there are more

Values = Float[np.ndarray, "model item"]


def connected(values: Values) -> Int[np.ndarray, " model"]:
    """The set of each model; between sets there is no chain of items that were scored on two models."""
    seen = (~np.isnan(values)).astype(np.float64)
    _, of_model = connected_components(seen @ seen.T > 0, directed=False)
    return np.asarray(of_model)


@dataclass(frozen=True, eq=False)
class Fit:
    """The means of least squares of one group's board."""

    mean: Float[np.ndarray, " model"]
    seen: Bool[np.ndarray, "model item"]
    contrast: Float[np.ndarray, " model"]  # the means, about a level that solves the equations
    solve: Float[np.ndarray, "model model"]  # from sums of residuals to means, each up to one constant
    share: Float[np.ndarray, " model"]  # what each model's mean has of an item's worth, averaged over items
    worth: float  # how much more items differ in worth than errors do, as a ratio of variances

    @classmethod
    def of(cls, values: Values) -> "Fit":
        seen = ~np.isnan(values)
        n_models, n_items = values.shape
        average = seen / np.maximum(seen.sum(0), 1)
        item_mean, deviation = _about_items(values, seen)
        # the normal equations have the Laplacian of the graph of models that share items
        laplacian = np.diag(seen.sum(1).astype(np.float64)) - seen @ average.T
        constant = np.full((n_models, n_models), n_items / n_models**2)  # what the means have in common is free
        solve = np.asarray(cho_solve(cho_factor(laplacian + constant), np.eye(n_models)))
        contrast = solve @ deviation.sum(1)
        scored = seen.any(0)
        worth = (item_mean - contrast @ average)[scored]
        fit = cls(contrast + worth.mean(), seen, contrast, solve, average[:, scored].mean(1), 0.0)
        residual, _ = fit._residuals(values)
        free = max(int(seen.sum()) - len(worth) - n_models + 1, 1)
        error = float(np.square(residual).sum()) / free
        return replace(fit, worth=float(worth.var()) / error if error > 0 else 0.0)

    def _residuals(self, values: Values) -> tuple[Values, Float[np.ndarray, " item"]]:
        """What the means and the items' worth leave of scores with these holes, and this worth."""
        item_mean, deviation = _about_items(values, self.seen)
        expected = self.contrast @ (self.seen / np.maximum(self.seen.sum(0), 1))
        residual = np.where(self.seen, deviation - self.contrast[:, None] + expected, 0.0)
        return residual, item_mean - expected

    def influence(self, values: Values) -> Values:
        """What each item of scores with these holes adds to the means."""
        residual, worth = self._residuals(values)
        influence = self.solve @ residual
        influence -= self.share @ influence
        scored = self.seen.any(0)
        level = self.mean[0] - self.contrast[0]
        influence[:, scored] += (worth[scored] - level) / scored.sum()
        return np.asarray(influence)

    def filled(self, values: Values) -> Values:
        """Scores without holes in place of scores with these: the means, and about them n times the influences."""
        return np.asarray(self.mean[:, None] + values.shape[1] * self.influence(values))

    def weights(self, items: Int[np.ndarray, " chosen"]) -> Float[np.ndarray, "row chosen"]:
        """What each item's errors have of the variance of each row's mean, if all errors vary alike."""
        n_models, n_items = self.seen.shape
        seen = self.seen[:, items].astype(np.float64)
        n_seen = np.maximum(seen.sum(0), 1)
        of_models = self.solve - self.share @ self.solve
        rows = rows_from_models(of_models)
        square = rows**2 @ seen - (rows @ seen) ** 2 / n_seen
        square[:n_models] += (1 / n_seen + self.worth) / n_items**2
        return square


def _about_items(values: Values, seen: Bool[np.ndarray, "model item"]) -> tuple[np.ndarray, Values]:
    """The mean of each item over the models that were scored on it, and the scores about it."""
    there = np.where(seen, values, 0.0)
    item_mean = there.sum(0) / np.maximum(seen.sum(0), 1)
    return item_mean, np.where(seen, values - item_mean, 0.0)


@dataclass(frozen=True, eq=False)
class Filled:
    """The board without holes, and what of the independent units each row effectively rests on, in each group.

    `parts` are the items and the fit of each group, whose models are those of finite scores, and `alike` the first one
    that has the same scores.
    """

    values: Values
    effective: Float[np.ndarray, "row group"]
    finite: Int[np.ndarray, " finite"]
    alike: Int[np.ndarray, " finite"]
    parts: Sequence[tuple[Int[np.ndarray, " some"], Fit]]

    def scores(self, scores: Scores) -> Scores:
        """The scores without holes, and the losses under each label, which average to them."""
        behind = scores.labels
        if behind is not None:
            losses = to_host(behind.losses)
            possible = to_host(behind.truth) > 0
            given = np.zeros(losses.shape)
            for label in range(losses.shape[2]):
                # what cannot be may cost infinitely much
                board = np.where(possible[:, label], losses[self.finite, :, label], 0.0)
                given[self.finite, :, label] = self._made(board)
            behind = replace(behind, label_losses=given)
        return replace(scores, values=scores.sign * self.values, labels=behind)

    def moments(self, scores: Scores, values: Values, plan: Design) -> Moments:
        """The sums of the filled board; of scores of 0 and 1, range and ties are those of the scores themselves."""
        moments = Moments.made(scores, values, plan)
        board = scores.losses[self.finite]
        board = np.where(np.isnan(board), 0.0, board)
        steps = steps_of(board)
        if steps is None or len(board) < len(scores.models):
            return moments
        sizes = moments.sizes.astype(np.float64)
        first, second = pairs_of(np.arange(len(board))).T
        for group, (items, fit) in enumerate(self.parts):
            part = board[:, items]
            shared = fit.seen.astype(np.float64) @ fit.seen.T
            differ = shared.copy()
            for step in (-1, 0, 1):
                here = ((part == step) & fit.seen).astype(np.float64)
                differ -= here @ here.T
            square = part**2 @ fit.seen.T
            square = square + square.T - 2 * part @ part.T
            size = (square + 2 * differ) / 3  # a difference of 1 has the square 1, one of 2 has 4
            for row, found in zip(sizes[:, len(board) :, group], (differ, size), strict=True):
                known = shared[first, second] > 0
                each = found[first, second] / np.maximum(shared[first, second], 1)
                row[known] = len(items) * each[known]
        return replace(moments, steps=steps, sizes=sizes)

    def _made(self, board: Values) -> Values:
        made = np.empty_like(board)
        for items, fit in self.parts:
            made[:, items] = fit.filled(board[:, items])
        return np.asarray(made[self.alike])

    def corrected(self, estimate: Estimate) -> Estimate:
        """The estimate of the filled board, with the degrees of freedom that its scores have."""
        items = estimate.items
        full = items.df + 1
        units = full * self.effective
        df = np.maximum(units - 1, 0.0)
        # both moments are of so many units less the ones that the means use up
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(df > 0, units / df * items.df / full, np.nan)
            further = np.where(df > 1, units / (df - 1) * (items.df - 1) / full, 0.0)
        part = Part(items.variance * scale, items.third * scale * further, df, items.raw)
        name = next(iter(estimate.parts))
        return replace(estimate, parts={**estimate.parts, name: part})


def filled(values: Values, plan: Design, models: Sequence[str]) -> Filled:
    """The board without holes; its models are connected in every group.

    The rows whose effective units are counted are those of an estimate: models with finite scores by name, then pairs.
    """
    by_name = np.argsort(np.array(models), kind="stable")
    finite = by_name[~np.isinf(values[by_name]).any(1)]
    board = values[finite]
    names = [models[at] for at in finite]
    parts = []
    effective = np.empty((len(finite) * (len(finite) + 1) // 2, plan.n_groups))
    of_item = plan.of_item()
    for group in range(plan.n_groups):
        items = np.flatnonzero(of_item == group)
        _need_connected(board[:, items], names, plan.group_names[group] if plan.grouped else None)
        fit = Fit.of(board[:, items])
        parts.append((items, fit))
        effective[:, group] = _effective(fit, items, plan)
    whole = np.where(np.isnan(values), 0.0, values)
    made = Filled(whole, effective, finite, _first_equal(board), parts)
    whole[finite] = made._made(board)
    return made


def _first_equal(values: Values) -> Int[np.ndarray, " model"]:
    """The first model that has the same scores, itself if none: rounding shall not tell them apart."""
    first: dict[bytes, int] = {}
    return np.array([first.setdefault(row.tobytes(), at) for at, row in enumerate(values)], np.int64)


def _need_connected(board: Values, models: Sequence[str], group: str | None) -> None:
    of_model = connected(board)
    if not of_model.any():
        return
    sets = []
    for one in range(of_model.max() + 1):
        names = [models[at] for at in np.flatnonzero(of_model == one).tolist()]
        sets.append(check.shortlist(names, 3))
    where = "" if group is None else f"in group {check.quote(group)}, "
    raise PosteriorError(
        f"got models that no chain of shared items connects ({where}{' and '.join(sets[:3])}), expected items on which "
        "models of both were scored. Hint: score some items with one model of each, or compare each set by itself."
    )


def _effective(fit: Fit, items: Int[np.ndarray, " item"], plan: Design) -> Float[np.ndarray, " row"]:
    """The number of units of like weight, as a share of what there would be without holes (Kish 1965)."""
    n_items = len(items)
    every = -(-n_items // MOST_ITEMS)
    chosen = np.arange(0, n_items, every)
    weights = fit.weights(chosen)
    size = np.ones((1, len(chosen)))
    if plan.unit is not None:
        _, unit = np.unique(plan.unit[items[chosen]], return_inverse=True)
        n_units = int(unit.max()) + 1
        weights = totals(weights, unit, n_units)
        size = totals(size, unit, n_units)
    return np.asarray(_kish(weights) / _kish(size))


def _kish(weights: Float[np.ndarray, "row unit"]) -> Float[np.ndarray, " row"]:
    return np.asarray(weights.sum(1) ** 2 / np.square(weights).sum(1))


def notes_on(values: Values, models: Sequence[str], higher_is_better: bool, made: Filled) -> tuple[str, ...]:
    """Who lacks what, whether that looks like failures, and where models differ otherwise on the items they share."""
    n_items = values.shape[1]
    lacks = np.isnan(values).sum(1)
    order = np.argsort(-lacks, kind="stable")
    said = [f"{check.quote(models[at])} lacks {lacks[at]:,}" for at in order[:SHOWN] if lacks[at]]
    others = int((lacks > 0).sum()) - len(said)
    if others:
        said.append(f"{others} more of the models lack fewer")
    notes = [
        f"of {n_items:,} items {', '.join(said)}: every score counts, and the models that an item was scored on say "
        "what it is worth"
    ]
    most = order[0]
    if len(models) > 1 and lacks[most] >= FEW_MISSING and lacks[most] > MORE * lacks[order[1]]:
        notes.append(
            f"{check.quote(models[most])} lacks far more scores than the others: if it failed on these items, give "
            "them the score of a failure; a missing score says nothing about the model"
        )
    return (*notes, *_otherwise(values, models, higher_is_better, made))


def beyond(estimate: Estimate, limits: tuple[float, float] | None) -> tuple[str, ...]:
    """A sentence on a mean that no scores of this range have."""
    if limits is None:
        return ()
    low, high = limits
    means = estimate.over_groups().mean[: estimate.n_models, 0]
    for at in np.flatnonzero((means < low) | (means > high))[:1].tolist():
        sign = -1.0 if estimate.about.higher_is_better else 1.0
        least, most = sorted((sign * low + 0.0, sign * high + 0.0))  # no negative zero
        return (
            f"the mean of {check.quote(estimate.names[at])} would be {sign * means[at]:.3g}, beyond the scores' range "
            f"({least:g} to {most:g}): models cannot differ as much on the items that it lacks as on those that it "
            "has, so the differences hold for the latter alone",
        )
    return ()


def shared_items(values: Values) -> Int[np.ndarray, "model model"]:
    """On how many items both models were scored."""
    seen = (~np.isnan(values)).astype(np.float64)
    return np.asarray(seen @ seen.T).astype(np.int64)


def _otherwise(values: Values, models: Sequence[str], higher_is_better: bool, made: Filled) -> tuple[str, ...]:
    """A sentence on the pair whose difference on shared items is least like that of the whole board."""
    finite = made.finite
    board = values[finite]
    if len(finite) < 3:
        return ()
    mean = made.values[finite].mean(1)
    of_items = (made.values[finite] - mean[:, None]) / board.shape[1]
    pairs = pairs_of(np.arange(len(finite)))
    shared = shared_items(board)[pairs[:, 0], pairs[:, 1]]
    found: tuple[float, int, float, float] | None = None
    looked_at = np.isin(pairs, leading(mean)).all(1) & (shared >= ENOUGH_SHARED) & (shared < board.shape[1])
    for at in np.flatnonzero(looked_at).tolist():
        a, b = pairs[at]
        difference = board[a] - board[b]
        both = ~np.isnan(difference)
        direct = float(difference[both].mean())
        influence = of_items[b] - of_items[a]
        influence[both] += (difference[both] - direct) / shared[at]
        error = float(np.linalg.norm(influence))
        whole = float(mean[a] - mean[b])
        if error <= ROUNDING * float(np.abs(difference[both]).max()):
            continue
        p = 2 * float(stdtr(shared[at] - 1, -abs(direct - whole) / error))
        if found is None or p < found[0]:
            found = (p, at, direct, whole)
    if found is None or found[0] * looked_at.sum() > CHANCE:  # Bonferroni, over all pairs
        return ()
    _, at, direct, whole = found
    a, b = (check.quote(models[finite[place]]) for place in pairs[at])
    sign = -1.0 if higher_is_better else 1.0
    return (
        f"{a} minus {b} is {sign * direct:.3g} on the {shared[at]:,} items that both were scored on and "
        f"{sign * whole:.3g} on the whole board, more than chance explains: how far models differ depends on the "
        "items, so the answer depends on which items a model was scored on",
    )
