"""Models by name and their pairs: where each stands in what is kept of all pairs."""

import numpy as np
from jaxtyping import Int

from probtruth.kernels.shapes import ModelFloats, ModelInts, RowInts

# Models of which every pair is looked at by itself: tests without a model, draws, figures. Of more models, those of so
# many lowest mean scores; every pair has its posterior.
LEADING = 25

Pairs = Int[np.ndarray, "row 2"]


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
