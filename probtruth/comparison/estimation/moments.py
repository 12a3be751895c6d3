"""`Moments`: all that a comparison takes from the items, in sums that add up over parts of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth import check
from probtruth.comparison.boards.columns import Columns
from probtruth.comparison.estimation.design import (
    Design,
    design,
    pairs_of,
    rows_among,
    spread_out,
    totals,
)
from probtruth.comparison.estimation.shared_units import sums_of_annotators
from probtruth.comparison.estimation.unit_sums import UnitSums
from probtruth.errors import InputError
from probtruth.kernels.host import TIE
from probtruth.kernels.shapes import CellInts, ModelItem, RowFloats
from probtruth.types import Annotations, RuleFacts, Scores
from probtruth.types.arguments import Groups
from probtruth.types.index import positions, sort_names

PowerSums = Float[np.ndarray, "power row cell"]
SizeSums = Float[np.ndarray, "size row group"]

# Powers of scores that are all below this in size would be lost, and those of scores beyond this overflow.
SMALLEST, LARGEST = 1e-75, 1e75
OF_REPLICATES = "what replicates have in common over items is not in sums: compare the scores for it"
BLOCK = 1 << 17  # Numbers worked on at once: they stay in the processor's cache
MOST_MODELS = 25  # Of more, sums of items that all have cannot be added to sums of items that some lack


def influence_of(scores: Scores, plan: Design) -> ModelItem | None:
    """What each item moves through fitted weights, about the mean of its group: it counts in the spread alone."""
    return None if scores.influence is None else plan.residuals(scores.influence)


def _with_range(scores: Scores) -> RuleFacts:
    """What is known of the rule, with the range of answers of 0 and 1, whose means over an item lie between."""
    repeated = scores.replicates
    if repeated is None or scores.known.range is not None:
        return scores.known
    losses = scores.sign * repeated.values
    if not (np.isin(losses, (0.0, scores.sign)) | np.isnan(losses)).all():
        return scores.known
    bounds = min(0.0, scores.sign), max(0.0, scores.sign)
    return replace(scores.known, range=bounds)


@dataclass(frozen=True, eq=False)
class Moments:
    r"""What `compare` takes from the items: sums of every model's scores and of every pair's differences.

    Of each group, or cluster in it: the number of items, mean, sums of squared and cubed residuals, least and largest
    value, and what ties need; of annotators that many items share, the sums of their residuals, by name. `a + b` holds
    the items of both (Chan, Golub and LeVeque 1983, doi:10.2307/2683386), so that `compare` of it gives what it gives
    of all items at once, up to rounding. Tests that need every item, what labels leave unsure and outcomes that were
    not seen are not in it.

    Where some models lack some items, the items are summed up by the models that were scored on them, or kept as they
    are where these sums would have more numbers: of m models, up to (m + 1)^2 items in each group and set of models.

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
    # residuals. Where scores have holes `columns` have the items, and a mean is the sum of what is there over `n`.
    powers: PowerSums
    ends: Float[np.ndarray, "end row group"]  # minus the least value, and the largest
    sizes: SizeSums  # how many values are not 0, and the sum of their sizes
    infinite: Int[np.ndarray, "sign model group"]
    columns: Columns | None = None
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

        Errors: `InputError` for scores that better ones correct (`gold`), and where some models lack items for scores
            against fitted classes, or with annotators.
        """
        if scores.gold is not None:
            raise InputError("scores with gold", "scores alone", "Compare them as a whole.")
        plan = design(scores, groups, clusters, None)
        influence = influence_of(scores, plan)
        losses = scores.losses if influence is None else scores.losses + influence
        made = cls.made(scores, losses, plan)
        if annotations is None and scores.labels is not None:
            annotations = scores.labels.named_annotations
        repeated = scores.replicates
        by_annotator = repeated if repeated is not None and repeated.what == "annotator" else None
        holes = made.has_holes or (by_annotator is not None and bool(np.isnan(by_annotator.values).any()))
        with_annotators = not (by_annotator is None and annotations is None)
        if holes and (with_annotators or influence is not None):
            what = "annotators" if with_annotators else "fitted classes"
            hint = "Compare the scores as a whole, or sum up scores.common()."
            raise InputError(f"sums of scores with {what} that some models lack", "a score of every model", hint)
        columns = made.columns
        assert columns is not None
        columns = columns.merged() if made.has_holes or len(made.models) <= MOST_MODELS else None
        annotators = None
        cautions = made.cautions
        order = np.argsort(np.array(scores.models), kind="stable")
        if annotations is not None:
            annotators = sums_of_annotators(scores, annotations, order, plan)
        elif by_annotator is not None:
            of_cells = scores.sign * by_annotator.values[order]
            annotators = UnitSums.of(by_annotator.names, by_annotator.item, by_annotator.replicate, of_cells, plan)
        elif repeated is not None:
            cautions = (*cautions, OF_REPLICATES)
        return replace(made, columns=columns, annotators=annotators, cautions=cautions)

    @classmethod
    def made(cls, scores: Scores, losses: ModelItem, plan: Design) -> "Moments":
        """Those of losses under a design.

        Arguments:
            scores: what `score` returned or `Scores.from_frame` made.
            losses: of each model on each item; lower is better.
            plan: which items belong together.
        """
        order = np.argsort(np.array(scores.models), kind="stable")
        values = losses
        if (np.diff(order) != 1).any():
            values = losses[order]
        models = tuple(scores.models[row] for row in order)
        infinite = np.zeros((2, len(values), plan.n_groups), np.int64)
        with_infinite = np.flatnonzero(np.isinf(values).any(1))
        for sign, infinity in enumerate((np.inf, -np.inf)):
            counts = 1.0 * (values[with_infinite] == infinity)
            infinite[sign, with_infinite] = totals(counts, plan.of_item(), plan.n_groups)
        size = float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))
        if size > LARGEST or 0 < size < SMALLEST:
            wanted = f"finite scores from {SMALLEST:g} to {LARGEST:g}"
            raise InputError(f"scores of size {size:g} at most", wanted, "Rescale the scores.")
        n, powers, ends, sizes = _summed(values, plan)
        return cls(
            models=models,
            rule=scores.rule,
            higher_is_better=scores.higher_is_better,
            known=_with_range(scores),
            groups=plan.group_names,
            cells=plan.cluster_names or plan.group_names,
            cell_group=np.arange(plan.n_groups) if plan.unit_group is None else plan.unit_group,
            n=n,
            powers=powers,
            ends=ends,
            sizes=sizes,
            infinite=infinite,
            columns=Columns.of_items(values, plan.of_cell()),
            cautions=scores.cautions,
        )

    @property
    def has_holes(self) -> bool:
        """Whether some models lack some items."""
        return self.columns is not None and bool(np.isnan(self.columns.values).any())

    @property
    def clustered(self) -> bool:
        """Whether the units are clusters of items."""
        return len(self.powers) == 1

    @property
    def design(self) -> Design:
        """Which items belong together, as far as sums know."""
        if not self.clustered:
            return Design(self.n, group_names=self.groups)
        sizes = np.bincount(self.cell_group, self.n, len(self.groups))
        return Design(
            sizes.astype(np.int64),
            unit_group=self.cell_group,
            cluster_sizes=self.n,
            group_names=self.groups,
            cluster_names=self.cells,
        )

    @property
    def finite(self) -> Bool[np.ndarray, " model"]:
        """Which models have finite scores only."""
        return ~self.infinite.any((0, 2))

    def of_finite(self) -> "Moments":
        """The sums of the models with finite scores."""
        if self.finite.all():
            return self
        models = np.flatnonzero(self.finite)
        rows = rows_among(models, len(self.models))
        return replace(
            self,
            models=tuple([self.models[model] for model in models]),
            powers=self.powers[:, rows],
            ends=self.ends[:, rows],
            sizes=self.sizes[:, rows],
            infinite=self.infinite[:, models],
            columns=None if self.columns is None else self.columns.of_models(models),
        )

    @property
    def largest(self) -> RowFloats:
        """The size of each model's largest score, and of each pair's."""
        of_models = self.ends[:, : len(self.models)].max((0, 2))
        pairs = pairs_of(np.arange(len(self.models)))
        return np.append(of_models, of_models[pairs].max(1))

    @property
    def unit_sizes(self) -> SizeSums:
        """In how many units each row's scores do not add up to 0, and the sum of the sizes of what they add up to."""
        if not self.clustered:
            return self.sizes
        size = np.abs(self.n * self.powers[0])
        differs = 1.0 * (size > TIE * np.outer(self.largest, self.n))
        n_groups = self.ends.shape[2]
        return np.stack([totals(rows, self.cell_group, n_groups) for rows in (differs, size)])

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the largest loss that an item can have, where that is known and finite."""
        if self.known.range is not None:
            low, high = self.known.range
            return (float(low), float(high)) if math.isfinite(high - low) else None
        n_models = len(self.models)
        low = min(0.0, -float(self.ends[0, :n_models].max()))
        high = max(0.0, float(self.ends[1, :n_models].max()))
        n_other, size = self.sizes[:, :n_models].sum((1, 2))
        if max(-low, high) > 1 or n_other != size:  # else all are -1, 0 or 1
            return None
        return low, max(high, low + 1)

    def __add__(self, other: "Moments") -> "Moments":
        for name in ("rule", "higher_is_better", "clustered"):
            one = getattr(self, name)
            two = getattr(other, name)
            if one != two:
                raise InputError(f"{name} {one} and {two}", "parts of one table of scores", "Score them alike.")
        if (self.annotators is None) != (other.annotators is None):
            raise InputError("annotators in one part only", "in both or none", "Pass annotations with every part.")
        names = {}
        for axis, of_self in self._names.items():
            names[axis] = sort_names({*of_self, *other._names[axis]})
        names["model"] = tuple(sorted(names["model"]))
        one = self._among(names)
        two = other._among(names)
        columns = None
        if one.columns is not None and two.columns is not None:
            columns = (one.columns + two.columns).merged()
        elif one.has_holes or two.has_holes:
            hint = f"Compare the scores as a whole, or at most {MOST_MODELS} models."
            problem = f"parts with items that all of {len(one.models)} models have, and parts where some lack items"
            raise InputError(problem, "items that some lack in every part", hint)
        in_both = (one.n > 0) & (two.n > 0)
        if (one.cell_group != two.cell_group)[in_both].any():
            raise InputError("a cluster in different groups", "clusters inside groups", "Name clusters apart.")
        if self.clustered and one.annotators is not None and in_both.any():
            problem = f"cluster {check.quote(one.cells[int(in_both.argmax())])} in two parts, with annotators"
            hint = "Sum up all items of a cluster in one part, or compare the scores as a whole."
            raise InputError(problem, "each cluster in one part", hint)
        entropy = None
        bounds = self.known.range if self.known.range == other.known.range else None
        if self.known.entropy is not None and other.known.entropy is not None:
            weights = [self.n.sum(), other.n.sum()]
            entropy = float(np.average([self.known.entropy, other.known.entropy], weights=weights))
        annotators = None
        if one.annotators is not None and two.annotators is not None:
            annotators = one.annotators + two.annotators
        arrays = {name: join(getattr(one, name), getattr(two, name)) for name, (*_, join) in ARRAYS.items()}
        arrays["powers"] = _merged(one, two)
        return replace(
            one,
            **arrays,
            known=replace(self.known, entropy=entropy, baseline=None, range=bounds),
            columns=columns,
            annotators=annotators,
            cautions=tuple(dict.fromkeys(self.cautions + other.cautions)),
        )

    @property
    def _names(self) -> dict[str, tuple[str, ...]]:
        """Of what stands along each axis."""
        units = () if self.annotators is None else self.annotators.names
        return {"model": self.models, "group": self.groups, "cell": self.cells, "unit": units}

    def _among(self, names: Mapping[str, tuple[str, ...]]) -> "Moments":
        """The same where these are some of more names; models that are new to it lack all its items."""
        columns = self.columns
        annotators = self.annotators
        models = names["model"]
        if models != self.models and (columns is None or annotators is not None):
            problem = f"models {self.models} and {models}"
            raise InputError(problem, "parts of one table of scores", "Compare the scores as a whole.")
        places = {axis: positions(names[axis], of_self) for axis, of_self in self._names.items()}
        sizes = {axis: len(of_all) for axis, of_all in names.items()}
        n_models = len(models)
        places["row"] = rows_among(places["model"], n_models)
        sizes["row"] = n_models * (n_models + 1) // 2
        of_self = replace(self, cell_group=places["group"][self.cell_group])
        arrays: dict[str, Any] = {}
        for name, (axes, empty, _) in ARRAYS.items():
            arrays[name] = spread_out(getattr(of_self, name), axes, places, sizes, empty)
        if columns is not None:
            model = np.arange(len(self.models))
            of_models = spread_out(model, ("model",), places, sizes, len(model))
            columns = replace(columns, cell=places["cell"][columns.cell]).of_models(of_models)
        if annotators is not None:
            annotators = annotators.among(names["unit"], places, sizes)
        return replace(
            self,
            **arrays,
            models=models,
            groups=names["group"],
            cells=names["cell"],
            columns=columns,
            annotators=annotators,
        )


# Of what is merged number by number: the axes, what stands where a part has nothing, and what joins two parts
ARRAYS: dict[str, tuple[tuple[str, ...], float, np.ufunc]] = {
    "cell_group": (("cell",), -1, np.maximum),
    "n": (("cell",), 0, np.add),
    "powers": (("row", "cell"), 0, np.add),
    "ends": (("row", "group"), -np.inf, np.maximum),
    "sizes": (("row", "group"), 0, np.add),
    "infinite": (("model", "group"), 0, np.add),
}


def _summed(values: ModelItem, plan: Design) -> tuple[np.ndarray, ...]:
    """Number of items, powers, ends and sizes of every model and of every pair, by the cells of a design.

    Where some lack scores, ends and sizes are of the items that a model, or a pair, has; powers are sums of clusters.
    """
    group = plan.of_item()
    cell = plan.of_cell()
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
    n_powers = 3 if plan.n_clusters is None else 1
    with_holes = bool(np.isnan(values).any())
    powers = np.zeros((n_powers, n_rows, n_cells))
    ends = np.full((2, n_rows, plan.n_groups), -np.inf)
    sizes = np.zeros((2, n_rows, plan.n_groups))
    cells = cell[starts]
    groups = group[group_starts]
    step = max(1, BLOCK // max(n_items, 1))
    largest = np.fmax.reduce(np.abs(values), axis=1, initial=0.0)
    none = np.zeros((n_rows, 1))  # a difference up to which two scores are the same
    none[n_models:, 0] = TIE * largest[pairs].max(1, initial=0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, n_rows, step):
            stop = min(start + step, n_rows)
            rows = values[start:stop]
            if stop > n_models:
                first, second = pairs[max(0, start - n_models) : stop - n_models].T
                differences = values[first] - values[second]
                rows = np.concatenate([rows, differences])
            block = slice(start, stop)
            if not with_holes or plan.unit is not None:
                there = np.where(np.isnan(rows), 0.0, rows) if with_holes else rows
                mean = np.add.reduceat(there, starts, axis=1) / count
                powers[0][block, cells] = mean
            if n_powers > 1 and not with_holes:
                if len(cells) > 1:
                    mean = np.repeat(mean, count, axis=1)
                residual = rows - mean
                raised = residual * residual
                powers[1][block, cells] = np.add.reduceat(raised, starts, axis=1)
                raised *= residual
                powers[2][block, cells] = np.add.reduceat(raised, starts, axis=1)
            least = np.fmin.reduceat(rows, group_starts, axis=1)
            most = np.fmax.reduceat(rows, group_starts, axis=1)
            ends[:, block, groups] = np.fmax([-least, most], -np.inf)
            size = np.fmax(np.abs(rows), 0.0)
            sizes[0][block, groups] = np.add.reduceat(size > none[block], group_starts, axis=1, dtype=np.int64)
            sizes[1][block, groups] = np.add.reduceat(size, group_starts, axis=1)
    return np.bincount(cell, minlength=n_cells), powers, ends, sizes


def _merged(one: Moments, two: Moments) -> PowerSums:
    """The mean and the sums of powers of residuals of the items of both."""
    # Chan, Golub and LeVeque 1983, doi:10.2307/2683386; an empty cell has the other's numbers
    n = one.n.astype(np.float64)
    m = two.n.astype(np.float64)
    total = n + m
    in_both = (n > 0) & (m > 0)
    of_one = np.where(n > 0, one.powers, 0.0)
    of_two = np.where(m > 0, two.powers, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        merged = of_one + of_two
        apart = np.where(in_both, of_two[0] - of_one[0], 0.0)
        first = np.where(n > 0, of_one[0], of_two[0])
        merged[0] = first + apart * m / total
        if len(merged) > 1:
            of_means = apart**2 * n * m / total
            crossed = n * of_two[1] - m * of_one[1]
            merged[1] += of_means
            third = (n - m) * of_means + 3 * crossed
            merged[2] += apart * third / total
    return merged
