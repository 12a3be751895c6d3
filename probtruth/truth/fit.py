"""What a method hands back, and the bounds within which posterior draws are kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from probtruth.types import Annotations

DRAW_BYTES = 2**28
"""Memory budget for posterior draws: 256 MiB of float32, that is 67 million probabilities."""
INDEPENDENT = "independent"
"""Among a fit's evidence: the class probabilities if annotators erred independently of each other."""


@dataclass(frozen=True, eq=False)
class Request:
    """What every method is asked: the annotations, how many draws, the seed, and known answers.

    `gold` is the position of each item's known label, -1 where it is not known.
    """

    annotations: Annotations
    draws: int
    seed: int
    gold: Int[np.ndarray, " item"]


@dataclass(frozen=True, eq=False)
class Fit:
    """A method's posterior; the fields are those of `Truth`."""

    probs: Float[np.ndarray, "item label"]
    draws: Float[np.ndarray, "draw item label"] | None = None
    marginals: Float[np.ndarray, " label"] | None = None
    confusion: Float[np.ndarray, "annotator label label"] | None = None
    diagnostics: Mapping[str, object] = field(default_factory=dict)
    annotator_results: Mapping[str, np.ndarray] = field(default_factory=dict)
    item_results: Mapping[str, np.ndarray] = field(default_factory=dict)
    evidence: Mapping[str, np.ndarray] = field(default_factory=dict)
    sampled: Mapping[str, np.ndarray] = field(default_factory=dict)


def affordable(draws: int, n_items: int, n_labels: int) -> int:
    """How many of the draws asked for fit into `DRAW_BYTES` (at least one, if any were asked for)."""
    return min(draws, max(1, DRAW_BYTES // (4 * n_items * n_labels)))


def class_draws(
    probs: Float[np.ndarray, "item label"], draws: int, seed: int
) -> Float[np.ndarray, "draw item label"] | None:
    """Draws of the one true class of every item, as rows with a single 1, independent over items."""
    n_items, n_labels = probs.shape
    kept = affordable(draws, n_items, n_labels)
    if kept == 0:
        return None
    generator = np.random.default_rng(seed)
    steps = np.cumsum(probs, axis=1)[:, :-1] / probs.sum(1, keepdims=True)
    made = np.zeros((kept, n_items, n_labels), np.float32)
    for table in made:
        chosen = (generator.random((n_items, 1)) >= steps).sum(1)
        table[np.arange(n_items), chosen] = 1
    return made


def dirichlet_draws(
    counts: Float[np.ndarray, "item label"], draws: int, seed: int
) -> Float[np.ndarray, "draw item label"] | None:
    """Draws from the Dirichlet distribution of every row of (pseudo-)counts."""
    n_items, n_labels = counts.shape
    kept = affordable(draws, n_items, n_labels)
    if kept == 0:
        return None
    generator = np.random.default_rng(seed)
    made = np.empty((kept, n_items, n_labels), np.float32)
    for table in made:
        gammas = generator.standard_gamma(counts)
        totals = gammas.sum(1, keepdims=True)
        lost = totals[:, 0] == 0  # all gammas underflowed: the limit of a Dirichlet of vanishing counts is a corner
        if lost.any():
            steps = np.cumsum(counts[lost], axis=1)
            corner = (generator.random((int(lost.sum()), 1)) * steps[:, -1:] >= steps[:, :-1]).sum(1)
            gammas[lost] = np.eye(n_labels)[corner]
            totals = gammas.sum(1, keepdims=True)
        table[:] = gammas / totals
    return made
