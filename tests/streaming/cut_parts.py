"""Scores in memory, cut into parts at random."""

from dataclasses import dataclass

import numpy as np

from probtruth.streaming.parts import Part


@dataclass(frozen=True, eq=False)
class ListedParts:
    models: tuple
    n_items: np.ndarray
    unit_group: np.ndarray | None
    listed: list

    def each(self, work):
        return [work(part) for part in self.listed]


def cut(scores, plan, rng):
    structure = plan.structure()
    groups = structure.of_item() if plan.grouped else None
    order = rng.permutation(len(scores.items))
    places = np.sort(rng.choice(np.arange(1, len(order)), 5, replace=False))
    listed = [
        Part(
            scores.values[:, items],
            items,
            None if groups is None else groups[items],
            None if structure.unit is None else structure.unit[items],
        )
        for items in np.split(order, places)
    ]
    return ListedParts(scores.models, structure.n_items, None if structure.unit is None else structure.group, listed)
