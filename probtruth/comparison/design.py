"""Which items belong together: groups (strata) and the independent units (clusters, or the items themselves)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.frame_numbers import no_frame
from probtruth.frames import missing, name_text
from probtruth.types import Partition, Scores
from probtruth.types.index import positions, sort_names


@dataclass(frozen=True, eq=False)
class Design:
    """Each item's group (None: all in one) and unit (None: it is one itself), each unit's group and size.

    `weights` are those of the groups in the stratified mean.
    """

    group_sizes: Int[np.ndarray, " group"]
    group: Int[np.ndarray, " item"] | None = None
    unit: Int[np.ndarray, " item"] | None = None
    unit_group: Int[np.ndarray, " unit"] | None = None
    unit_sizes: Int[np.ndarray, " unit"] | None = None
    group_names: tuple[str, ...] = ("all",)
    cluster_names: tuple[str, ...] | None = None
    weights: Float[np.ndarray, " group"] = field(default_factory=lambda: np.ones(1))
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, groups: Int[np.ndarray, " item"], clusters: Int[np.ndarray, " item"] | None = None, **known: Any
    ) -> "Design":
        """From each item's group and cluster; a cluster's items lie in one group."""
        if clusters is None:
            return cls.of_units(None, groups, **known)
        _, first, unit = np.unique(clusters, return_index=True, return_inverse=True)
        return cls.of_units(unit, groups[first], **known)

    @classmethod
    def of_units(cls, unit: Int[np.ndarray, " item"] | None, group: Int[np.ndarray, " unit"], **known: Any) -> "Design":
        of_item = group if unit is None else group[unit]
        sizes = np.bincount(of_item)
        return cls(
            sizes,
            of_item if len(sizes) > 1 else None,
            *(() if unit is None else (unit, group, np.bincount(unit))),
            **known,
        )

    @property
    def n_items(self) -> int:
        return int(self.group_sizes.sum())

    @property
    def n_groups(self) -> int:
        return len(self.group_sizes)

    @property
    def grouped(self) -> bool:
        return len(self.group_sizes) > 1

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters; None where every item stands for itself."""
        return None if self.unit_group is None else len(self.unit_group)

    @property
    def groups(self) -> Partition | None:
        """Each item's group; None where all are in one."""
        return Partition(self.of_item(), self.group_names) if self.grouped else None

    @property
    def clusters(self) -> Partition | None:
        """Each item's cluster; None without any."""
        unit, names = self.unit, self.cluster_names
        return None if unit is None or names is None else Partition(unit, names)

    @property
    def n_units(self) -> int:
        return self.n_items if self.unit_group is None else len(self.unit_group)

    @property
    def effective_units(self) -> float:
        """How many units of equal size would tell as much."""
        if self.unit_sizes is None:
            return float(self.n_items)
        sizes = self.unit_sizes.astype(np.float64)
        return float(sizes.sum() ** 2 / (sizes**2).sum())

    @property
    def group_units(self) -> Int[np.ndarray, " group"]:
        """Units of each group."""
        return self.group_sizes if self.unit_group is None else np.bincount(self.unit_group, minlength=self.n_groups)

    @property
    def item_weights(self) -> Float[np.ndarray, " item"]:
        """What each item counts for in the stratified mean."""
        return np.asarray((self.weights / self.group_sizes)[self.of_item()])

    @cached_property
    def leverage(self) -> Float[np.ndarray, " unit"] | float:
        r"""What a cluster's squared residual counts for, $(1 - 1/C)/(1 - n_c/n)$, 1 where all are of one size."""
        if self.unit_sizes is None:
            return 1.0
        count, items = self.group_units[self.of_unit()], self.group_sizes[self.of_unit()]
        rest = count * (items - self.unit_sizes)
        return np.asarray((count - 1) * items / np.where(rest > 0, rest, 1))

    @cached_property
    def df(self) -> Float[np.ndarray, " group"]:
        """Degrees of freedom of the variance of each group's mean: C - 1, fewer where clusters differ in size."""
        plain = self.group_units - 1.0
        if self.unit_sizes is None:
            return plain
        # Bell and McCaffrey 2002: the freedom of the variance under which this one has no bias
        group = self.of_unit()
        share = self.unit_sizes / self.group_sizes[group]
        leverage = share**2 / np.where(share < 1, 1 - share, 1.0)
        square, one, two = (np.bincount(group, values, self.n_groups) for values in (share**2, leverage, leverage**2))
        even = np.full(self.n_groups, True)
        even[group[self.unit_sizes * self.group_units[group] != self.group_sizes[group]]] = False
        return np.asarray(np.where(even | (plain <= 0), plain, 1 / np.where(square > 0, square + one**2 - two, 1.0)))

    def of_item(self) -> Int[np.ndarray, " item"]:
        """Each item's group."""
        return np.zeros(self.n_items, np.int64) if self.group is None else self.group

    def of_unit(self) -> Int[np.ndarray, " unit"]:
        return self.of_item() if self.unit_group is None else self.unit_group

    def unit_totals(self, rows: Float[np.ndarray, "row item"]) -> Float[np.ndarray, "row unit"]:
        return rows if self.unit is None or self.unit_group is None else totals(rows, self.unit, len(self.unit_group))

    def group_totals(self, rows: Float[np.ndarray, "row unit"]) -> Float[np.ndarray, "row group"]:
        return totals(rows, self.of_unit(), self.n_groups) if self.grouped else rows.sum(1)[:, None]


