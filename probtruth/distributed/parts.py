"""Scores that lie in parts: a part is some of the items, with every model's loss on them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True, eq=False)
class Part:
    """Losses of items, by their codes; groups and units, None where there is one group, or every item is a unit."""

    values: Float[np.ndarray, "model item"]
    item: Int[np.ndarray, " item"]
    group: Int[np.ndarray, " item"] | None = None
    unit: Int[np.ndarray, " item"] | None = None

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

    @property
    def plain(self) -> "Layout":
        """The same items in one group, each a unit."""
        return Layout(np.array([self.n_items.sum()]), np.ones(1))
