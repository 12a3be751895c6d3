"""Annotators of differing ability: one number a person sharpens all rows of their confusion, so rare classes learn."""

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float
from scipy.special import softmax

from probtruth import check_arrays
from probtruth.truth import em
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import FlatAnnotations, flatten, plurality

ABILITY_SPREAD = 0.7  # Prior sd of ability around 1

OWN_SPREAD = 0.5  # Prior sd of an annotator's liking for a label, and of each cell's own deviation

SHARED_SPREAD = 1.5  # Prior sd of the shared confusion's logits around 3 (delta_kl - 1/K)

SHARED_DIAGONAL = 3.0  # Prior logit by which the right label stands above the others in the shared confusion

ABILITY_PRECISION, OWN_PRECISION, SHARED_PRECISION = ABILITY_SPREAD**-2, OWN_SPREAD**-2, SHARED_SPREAD**-2
ABILITY_WEIGHT = ABILITY_PRECISION / OWN_PRECISION
SHARED_WEIGHT = SHARED_PRECISION / OWN_PRECISION

# Pseudo-items that each item adds to the class marginals: enough that a rare label does not absorb items on which
# annotators disagree, too few to hold marginals where a crowd prefers one label (docs/validity/truth-pooled.csv).
ANCHOR = 0.1

SWEEPS = 4  # Rounds over the blocks of parameters in each M-step


def ability(
    request: MethodRequest,
    *,
    prior: ArrayLike = 1,
    max_iterations: int = 500,
    tolerance: float = 1e-6,
) -> MethodFit:
    """P(y_n = l | z_i = k) = softmax_l(a_j G_kl + b_jl + D_jkl), at the maximum of the posterior by EM."""
    flat = flatten(request)
    solution = fit_ability(request, flat, em.EmLimits(max_iterations, tolerance), prior)
    return em.as_fit(request, flat, solution, confusion_of(solution), {"ability": solution.parameters[0]})


def fit_ability(request: MethodRequest, flat: FlatAnnotations, limits: em.EmLimits, prior: ArrayLike = 1) -> em.EmRun:
    """The solution, with parameters as in `model_of`."""
    class_counts = check_arrays.positive_row(prior, flat.n_labels)
    n_labels = flat.n_labels
    first = (
        np.ones(flat.n_annotators),
        np.zeros((n_labels, flat.n_annotators)),
        np.zeros((n_labels, n_labels, flat.n_annotators)),
        shared_centre(n_labels),
    )
    model = model_of(flat)
    # vote shares as they are would have annotators whom the priors hold unlikely: climbs from there end elsewhere
    log_marginals = np.log(class_counts + flat.votes().sum(0))
    probs = softmax(log_marginals + model.log_joint(first) + flat.known, 1)
    return em.solve(request, flat, model, first, class_counts, limits, probs)


def anchored_counts(flat: FlatAnnotations) -> Float[np.ndarray, " label"]:
    """Pseudo-counts of the class marginals: one, and a part of the items that most votes give the label."""
    possible = np.where(flat.known == 0, flat.votes(), -1.0)  # a known answer stands for the votes
    voted = plurality(possible).sum(0)
    return 1 + ANCHOR * voted


def shared_centre(n_labels: int) -> Float[np.ndarray, "label label"]:
    """The prior mean of the shared confusion's logits."""
    return SHARED_DIAGONAL * (np.eye(n_labels) - 1 / n_labels)


def _logits(a: np.ndarray, b: np.ndarray, d: np.ndarray, g: np.ndarray) -> Float[np.ndarray, "class label annotator"]:
    return g[:, :, None] * a + b + d


