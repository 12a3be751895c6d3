"""Repeated scores of one item: answers asked again, training seeds, cross-validation folds.

What replicates and shared annotators bring to a comparison, from scores in memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.special import chdtrc

from probtruth.comparison.evidence.crossed import Cells, annotator_cells, excess, replicate_cells
from probtruth.comparison.evidence.design import Design
from probtruth.comparison.evidence.label_variance import LARGE_DF
from probtruth.comparison.evidence.moments import Location, Means, Moments
from probtruth.comparison.evidence.sweeps import all_pairs
from probtruth.comparison.options import Options
from probtruth.errors import InputError
from probtruth.kernels.exact_sums import exact_sum
from probtruth.types import Replicates, Scores

Spread = tuple[float, float]
"""A variance and its degrees of freedom."""


def correlated_folds(parts: Moments, correlation: float) -> Moments:
    r"""The moments of each group whose items are folds: every variance times $1 + n \rho/(1 - \rho)$.

    Source: Nadeau and Bengio 2003, doi:10.1023/A:1024068626366.
    """
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
        total, spread = total + float(exact_sum(part)), spread + float(exact_sum(part**2 / (n - 1)))
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
        table = self.replicates.values
        if (np.isfinite(table[[a, b]]).sum(2) < 2).any():
            return None
        return _spread([table[a], table[b]], self.item_weights, None)[0]

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        r"""The posterior of mean differences and mean scores on these very items, were they answered again.

        An item's mean over r replicates has the variance $s^2/r$ of those replicates; models are answered independently
        of one another. With the correlation $\rho$ of folds it is $s^2 (1/r + \rho/(1 - \rho))$ of the differences by
        fold. Items add up with their weights squared.

        Errors: `InputError` where an item has a single replicate.
        """
        scores, item_weights, correlation = self.scores, self.item_weights, self.correlation
        table, means = self.replicates.values[order], scores.values[order]
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
            differences.append(float(exact_sum((means[a] - means[b]) * item_weights)))
        levels = exact_sum(means * item_weights)
        return _location(differences, pairs, scores), _location(levels.tolist(), own, scores)


SUSPECT = 0.01
"""Replicates that differ more than chance would make them, at this level, are said to be no mere repeats."""


def cells_of(scores: Scores, plan: Design, options: Options, annotations: object) -> Cells | None:
    """The table behind a two-way variance, where one is asked for; an error for what cannot go together."""
    if annotations is not None:
        if options.replicates is not None:
            raise InputError(
                f"annotations with replicates={options.replicates!r}",
                "one of the two",
                "Scores against annotators' labels have no replicates.",
            )
        return annotator_cells(scores, annotations)
    if options.replicates == "folds" and plan.n_clusters is not None:
        raise InputError("replicates='folds' with clusters", "folds that are not clustered", "Leave clusters out.")
    if options.replicates == "independent" and scores.replicates is None:
        raise InputError("replicates='independent' without replicates", "repeated scores", "Give replicate=COLUMN.")
    return replicate_cells(scores) if options.replicates == "crossed" else None


def notes_of(
    scores: Scores, options: Options, item_weights: Float[np.ndarray, " item"], cells: Cells | None
) -> tuple[str, ...]:
    """What must be said of repeated scores."""
    if cells is not None:
        return _shared(cells)
    if options.replicates == "folds" and scores.replicates is not None and not options.these_items:
        return ("folds are replicates of the items here: their correlation stays inside each item's mean",)
    if options.replicates is not None or scores.replicates is None or not scores.replicates.names:
        return ()
    table = replicate_cells(scores)
    for row, name in enumerate(scores.models):
        if np.isfinite(scores.values[row]).all():
            evidence = excess(table.of(row), item_weights)
            if evidence.chance > 0 and chdtrc(evidence.df, evidence.df * evidence.raw / evidence.chance) < SUSPECT:
                return (
                    f"the replicates of {name!r} differ by more than chance over many items: if they are training "
                    "seeds, or judges like those that you will use again, say replicates='crossed' (command line: "
                    "--replicates crossed)",
                )
    return ()


FEW = 5
"""From so many units on intervals hold whatever the distribution of their leanings; see docs/validity/crossed.md."""


def _shared(cells: Cells) -> tuple[str, ...]:
    """What must be said where units stand behind many items."""
    said = (
        f"the same {cells.what}s stand behind many items: what they have in common is part of the uncertainty "
        "(two-way variance, degrees of freedom of few units)"
    )
    n_units = int((~np.isnan(cells.of(0))).any(0).sum())
    if not 2 <= n_units < FEW:
        return (said,)
    return said, (
        f"{n_units} {cells.what}s: if these lean the same way, nothing in the data shows it, and the 95% interval "
        f"covers less (with skewed leanings about 0.87 of the time); more {cells.what}s mend that, more items do not"
    )
