"""`Moments`: all that a comparison takes from the items, in sums that add up over parts of them."""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.estimation.design import Design, design, spread_out
from probtruth.comparison.estimation.pairs import pairs_of
from probtruth.comparison.estimation.shared_units import of_annotators
from probtruth.comparison.estimation.unit_sums import UnitSums
from probtruth.errors import InputError
from probtruth.kernels.shapes import ModelFloats, ModelItem
from probtruth.types import Annotations, RuleFacts, Scores
from probtruth.types.arguments import Groups
from probtruth.types.index import positions, sort_names

CellInts = Int[np.ndarray, " cell"]
PowerSums = Float[np.ndarray, "power row cell"]

# Powers of scores that are all below this in size would be lost, and those of scores beyond this overflow.
SMALLEST, LARGEST = 1e-75, 1e75
BLOCK = 1 << 17  # Numbers worked on at once: they stay in the processor's cache


def influence_of(scores: Scores, plan: Design) -> ModelItem | None:
    """What each item moves through fitted weights, about the mean of its group: it counts in the spread alone."""
    behind = scores.labels
    if behind is None or behind.influence is None:
        return None
    return np.asarray(plan.residuals(behind.influence))


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
    cells: tuple[str, ...]  # groups, or the clusters in them
    cell_group: CellInts
    n: CellInts
    # Rows are the models, then their pairs. The mean; where cells are groups also the sums of squared and of cubed
    # residuals.
    powers: PowerSums
    ends: Float[np.ndarray, "end row group"]  # minus the least value, and the largest
    sizes: Float[np.ndarray, "size row group"]  # how many values are not 0, and the sum of their sizes
    infinite: Int[np.ndarray, "sign model group"]
    largest: ModelFloats
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

        Arguments:
            scores: what `score` returned or `Scores.from_frame` made.
            groups, clusters, annotations: as in `compare` (scores of an inferred truth have their own). Names of
                groups, clusters and annotators say what belongs together in other parts.

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
    def made(cls, scores: Scores, losses: ModelItem, plan: Design) -> "Moments":
        """Those of losses under a design.

        Arguments:
            scores: what `score` returned or `Scores.from_frame` made.
            losses: of each model on each item; lower is better.
            plan: which items belong together.
        """
        order = np.argsort(np.array(scores.models), kind="stable")
        values = losses[order] if (np.diff(order) != 1).any() else losses
        models = tuple(scores.models[row] for row in order)
        largest = np.maximum(values.max(1, initial=0.0), -values.min(1, initial=0.0))
        infinite = np.zeros((2, len(values), plan.n_groups), np.int64)
        for row in np.flatnonzero(~np.isfinite(largest)):
            unknown = np.flatnonzero(np.isnan(values[row]))
            if len(unknown):
                where = f"model {models[row]!r}, item {scores.items[unknown[0]]!r}"
                raise InputError("NaN", "a number", "Remove the item.", where)
            for sign, kind in enumerate((np.inf, -np.inf)):
                infinite[sign, row] = np.bincount(plan.of_item()[values[row] == kind], minlength=plan.n_groups)
            largest[row] = np.abs(values[row][np.isfinite(values[row])]).max(initial=0.0)
        size = float(largest.max(initial=0.0))
        if size > LARGEST or 0 < size < SMALLEST:
            wanted = f"finite scores from {SMALLEST:g} to {LARGEST:g}"
            raise InputError(f"scores of size {size:g} at most", wanted, "Rescale the scores.")
        n, powers, ends, sizes = _summed(values, plan)
        return cls(
            models=models,
            rule=scores.rule,
            higher_is_better=scores.higher_is_better,
            known=scores.known,
            groups=plan.group_names,
            cells=plan.group_names if plan.cluster_names is None else plan.cluster_names,
            cell_group=np.arange(plan.n_groups) if plan.unit_group is None else plan.unit_group,
            n=n,
            powers=powers,
            ends=ends,
            sizes=sizes,
            infinite=infinite,
            largest=largest,
            steps=steps_of(values),
            cautions=scores.cautions,
        )

    @property
    def clustered(self) -> bool:
        """Whether the units are clusters of items."""
        return len(self.powers) == 1

    @property
    def design(self) -> Design:
        """Which items belong together, as far as sums know."""
        if not self.clustered:
            return Design(self.n, group_names=self.groups)
        sizes = np.bincount(self.cell_group, self.n, len(self.groups)).astype(np.int64)
        return Design(sizes, None, None, self.cell_group, self.n, self.groups, self.cells)

    @property
    def finite(self) -> Bool[np.ndarray, " model"]:
        """Which models have finite scores only."""
        return np.asarray(~self.infinite.any((0, 2)))

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the largest loss that an item can have, where that is known and finite."""
        if self.known.range is not None:
            low, high = self.known.range
            return (low, high) if math.isfinite(high - low) else None
        if self.steps is None:
            return None
        least, most = self.steps
        return float(least), float(max(most, least + 1))

    def means(self, plan: Design) -> ModelFloats:
        """Each model's mean loss: infinite where a score that counts is, NaN for both signs.

        Arguments:
            plan: which items belong together.
        """
        used = plan.weights > 0
        up, down = self.infinite[..., used].any(-1)
        mean = self.powers[0, : len(self.models)]
        with np.errstate(invalid="ignore"):
            if plan.n_clusters is not None:
                mean = plan.group_totals(mean * self.n) / plan.group_sizes
            means = mean[:, used] @ plan.weights[used]
        means[up] = np.inf
        means[down] = -np.inf
        means[up & down] = np.nan
        return np.asarray(means)

    def __add__(self, other: "Moments") -> "Moments":
        for name in ("models", "rule", "higher_is_better", "clustered"):
            one = getattr(self, name)
            two = getattr(other, name)
            if one != two:
                raise InputError(f"{name} {one} and {two}", "parts of one table of scores", "Score them alike.")
        if (self.annotators is None) != (other.annotators is None):
            raise InputError("annotators in one part only", "in both or none", "Pass annotations with every part.")
        names = sort_names({*self.groups, *other.groups}), sort_names({*self.cells, *other.cells})
        one = self._among(*names)
        two = other._among(*names)
        if (one.cell_group != two.cell_group)[(one.n > 0) & (two.n > 0)].any():
            raise InputError("a cluster in different groups", "clusters inside groups", "Name clusters apart.")
        entropy = None
        if self.known.entropy is not None and other.known.entropy is not None:
            n = int(self.n.sum())
            m = int(other.n.sum())
            entropy = (n * self.known.entropy + m * other.known.entropy) / (n + m)
        steps = None
        if one.steps is not None and two.steps is not None:
            steps = (min(one.steps[0], two.steps[0]), max(one.steps[1], two.steps[1]))
        annotators = None
        if one.annotators is not None and two.annotators is not None:
            annotators = one.annotators + two.annotators
        return replace(
            one,
            known=replace(self.known, entropy=entropy, baseline=None),
            cell_group=np.maximum(one.cell_group, two.cell_group),
            n=one.n + two.n,
            powers=_merged(one.n, one.powers, two.n, two.powers),
            ends=np.maximum(one.ends, two.ends),
            sizes=one.sizes + two.sizes,
            infinite=one.infinite + two.infinite,
            largest=np.maximum(one.largest, two.largest),
            steps=steps,
            annotators=annotators,
            cautions=tuple(dict.fromkeys(self.cautions + other.cautions)),
        )

    def _among(self, groups: tuple[str, ...], cells: tuple[str, ...]) -> "Moments":
        """The same where groups and cells are some of more."""
        group = positions(groups, self.groups)
        cell = positions(cells, self.cells)
        annotators = self.annotators
        return replace(
            self,
            groups=groups,
            cells=cells,
            cell_group=spread_out(group[self.cell_group], cell, len(cells), -1),
            n=spread_out(self.n, cell, len(cells)),
            powers=spread_out(self.powers, cell, len(cells)),
            ends=spread_out(self.ends, group, len(groups), -np.inf),
            sizes=spread_out(self.sizes, group, len(groups)),
            infinite=spread_out(self.infinite, group, len(groups)),
            annotators=None if annotators is None else annotators.among(group, len(groups)),
        )


def steps_of(values: ModelItem) -> tuple[int, int] | None:
    """The least and the largest of values that are all -1, 0 or 1; None of others."""
    if not (_are_steps(values[:, :1000]) and _are_steps(values)):
        return None
    return int(values.min(initial=0.0)), int(values.max(initial=0.0))


def _are_steps(values: ModelItem) -> bool:
    return bool(((values == 0) | (np.abs(values) == 1)).all())


def _summed(values: ModelItem, plan: Design) -> tuple[np.ndarray, ...]:
    """Number of items, powers, ends and sizes of every model and of every pair, by the cells of a design."""
    group = plan.of_item()
    cell = group if plan.unit is None else plan.unit
    if plan.grouped or plan.unit is not None:  # items of one cell stand together, and cells of one group
        order = np.lexsort((cell, group))
        cell = cell[order]
        group = group[order]
        if (np.diff(order) != 1).any():
            values = np.take(values, order, axis=1)  # rows stay contiguous
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    group_starts = np.flatnonzero(np.diff(group, prepend=-1))
    n_models, n_items = values.shape
    count = np.diff(starts, append=n_items)
    n_cells = plan.n_clusters or plan.n_groups
    pairs = pairs_of(np.arange(n_models))
    n_rows = n_models + len(pairs)
    powers = np.zeros((3 if plan.n_clusters is None else 1, n_rows, n_cells))
    ends = np.full((2, n_rows, plan.n_groups), -np.inf)
    sizes = np.zeros((2, n_rows, plan.n_groups))
    step = max(1, BLOCK // max(n_items, 1))
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, n_rows, step):
            stop = min(start + step, n_rows)
            rows = values[start:stop]
            if stop > n_models:
                first, second = pairs[max(0, start - n_models) : stop - n_models].T
                rows = np.concatenate([rows, values[first] - values[second]])
            mean = np.add.reduceat(rows, starts, axis=1) / count
            of_cells = slice(start, stop), cell[starts]
            powers[0][of_cells] = mean
            if plan.n_clusters is None:
                residual = rows - (mean if len(starts) == 1 else np.repeat(mean, count, axis=1))
                raised = residual * residual
                powers[1][of_cells] = np.add.reduceat(raised, starts, axis=1)
                raised *= residual
                powers[2][of_cells] = np.add.reduceat(raised, starts, axis=1)
            of_groups = slice(start, stop), group[group_starts]
            ends[0][of_groups] = -np.minimum.reduceat(rows, group_starts, axis=1)
            ends[1][of_groups] = np.maximum.reduceat(rows, group_starts, axis=1)
            sizes[0][of_groups] = np.add.reduceat(rows != 0, group_starts, axis=1, dtype=np.int64)
            sizes[1][of_groups] = np.add.reduceat(np.abs(rows), group_starts, axis=1)
    return spread_out(count, cell[starts], n_cells), powers, ends, sizes


def _merged(
    n: CellInts,
    one: PowerSums,
    m: CellInts,
    two: PowerSums,
) -> PowerSums:
    """The mean and the sums of powers of residuals of n items and of m others."""
    # Chan, Golub and LeVeque 1983, doi:10.2307/2683386; an empty cell has the other's numbers
    total = np.maximum(n + m, 1).astype(np.float64)
    n = n.astype(np.float64)
    m = m.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        merged = one + two
        apart = np.where((n > 0) & (m > 0), two[0] - one[0], 0.0)
        merged[0] = np.where(n > 0, one[0], two[0]) + apart * m / total
        if len(merged) > 1:
            product = n * m / total
            merged[1] += apart**2 * product
            merged[2] += apart**3 * product * (n - m) / total
            merged[2] += 3 * apart * (n * two[1] - m * one[1]) / total
    return np.asarray(merged)
