"""Scores that lie in parts: a part is some of the items, with every model's loss on them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.evidence.design import Design


@dataclass(frozen=True, eq=False)
class Sample:
    """Log-probabilities of a few of the items, by their codes."""

    item: Int[np.ndarray, " item"]
    logs: Float[np.ndarray, "model item label"]


@dataclass(frozen=True, eq=False)
class Part:
    """Losses of items, by their codes; groups and units, None where there is one group, or every item is a unit."""

    values: Float[np.ndarray, "model item"]
    item: Int[np.ndarray, " item"]
    group: Int[np.ndarray, " item"] | None = None
    unit: Int[np.ndarray, " item"] | None = None
    sample: Sample | None = None

    def blocks(self, size: int) -> "Iterable[Part]":
        """The same in parts of at most so many items."""
        n = len(self.item)
        for start in range(0, n, size):
            cut = slice(start, start + size)
            group, unit = (None if codes is None else codes[cut] for codes in (self.group, self.unit))
            yield Part(self.values[:, cut], self.item[cut], group, unit)


@runtime_checkable
class Parts(Protocol):
    """All parts. `n_items` of each group; `unit_group` is the group of each unit, None where items are the units."""

    @property
    def models(self) -> Sequence[str]:
        """Names of the models."""

    @property
    def n_items(self) -> Int[np.ndarray, " group"]:
        """Items of each group."""

    @property
    def unit_group(self) -> Int[np.ndarray, " unit"] | None:
        """The group of each unit."""

    def each[T](self, work: Callable[[Part], T]) -> Iterable[T]:
        """What `work` (a function that can be sent to another process) makes of each part, in any order."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Items of each group, what each of its items counts for in the stratified mean, and each item's group and unit."""

    n_items: Int[np.ndarray, " group"]
    share: Float[np.ndarray, " group"]
    group: Int[np.ndarray, " item"] | None = None
    unit: Int[np.ndarray, " item"] | None = None
    unit_group: Int[np.ndarray, " unit"] | None = None

    def of_items(self, items: Int[np.ndarray, " some"]) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Groups and units of some items."""
        return tuple(None if codes is None else codes[items] for codes in (self.group, self.unit))  # type: ignore[return-value]

    def weights(self, items: Int[np.ndarray, " some"]) -> Float[np.ndarray, "..."]:
        """What some items count for."""
        return np.asarray(self.share[0] if self.group is None else self.share[self.group[items]])

    @classmethod
    def of(cls, plan: Design | None, kept: Bool[np.ndarray, " item"]) -> "Layout":
        """From the design of the items that are kept; without one they are one group."""
        if plan is None:
            n_items = int(kept.sum())
            return cls(np.array([n_items]), np.ones(1) / n_items)
        structure = plan.structure()

        def everywhere(codes: Int[np.ndarray, " kept"]) -> Int[np.ndarray, " item"]:
            wide = np.full(len(kept), -1)
            wide[kept] = codes
            return wide

        group = everywhere(structure.of_item()) if plan.grouped else None
        share = plan.weights / structure.n_items
        if structure.unit is None:
            return cls(structure.n_items, share, group)
        return cls(structure.n_items, share, group, everywhere(structure.unit), structure.group)

    @property
    def plain(self) -> "Layout":
        """The same items in one group, each a unit."""
        return Layout(np.array([self.n_items.sum()]), np.ones(1))


class LaidOut:
    """What parts know from their layout."""

    layout: Layout

    @property
    def n_items(self) -> Int[np.ndarray, " group"]:
        """Items of each group."""
        return self.layout.n_items

    @property
    def unit_group(self) -> Int[np.ndarray, " unit"] | None:
        """The group of each unit."""
        return self.layout.unit_group
