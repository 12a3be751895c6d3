"""What a method takes and returns, and the bounds within which posterior draws are stored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int, UInt

from probtruth.kernels.draws import categorical
from probtruth.types import Annotations

DRAW_BYTES = 2**28  # Memory budget for posterior draws: 256 MiB of float32, that is 67 million probabilities

# Key in a fit's evidence: the class probabilities if annotators erred independently of each other.
INDEPENDENT = "independent"


@dataclass(frozen=True, eq=False)
class MethodRequest:
    """What every method gets: the annotations, the number of draws, the seed, and known answers."""

    annotations: Annotations
    draws: int
    seed: int
    gold: Int[np.ndarray, " item"]

    @classmethod
    def without_draws(cls, annotations: Annotations) -> "MethodRequest":
        """A request for no draws, without known answers."""
        return cls(annotations, 0, 0, np.full(annotations.n_items, -1))


@dataclass(frozen=True, eq=False)
class MethodFit:
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
    """How many of the requested draws fit into `DRAW_BYTES` (at least one, if any were requested)."""
    bytes_of_one = 4 * n_items * n_labels
    most = max(1, DRAW_BYTES // bytes_of_one)
    return min(draws, most)


def draw_tables(
    table: Callable[[np.random.Generator], Float[np.ndarray, "item label"]],
    shape: tuple[int, int],
    draws: int,
    generator: np.random.Generator,
) -> Float[np.ndarray, "draw item label"] | None:
    """Draws of a table of items by labels, one after the other, as many as the budget has room for; None for none."""
    if draws == 0:
        return None
    number = affordable(draws, *shape)
    tables = np.empty((number, *shape), np.float32)
    for draw in tables:
        draw[:] = table(generator)
    return tables


def class_draws(
    probs: Float[np.ndarray, "item label"], draws: int, seed: int
) -> Float[np.ndarray, "draw item label"] | None:
    """Draws of the one true class of every item, as rows with a single 1, independent over items."""
    cumulative = np.cumsum(probs, axis=1)
    rows: np.ndarray = np.eye(probs.shape[1], dtype=np.float32)

    def draw(generator: np.random.Generator) -> np.ndarray:
        (classes,) = categorical(generator, cumulative).T
        return rows[classes]

    return draw_tables(draw, probs.shape, draws, np.random.default_rng(seed))


def class_rows(
    classes: UInt[np.ndarray, "sweep item"], n_labels: int, draws: int
) -> Float[np.ndarray, "draw item label"] | None:
    """Sampled classes as rows with a single 1: so many of them, evenly spread, within the budget."""
    if draws == 0:
        return None
    n_sweeps, n_items = classes.shape
    number = affordable(min(draws, n_sweeps), n_items, n_labels)
    spread = np.linspace(0, n_sweeps - 1, number).round().astype(int)
    identity = np.eye(n_labels, dtype=np.float32)
    rows: np.ndarray = identity[classes[spread]]
    return rows


def dirichlet_draws(
    counts: Float[np.ndarray, "item label"], draws: int, seed: int
) -> Float[np.ndarray, "draw item label"] | None:
    """Draws from the Dirichlet distribution of every row of (pseudo-)counts."""

    def draw(generator: np.random.Generator) -> np.ndarray:
        gammas = generator.standard_gamma(counts)
        lost = gammas.sum(1) == 0  # all underflowed: the limit of a Dirichlet of vanishing counts is a corner
        if lost.any():
            (corner,) = categorical(generator, np.cumsum(counts[lost], axis=1)).T
            gammas[lost] = np.eye(counts.shape[1])[corner]
        return gammas / gammas.sum(1, keepdims=True)

    return draw_tables(draw, counts.shape, draws, np.random.default_rng(seed))
