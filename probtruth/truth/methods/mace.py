"""MACE: an annotator either knows and gives the truth, or spams from a distribution of their own."""

import numpy as np
from jax.typing import ArrayLike

from probtruth import check
from probtruth.truth import em
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import flatten


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

    def expect(probs: np.ndarray, parameters: em.Parameters) -> em.Expected:
        """How often each annotator knew, then how often they guessed each label."""
        log_right, log_guess = _logs(parameters)
        right, wrong = em.right_and_wrong(probs, flat)
        by_luck = right * np.exp(log_guess - log_right)
        knew = (right - by_luck).sum(1)
        guessed = by_luck + wrong
        return np.append(np.maximum(knew, 0.0), guessed)

    def maximise(counts: em.Expected, _: em.Parameters) -> em.Parameters:
        knew, guesses = np.split(counts, [n_annotators])
        guessed = guesses.reshape(-1, n_labels)
        either = np.stack([knew, guessed.sum(1)], 1)
        log_spam = em.log_normalised(either + pseudo, 1, 0.5)
        log_habit = em.log_normalised(guessed + pseudo, 1, 1 / n_labels)
        return log_spam, log_habit

    def log_joint(parameters: em.Parameters) -> np.ndarray:
        log_right, log_guess = _logs(parameters)
        log_answers = em.answers_of(log_right, log_guess, n_labels)
        return em.log_joint(log_answers, flat)

    def log_prior(parameters: em.Parameters) -> float:
        return sum(em.log_pseudo(np.array(pseudo), part) for part in parameters)

    # the parameters are each annotator's (log P(no spam), log P(spam)) and log habit
    model = em.EmModel(expect, maximise, log_joint, log_prior, uniform_classes=True)
    log_spam = np.full((n_annotators, 2), np.log(0.5))
    log_habit = np.full((n_annotators, n_labels), -np.log(n_labels))
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    class_counts = em.class_counts(prior, n_labels)
    solution = em.solve(request, flat, model, (log_spam, log_habit), class_counts, limits)
    log_right, log_guess = _logs(solution.parameters)
    confusion = np.exp(em.answers_of(log_right, log_guess, n_labels)).transpose(0, 2, 1)
    ability = np.exp(solution.parameters[0][:, 0])
    return em.as_fit(request, flat, solution, confusion, {"ability": ability})


def _logs(parameters: em.Parameters) -> tuple[np.ndarray, np.ndarray]:
    """Log P(label) by annotator and label where it names the class, and where it does not: a guess."""
    log_spam, log_habit = parameters
    log_guess = log_spam[:, 1:] + log_habit
    log_right = np.logaddexp(log_spam[:, :1], log_guess)
    return log_right, log_guess
