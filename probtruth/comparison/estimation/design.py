"""The axes of an estimate: models and their pairs, groups (strata) and independent units (items, clusters)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Real, Shaped

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.frame_numbers import by_name
from probtruth.frames import missing, name_text
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import (
    Batch,
    GroupFloats,
    GroupInts,
    ItemFloats,
    ItemInts,
    ModelFloats,
    ModelInts,
    ModelModel,
    PairFloats,
    RowGroup,
    RowInts,
    RowUnit,
    UnitFloats,
    UnitInts,
)
from probtruth.types import Partition, Scores
from probtruth.types.index import positions, sort_names

# Models of which every pair is looked at by itself: tests without a model, draws, figures. Of more models, those of so
# many lowest mean scores; every pair has its posterior.
LEADING = 25
Pairs = Int[np.ndarray, "row 2"]
ItemRows = Float[np.ndarray, "row item"]


@dataclass(frozen=True, eq=False)
class Design:
    """Each item's group (None: all in one) and unit (None: it is one itself), each cluster's group and size.

    `weights` are those of the groups in the stratified mean.
    """

    group_sizes: GroupInts
    group: ItemInts | None = None
    unit: ItemInts | None = None
    unit_group: UnitInts | None = None
    cluster_sizes: UnitInts | None = None
    group_names: tuple[str, ...] = ("all",)
    cluster_names: tuple[str, ...] | None = None
    weights: GroupFloats = field(default_factory=partial(np.ones, 1))

    @classmethod
    def of(cls, groups: ItemInts, clusters: ItemInts | None = None, **facts: Any) -> "Design":
        """From each item's group and cluster; a cluster's items lie in one group."""
        sizes = np.bincount(groups)
        if clusters is not None:
            _, first, unit = np.unique(clusters, return_index=True, return_inverse=True)
            facts |= {"unit": unit, "unit_group": groups[first], "cluster_sizes": np.bincount(unit)}
        return cls(sizes, groups if len(sizes) > 1 else None, **facts)

    @property
    def n_items(self) -> int:
        return int(self.group_sizes.sum())

    @property
    def n_groups(self) -> int:
        return len(self.group_sizes)

    @property
    def grouped(self) -> bool:
        return self.n_groups > 1

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters; None where every item stands for itself."""
        return None if self.unit_group is None else len(self.unit_group)

    @property
    def unit_name(self) -> str:
        """What one independent unit is."""
        return "item" if self.unit_group is None else "cluster"

    @property
    def groups(self) -> Partition | None:
        """Each item's group; None where all are in one."""
        return Partition(self.of_item(), self.group_names) if self.grouped else None

    @property
    def clusters(self) -> Partition | None:
        """Each item's cluster; None without any."""
        if self.unit is None or self.cluster_names is None:
            return None
        return Partition(self.unit, self.cluster_names)

    @property
    def n_units(self) -> int:
        return self.n_items if self.unit_group is None else len(self.unit_group)

    @property
    def unit_sizes(self) -> UnitInts:
        """How many items each unit has."""
        return np.ones(self.n_items, np.int64) if self.cluster_sizes is None else self.cluster_sizes

    @property
    def group_units(self) -> GroupInts:
        """Units of each group."""
        return self.group_sizes if self.unit_group is None else np.bincount(self.unit_group, minlength=self.n_groups)

    @property
    def item_weights(self) -> ItemFloats:
        """What each item counts for in the stratified mean."""
        of_group = self.weights / self.group_sizes
        return of_group[self.of_item()]

    @cached_property
    def leverage(self) -> UnitFloats:
        r"""What a unit's squared residual counts for, $(1 - 1/C)/(1 - n_c/n)$, 1 where all are of one size."""
        group = self.of_unit()
        n_units = self.group_units[group]
        n_items = self.group_sizes[group]
        others = n_items - self.unit_sizes
        return ratio((n_units - 1) * n_items, n_units * others)

    @cached_property
    def df(self) -> GroupFloats:
        """Degrees of freedom of the variance of each group's mean: C - 1, fewer where clusters differ in size."""
        plain = self.group_units - 1.0
        if self.cluster_sizes is None:
            return plain
        # Bell and McCaffrey 2002: the freedom of the variance under which this one has no bias
        group = self.of_unit()
        share = self.cluster_sizes / self.group_sizes[group]
        square = share**2
        leverage = ratio(square, 1 - share)
        of_units = np.stack([square, leverage, leverage**2])
        square, one, two = self.group_totals(of_units)
        freedom = ratio(1.0, square + one**2 - two)
        differs = self.cluster_sizes * self.group_units[group] != self.group_sizes[group]
        uneven = np.bincount(group, differs, self.n_groups) > 0
        return np.where(uneven & (plain > 0), freedom, plain)

    def of_item(self) -> ItemInts:
        """Each item's group."""
        return np.zeros(self.n_items, np.int64) if self.group is None else self.group

    def of_cell(self) -> ItemInts:
        """Each item's cluster, or group where there are none."""
        return self.of_item() if self.unit is None else self.unit

    def of_unit(self) -> UnitInts:
        return self.of_item() if self.unit_group is None else self.unit_group

    def residuals(self, rows: ItemRows) -> ItemRows:
        """The items' numbers less the means of their groups."""
        group = self.of_item()
        means = totals(rows, group, self.n_groups) / self.group_sizes
        return rows - means[:, group]

    def added(self, rows: ItemRows) -> RowUnit:
        """What each unit adds to the stratified means of the items' numbers."""
        return self.unit_totals(self.item_weights * self.residuals(rows))

    def unit_totals(self, rows: ItemRows) -> RowUnit:
        return rows if self.unit is None else totals(rows, self.unit, self.n_units)

    def group_totals(self, rows: RowUnit) -> RowGroup:
        if not self.grouped:
            return rows.sum(1, keepdims=True)
        return totals(rows, self.of_unit(), self.n_groups)


