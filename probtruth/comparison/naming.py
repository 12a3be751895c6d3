"""From the pairs of the posterior, in the order of the models' content, to pairs under their names."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from probtruth.comparison.evidence.sweeps import all_pairs

Names = tuple[str, str]


@runtime_checkable
class OfPair(Protocol):
    """Something that belongs to the difference a minus b."""

    def flipped(self) -> Any:
        """The same of b minus a."""
        ...


def by_name[T: OfPair](models: Sequence[str], order: np.ndarray, of_pairs: Sequence[T]) -> dict[Names, T]:
    """What belongs to each pair, under its names, the first by name minus the second."""
    named = {}
    for (a, b), value in zip(all_pairs(len(order)), of_pairs, strict=True):
        first, second = models[order[a]], models[order[b]]
        named[min(first, second), max(first, second)] = value if first < second else value.flipped()
    return named


def named_pairs(names: Sequence[str]) -> list[tuple[str, str, int, float]]:
    """Every pair's two names, the first by name before the other, in their order; its row in the order of `all_pairs`,
    and -1 where that row is the other minus the first."""
    pairs = [
        (min(names[a], names[b]), max(names[a], names[b]), row, 1.0 if names[a] < names[b] else -1.0)
        for row, (a, b) in enumerate(all_pairs(len(names)))
    ]
    return sorted(pairs)
