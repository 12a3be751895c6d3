"""One coin an annotator: right with one probability whatever the class, errors spread equally over the other labels."""

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float

from probtruth import check
from probtruth.truth import em
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import FlatAnnotations, flatten


def one_coin(
    request: MethodRequest,
    *,
    prior: ArrayLike | None = None,
    right: float = 0,
    wrong: float = 0,
    restarts: int = 1,
    max_iterations: int = 2000,
    tolerance: float = 1e-9,
) -> MethodFit:
    """P(y_n = l | z_i = k) = a_j where l = k, (1 - a_j) / (K - 1) elsewhere; a and the marginals at their maximum."""
    flat = flatten(request)
    right_counts = check.number(right, "right", least=0)
    wrong_counts = check.number(wrong, "wrong", least=0)
    pseudo = np.array([right_counts, wrong_counts])
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    first = np.zeros((flat.n_annotators, 2))
    class_counts = em.class_counts(prior, flat.n_labels)
    solution = em.solve(request, flat, MODEL, (first,), (pseudo,), class_counts, limits)
    ability = np.exp(solution.parameters[0][:, 0])
    confusion = spread_errors(ability, flat.n_labels)
    return em.as_fit(request, flat, solution, confusion, {"ability": ability})


def _counts(probs: np.ndarray, flat: FlatAnnotations) -> np.ndarray:
    right, wrong = em.right_and_wrong(probs, flat)
    return np.stack([right.sum(1), wrong.sum(1)], 1)


def _maximise(probs: np.ndarray, parameters: em.Parameters, flat: FlatAnnotations, priors: em.Priors) -> em.Parameters:
    counts = _counts(probs, flat) + priors[0]
    return (em.log_normalised(counts, 1, 0.5),)


def _log_joint(parameters: em.Parameters, flat: FlatAnnotations) -> np.ndarray:
    log_right, log_wrong = parameters[0].T[:, :, None]
    n_wrong = max(flat.n_labels - 1, 1)
    log_answers = em.answers_of(log_right, log_wrong - np.log(n_wrong), flat.n_labels)
    return em.log_joint(log_answers, flat)


# The parameters are each annotator's log P(right) and log P(wrong), the priors their pseudo-counts.
MODEL = em.EmModel(
    _maximise, _log_joint, lambda parameters, priors: em.log_pseudo(priors[0], parameters[0]), counts=_counts
)


def spread_errors(right: Float[np.ndarray, " annotator"], n_labels: int) -> Float[np.ndarray, "annotator label label"]:
    """Confusion matrices with `right` on the diagonal and the rest spread equally."""
    column = right[:, None]
    if n_labels == 1:
        column = np.ones_like(column)
    wrong = (1 - column) / max(n_labels - 1, 1)
    return em.answers_of(column, wrong, n_labels)
