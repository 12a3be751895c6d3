"""Scores in parts: a part is some of the items with every model's loss on them, wherever the parts lie.

Scores in memory are one part; larger ones lie on disk or with the workers of a cluster (see `probtruth.streaming`).
Whatever is found out about the items is found out part by part and merged, so that all three give the same bits.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.design import Structure

HELD = 1 << 17
"""Numbers worked on at once: they stay in the processor's cache."""
LONG = 1 << 12
"""Items of a block below which what is done once for each block begins to count."""


@dataclass(frozen=True, eq=False)
class Part:
    """Losses of items, by their codes; groups and units, None where there is one group, or every item is a unit."""

    values: Float[np.ndarray, "model item"]
    item: Int[np.ndarray, " item"]
    group: Int[np.ndarray, " item"] | None = None
    unit: Int[np.ndarray, " item"] | None = None

    def blocks(self, n_rows: int) -> "Iterator[Part]":
        """The same in parts small enough that so many rows of them are quick to work on."""
        size, n = max(1, HELD // max(n_rows, 1)), len(self.item)
        for start in range(0, n, size):
            cut = slice(start, start + size)
            group, unit = (None if codes is None else codes[cut] for codes in (self.group, self.unit))
            yield Part(self.values[:, cut], self.item[cut], group, unit)


@runtime_checkable
class Parts(Protocol):
    """All parts of some scores."""

    @property
    def models(self) -> Sequence[str]:
        """Names of the models."""

    @property
    def structure(self) -> Structure:
        """Which items belong together."""

    def each[T](self, work: Callable[[Part], T]) -> Iterable[T]:
        """What `work` (a function that can be sent to another process) makes of each part, in any order."""


@dataclass(frozen=True, eq=False)
class HeldParts:
    """Parts that are held in memory."""

    models: Sequence[str]
    structure: Structure
    listed: Sequence[Part]

    def each[T](self, work: Callable[[Part], T]) -> Iterable[T]:
        """What `work` makes of each part."""
        return map(work, self.listed)


def held(
    values: Float[np.ndarray, "model item"], structure: Structure, models: Sequence[str] | None = None
) -> HeldParts:
    """Scores in memory as one part, whose items are coded by their positions."""
    items = np.arange(values.shape[1])
    names = list(map(str, range(len(values)))) if models is None else models
    return HeldParts(names, structure, [Part(values, items, *structure.codes(items))])


def rows_at_once(parts: Parts) -> int:
    """Rows that one pass over the parts takes: few where a pass is free, so that blocks are long."""
    if not isinstance(parts, HeldParts):
        return LONG
    return max(1, HELD // min(LONG, max(len(part.item) for part in parts.listed)))


def over_blocks[T](parts: Parts, n_rows: int, work: Callable[[Part], T], merge: Callable[[T, T], T]) -> T:
    """What `work` makes of every block of every part, merged in any order."""
    return reduce(merge, parts.each(partial(_merged, n_rows, work, merge)))


def _merged[T](n_rows: int, work: Callable[[Part], T], merge: Callable[[T, T], T], part: Part) -> T:
    return reduce(merge, map(work, part.blocks(n_rows)))


def gathered(parts: Parts) -> Part:
    """All parts as one, in the order of the items; for few items only."""
    listed = list(parts.each(itself))
    if len(listed) == 1 and (np.diff(listed[0].item) > 0).all():
        return listed[0]
    item = np.concatenate([part.item for part in listed])
    order = np.argsort(item)
    values = np.concatenate([part.values for part in listed], axis=1)
    joined = _joined(part.group for part in listed), _joined(part.unit for part in listed)
    group, unit = (None if codes is None else codes[order] for codes in joined)
    return Part(values[:, order], item[order], group, unit)


def itself(part: Part) -> Part:
    """The part."""
    return part


def _joined(codes: Iterable[Int[np.ndarray, " item"] | None]) -> Int[np.ndarray, " item"] | None:
    known = [some for some in codes if some is not None]
    return np.concatenate(known) if known else None
