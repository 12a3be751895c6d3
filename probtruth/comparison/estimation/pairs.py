"""Models by name and their pairs: where each stands in what is kept of all pairs."""

import numpy as np
from jaxtyping import Float, Int

from probtruth.kernels.shapes import ModelFloats, ModelInts, RowInts

# Models of which every pair is looked at by itself: tests without a model, draws, figures. Of more models, those of so
# many lowest mean scores; every pair has its posterior.
LEADING = 25

Pairs = Int[np.ndarray, "row 2"]
Ranks = Int[np.ndarray, "*batch value"]


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


def leading(means: ModelFloats) -> Int[np.ndarray, " leading"]:
    return np.sort(np.argsort(means, kind="stable")[:LEADING])


def first_and_last(values: Float[np.ndarray, "*batch value"]) -> tuple[Ranks, Ranks]:
    """The first and the last rank (from 1) that each value and those equal to it occupy along the last axis."""
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, -1)
    size = values.shape[-1]
    rank = np.arange(1, size + 1)
    begins = np.ones(values.shape, np.bool_)  # whether a run of equal values does
    before = ordered[..., :-1]
    begins[..., 1:] = ordered[..., 1:] != before
    ends = np.roll(begins, -1, -1)
    first_of_run = np.where(begins, rank, 0)
    backwards = np.where(ends, rank, size)[..., ::-1]
    first = np.empty_like(order)
    last = np.empty_like(order)
    np.put_along_axis(first, order, np.maximum.accumulate(first_of_run, -1), -1)
    np.put_along_axis(last, order, np.minimum.accumulate(backwards, -1)[..., ::-1], -1)
    return first, last
