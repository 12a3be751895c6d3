"""`Moments`: all that a comparison takes from the items, in sums that add up over parts of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.design import Design, Structure, design
from probtruth.comparison.location import GroupMeans, means_from
from probtruth.comparison.pairs import pair_rows_of, pairs_of
from probtruth.comparison.shared_units import Shared, UnitSums, of_annotators
from probtruth.comparison.sums import Sums
from probtruth.errors import InputError
from probtruth.types import Annotations, RuleFacts, Scores
from probtruth.types.arguments import Groups


@dataclass(frozen=True, eq=False)
class Moments:
    r"""What `compare` takes from the items: sums of every model's scores and of every pair's differences.

    Of each group, or cluster in it: the number of items, mean, sums of squared and cubed residuals, least and largest
    value, and what ties need; of annotators that many items share, the sums of their residuals, by name. `a + b` holds
    the items of both (Chan, Golub and LeVeque 1983, doi:10.2307/2683386), so that `compare` of it gives what it gives
    of all items at once, up to rounding. Tests that need every item, what labels leave unsure and outcomes that were
    not seen are not in it.

    >>> import probtruth as pt
    >>> table = {"item": [1, 2, 3, 4] * 2, "model": ["a"] * 4 + ["b"] * 4, "score": [1, 2, 2, 4, 2, 2, 4, 5]}
    >>> whole = pt.Scores.from_frame(table, higher_is_better=False)
    >>> halves = [{k: v[i : i + 2] + v[i + 4 : i + 6] for k, v in table.items()} for i in (0, 2)]
    >>> parts = [pt.Scores.from_frame(half, higher_is_better=False) for half in halves]
    >>> merged = pt.Moments.of(parts[0]) + pt.Moments.of(parts[1])
    >>> lows = [row["low"] for one in (pt.Moments.of(whole), merged) for row in pt.compare(one).pairs]
    >>> abs(lows[0] - lows[1]) < 1e-9
    True
    """

    models: tuple[str, ...]
    rule: str
    higher_is_better: bool
    known: RuleFacts
    groups: tuple[str, ...]
    cells: tuple[str, ...]
    cell_group: Int[np.ndarray, " cell"]
    sums: Sums
    infinite: Int[np.ndarray, "sign model group"]
    largest: Float[np.ndarray, " model"]
    steps: tuple[int, int] | None  # the least and largest of losses (or 0) that are all -1, 0 or 1
    annotators: UnitSums | None = None

    @classmethod
    def of(
        cls,
        scores: Scores,
        *,
        groups: Groups | None = None,
        clusters: Groups | None = None,
        annotations: Annotations | None = None,
    ) -> "Moments":
        """The sums of some scores; a part of the items will do.

        Arguments: `groups`, `clusters` and `annotations` as in `compare`. Names of groups, clusters and annotators say
        what belongs together in other parts.

        Returns: sums that `+` adds and `compare` takes.

        Errors: `InputError` for NaN scores, and for scores that better ones correct (`gold`).
        """
        if scores.gold is not None:
            raise InputError("scores with gold", "scores alone", "Compare them as a whole.")
        plan = design(scores, groups, clusters, None)
        made = cls.made(scores, scores.losses, plan)
        if annotations is None:
            return made
        order = np.argsort(np.array(scores.models), kind="stable")
        (_, units), *_ = of_annotators(scores, annotations, order, plan).sums
        return replace(made, annotators=units)

    @classmethod
    def made(cls, scores: Scores, losses: Float[np.ndarray, "model item"], plan: Design) -> "Moments":
        """Those of losses under a design."""
        order = np.argsort(np.array(scores.models), kind="stable")
        values = losses[order] if (np.diff(order) != 1).any() else losses
        largest = np.maximum(values.max(1, initial=0.0), -values.min(1, initial=0.0))
        infinite = np.zeros((2, len(values), plan.n_groups), np.int64)
        for row in np.flatnonzero(~np.isfinite(largest)):
            unknown = np.flatnonzero(np.isnan(values[row]))
            if len(unknown):
                where = f"model {scores.models[order[row]]!r}, item {scores.items[unknown[0]]!r}"
                raise InputError("NaN", "a number", "Remove the item.", where)
            for sign, kind in enumerate((np.inf, -np.inf)):
                places = plan.structure.of_item()[values[row] == kind]
                infinite[sign, row] = np.bincount(places, minlength=plan.n_groups)
            largest[row] = np.abs(values[row][np.isfinite(values[row])]).max(initial=0.0)
        check_size(float(largest.max(initial=0.0)))
        within = plan.structure
        steps = all(((some == 0) | (np.abs(some) == 1)).all() for some in (values[:, :1000], values))
        return cls(
            models=tuple(scores.models[row] for row in order),
            rule=scores.rule,
            higher_is_better=scores.higher_is_better,
            known=scores.known,
            groups=plan.group_names,
            cells=plan.group_names if plan.cluster_names is None else plan.cluster_names,
            cell_group=np.arange(plan.n_groups) if within.unit_group is None else within.unit_group,
            sums=Sums.of(values, within, pairs_of(np.arange(len(values)))),
            infinite=infinite,
            largest=largest,
            steps=(int(values.min(initial=0.0)), int(values.max(initial=0.0))) if steps else None,
        )

    @property
    def clustered(self) -> bool:
        """Whether items come in clusters."""
        return self.sums.square is None

    @property
    def structure(self) -> Structure:
        """Which items belong together, as far as sums know."""
        if not self.clustered:
            return Structure(self.sums.n)
        n_items = np.bincount(self.cell_group, self.sums.n, len(self.groups)).astype(np.int64)
        return Structure(n_items, None, None, self.cell_group, self.sums.n)

    @property
    def finite(self) -> Bool[np.ndarray, " model"]:
        """Which models have finite scores only."""
        return np.asarray(self.infinite.sum((0, 2)) == 0)

    @property
    def range(self) -> tuple[float, float] | None:
        """What a loss lies in, where that is known and finite."""
        if self.known.range is not None:
            return self.known.range if math.isfinite(self.known.range[1] - self.known.range[0]) else None
        return None if self.steps is None else (float(self.steps[0]), float(max(self.steps[1], self.steps[0] + 1)))

    def group_means(self) -> GroupMeans:
        """What the sums say of the models with finite scores and of their pairs."""
        pseudo = 0.0 if self.range is None else self.range[1] - self.range[0]
        chosen, n_models, within = np.flatnonzero(self.finite), len(self.models), self.structure
        pairs = pairs_of(chosen)
        of_pairs = self.sums.of_rows(n_models + pair_rows_of(pairs, n_models))
        return GroupMeans.of(
            within,
            means_from(of_pairs, within, self.largest[pairs].max(1), pseudo),
            means_from(self.sums.of_rows(chosen), within, self.largest[chosen], None),
        )

    def means(self, weights: Float[np.ndarray, " group"]) -> Float[np.ndarray, " model"]:
        """Each model's mean loss: infinite where a score that counts is, NaN for both signs."""
        used = weights > 0
        up, down = (np.asarray(counts[:, used].any(1)) for counts in self.infinite)
        within, mean = self.structure, self.sums.mean[: len(self.models)]
        with np.errstate(invalid="ignore"):
            of_group = within.group_totals(mean * self.sums.n) / within.n_items if self.clustered else mean
            finite = of_group[:, used] @ weights[used]
        return np.where(up & down, np.nan, np.where(up, np.inf, np.where(down, -np.inf, finite)))

    def __add__(self, other: "Moments") -> "Moments":
        """The sums over the items of both."""
        for name in ("models", "rule", "higher_is_better", "clustered"):
            mine, others = getattr(self, name), getattr(other, name)
            if mine != others:
                raise InputError(f"{name} {mine} and {others}", "parts of one table of scores", "Score them alike.")
        if (self.annotators is None) != (other.annotators is None):
            raise InputError("annotators in one part only", "in both or none", "Pass annotations with every part.")
        groups, cells = (tuple(sorted({*getattr(self, name), *getattr(other, name)})) for name in ("groups", "cells"))
        mine, others = self._among(groups, cells), other._among(groups, cells)
        known = np.maximum(mine.cell_group, others.cell_group)
        if (np.minimum(mine.cell_group, others.cell_group)[(mine.sums.n > 0) & (others.sums.n > 0)] < 0).any() or (
            (mine.cell_group != others.cell_group) & (mine.sums.n > 0) & (others.sums.n > 0)
        ).any():
            raise InputError("a cluster in different groups", "clusters inside groups", "Name clusters apart.")
        steps = None
        if mine.steps is not None and others.steps is not None:
            steps = min(mine.steps[0], others.steps[0]), max(mine.steps[1], others.steps[1])
        units = mine.annotators
        return replace(
            mine,
            known=_merged(self.known, other.known, int(self.sums.n.sum()), int(other.sums.n.sum())),
            cell_group=known,
            sums=mine.sums + others.sums,
            infinite=mine.infinite + others.infinite,
            largest=np.maximum(mine.largest, others.largest),
            steps=steps,
            annotators=None if units is None or others.annotators is None else units + others.annotators,
        )

    def _among(self, groups: tuple[str, ...], cells: tuple[str, ...]) -> "Moments":
        """The same under more names."""
        group = _places(self.groups, groups)
        cell = group if not self.clustered else _places(self.cells, cells)
        cells = cells if self.clustered else groups
        home = np.full(len(cells), -1) if self.clustered else np.arange(len(groups))
        home[cell] = group[self.cell_group]
        infinite = np.zeros((2, len(self.models), len(groups)), np.int64)
        infinite[:, :, group] = self.infinite
        units = None if self.annotators is None else self.annotators.among(group, len(groups))
        sums = self.sums.of_cells(cell, len(cells), group, len(groups))
        return replace(
            self, groups=groups, cells=cells, cell_group=home, sums=sums, infinite=infinite, annotators=units
        )

    def shared(self, weights: Float[np.ndarray, " group"]) -> Shared | None:
        """What annotators that items share add to the variance; models by their places here."""
        if self.annotators is None:
            return None
        return Shared.of("annotator", [(np.arange(len(self.models)), self.annotators)], weights)


def _places(names: Sequence[str], among: Sequence[str]) -> Int[np.ndarray, " name"]:
    place = {name: at for at, name in enumerate(among)}
    return np.array([place[name] for name in names], np.int64)


def _merged(one: RuleFacts, other: RuleFacts, n: int, m: int) -> RuleFacts:
    """What is known of the rule over both parts: the entropy is a mean over items, the baseline is not."""
    entropy = None
    if one.entropy is not None and other.entropy is not None:
        entropy = (n * one.entropy + m * other.entropy) / (n + m)
    baseline = one.baseline if one.baseline == other.baseline else None
    return replace(one, entropy=entropy, baseline=baseline)


# Powers of scores that are all below this in size would be lost, and those of scores beyond this overflow.
SMALLEST, LARGEST = 1e-75, 1e75


def check_size(largest: float, smallest: float = SMALLEST) -> None:
    """Raises `InputError` where the largest score is too large to be cubed, or so small that all would count as 0."""
    if largest > LARGEST:
        raise InputError(f"a score of size {largest:g}", f"finite scores up to {LARGEST:g}", "Rescale the scores.")
    if 0 < largest < smallest:
        raise InputError(f"scores of size {largest:g} at most", f"some of at least {smallest:g}", "Rescale the scores.")
