"""`Moments`: all that a comparison takes from the items, in sums that add up over parts of them."""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.design import Design, design, totals
from probtruth.comparison.location import Sums, wide
from probtruth.comparison.pairs import pairs_of
from probtruth.comparison.shared_units import UnitSums, of_annotators
from probtruth.errors import InputError
from probtruth.types import Annotations, RuleFacts, Scores
from probtruth.types.arguments import Groups
from probtruth.types.index import positions, sort_names

# Powers of scores that are all below this in size would be lost, and those of scores beyond this overflow.
SMALLEST, LARGEST = 1e-75, 1e75


def influence_of(scores: Scores, plan: Design) -> Float[np.ndarray, "model item"] | None:
    """What each item moves through fitted weights, about the mean of its group: it counts in the spread alone."""
    behind = scores.labels
    if behind is None or behind.influence is None:
        return None
    group = plan.of_item()
    centre = totals(behind.influence, group, plan.n_groups) / plan.group_sizes
    return np.asarray(behind.influence - centre[:, group])


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

    models: tuple[str, ...]  # by name
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
    cautions: tuple[str, ...] = ()  # of the scores

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

        Arguments: `groups`, `clusters` and `annotations` as in `compare` (scores of an inferred truth have their
        own). Names of groups, clusters and annotators say
        what belongs together in other parts.

        Returns: sums that `+` adds and `compare` takes.

        Errors: `InputError` for NaN scores, and for scores that better ones correct (`gold`).
        """
        if scores.gold is not None:
            raise InputError("scores with gold", "scores alone", "Compare them as a whole.")
        plan = design(scores, groups, clusters, None)
        influence = influence_of(scores, plan)
        made = cls.made(scores, scores.losses if influence is None else scores.losses + influence, plan)
        if annotations is None and scores.labels is not None:
            annotations = scores.labels.named_annotations
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
                infinite[sign, row] = np.bincount(plan.of_item()[values[row] == kind], minlength=plan.n_groups)
            largest[row] = np.abs(values[row][np.isfinite(values[row])]).max(initial=0.0)
        size = float(largest.max(initial=0.0))
        if size > LARGEST or 0 < size < SMALLEST:
            wanted = f"finite scores from {SMALLEST:g} to {LARGEST:g}"
            raise InputError(f"scores of size {size:g} at most", wanted, "Rescale the scores.")
        steps = all(((some == 0) | (np.abs(some) == 1)).all() for some in (values[:, :1000], values))
        return cls(
            models=tuple(scores.models[row] for row in order),
            rule=scores.rule,
            higher_is_better=scores.higher_is_better,
            known=scores.known,
            groups=plan.group_names,
            cells=plan.group_names if plan.cluster_names is None else plan.cluster_names,
            cell_group=np.arange(plan.n_groups) if plan.unit_group is None else plan.unit_group,
            sums=Sums.of(values, plan, pairs_of(np.arange(len(values)))),
            infinite=infinite,
            largest=largest,
            steps=(int(values.min(initial=0.0)), int(values.max(initial=0.0))) if steps else None,
            cautions=scores.cautions,
        )

    @property
    def design(self) -> Design:
        """Which items belong together, as far as sums know."""
        if len(self.sums.powers) > 1:
            return Design(self.sums.n, group_names=self.groups)
        sizes = np.bincount(self.cell_group, self.sums.n, len(self.groups)).astype(np.int64)
        return Design(sizes, None, None, self.cell_group, self.sums.n, self.groups, self.cells)

    @property
    def finite(self) -> Bool[np.ndarray, " model"]:
        """Which models have finite scores only."""
        return np.asarray(~self.infinite.any((0, 2)))

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the largest loss that an item can have, where that is known and finite."""
        if self.known.range is not None:
            return self.known.range if math.isfinite(self.known.range[1] - self.known.range[0]) else None
        return None if self.steps is None else (float(self.steps[0]), float(max(self.steps[1], self.steps[0] + 1)))

    def means(self, plan: Design) -> Float[np.ndarray, " model"]:
        """Each model's mean loss: infinite where a score that counts is, NaN for both signs."""
        used, mean = plan.weights > 0, self.sums.powers[0, : len(self.models)]
        up, down = self.infinite[..., used].any(-1)
        with np.errstate(invalid="ignore"):
            if plan.n_clusters is not None:
                mean = plan.group_totals(mean * self.sums.n) / plan.group_sizes
            finite = mean[:, used] @ plan.weights[used]
        return np.where(up & down, np.nan, np.where(up, np.inf, np.where(down, -np.inf, finite)))

    def __add__(self, other: "Moments") -> "Moments":
        of_both = [(name, getattr(self, name), getattr(other, name)) for name in ("models", "rule", "higher_is_better")]
        clustered = (one.design.n_clusters is not None for one in (self, other))
        for name, own, others in (*of_both, ("clustered", *clustered)):
            if own != others:
                raise InputError(f"{name} {own} and {others}", "parts of one table of scores", "Score them alike.")
        if (self.annotators is None) != (other.annotators is None):
            raise InputError("annotators in one part only", "in both or none", "Pass annotations with every part.")
        groups, cells = (sort_names({*getattr(self, name), *getattr(other, name)}) for name in ("groups", "cells"))
        one, two = self._among(groups, cells), other._among(groups, cells)
        if (one.cell_group != two.cell_group)[(one.sums.n > 0) & (two.sums.n > 0)].any():
            raise InputError("a cluster in different groups", "clusters inside groups", "Name clusters apart.")
        n, m = int(self.sums.n.sum()), int(other.sums.n.sum())
        entropy = None
        if self.known.entropy is not None and other.known.entropy is not None:
            entropy = (n * self.known.entropy + m * other.known.entropy) / (n + m)
        steps = None
        if one.steps is not None and two.steps is not None:
            steps = min(one.steps[0], two.steps[0]), max(one.steps[1], two.steps[1])
        units = one.annotators
        return replace(
            one,
            known=replace(self.known, entropy=entropy, baseline=None),
            cell_group=np.maximum(one.cell_group, two.cell_group),
            sums=one.sums + two.sums,
            infinite=one.infinite + two.infinite,
            largest=np.maximum(one.largest, two.largest),
            steps=steps,
            cautions=tuple(dict.fromkeys(self.cautions + other.cautions)),
            annotators=None if units is None or two.annotators is None else units + two.annotators,
        )

    def _among(self, groups: tuple[str, ...], cells: tuple[str, ...]) -> "Moments":
        group, cell = positions(groups, self.groups), positions(cells, self.cells)
        return replace(
            self,
            groups=groups,
            cells=cells,
            cell_group=wide(group[self.cell_group], cell, len(cells), -1),
            sums=self.sums.among(cell, len(cells), group, len(groups)),
            infinite=wide(self.infinite, group, len(groups)),
            annotators=None if self.annotators is None else self.annotators.among(group, len(groups)),
        )
