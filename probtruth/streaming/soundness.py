"""What the scores allow at all: which are infinite or no numbers, and how large they are."""

from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.evidence.in_memory import SHOWN
from probtruth.streaming.parts import Part, Parts
from probtruth.streaming.sweeps import blocks

NOWHERE = int(np.iinfo(np.int64).max)
"""In place of an item, where there is none."""


@dataclass(frozen=True, eq=False)
class Soundness:
    """Of each model: infinite scores of either sign in each group, the lowest items with one and with NaN, its size."""

    positive: Int[np.ndarray, "model group"]
    negative: Int[np.ndarray, "model group"]
    infinite: Int[np.ndarray, "model first"]
    unknown: Int[np.ndarray, " model"]
    largest: Float[np.ndarray, " model"]
    zero_or_one: bool

    def merged(self, other: "Soundness") -> "Soundness":
        """That of both."""
        both = np.sort(np.concatenate([self.infinite, other.infinite], axis=1), axis=1)
        return Soundness(
            self.positive + other.positive,
            self.negative + other.negative,
            both[:, : self.infinite.shape[1]],
            np.minimum(self.unknown, other.unknown),
            np.maximum(self.largest, other.largest),
            self.zero_or_one and other.zero_or_one,
        )

    @property
    def whole(self) -> Bool[np.ndarray, " model"]:
        """Which models have finite scores only."""
        return np.asarray((self.positive.sum(1) == 0) & (self.negative.sum(1) == 0))


def soundness(parts: Parts) -> Soundness:
    """What the scores allow at all."""
    return reduce(Soundness.merged, parts.each(partial(_soundness, len(parts.n_items))))


def _soundness(n_groups: int, part: Part) -> Soundness:
    return reduce(Soundness.merged, (_block_sound(n_groups, block) for block in blocks(part, len(part.values))))


def _block_sound(n_groups: int, part: Part) -> Soundness:
    values = part.values
    n_models = len(values)
    signs = np.zeros((2, n_models, n_groups), np.int64)
    infinite, unknown = np.full((n_models, SHOWN), NOWHERE), np.full(n_models, NOWHERE)
    sizes = np.abs(values)
    largest = sizes.max(1, initial=0.0)
    for row in np.nonzero(~np.isfinite(largest))[0]:
        for sign, kind in enumerate((values[row] == np.inf, values[row] == -np.inf)):
            of_group = np.zeros(int(kind.sum()), np.int64) if part.group is None else part.group[kind]
            signs[sign, row] = np.bincount(of_group, minlength=n_groups)
        at = np.sort(part.item[np.isinf(values[row])])[:SHOWN]
        infinite[row, : len(at)] = at
        unknown[row] = part.item[np.isnan(values[row])].min(initial=NOWHERE)
        largest[row] = sizes[row, np.isfinite(values[row])].max(initial=0.0)
    return Soundness(signs[0], signs[1], infinite, unknown, largest, bool(((sizes == 0) | (sizes == 1)).all()))
