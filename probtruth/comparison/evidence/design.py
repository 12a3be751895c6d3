"""Which items belong together: groups (strata whose own means are of interest) and clusters (dependent items)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.comparison.evidence.moments import Structure
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.types import Scores
from probtruth.types.index import positions, sort_names

BLANK = ("", "None", "nan", "NaN", "<NA>")
"""How names that are missing read as text."""


@dataclass(frozen=True, eq=False)
class Design:
    """The items of each group, each group's weight in the stratified mean, and each item's cluster."""

    group_names: tuple[str, ...]
    group_items: tuple[Int[np.ndarray, " _"], ...]
    weights: Float[np.ndarray, " group"]
    clusters: Int[np.ndarray, " item"] | None
    notes: tuple[str, ...]

    @property
    def grouped(self) -> bool:
        """Whether there are at least two groups."""
        return len(self.group_items) > 1

    def item_weights(self) -> Float[np.ndarray, " item"]:
        """What each item counts for in the stratified mean."""
        weights = np.empty(sum(map(len, self.group_items)))
        for weight, items in zip(self.weights, self.group_items, strict=True):
            weights[items] = weight / len(items)
        return weights

    def structure(self) -> Structure:
        """The same, as the sufficient statistics need it."""
        groups = np.empty(sum(map(len, self.group_items)), np.int64)
        for code, items in enumerate(self.group_items):
            groups[items] = code
        return Structure.of(groups, self.clusters)


def design(scores: Scores, groups: object, clusters: object, weights: object) -> Design:
    """The design from what the scores carry or the caller gives; groups of one item each are answered as ungrouped."""
    own = (scores.groups, scores.group_names)
    groups, clusters = (_by_row(scores, listed, what) for listed, what in ((groups, "groups"), (clusters, "clusters")))
    return design_of(scores.items, groups, clusters, weights, own, scores.clusters)


def _by_row(scores: Scores, listed: object, what: str) -> object:
    """Names in the order of the scores' items; a list follows the order in which the caller gave the items."""
    if listed is None or isinstance(listed, Mapping):
        return listed
    return scores.in_order(listed if isinstance(listed, list | tuple) else list(np.asarray(listed).ravel()), what)


def design_of(
    items: Sequence[Any],
    groups: object,
    clusters: object,
    weights: object,
    own_groups: tuple[np.ndarray | None, tuple[str, ...]] = (None, ()),
    own_clusters: np.ndarray | None = None,
) -> Design:
    """The design of items (their names; positions will do where nothing is given): what is given, else their own."""
    given_groups = _codes(groups, items, "group") if groups is not None else own_groups
    given_clusters = _codes(clusters, items, "cluster")[0] if clusters is not None else own_clusters
    codes, names = given_groups
    everything = np.arange(len(items))
    notes: tuple[str, ...] = ()
    if codes is not None and (np.bincount(codes) == 1).all() and len(names) > 1:
        notes = (f"all {len(names)} groups hold one item each: answered without groups",)
        codes = None
    if codes is None:
        if weights is not None:
            raise InputError("weights without groups", "groups to weight", "Give groups=... too, or leave weights out.")
        return Design(("all",), (everything,), np.ones(1), given_clusters, notes)
    if given_clusters is not None:
        _nested(given_clusters, codes)
    members = tuple(np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1]))
    return Design(names, members, _weights(weights, names, members), given_clusters, notes)


def _codes(given: object, items: Sequence[str], what: str) -> tuple[np.ndarray, tuple[str, ...]]:
    if isinstance(given, Mapping):
        table = {name_text(item): name_text(name) for item, name in given.items()}
        absent = [item for item in items if item not in table]
        if absent:
            raise InputError(
                f"no {what} for item {check.shortlist(absent, 3)}",
                f"a {what} for every item",
                f"Add them to the {what}s.",
            )
        written: Sequence[str] = [table[item] for item in items]
    else:
        listed = given if isinstance(given, list | tuple) else list(np.asarray(given).ravel())
        written = listed if set(map(type, listed)) == {str} else list(map(name_text, listed))
        check.length(len(written), len(items), f"{what}s")
    names = sort_names(set(written))
    blank = {name for name in names if name.strip() in BLANK}
    if blank:
        item = next(item for item, name in zip(items, written, strict=True) if name in blank)
        raise InputError("a blank", f"a {what} for every item", f"Fill in the {what}.", f"item {check.quote(item)}")
    return positions(names, written), names


def _nested(clusters: np.ndarray, groups: np.ndarray) -> None:
    home = np.full(clusters.max() + 1, -1)
    home[clusters] = groups
    if (home[clusters] != groups).any():
        raise InputError(
            "a cluster whose items lie in different groups",
            "clusters inside groups",
            "Split the cluster, or drop the groups.",
        )


def _weights(given: object, names: Sequence[str], members: Sequence[np.ndarray]) -> np.ndarray:
    if given is None:
        sizes = np.array([len(items) for items in members], np.float64)
        return sizes / sizes.sum()
    if isinstance(given, Mapping):
        table = {name_text(name): value for name, value in given.items()}
        for name in (*table, *names):
            check.one_of(name, tuple(names), "group")
            if name not in table:
                raise InputError(f"no weight for group {name!r}", "a weight for every group", "Add it.")
        given = [table[name] for name in names]
    array = check.as_floats(given, "group", "weights").astype(np.float64)
    check.length(len(array), len(names), "weights")
    if not (np.isfinite(array).all() and (array >= 0).all() and abs(array.sum() - 1) <= check.SUM_TOLERANCE):
        raise InputError(f"weights {array.tolist()}", "non-negative weights that sum to 1", "Divide them by their sum.")
    return array