def effective(weights: Real[np.ndarray, "*batch unit"]) -> Batch:
    """How many units of equal weight would tell as much (Kish 1965)."""
    weights = weights.astype(np.float64)
    squares = np.square(weights).sum(-1)
    return np.asarray(weights.sum(-1) ** 2 / squares)


def totals(rows: ItemRows, codes: ItemInts, size: int) -> np.ndarray:
    found = np.zeros((len(rows), size))
    for at, row in enumerate(rows):
        found[at] = np.bincount(codes, row, size)
    return found


def spread_out(
    array: Shaped[np.ndarray, "*axes"],
    axes: Sequence[str],
    places: Mapping[str, np.ndarray],
    sizes: Mapping[str, int],
    empty: float = 0,
) -> np.ndarray:
    """The same entries where the axes of these names are some of more; the others are empty."""
    for at, axis in enumerate(axes, -len(axes)):
        if axis in places:
            shape = [*array.shape]
            shape[at] = sizes[axis]
            among = np.full(shape, empty, array.dtype)
            among.swapaxes(at, -1)[..., places[axis]] = array.swapaxes(at, -1)
            array = among
    return array


def pairs_of(models: ModelInts) -> Pairs:
    places = np.triu_indices(len(models), 1)
    return models[np.stack(places, axis=1)]


def rows_of(models: ModelInts) -> Pairs:
    """The rows of what is kept of means: every model by itself, with -1 in place of another, then all pairs."""
    none = np.full(len(models), -1)
    by_themselves = np.stack([models, none], axis=1)
    return np.concatenate([by_themselves, pairs_of(models)])


def pair_rows_of(pairs: Pairs, n_models: int) -> RowInts:
    """Where pairs (a, b), a < b, stand among all pairs."""
    first, second = pairs.T
    before = first * (2 * n_models - first - 1) // 2  # pairs of the models before the first
    return before + second - first - 1


def rows_among(models: ModelInts, n_models: int) -> RowInts:
    """Where some models, then their pairs, stand among the rows of all."""
    return np.append(models, n_models + pair_rows_of(pairs_of(models), n_models))


def square_of(pairs: PairFloats, n_models: int, sign: float = 1.0) -> ModelModel:
    """A matrix with the pairs' values above its diagonal and `sign` times them below."""
    matrix = np.zeros((n_models, n_models))
    above = np.triu_indices(n_models, 1)
    matrix[above] = pairs
    matrix.T[above] = sign * pairs
    return matrix


def leading(means: ModelFloats) -> Int[np.ndarray, " leading"]:
    return np.sort(np.argsort(means, kind="stable")[:LEADING])