def climb(expected_answers: em.Expected, parameters: em.Parameters, flat: FlatAnnotations) -> em.Parameters:
    """Damped Newton steps along blocks of the parameters; each climbs."""
    counts = np.ascontiguousarray(em.by_class(expected_answers, flat).transpose(2, 1, 0))  # class, label, annotator
    rows = counts.sum(1, keepdims=True)
    centre = shared_centre(flat.n_labels)
    a, b, d, g = parameters

    def expected() -> np.ndarray:
        answers: np.ndarray = np.exp(_logits(a, b, d, g))  # the priors keep logits far from where this overflows
        answers *= rows / answers.sum(1, keepdims=True)
        return answers

    for _ in range(SWEEPS):
        answers = expected()
        d = d + _label_step(counts - answers - OWN_PRECISION * d, answers + OWN_PRECISION)
        answers = expected()
        slope = np.einsum("klj,kl->j", counts - answers, g)
        slope -= ABILITY_PRECISION * (a - 1)
        from_right = (g - np.diag(g)[:, None]) ** 2  # its mean is no less than the variance
        curvature = np.einsum("klj,kl->j", answers, from_right) + ABILITY_PRECISION
        change = slope / curvature
        a = a + _damped(change, np.abs(change) * np.ptp(g, 1).max())
        answers = expected()
        slope = (counts - answers) @ a
        slope -= SHARED_PRECISION * (g - centre)
        curvature = answers @ a**2 + SHARED_PRECISION
        g = g + _label_step(slope, curvature, np.abs(a).max())
        a, b, d, g = _likelier_parts(a, b, d, g)
    return a, b, d, g


def _label_step(slope: np.ndarray, curvature: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """A step of logits by label (the second axis); their mean over labels stays 0, as it is at the maximum."""
    step = slope / curvature
    step -= step.mean(1, keepdims=True)
    return _damped(step, scale * np.ptp(step, 1, keepdims=True))


def _damped(step: np.ndarray, size: np.ndarray) -> np.ndarray:
    """A Newton step so much shorter that it climbs; `size` is how far it moves logits apart."""
    # a third moment is at most the range times the variance: Sun and Tran-Dinh (2019), doi:10.1007/s10107-018-1282-4
    return step * np.log1p(size) / np.maximum(size, em.TINY)


def _likelier_parts(a: np.ndarray, b: np.ndarray, d: np.ndarray, g: np.ndarray) -> em.Parameters:
    """Parts that have the same sum, and so the same likelihood, and a higher prior."""
    centre = shared_centre(len(g))
    both = g[:, :, None] * a + d
    a = np.einsum("klj,kl->j", both, g) + ABILITY_WEIGHT
    a /= (g**2).sum() + ABILITY_WEIGHT
    g = both @ a + SHARED_WEIGHT * centre
    g /= a @ a + SHARED_WEIGHT
    slope_of_g = SHARED_WEIGHT * ((g - centre) * g).sum()
    slope_of_a = ABILITY_WEIGHT * ((a - 1) @ a)
    bound_of_g = SHARED_WEIGHT * (g**2).sum()
    bound_of_a = ABILITY_WEIGHT * (a @ a)
    step = (slope_of_g - slope_of_a) / (2 * (bound_of_g + bound_of_a))
    scale = np.exp(_damped(step, 2 * np.abs(step)))
    a *= scale
    g /= scale
    logits = both - g[:, :, None] * a + b
    b = logits.sum(0) / (len(g) + 1)
    return a, b, logits - b, g


def log_confusion(parameters: em.Parameters) -> Float[np.ndarray, "class label annotator"]:
    logits = _logits(*parameters)
    return logits - em.log_total(logits, 1)


def log_prior(parameters: em.Parameters) -> float:
    a, b, d, g = parameters
    from_centre = g - shared_centre(len(g))
    squares = OWN_PRECISION * (b**2).sum()
    squares += OWN_PRECISION * (d**2).sum()
    squares += ABILITY_PRECISION * ((a - 1) ** 2).sum()
    squares += SHARED_PRECISION * (from_centre**2).sum()
    return -0.5 * float(squares)


def model_of(flat: FlatAnnotations) -> em.EmModel:
    """The parameters are (a, b by label and annotator, D by class, label and annotator, G by class and label)."""
    return em.EmModel(
        lambda probs, _: em.expected_answers(probs, flat),
        lambda counts, parameters: climb(counts, parameters, flat),
        lambda parameters: em.log_joint(log_confusion(parameters).transpose(2, 1, 0), flat),
        log_prior,
    )


def confusion_of(solution: em.EmRun) -> Float[np.ndarray, "annotator label label"]:
    """P(label | class) by annotator, class and label."""
    return np.exp(log_confusion(solution.parameters)).transpose(2, 0, 1)
