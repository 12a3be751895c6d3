"""Annotations held out, and the mixture of two views that predicts them best."""

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize_scalar

from probtruth.errors import InputError
from probtruth.types import Annotations

SHARE = 0.2
"""Share of the annotations that are held out, at most one of an item, which keeps at least one."""


def split(annotations: Annotations, seed: int) -> tuple[Annotations, Int[np.ndarray, " row"]]:
    """The annotations without those held out, and the rows of the latter; at random, one of an item at most."""
    who = annotations.annotator
    n_votes = np.bincount(annotations.item, annotations.multiplicity, annotations.n_items)
    generator = np.random.default_rng([seed, 3])
    shuffled = generator.permutation(len(annotations.item))
    free = shuffled[(annotations.multiplicity[shuffled] == 1) & (n_votes[annotations.item[shuffled]] > 1)]
    _, first = np.unique(annotations.item[free], return_index=True)
    rows = np.sort(generator.permutation(free[first])[: max(int(SHARE * n_votes.sum()), 1)])
    if who is None or not len(rows):
        raise InputError(
            "weight='held-out' without an item of two annotations",
            "items with several annotations each",
            "Nothing can be held out here; leave weight as it is.",
        )
    rest = np.ones(len(annotations.item), bool)
    rest[rows] = False
    parts = annotations.item[rest], annotations.label[rest], who[rest], annotations.multiplicity[rest]
    return Annotations(*parts, annotations.index), rows


def predicted(
    probs: Float[np.ndarray, "item label"],
    confusion: Float[np.ndarray, "annotator label label"],
    annotations: Annotations,
    rows: Int[np.ndarray, " row"],
) -> Float[np.ndarray, " row"]:
    """The probability of each of these annotations: sum_k P(z_i = k) P(annotator j answers y | k)."""
    who = annotations.annotator
    answers = confusion[who[rows], :, annotations.label[rows]]  # type: ignore[index]
    return np.asarray((probs[annotations.item[rows]] * answers).sum(1))


def stacking_weight(first: Float[np.ndarray, " row"], second: Float[np.ndarray, " row"]) -> float:
    """The share w of the first view at the maximum of sum log(w first + (1 - w) second) + log w + log(1 - w).

    The last two terms are a Beta(2, 2) prior: with few annotations held out the mixture stays near equal.

    Source: Yao et al. (2018), Using stacking to average Bayesian predictive distributions, doi:10.1214/17-BA1091.
    """

    def loss(w: float) -> float:
        return -float(np.log(w * first + (1 - w) * second).sum() + np.log(w) + np.log1p(-w))

    return float(minimize_scalar(loss, bounds=(1e-6, 1 - 1e-6), method="bounded").x)
