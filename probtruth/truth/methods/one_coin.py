"""One coin an annotator: right with one probability whatever the class, errors spread equally over the other labels."""

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float

from probtruth import check
from probtruth.truth import em
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import flatten


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
    log_of_wrong = np.log(max(flat.n_labels - 1, 1))

    def expect(probs: np.ndarray, _: em.Parameters) -> em.Expected:
        answers = em.right_and_wrong(probs, flat)
        return np.stack(answers).sum(2).T.ravel()

    def maximise(counts: em.Expected, _: em.Parameters) -> em.Parameters:
        answers = counts.reshape(-1, 2) + pseudo
        return (em.log_normalised(answers, 1, 0.5),)

    def log_joint(parameters: em.Parameters) -> np.ndarray:
        log_right, log_wrong = parameters[0].T[:, :, None]
        log_answers = em.answers_of(log_right, log_wrong - log_of_wrong, flat.n_labels)
        return em.log_joint(log_answers, flat)

    # the parameters are each annotator's log P(right) and log P(wrong)
    model = em.EmModel(expect, maximise, log_joint, lambda parameters: em.log_pseudo(pseudo, parameters[0]))
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    class_counts = em.class_counts(prior, flat.n_labels)
    solution = em.solve(request, flat, model, (), class_counts, limits)
    ability = np.exp(solution.parameters[0][:, 0])
    confusion = spread_errors(ability, flat.n_labels)
    return em.as_fit(request, flat, solution, confusion, {"ability": ability})


def spread_errors(right: Float[np.ndarray, " annotator"], n_labels: int) -> Float[np.ndarray, "annotator label label"]:
    """Confusion matrices with `right` on the diagonal and the rest spread equally."""
    column = right[:, None]
    if n_labels == 1:
        column = np.ones_like(column)
    wrong = (1 - column) / max(n_labels - 1, 1)
    return em.answers_of(column, wrong, n_labels)
