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
    pseudo = np.array([check.number(right, "right", least=0), check.number(wrong, "wrong", least=0)])
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    first, class_counts = np.zeros((flat.n_annotators, 2)), em.class_counts(prior, flat.n_labels)
    solution = em.solve(request, flat, MODEL, (first,), (pseudo,), class_counts, limits)
    ability = np.exp(solution.parameters[0][:, 0])
    return em.as_fit(request, flat, solution, spread_errors(ability, flat.n_labels), {"ability": ability})


def _counts(probs: np.ndarray, flat: FlatAnnotations) -> np.ndarray:
    return np.stack([part.sum(1) for part in em.right_and_wrong(probs, flat)], 1)


def _maximise(probs: np.ndarray, parameters: em.Parameters, flat: FlatAnnotations, priors: em.Priors) -> em.Parameters:
    return (em.log_normalised(_counts(probs, flat) + priors[0], 1, 0.5),)


def _log_joint(parameters: em.Parameters, flat: FlatAnnotations) -> np.ndarray:
    log_right, log_wrong = parameters[0].T[:, :, None]
    return em.log_joint(em.answers_of(log_right, log_wrong - np.log(max(flat.n_labels - 1, 1)), flat.n_labels), flat)


# The parameters are each annotator's log P(right) and log P(wrong), the priors their pseudo-counts.
MODEL = em.EmModel(
    _maximise, _log_joint, lambda parameters, priors: em.log_pseudo(priors[0], parameters[0]), counts=_counts
)


def spread_errors(right: Float[np.ndarray, " annotator"], n_labels: int) -> Float[np.ndarray, "annotator label label"]:
    """Confusion matrices with `right` on the diagonal and the rest spread equally."""
    right = right[:, None] if n_labels > 1 else np.ones((len(right), 1))
    return em.answers_of(right, (1 - right) / max(n_labels - 1, 1), n_labels)
