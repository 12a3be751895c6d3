"""Annotators, or replicates, that many items share: who saw which item, and what they add to every mean.

What is added is what `unit_sums` finds: the variance of new units like these, of which the part `counted` counts. With
one annotator it is 0, and the answer is about this one; the more votes others give, the more it is about new ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int
from scipy.special import chdtrc

from probtruth.comparison.estimation.design import Design, pairs_of, rows_of
from probtruth.comparison.estimation.estimate import Estimate, Part, UnitsInGroups
from probtruth.comparison.estimation.unit_sums import Excess, Spread, UnitSums, UnitTotals, in_cells, squares_apart
from probtruth.errors import InputError
from probtruth.kernels.arrays import ratio, to_host
from probtruth.kernels.host import ROUNDING
from probtruth.kernels.shapes import ItemLabel, ModelInts, RowFloats
from probtruth.types import Annotations, Scores

SAME = 1e-6  # Vote shares closer than this are the same (they may have passed through float32)
SUSPECT = 0.01  # Level at which replicates differ by more than chance
UNLIKELY = 0.05  # Replicates of which nobody says what they are count as chance makes them less likely than this
ENOUGH = 4  # So many degrees of freedom more than one, and such replicates count by half whatever chance explains
FEW = 5  # Effective units below which biases that all point one way are likely enough to be warned of
BARELY = 2  # Effective units below which hardly anything is known of new ones


@dataclass(frozen=True, eq=False)
class Shared:
    """The units behind a comparison, and what they add to its models.

    Unless the caller `named` them as units like those of later use, they count as far as chance does not explain them.
    """

    what: str
    units: UnitTotals
    n_units: int  # of the model that has fewest
    most_in_group: int  # likewise; of one alone, nothing tells what it adds
    named: bool = True

    def added_to(self, estimate: Estimate) -> Estimate:
        """The estimate with their part of the variance; of one unit, nothing tells what it adds."""
        if self.n_units < 2 or not estimate.names:  # or no mean is finite
            return estimate
        if self.most_in_group < 2:
            notes = (*estimate.about.notes, about_these(self.what))
            return replace(estimate, about=replace(estimate.about, notes=notes)) if self.named else estimate
        n_models = estimate.n_models
        part = self.part(n_models)
        of_new = self.part(n_models, counted=1.0)
        sizes = np.abs(estimate.mean[:n_models]).max(1)
        largest = np.append(sizes, sizes[pairs_of(np.arange(n_models))].sum(1))
        for one in (part, of_new):
            rounding = one.variance[:, 0] <= (ROUNDING * largest) ** 2
            one.variance[rounding] = 0.0
        about = estimate.about
        if self.named:
            about = replace(about, notes=about.notes + self.notes())
        elif not part.variance.any():
            return estimate
        name = f"{self.what}s"
        parts = {**estimate.parts, name: part}
        spreads = self.units.spreads
        common = float(np.mean([spread.in_groups.common for spread in spreads]))
        in_groups = UnitsInGroups(common, np.mean([spread.in_groups.own for spread in spreads], axis=0))
        return replace(estimate, about=about, parts=parts, of_new=of_new, in_groups=in_groups)

    def part(self, n_models: int, counted: float | None = None) -> Part:
        """What they add to the means of the models and their pairs, or would if so much were known of new ones.

        One column, for all groups.
        """
        first, second = rows_of(np.arange(n_models)).T
        found = self.units.excess(first, second)
        counts = np.square(found.counted if counted is None else counted)
        raw = counts * found.raw
        if not self.named:
            doubt = np.minimum(_by_chance(found) / UNLIKELY, 1.0)
            more_df = (found.df - 1) / ENOUGH
            doubt /= 1 + more_df**2
            counts = counts * (1 - doubt)
            raw = counts * found.extra
        variance = counts * found.extra
        third = found.skewness * variance**1.5
        return Part(variance[:, None], third[:, None], found.df[:, None], raw[:, None])

    @property
    def effective(self) -> float:
        """How many of equal weight would tell as much."""
        return min([spread.effective for spread in self.units.spreads], default=np.inf)

    def notes(self) -> tuple[str, ...]:
        """A warning where there are few."""
        effective = self.effective
        if effective >= FEW:
            return ()
        count = f"{self.n_units} {self.what}s"
        if effective < BARELY:
            return (
                f"{count}, of whom one gave nearly all answers (they count as {effective:.1f} of equal share): how new "
                f"{self.what}s would answer is barely known; the tables give the interval of these {self.what}s and "
                "that of new ones",
            )
        if effective < self.n_units - 0.5:
            count += f", which count as {effective:.1f} of equal share"
        return (
            f"{count}: if their biases point the same way, nothing in the data shows it, and the 95% interval covers "
            f"less (with skewed biases about 0.87 of the time); more items do not change that, more {self.what}s do",
        )

    def beyond_chance(self, names: Sequence[str]) -> tuple[str, ...]:
        """A warning where replicates that are taken to be answers asked again differ by more than chance."""
        models = np.arange(len(names))
        none = np.full(len(models), -1)
        suspect = _by_chance(self.units.excess(models, none)) < SUSPECT
        if not suspect.any():
            return ()
        return (
            f"the replicates of {names[int(suspect.argmax())]!r} differ by more than chance over many "
            "items: if they are training seeds, or judges like those that you will use again, say "
            "replicates='crossed' (command line: --replicates crossed)",
        )


def about_these(what: str) -> str:
    """What must be said where every group has one."""
    return (
        f"each group has one {what}: what {what}s add cannot be told from the groups, and the answer is about these "
        f"{what}s; without groups it is about new ones"
    )


def _by_chance(found: Excess) -> RowFloats:
    """The probability that units which do not differ would seem to differ as much."""
    return chdtrc(found.df, found.df * ratio(found.raw, found.chance))


def of_annotators(scores: Scores, annotations: object, models: ModelInts, plan: Design) -> Shared:
    """The annotators whose annotations are behind the scores."""
    sums = sums_of_annotators(scores, annotations, models, plan)
    return Shared("annotator", sums.units(plan.weights), sums.n_units, sums.most_in_group)


def sums_of_annotators(scores: Scores, annotations: object, models: ModelInts, plan: Design) -> UnitSums:
    """Each annotator's own loss of each model: the loss if the label were the one that this annotator gave."""
    if not isinstance(annotations, Annotations):
        raise InputError(f"annotations of type {type(annotations).__name__}", "Annotations", "Use read_annotations.")
    if annotations.annotator is None:
        raise InputError("annotations that are counts", "annotations with annotators", "Leave annotations out.")
    labels = scores.labels
    if labels is None or labels.shares is None or labels.estimand != "distribution":
        hint = (
            "Score against infer_truth(annotations, method='vote-share'), or give a score for each item and annotator: "
            "read_scores(..., annotator=COLUMN)."
        )
        problem = "annotations with scores that are not against vote shares"
        raise InputError(problem, "scores of the estimand 'distribution'", hint)
    row_named = {name: row for row, name in enumerate(scores.items)}
    of_item = np.array([row_named.get(name, -1) for name in annotations.index.items])
    row_of = of_item[annotations.item]
    scored = np.flatnonzero(row_of >= 0)
    item = row_of[scored]
    label = _labels_in_shares(annotations.label[scored], item, labels.shares)
    names = annotations.index.annotators
    n_labels = labels.shares.shape[1]
    cell = item * len(names) + annotations.annotator[scored]
    order = np.argsort(cell, kind="stable")
    cell = cell[order]
    place = item[order] * n_labels + label[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1))  # an annotator who labels an item again counts once
    losses = to_host(labels.losses)[models].reshape(len(models), labels.shares.size)[:, place]
    if len(first) < len(cell):
        losses = np.add.reduceat(losses, first, axis=1) / np.diff(first, append=len(cell))
    return UnitSums.of(names, cell[first] // len(names), cell[first] % len(names), losses, plan)


def _labels_in_shares(
    label: Int[np.ndarray, " vote"], item: Int[np.ndarray, " vote"], shares: ItemLabel
) -> Int[np.ndarray, " vote"]:
    """The votes' labels as columns of the shares, which may have labels of the predictions too; both must agree."""
    used = np.flatnonzero((shares > 0).any(0))
    voted, place = np.unique(label, return_inverse=True)
    if len(used) == len(voted):  # the used ones, in their order
        label = used[place]
    n_labels = shares.shape[1]
    votes = item * n_labels + np.minimum(label, n_labels - 1)
    counts = np.bincount(votes, minlength=shares.size).reshape(shares.shape)
    of_item = counts.sum(1, keepdims=True)
    shares_of_votes = counts / np.maximum(of_item, 1)
    if label.max(initial=0) >= n_labels or not np.allclose(shares_of_votes, shares, rtol=0, atol=SAME):
        raise InputError("annotations other than those behind the scores", "the same", "Score against their truth.")
    return label


def of_replicates(scores: Scores, models: ModelInts, plan: Design, named: bool = True) -> Shared:
    """Each replicate's score of each model on each item that it has."""
    repeated = scores.replicates
    if repeated is None:
        raise InputError(
            "replicates='crossed' without replicates",
            "scores whose replicates (seeds, judges) are named",
            "Give Scores.from_frame(..., replicate=COLUMN), or leave replicates out.",
        )
    losses = scores.sign * repeated.values[models]
    noise = np.zeros((len(losses), 2, losses.shape[1]))
    totals = []
    spreads: list[Spread] = []
    n_units = []
    most_in_group = []
    most_items = 0
    for at, row in enumerate(losses):
        cells = np.flatnonzero(~np.isnan(row))
        item = repeated.item[cells]
        unit = repeated.replicate[cells]
        of_cells = row[None, cells]
        sums = UnitSums.of(repeated.names, item, unit, of_cells, plan)
        of_units = sums.units(plan.weights)
        totals.append(of_units.totals)
        spreads += of_units.spreads
        n_units.append(sums.n_units)
        most_in_group.append(sums.most_in_group)
        most_items = max(most_items, int(np.bincount(unit).max(initial=0)))
        noise[at][:, cells] = sums.noise(plan.weights, item, of_cells, plan)[0]
    if named and most_items < 2 and repeated.what != "annotator":
        raise InputError(
            "replicates='crossed' with replicates of which each has one item",
            "replicates (seeds, judges) that have many items",
            "Name the same replicate alike on every item, or leave replicates out.",
        )
    rounding = ROUNDING * np.abs(losses).max(initial=0.0, where=~np.isnan(losses))
    of_kinds = noise.reshape(2 * len(losses), -1)
    if plan.unit is not None:
        _, of_kinds = in_cells(plan.unit[repeated.item] * len(repeated.names) + repeated.replicate, of_kinds)
    chance = np.maximum(squares_apart(of_kinds.reshape(len(losses), -1)), rounding**2)
    units = UnitTotals(np.concatenate(totals), chance, spreads)
    return Shared(repeated.what, units, min(n_units), min(most_in_group), named)
