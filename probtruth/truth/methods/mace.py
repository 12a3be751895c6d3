"""MACE: an annotator either knows and gives the truth, or spams from a distribution of their own."""

import numpy as np
from jax.typing import ArrayLike

from probtruth import check
from probtruth.truth import em
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import FlatAnnotations, flatten


def mace(
    request: MethodRequest,
    *,
    prior: ArrayLike | None = None,
    smoothing: float | None = None,
    restarts: int = 10,
    max_iterations: int = 2000,
    tolerance: float = 1e-6,
) -> MethodFit:
    """P(y_n = l | z_i = k) = (1 - s_j) [l = k] + s_j xi_j[l], z_i uniform; s_j is how often annotator j spams."""
    flat = flatten(request)
    n_labels, n_annotators = flat.n_labels, flat.n_annotators
    pseudo = 0.01 / n_labels
    if smoothing is not None:
        pseudo = check.number(smoothing, "smoothing", least=0)
    log_spam = np.full((n_annotators, 2), np.log(0.5))
    log_habit = np.full((n_annotators, n_labels), -np.log(n_labels))
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    class_counts = em.class_counts(prior, n_labels)
    priors = (np.array(pseudo),)
    solution = em.solve(request, flat, MODEL, (log_spam, log_habit), priors, class_counts, limits)
    log_right, log_guess = _logs(solution.parameters)
    confusion = np.exp(em.answers_of(log_right, log_guess, n_labels)).transpose(0, 2, 1)
    ability = np.exp(solution.parameters[0][:, 0])
    return em.as_fit(request, flat, solution, confusion, {"ability": ability})


def _maximise(probs: np.ndarray, parameters: em.Parameters, flat: FlatAnnotations, priors: em.Priors) -> em.Parameters:
    log_right, log_guess = _logs(parameters)
    right, wrong = em.right_and_wrong(probs, flat)
    by_luck = right * np.exp(log_guess - log_right)
    guessed = by_luck + wrong
    knew = (right - by_luck).sum(1)
    counts = np.stack([knew, guessed.sum(1)], 1)
    log_spam = em.log_normalised(np.maximum(counts, 0.0) + priors[0], 1, 0.5)
    log_habit = em.log_normalised(guessed + priors[0], 1, 1 / flat.n_labels)
    return log_spam, log_habit


def _logs(parameters: em.Parameters) -> tuple[np.ndarray, np.ndarray]:
    """Log P(label) by annotator and label where it names the class, and where it does not: a guess."""
    log_spam, log_habit = parameters
    log_guess = log_spam[:, 1:] + log_habit
    log_right = np.logaddexp(log_spam[:, :1], log_guess)
    return log_right, log_guess


def _log_joint(parameters: em.Parameters, flat: FlatAnnotations) -> np.ndarray:
    log_right, log_guess = _logs(parameters)
    log_answers = em.answers_of(log_right, log_guess, flat.n_labels)
    return em.log_joint(log_answers, flat)


def _log_prior(parameters: em.Parameters, priors: em.Priors) -> float:
    return sum(em.log_pseudo(priors[0], part) for part in parameters)


# The parameters are each annotator's (log P(no spam), log P(spam)) and log habit.
MODEL = em.EmModel(_maximise, _log_joint, _log_prior, uniform_classes=True)
