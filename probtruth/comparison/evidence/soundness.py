"""Finds infinite, NaN and oversized scores, and the mean of each model with these in mind."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.evidence.parts import Part, Parts, over_blocks
from probtruth.comparison.evidence.row_sums import RowSums
from probtruth.comparison.evidence.sweeps import alone

LARGEST = 1e100
"""Scores beyond this would overflow when cubed."""
SHOWN = 3
"""Items of infinite score that a warning names."""

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
    """Infinite and unknown scores of all parts, and their sizes."""
    work = partial(_soundness, parts.structure.n_groups)
    return over_blocks(parts, len(parts.models), work, Soundness.merged)


def _soundness(n_groups: int, part: Part) -> Soundness:
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


def weighted_means(parts: Parts, found: Soundness, weights: Float[np.ndarray, " group"]) -> Float[np.ndarray, " model"]:
    """Each model's mean under the weights of the groups: infinite where a score that counts is, NaN for both signs."""
    share = weights / parts.structure.n_items
    used = share > 0
    up, down = (np.asarray(counts[:, used].any(1)) for counts in (found.positive, found.negative))
    means = np.where(up & down, np.nan, np.where(up, np.inf, -np.inf))
    finite = np.nonzero(~(up | down))[0]
    if len(finite):
        means[finite] = RowSums(parts, alone(finite)).totals_over_groups(share)
    return means
