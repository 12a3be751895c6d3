"""Annotators of differing ability: one number a person sharpens all rows of their confusion, so rare classes learn."""

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float

from probtruth import check_arrays
from probtruth.truth import em
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import FlatAnnotations, flatten, plurality

ABILITY_SPREAD = 0.7  # Prior sd of ability around 1

OWN_SPREAD = 0.5  # Prior sd of an annotator's liking for a label, and of each cell's own deviation

SHARED_SPREAD = 1.5  # Prior sd of the shared confusion's logits around 3 (delta_kl - 1/K)

SHARED_DIAGONAL = 3.0  # Prior logit by which the right label stands above the others in the shared confusion

ABILITY_PRECISION, OWN_PRECISION, SHARED_PRECISION = ABILITY_SPREAD**-2, OWN_SPREAD**-2, SHARED_SPREAD**-2

# Pseudo-items that each item adds to the class marginals: enough that a rare label does not absorb items on which
# annotators disagree, too few to hold marginals where a crowd prefers one label (docs/validity/truth-pooled.csv).
ANCHOR = 0.1

SWEEPS = 4  # Rounds over the four blocks of parameters in each M-step

BOUND = 0.5  # The Hessian of log softmax is nowhere below -1/2 (Boehning 1992), so that steps scaled by it always climb


def ability(
    request: MethodRequest,
    *,
    prior: ArrayLike = 1,
    max_iterations: int = 500,
    tolerance: float = 1e-6,
) -> MethodFit:
    """P(y_n = l | z_i = k) = softmax_l(a_j G_kl + b_jl + D_jkl), at the maximum of the posterior by EM."""
    flat = flatten(request)
    solution = fit_ability(request, flat, prior, max_iterations, tolerance)
    return em.as_fit(request, flat, solution, confusion_of(solution), {"ability": solution.parameters[0]})


def fit_ability(
    request: MethodRequest,
    flat: FlatAnnotations,
    prior: ArrayLike = 1,
    max_iterations: int = 500,
    tolerance: float = 1e-6,
) -> em.EmRun:
    """The solution, with parameters as in `MODEL`."""
    class_counts = check_arrays.positive_row(prior, flat.n_labels, "prior")
    limits = em.EmLimits(max_iterations, tolerance)
    n_labels = flat.n_labels
    first = (
        np.ones(flat.n_annotators),
        np.zeros((n_labels, flat.n_annotators)),
        np.zeros((n_labels, n_labels, flat.n_annotators)),
        np.asarray(shared_centre(n_labels)),
    )
    return em.solve(request, flat, MODEL, first, (), class_counts, limits)


def anchored_counts(flat: FlatAnnotations) -> Float[np.ndarray, " label"]:
    """Pseudo-counts of the class marginals: one, and a part of the items that most votes give the label."""
    possible = np.where(flat.known == 0, flat.votes(), -1.0)  # a known answer stands for the votes
    voted = plurality(possible).sum(0)
    return np.asarray(1 + ANCHOR * voted)


def shared_centre(n_labels: int) -> Float[np.ndarray, "label label"]:
    """The prior mean of the shared confusion's logits."""
    return SHARED_DIAGONAL * (np.eye(n_labels) - 1 / n_labels)


def _logits(a: np.ndarray, b: np.ndarray, d: np.ndarray, g: np.ndarray) -> Float[np.ndarray, "class label annotator"]:
    return np.asarray(g[:, :, None] * a + b + d)


def _maximise(probs: np.ndarray, parameters: em.Parameters, flat: FlatAnnotations, priors: em.Priors) -> em.Parameters:
    counts = em.answers_by_class(probs, flat).transpose(2, 1, 0)
    return climb(np.ascontiguousarray(counts), parameters)


def climb(counts: Float[np.ndarray, "class label annotator"], parameters: em.Parameters) -> em.Parameters:
    """Steps along blocks of the parameters, bounded by curvature, given expected answers."""
    rows = counts.sum(1, keepdims=True)
    n_labels = len(counts)
    centre = shared_centre(n_labels)
    own_curvature = BOUND * rows + OWN_PRECISION
    habit_curvature = BOUND * rows.sum(0) + OWN_PRECISION
    a, b, d, g = parameters

    def residual() -> np.ndarray:
        answers: np.ndarray = np.exp(_logits(a, b, d, g))  # the priors keep logits far from where this overflows
        answers *= rows / answers.sum(1, keepdims=True)
        np.subtract(counts, answers, out=answers)
        return answers

    for _ in range(SWEEPS):
        slope = residual() - OWN_PRECISION * d
        d = d + slope / own_curvature
        slope = residual().sum(0) - OWN_PRECISION * b
        b = b + slope / habit_curvature
        spread = (g.max(1) - g.min(1)) ** 2 / 4
        slope = np.einsum("klj,kl->j", residual(), g) - ABILITY_PRECISION * (a - 1)
        a = a + slope / (spread @ rows[:, 0] + ABILITY_PRECISION)
        slope = residual() @ a - SHARED_PRECISION * (g - centre)
        g = g + slope / (BOUND * (rows @ a**2) + SHARED_PRECISION)
    return a, b, d, g


def log_confusion(parameters: em.Parameters) -> Float[np.ndarray, "class label annotator"]:
    logits = _logits(*parameters)
    return np.asarray(logits - em.log_total(logits, 1))


def log_prior(parameters: em.Parameters, priors: em.Priors) -> float:
    a, b, d, g = parameters
    from_centre = g - shared_centre(len(g))
    squares = ABILITY_PRECISION * ((a - 1) ** 2).sum()
    squares += OWN_PRECISION * (b**2).sum()
    squares += OWN_PRECISION * (d**2).sum()
    squares += SHARED_PRECISION * (from_centre**2).sum()
    return -0.5 * float(squares)


# The parameters are (a, b by label and annotator, D by class, label and annotator, G by class and label).
MODEL = em.EmModel(
    _maximise,
    lambda parameters, flat: em.log_joint(log_confusion(parameters).transpose(2, 1, 0), flat),
    log_prior,
)


def confusion_of(solution: em.EmRun) -> Float[np.ndarray, "annotator label label"]:
    """P(label | class) by annotator, class and label."""
    return np.exp(log_confusion(solution.parameters)).transpose(2, 0, 1)