def totals(rows: Float[np.ndarray, "row item"], codes: Int[np.ndarray, " item"], size: int) -> np.ndarray:
    return np.stack([np.bincount(codes, row, size) for row in rows]) if len(rows) else np.zeros((0, size))


def spread_out(
    part: Shaped[np.ndarray, "*rows part"], places: Int[np.ndarray, " part"], size: int, empty: float = 0
) -> np.ndarray:
    """The same columns among more, which are empty."""
    whole = np.full((*part.shape[:-1], size), empty, part.dtype)
    whole[..., places] = part
    return whole


def design(scores: Scores, groups: object, clusters: object, weights: object) -> Design:
    """The design from what the caller gives, a list in the caller's order of the items, or what the scores carry."""
    given = {"groups": groups, "clusters": clusters}
    for what, listed in given.items():
        if listed is not None and not isinstance(listed, Mapping):
            no_frame(listed, what)
            listed = list(np.asarray(listed).ravel()) if not isinstance(listed, list | tuple) else listed
            given[what] = scores.in_order(listed, what)
    return design_of(scores.items, **given, weights=weights, own_groups=scores.groups, own_clusters=scores.clusters)


def design_of(
    items: Sequence[Any],
    groups: object,
    clusters: object,
    weights: object = None,
    own_groups: Partition | None = None,
    own_clusters: Partition | None = None,
) -> Design:
    """The design of items (their names; positions will do where nothing is given): what is given, else their own."""
    grouped = own_groups if groups is None else _partition(groups, items, "group")
    clustered = own_clusters if clusters is None else _partition(clusters, items, "cluster")
    units, known = None, dict[str, Any]()
    if clustered is not None:
        units = clustered.codes
        known["cluster_names"] = tuple(clustered.names[code] for code in np.unique(units))
    if grouped is not None and (np.bincount(grouped.codes) == 1).all() and len(grouped.names) > 1:
        known["notes"] = (f"all {len(grouped.names)} groups hold one item each: answered without groups",)
        grouped = None
    if grouped is None:
        if weights is not None:
            raise InputError("weights without groups", "groups to weight", "Give groups=... too, or leave weights out.")
        return Design.of(np.zeros(len(items), np.int64), units, **known)
    if units is not None:
        home = np.empty(units.max() + 1, np.int64)
        home[units] = grouped.codes
        if (home[units] != grouped.codes).any():
            hint = "Split the cluster, or drop the groups."
            raise InputError("a cluster whose items lie in different groups", "clusters inside groups", hint)
    weighed = known_weights(weights, grouped.names, np.bincount(grouped.codes))
    return Design.of(grouped.codes, units, group_names=grouped.names, weights=weighed, **known)


def _partition(values: object, items: Sequence[str], what: str) -> Partition:
    if isinstance(values, Mapping):
        table = {name_text(item): name for item, name in values.items()}
        absent = [item for item in items if item not in table]
        if absent:
            problem = f"no {what} for item {check.shortlist(absent, 3)}"
            raise InputError(problem, f"a {what} for every item", f"Add them to the {what}s.")
        listed: Sequence[object] = [table[item] for item in items]
    else:
        listed = values if isinstance(values, list | tuple) else np.asarray(values).ravel().tolist()
        check.length(len(listed), len(items), f"{what}s")
    if len(set(map(type, listed))) > 1:  # 1, 1.0 and True are equal, but not as names
        listed = ["" if missing(name) else name_text(name) for name in listed]
    texts = {name: "" if missing(name) else name_text(name) for name in set(listed)}
    blank = {name for name, text in texts.items() if not text.strip()}
    if blank:
        item = next(item for item, name in zip(items, listed, strict=True) if name in blank)
        raise InputError("a blank", f"a {what} for every item", f"Fill in the {what}.", f"item {check.quote(item)}")
    names = sort_names(set(texts.values()))
    place = dict(zip(texts, positions(names, list(texts.values())).tolist(), strict=True))
    return Partition(np.fromiter(map(place.__getitem__, listed), np.int64, len(listed)), names)


def known_weights(values: object, names: Sequence[str], sizes: Int[np.ndarray, " group"]) -> np.ndarray:
    """The weights of the groups; by default each weighs what it has of the items."""
    if values is None:
        return np.asarray(sizes / sizes.sum())
    if not isinstance(values, Mapping):
        raise InputError(f"weights {values!r}", "weights by name", "Pass a dict {group: weight}.")
    table = {name_text(name): value for name, value in values.items()}
    for name in (*table, *names):
        check.one_of(name, tuple(names), "group")
        if name not in table:
            raise InputError(f"no weight for group {name!r}", "a weight for every group", "Add it.")
    values = [table[name] for name in names]
    array = check_arrays.as_floats(values, "group", "weights").astype(np.float64)
    if not (np.isfinite(array).all() and (array >= 0).all() and abs(array.sum() - 1) <= check_arrays.SUM_TOLERANCE):
        raise InputError(f"weights {array.tolist()}", "non-negative weights that sum to 1", "Divide them by their sum.")
    return array