def design(scores: Scores, groups: object, clusters: object, weights: object) -> Design:
    """The design from what the caller gives, a list in the caller's order of the items, or what the scores carry."""
    by_item = {"groups": groups, "clusters": clusters}
    for what, listed in by_item.items():
        named = by_name(listed, scores.items, what)
        by_item[what] = scores.in_order(named, what) if isinstance(named, list) else named
    return design_of(scores.items, **by_item, weights=weights, own_groups=scores.groups, own_clusters=scores.clusters)


def design_of(
    items: Sequence[Any],
    groups: object,
    clusters: object,
    weights: object = None,
    own_groups: Partition | None = None,
    own_clusters: Partition | None = None,
) -> Design:
    """The design of items (their names; positions will do where nothing is given): what is given, else their own."""
    grouped = own_groups
    if groups is not None:
        grouped = partition_of(groups, items, "group")
    clustered = own_clusters
    if clusters is not None:
        clustered = partition_of(clusters, items, "cluster")
    facts = {}
    units = None
    if clustered is not None:
        units = clustered.codes
        facts["cluster_names"] = tuple(clustered.names[code] for code in np.unique(units))
    if grouped is None:
        if weights is not None:
            raise InputError("weights without groups", "groups to weight", "Give groups=... too, or leave weights out.")
        return Design.of(np.zeros(len(items), np.int64), units, **facts)
    if units is not None:
        group_of = np.empty(units.max() + 1, np.int64)
        group_of[units] = grouped.codes
        if (group_of[units] != grouped.codes).any():
            hint = "Split the cluster, or drop the groups."
            raise InputError("a cluster whose items lie in different groups", "clusters inside groups", hint)
    weighed = group_weights(weights, grouped.names, np.bincount(grouped.codes))
    return Design.of(grouped.codes, units, group_names=grouped.names, weights=weighed, **facts)


def partition_of(values: object, items: Sequence[str], what: str, of: str = "item") -> Partition:
    """The group or cluster of each item, by its name or in the order of the items."""
    if isinstance(values, Mapping):
        table = {name_text(item): name for item, name in values.items()}
        absent = [item for item in items if item not in table]
        if absent:
            problem = f"no {what} for {of} {check.shortlist(absent, 3)}"
            raise InputError(problem, f"a {what} for every {of}", f"Add them to the {what}s.")
        listed: Sequence[object] = [table[item] for item in items]
    elif isinstance(values, list | tuple):
        listed = values
    else:
        listed = np.asarray(values).ravel().tolist()
    check.length(len(listed), len(items), f"{what}s")
    # by type too: 1, 1.0 and True are equal, but not as names
    text_of = {}
    texts = []
    for item, name in zip(items, listed, strict=True):
        key = type(name), name
        if key not in text_of:
            text = "" if missing(name) else name_text(name)
            if not text.strip():
                where = f"{of} {check.quote(item)}"
                raise InputError("a blank", f"a {what} for every {of}", f"Fill in the {what}.", where)
            text_of[key] = text
        texts.append(text_of[key])
    names = sort_names(set(texts))
    return Partition(positions(names, texts), names)


def group_weights(values: object, names: Sequence[str], sizes: GroupInts) -> np.ndarray:
    """The weights of the groups; by default each weighs what it has of the items."""
    if values is None:
        return sizes / sizes.sum()
    if isinstance(values, str):
        check.one_of(values, ("equal",), "weights")
        return np.full(len(names), 1 / len(names))
    if not isinstance(values, Mapping):
        raise InputError(f"weights as a {type(values).__name__}", "weights by name", "Pass a dict {group: weight}.")
    table = {name_text(name): value for name, value in values.items()}
    for name in (*table, *names):
        check.one_of(name, tuple(names), "group")
        if name not in table:
            raise InputError(f"no weight for group {name!r}", "a weight for every group", "Add it.")
    listed = [table[name] for name in names]
    weights = check_arrays.as_floats(listed, "group", "weights").astype(np.float64)
    # not so of a NaN either
    if not (weights.min() >= 0 and abs(weights.sum() - 1) <= check_arrays.SUM_TOLERANCE):
        problem = f"weights {weights.tolist()}"
        raise InputError(problem, "non-negative weights that sum to 1", "Divide them by their sum.")
    return weights
