"""MACE: an annotator either knows and gives the truth, or spams from a distribution of their own."""

import numpy as np
from jax.typing import ArrayLike

from probtruth import check
from probtruth.truth import em
from probtruth.truth.annotators.quality import Values
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import flatten


@check.checks_itself
def mace(
    request: MethodRequest,
    *,
    prior: ArrayLike | None = None,
    smoothing: float | None = None,
    restarts: int = 10,
    max_iterations: int = 2000,
    tolerance: float = 1e-6,
) -> MethodFit:
    """P(y_n = l | z_i = k) = (1 - s_j) [l = k] + s_j xi_j[l], z_i uniform; s_j is how often annotator j spams.

    Arguments: `smoothing` are pseudo-counts of spamming, of not spamming and of each spammed label (0.01/K without
    it); `prior` are pseudo-counts of the class marginals, which are learned then, and uniform without it; the others
    as in Dawid-Skene. The first start is the vote shares, the others are drawn around them. Draws are of the class
    given the point estimate.

    Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), https://aclanthology.org/N13-1132.
    """
    flat = flatten(request)
    n_labels, n_annotators = flat.n_labels, flat.n_annotators
    pseudo = 0.01 / n_labels if smoothing is None else check.number(smoothing, "smoothing", least=0)
    first = np.full((n_annotators, 2), np.log(0.5)), np.full((n_annotators, n_labels), -np.log(n_labels))
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    solution = em.solve(request, flat, MODEL, first, (pseudo,), em.class_counts(prior, n_labels), limits)
    log_spam, log_habit = solution.parameters
    spam, habit = np.exp(log_spam[:, 1]), np.exp(log_habit)
    confusion = spam[:, None, None] * habit[:, None, :] + (1 - spam)[:, None, None] * np.eye(n_labels)
    return em.as_fit(request, flat, solution, confusion, {"ability": 1 - spam})


def _maximise(probs: Values, parameters: em.Parameters, data: em.SparseAnnotations, priors: em.Priors) -> em.Parameters:
    xp, (n_annotators, n_labels) = probs.__array_namespace__(), parameters[1].shape
    log_right, log_guess = _logs(parameters, data)
    right_by_luck = xp.exp(log_guess - log_right)
    correct = probs[data.item, data.label]
    spammed = (correct * right_by_luck + 1 - correct) * data.weight
    habit = em.totals(spammed, data.cell, n_annotators * n_labels).reshape(n_annotators, n_labels)
    votes = em.totals(data.weight, data.annotator, n_annotators)
    both = xp.stack([votes - habit.sum(1), habit.sum(1)], 1)
    log_spam, _ = em.log_normalised(xp.maximum(both, 0.0) + priors[0], 1, 0.5)
    return log_spam, em.log_normalised(habit + priors[0], 1, 1 / n_labels)[0]


def _logs(parameters: em.Parameters, data: em.SparseAnnotations) -> tuple[Values, Values]:
    """Log P(annotation) of every annotation where it names the class, and where it does not: a guess."""
    log_spam, log_habit = parameters
    own = log_spam[data.annotator]
    log_guess = own[:, 1] + log_habit.reshape(-1)[data.cell]
    return log_guess.__array_namespace__().logaddexp(own[:, 0], log_guess), log_guess


def _log_terms(parameters: em.Parameters, data: em.SparseAnnotations) -> Values:
    return em.right_or_wrong(*_logs(parameters, data), data)


def _log_prior(parameters: em.Parameters, priors: em.Priors) -> em.Number:
    log_spam, log_habit = (em.log_pseudo(priors[0], part) for part in parameters)
    return log_spam + log_habit


MODEL = em.EmModel(_maximise, _log_terms, _log_prior, uniform_classes=True)
"""The parameters are each annotator's (log P(no spam), log P(spam)) and log habit."""
