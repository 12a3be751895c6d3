"""Units that many items share, annotators or training seeds: their own bias does not average out over the items.

x_iu is the loss on item i as unit u sees it, m_i the number of units on the item, w_i what the item counts for. With
residuals r_iu = w_i (x_iu - mean_i) / m_i (of an item with one unit: from the mean of such items in its group) the
units add to the variance of the mean what they have in common over items, beyond what chance gives:

    s max(0, sum_u (sum_i r_iu)^2 - sum_iu r_iu^2)

s makes that unbiased. With W_u = sum_i w_i/m_i and V_u = sum_i w_i/m_i (1 - 1/m_i) it is the ratio of sum_u W_u^2 to
U/(U - 1) sum_u V_u^2, each less the part of single cells: U/(U - 1) N/(N - 1) where every unit is on all of N items.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import chdtrc

from probtruth.comparison.design import Design, spread_out
from probtruth.comparison.estimate import Part
from probtruth.comparison.pairs import rows_of
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.types import Annotations, Scores
from probtruth.types.index import positions

SKEWED_FROM = 4  # Units from which on a skewness is estimated at all
BLOCK = 1 << 16  # Cells worked on at once
NEAR = 1e-7  # Below this part of the models' own squares those of their difference are rounding
SAME = 1e-6  # Vote shares closer than this are the same (they may have passed through float32)
SUSPECT = 0.01  # Level at which replicates that differ by more than chance are no mere repeats
FEW = 5  # Units below which biases that all point one way are likely enough to be warned of; see docs/validity.md

PerRow = Float[np.ndarray, " row"]
Models = Int[np.ndarray, " model"]
LossesOf = Callable[[slice], Float[np.ndarray, "model cell"]]


@dataclass(frozen=True, eq=False)
class Excess:
    """What the units add to the variance of means: `raw` as theirs vary, `chance` what noise alone gives."""

    raw: PerRow
    chance: PerRow
    df: float
    skewness: PerRow

    @property
    def extra(self) -> PerRow:
        """The variance due to the units themselves, at least 0."""
        return np.asarray(np.maximum(self.raw - self.chance, 0.0))


OF_ROW, OF_GROUP = ("weight", "contrast", "alone", "total"), ("inverse", "chance", "alone_total", "square")


@dataclass(frozen=True, eq=False)
class UnitSums:
    """Sums over items of each unit in each group (a row) and of each group, which add up over parts of the items.

    They are of r = (x - mean)/m over the cells of items of several units, and of x itself where an item has one alone.
    """

    names: tuple[str, ...]
    group: Int[np.ndarray, " row"]
    unit: Int[np.ndarray, " row"]
    weight: PerRow  # of 1/m
    contrast: PerRow  # of (1 - 1/m)/m, over items of several units
    alone: PerRow  # of 1, over items of this unit alone
    total: Float[np.ndarray, "row model"]
    inverse: Float[np.ndarray, " group"]  # of 1/m
    chance: Float[np.ndarray, " group"]  # of (1 - 1/m)/m^2 over the cells of items of several units
    alone_total: Float[np.ndarray, "group model"]  # over the items of one unit
    square: Float[np.ndarray, "group model model"]  # of products of two models

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        item: Int[np.ndarray, " cell"],
        unit: Int[np.ndarray, " cell"],
        values: LossesOf,
        plan: Design,
    ) -> "UnitSums":
        """From cells by item, no two of one item and one unit, of which `values` gives every model's loss."""
        n_groups, group_of = plan.n_groups, plan.of_item()[item]
        key = group_of * len(names) + unit
        rows = np.unique(key) if n_groups > 1 else np.flatnonzero(np.bincount(key))
        row_of = np.searchsorted(rows, key)
        first = np.flatnonzero(np.diff(item, prepend=-1))  # cell of each item
        count = np.diff(first, append=len(item))
        share, several = np.repeat(1.0 / count, count), np.repeat(count > 1, count)
        n_models = len(values(slice(0, 0)))
        total, alone_total = np.zeros((n_models, len(rows))), np.zeros((n_groups, n_models))
        square = np.zeros((n_groups, n_models, n_models))
        starts = np.searchsorted(first, np.arange(0, len(item), BLOCK))
        cuts = np.unique(np.append(first[starts[starts < len(first)]], len(item)))
        for start, stop in pairwise(cuts.tolist()):
            cells = slice(start, stop)
            losses, many = values(cells), several[cells]
            begins = slice(*np.searchsorted(first, (start, stop)))
            mean = np.add.reduceat(losses, first[begins] - start, axis=1) / count[begins]
            parts = np.where(many, (losses - np.repeat(mean, count[begins], axis=1)) * share[cells], losses)
            for model, part in enumerate(parts):
                total[model] += np.bincount(row_of[cells], part, len(rows))
                if not many.all():
                    alone_total[:, model] += np.bincount(group_of[cells], np.where(many, 0.0, part), n_groups)
            for at in range(n_groups):
                inside = parts if n_groups == 1 else parts[:, group_of[cells] == at]
                square[at] += inside @ inside.T
        contrast = np.where(several, share * (1 - share), 0.0)
        weight, own, alone = (np.bincount(row_of, cells, len(rows)) for cells in (share, contrast, ~several))
        inverse, chance = (np.bincount(group_of, cells, n_groups) for cells in (share**2, contrast * share))
        place = rows // len(names), rows % len(names)
        return cls(tuple(names), *place, weight, own, alone, total.T, inverse, chance, alone_total, square)

    def __add__(self, other: "UnitSums") -> "UnitSums":
        """Those of both parts, units by name."""
        names = tuple(sorted({*self.names, *other.names}))
        both = (self, other)
        codes = [positions(names, one.names)[one.unit] for one in both]
        keys = np.concatenate([one.group * len(names) + code for one, code in zip(both, codes, strict=True)])
        rows, row_of = np.unique(keys, return_inverse=True)
        summed: dict[str, np.ndarray] = {name: getattr(self, name) + getattr(other, name) for name in OF_GROUP}
        for name in OF_ROW:
            values = np.concatenate([getattr(one, name) for one in both])
            summed[name] = np.zeros((len(rows), *values.shape[1:]))
            np.add.at(summed[name], row_of, values)
        return UnitSums(names, rows // len(names), rows % len(names), **summed)

    def among(self, groups: Int[np.ndarray, " group"], n_groups: int) -> "UnitSums":
        """The same where the groups are some of more."""
        parts: dict[str, Any] = {name: spread_out(getattr(self, name).T, groups, n_groups).T for name in OF_GROUP}
        return replace(self, group=groups[self.group], **parts)

    def excess(self, weights: Float[np.ndarray, " group"], first: Models, second: Models) -> Excess:
        """What the units add to the means of models' differences, or of a model by itself (-1 stands for none)."""
        n_groups, n_units = len(weights), len(self.names)
        n_items, alone = (np.bincount(self.group, cells, n_groups) for cells in (self.weight, self.alone))
        scale = np.where(n_items > 0, weights / np.maximum(n_items, 1), 0.0)
        of_row, mean = scale[self.group], self.alone_total / np.maximum(alone, 1)[:, None]
        total = np.zeros((n_units, self.total.shape[1] + 1))  # the last column is of no model
        left = self.total - self.alone[:, None] * mean[self.group]
        np.add.at(total[:, :-1], self.unit, of_row[:, None] * left)
        kept = self.alone * (1 - self.alone / np.maximum(alone, 1)[self.group])
        weight = np.bincount(self.unit, of_row * self.weight, n_units)
        contrast = np.bincount(self.unit, of_row * (self.contrast + kept), n_units)
        used, whole = int((weight > 0).sum()), float((weight**2).sum())
        chance = float(scale**2 @ self.chance + of_row**2 @ kept)
        wanted = whole - float(scale**2 @ (self.inverse - n_items / max(used, 1)))
        found = float((contrast**2).sum()) * used / max(used - 1, 1) - chance
        product = np.einsum("g,gab->ab", scale**2, self.square)
        product -= np.einsum("g,ga,gb->ab", scale**2 * alone, mean, mean)
        product = np.pad(product, (0, 1))
        own = np.diag(product)
        square = own[:, None] + own - 2 * product
        square[square < NEAR * (own[:, None] + own)] = 0.0
        known = used > 1 and found > 1e-9 * whole
        df = max(float(weight.sum()) ** 2 / whole - 1.0, 1.0)
        size = max(wanted, 0.0) / found if known else 0.0
        of_unit = (total[weight > 0][:, first] - total[weight > 0][:, second]).T
        raw, units, skewness = (of_unit**2).sum(1), of_unit.shape[1], np.zeros(len(of_unit))
        if units >= SKEWED_FROM:  # of the third moment and the variance, both without bias
            root = math.sqrt(units * (units - 1)) / (units - 2)
            third = (of_unit**3).sum(1) / np.where(raw > 0, raw, 1.0) ** 1.5
            skewness = np.where(raw > 0, root * third, 0.0)
        return Excess(size * raw, size * square[first, second], df, skewness)


@dataclass(frozen=True, eq=False)
class Shared:
    """The units behind a comparison; the models of one set have the same units, so that these are paired."""

    what: str
    sums: Sequence[tuple[Models, UnitSums]]
    weights: Float[np.ndarray, " group"]

    def parts(self, first: Models, second: Models) -> list[Excess]:
        """What each set of units adds to differences, or to the means of models by themselves (second: -1)."""
        found = []
        for models, sums in self.sums:
            place = {model: at for at, model in enumerate(models.tolist())}
            a, b = (np.array([place.get(one, -1) for one in side.tolist()], np.int64) for side in (first, second))
            found.append(sums.excess(self.weights, a, b))
        return found

    def part(self, models: Models) -> Part:
        """What all of them add to the means of these models and their pairs: one column, for all groups."""
        first, second = rows_of(models).T
        extra, raw, spread, third = np.zeros((4, len(first), 1))
        for one in self.parts(first, second):
            extra[:, 0] += one.extra
            raw[:, 0] += one.raw
            spread[:, 0] += one.raw**2 / one.df
            third[:, 0] += one.skewness * one.extra**1.5
        df = np.divide(raw**2, spread, out=np.full_like(raw, np.inf), where=spread > 0)
        return Part(extra, third, df, raw)

    def extra(self, a: int, b: int) -> float:
        return sum(float(one.extra.sum()) for one in self.parts(np.array([a]), np.array([b])))

    @property
    def n_units(self) -> int:
        """How many there are; of one alone, nothing tells what it adds."""
        return min((len(np.unique(sums.unit)) for _, sums in self.sums), default=0)

    def notes(self) -> tuple[str, ...]:
        if self.n_units >= FEW:
            return ()
        return (
            f"{self.n_units} {self.what}s: if their biases point the same way, nothing in the data shows it, and the "
            "95% interval covers less (with skewed biases about 0.87 of the time); more items do not change that, more "
            f"{self.what}s do",
        )

    def beyond_chance(self, names: Sequence[str]) -> tuple[str, ...]:
        """A warning where replicates that are taken to be answers asked again differ by more than chance."""
        for models, sums in self.sums:
            found = sums.excess(self.weights, np.arange(len(models)), np.full(len(models), -1))
            with np.errstate(divide="ignore", invalid="ignore"):
                suspect = (found.chance > 0) & (chdtrc(found.df, found.df * found.raw / found.chance) < SUSPECT)
            if suspect.any():
                return (
                    f"the replicates of {names[models[suspect.argmax()]]!r} differ by more than chance over many "
                    "items: if they are training seeds, or judges like those that you will use again, say "
                    "replicates='crossed' (command line: --replicates crossed)",
                )
        return ()


def of_annotators(scores: Scores, annotations: object, models: Models, plan: Design) -> Shared:
    """Each annotator's own loss of each model: the loss if the label were the one that this annotator gave."""
    if not isinstance(annotations, Annotations):
        raise InputError(f"annotations of type {type(annotations).__name__}", "Annotations", "Use read_annotations.")
    if annotations.annotator is None:
        raise InputError("annotations that are counts", "annotations with annotators", "Leave annotations out.")
    labels = scores.labels
    if labels is None or labels.shares is None or labels.estimand != "distribution":
        hint = "Score against infer_truth(annotations, method='vote-share'), or leave annotations out."
        problem = "annotations with scores that are not against vote shares"
        raise InputError(problem, "scores of the estimand 'distribution'", hint)
    row_named = {name: row for row, name in enumerate(scores.items)}
    row_of = np.array([row_named.get(name, -1) for name in annotations.index.items])[annotations.item]
    known = np.flatnonzero(row_of >= 0)
    names, n_labels = annotations.index.annotators, labels.shares.shape[1]
    label = annotations.label[known]
    # as columns of the shares, which have the labels of the predictions too: the used ones, in their order
    used, named = np.flatnonzero((labels.shares > 0).any(0)), np.unique(label)
    label = label if len(used) != len(named) else used[np.searchsorted(named, label)]
    votes = row_of[known] * n_labels + np.minimum(label, n_labels - 1)
    counts = np.bincount(votes, minlength=labels.shares.size).reshape(labels.shares.shape)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    if (len(label) and label.max() >= n_labels) or not np.allclose(shares, labels.shares, rtol=0, atol=SAME):
        raise InputError("annotations other than those behind the scores", "the same", "Score against their truth.")
    cell = row_of[known] * len(names) + annotations.annotator[known]
    rows = np.argsort(cell, kind="stable")
    cell, item, label = cell[rows], row_of[known][rows], label[rows]
    first = np.flatnonzero(np.diff(cell, prepend=-1))  # an annotator who labels an item again counts once
    ends, place = np.append(first, len(cell)), item * n_labels + label
    losses = to_host(labels.losses)[models].reshape(len(models), -1)

    def values(cells: slice) -> Float[np.ndarray, "model cell"]:
        start, stop, _ = cells.indices(len(first))
        of_rows = slice(ends[start], ends[stop])
        own = losses[:, place[of_rows]]
        size = np.diff(ends[start : stop + 1])
        return own if (size == 1).all() else np.add.reduceat(own, first[start:stop] - ends[start], axis=1) / size

    sums = UnitSums.of(names, item[first], cell[first] % len(names), values, plan)
    return Shared("annotator", [(models, sums)], plan.weights)


def of_replicates(scores: Scores, models: Models, plan: Design) -> Shared:
    repeated = scores.replicates
    if repeated is None or not repeated.names:
        raise InputError(
            "replicates='crossed' without replicates that items share",
            "scores whose replicates (seeds) have the same names on every item",
            "Give Scores.from_frame(..., replicate=COLUMN), or use replicates='independent'.",
        )
    losses = scores.sign * repeated.values
    used, set_of = np.unique(~np.isnan(losses[models]).all(1), axis=0, return_inverse=True)
    sums = []
    for at in range(len(used)):
        alike = models[set_of.ravel() == at]
        item, unit = np.nonzero(np.isfinite(losses[alike]).all(0))

        def values(cells: slice, own: Models = alike, item: Models = item, unit: Models = unit) -> np.ndarray:
            return np.asarray(losses[own[:, None], item[cells], unit[cells]])

        sums.append((alike, UnitSums.of(repeated.names, item, unit, values, plan)))
    return Shared("replicate", sums, plan.weights)
