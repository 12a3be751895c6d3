"""GLAD: annotators of differing ability, items of differing difficulty."""

from collections.abc import Callable
from functools import partial

import numpy as np
from jax.typing import ArrayLike

from probtruth import check
from probtruth.truth import em
from probtruth.truth.annotators.quality import Values
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import flatten
from probtruth.truth.methods.one_coin import spread_errors

NEWTON_STEPS = 3
"""Rounds of one Newton step for every annotator and one for every item in each M-step; each only ever climbs."""

LONGEST_STEP = 1.0
"""Longest Newton step, in units of ability or log easiness."""

HALVINGS = 4
"""How often a step that does not climb is halved before the parameter is left where it is."""


@check.checks_itself
def glad(
    request: MethodRequest,
    *,
    prior: ArrayLike | None = None,
    restarts: int = 1,
    max_iterations: int = 500,
    tolerance: float = 1e-6,
) -> MethodFit:
    """P(y_n = z_i) = sigmoid(a_j b_i), errors equally over the others; a_j ~ N(1, 1), log b_i ~ N(1, 1), z_i uniform.

    Arguments: `prior` are pseudo-counts of the class marginals, which are learned then, and uniform without it; the
    others as in Dawid-Skene. `confusion` is that on an item of median easiness. Draws are of the class given
    the point estimate. An item's `difficulty` is -log b_i.

    Source: Whitehill, Ruvolo, Wu, Bergsma and Movellan (2009), https://papers.nips.cc/paper/3644; several labels as
    in its supplement.
    """
    flat = flatten(request)
    first = np.ones(flat.n_annotators), np.ones(flat.n_items)
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    solution = em.solve(request, flat, MODEL, first, (), em.class_counts(prior, flat.n_labels), limits)
    ability, log_easiness = solution.parameters
    right = 1 / (1 + np.exp(-ability * np.exp(np.median(log_easiness))))
    confusion, difficulty = spread_errors(right, flat.n_labels), {"difficulty": -log_easiness}
    return em.as_fit(request, flat, solution, confusion, {"ability": ability}, difficulty)


def _maximise(probs: Values, parameters: em.Parameters, data: em.SparseAnnotations, _: em.Priors) -> em.Parameters:
    """Newton steps for abilities and log easinesses in turn; the drive of an annotation is ability times easiness."""
    xp, (ability, log_easiness) = probs.__array_namespace__(), parameters
    correct = probs[data.item, data.label]

    def of_annotators(terms: Values) -> Values:
        return em.totals(terms, data.annotator, len(ability))

    def of_items(terms: Values) -> Values:
        return em.totals(terms, data.item, len(log_easiness), in_order=True)

    def score(ability: Values, log_easiness: Values) -> Values:
        drive = _drive((ability, log_easiness), data)
        return data.weight * (correct * _log_sigmoid(drive) + (1 - correct) * _log_sigmoid(-drive))

    for _round in range(NEWTON_STEPS):
        of_ability = partial(score, log_easiness=log_easiness)
        easiness = xp.exp(log_easiness[data.item])
        drive = ability[data.annotator] * easiness
        ability = _newton_step(ability, of_annotators, of_ability, correct, drive, easiness, data)
        drive = ability[data.annotator] * easiness
        log_easiness = _newton_step(log_easiness, of_items, partial(score, ability), correct, drive, drive, data)
    return ability, log_easiness


def _newton_step(
    values: Values,
    total: Callable[[Values], Values],
    score: Callable[[Values], Values],
    correct: Values,
    drive: Values,
    slope_of_drive: Values,
    data: em.SparseAnnotations,
) -> Values:
    """One step for all annotators, or all items, under their N(1, 1) prior, halved until it climbs."""

    def worth(tried: Values) -> Values:
        return total(score(tried)) - 0.5 * (tried - 1) ** 2

    xp = drive.__array_namespace__()
    right = 1 / (1 + xp.exp(-drive))
    slope = total(data.weight * slope_of_drive * (correct - right)) - (values - 1)
    curvature = total(data.weight * slope_of_drive**2 * right * (1 - right)) + 1
    change = xp.clip(slope / curvature, -LONGEST_STEP, LONGEST_STEP)
    before: Values = worth(values)
    taken: Values = xp.zeros_like(values)
    for halving in range(HALVINGS):
        tried = values + change * 0.5**halving
        taken = xp.where((taken == 0) & (worth(tried) > before), tried - values, taken)
    return values + taken


def _drive(parameters: em.Parameters, data: em.SparseAnnotations) -> Values:
    ability, log_easiness = parameters
    drive: Values = ability[data.annotator] * ability.__array_namespace__().exp(log_easiness[data.item])
    return drive


def _log_sigmoid(drive: Values) -> Values:
    minus: Values = drive.__array_namespace__().logaddexp(0.0, -drive)
    return -minus


def _log_terms(parameters: em.Parameters, data: em.SparseAnnotations) -> Values:
    drive, others = _drive(parameters, data), max(data.known.shape[1] - 1, 1)
    return em.right_or_wrong(_log_sigmoid(drive), _log_sigmoid(-drive) - np.log(others), data)


def _log_prior(parameters: em.Parameters, _: em.Priors) -> em.Number:
    ability, log_easiness = parameters
    return -0.5 * ((ability - 1) ** 2).sum() - 0.5 * ((log_easiness - 1) ** 2).sum()


MODEL = em.EmModel(_maximise, _log_terms, _log_prior, uniform_classes=True)
"""The parameters are abilities and log easinesses."""
