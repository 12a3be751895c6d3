"""Repeated scores of one item: answers asked again, training seeds, cross-validation folds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.design import Design
from probtruth.comparison.labels import LARGE_DF
from probtruth.comparison.location import GroupMeans, Location, Means
from probtruth.comparison.options import Options
from probtruth.comparison.pairs import all_pairs
from probtruth.comparison.shared_units import Shared, of_annotators, of_replicates
from probtruth.errors import InputError
from probtruth.types import Replicates, Scores

Spread = tuple[float, float]  # A variance and its degrees of freedom


def correlated_folds(parts: GroupMeans, correlation: float) -> GroupMeans:
    r"""The moments of each group whose items are folds: every variance times $1 + n \rho/(1 - \rho)$."""
    factor = 1 + parts.n_items * correlation / (1 - correlation)

    def scaled(means: Means) -> Means:
        third = np.zeros_like(means.third)
        wide = {"plain_variance": means.plain_variance * factor, "variance": means.variance * factor}
        return replace(means, **wide, third=third)

    return replace(parts, n_items=parts.n_items / factor, pairs=scaled(parts.pairs), levels=scaled(parts.levels))


def _spread(
    tables: Sequence[Float[np.ndarray, "item replicate"]],
    item_weights: Float[np.ndarray, " item"],
    correlation: float | None,
) -> Spread:
    """The variance of the weighted mean of the items' means, summed over independent tables."""
    shared = 0.0 if correlation is None else correlation / (1 - correlation)
    total, spread = 0.0, 0.0
    for table in tables:
        n = (~np.isnan(table)).sum(1)
        if (n < 2).any():
            raise InputError(
                "folds that the two models do not share", "the same folds for every model", "Name folds alike."
            )
        square = np.nansum((table - np.nanmean(table, axis=1, keepdims=True)) ** 2, axis=1) / (n - 1)
        part = item_weights**2 * square * (1 / n + shared)
        total, spread = total + float(part.sum(-1)), spread + float((part**2 / (n - 1)).sum(-1))
    return total, min(total**2 / spread, LARGE_DF) if spread > 0 else LARGE_DF


def _location(mean: Sequence[float], spreads: Sequence[Spread], scores: Scores) -> Location:
    centre = np.array(mean, np.float64)
    variance, df = np.array(spreads, np.float64).reshape(-1, 2).T
    return Location(len(scores.items), centre, variance, centre, variance, np.zeros_like(variance), df)


@dataclass(frozen=True, eq=False)
class FixedReplicates:
    """What answers given again would change, the items held fixed; `correlation` is that of folds."""

    scores: Scores
    replicates: Replicates
    item_weights: Float[np.ndarray, " item"]
    correlation: float | None

    def variance(self, a: int, b: int) -> float | None:
        """The replicates' part of the variance of a mean difference; None where an item has only one."""
        table = self.scores.sign * self.replicates.values
        if (np.isfinite(table[[a, b]]).sum(2) < 2).any():
            return None
        return _spread([table[a], table[b]], self.item_weights, None)[0]

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        """The posterior of mean differences and mean scores on these very items, were they answered again."""
        scores, item_weights, correlation = self.scores, self.item_weights, self.correlation
        table, means = scores.sign * self.replicates.values[order], scores.losses[order]
        seen = (~np.isnan(table)).sum(2)
        if (seen < 2).any():
            model, item = (int(axis[0]) for axis in np.nonzero(seen < 2))
            raise InputError(
                "one replicate",
                "at least two of every item, for population='these-items'",
                "Repeat it, or leave population out for new items.",
                f"model {scores.models[order[model]]!r}, item {scores.items[item]!r}",
            )
        own = [_spread([row], item_weights, correlation) for row in table]
        pairs, differences = [], []
        for a, b in all_pairs(len(order)):
            independent = [table[a], table[b]] if correlation is None else [table[a] - table[b]]
            pairs.append(_spread(independent, item_weights, correlation))
            differences.append(float(((means[a] - means[b]) * item_weights).sum(-1)))
        levels = (means * item_weights).sum(-1)
        return _location(differences, pairs, scores), _location(levels.tolist(), own, scores)


def shared_of(
    scores: Scores, models: Int[np.ndarray, " model"], plan: Design, options: Options, annotations: object
) -> Shared | None:
    """The annotators or replicates that items share, where they are known; an error for what cannot go together."""
    kind, repeated = options.replicates, scores.replicates
    if annotations is not None:
        if kind is not None:
            raise InputError(
                f"annotations with replicates={kind!r}",
                "one of the two",
                "Scores against annotators' labels have no replicates.",
            )
        return of_annotators(scores, annotations, models, plan)
    if kind == "folds" and plan.n_clusters is not None:
        raise InputError("replicates='folds' with clusters", "folds that are not clustered", "Leave clusters out.")
    if kind == "independent" and repeated is None:
        raise InputError("replicates='independent' without replicates", "repeated scores", "Give replicate=COLUMN.")
    return of_replicates(scores, models, plan) if kind == "crossed" else None
