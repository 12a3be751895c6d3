"""GLAD: annotators of differing ability, items of differing difficulty."""

from collections.abc import Callable

import numpy as np
from jax.typing import ArrayLike
from scipy.special import expit, log_expit

from probtruth.truth import em
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import FlatAnnotations, flatten
from probtruth.truth.methods.one_coin import spread_errors

# Rounds of one Newton step for every annotator and one for every item in each M-step; each only ever climbs.
NEWTON_STEPS = 3

LONGEST_STEP = 1.0  # Longest Newton step, in units of ability or log easiness

HALVINGS = 4  # How often a step that does not climb is halved before the parameter is left where it is


def glad(
    request: MethodRequest,
    *,
    prior: ArrayLike | None = None,
    restarts: int = 1,
    max_iterations: int = 500,
    tolerance: float = 1e-6,
) -> MethodFit:
    """P(y_n = z_i) = sigmoid(a_j b_i), errors equally over the others."""
    flat = flatten(request)
    first = np.ones(flat.n_annotators), np.ones(flat.n_items)
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    # the parameters are abilities and log easinesses; what is expected is whether each annotation is right
    model = em.EmModel(
        lambda probs, _: probs[flat.item, flat.label],
        lambda correct, parameters: _maximise(correct, parameters, flat),
        lambda parameters: _log_joint(parameters, flat),
        _log_prior,
        uniform_classes=True,
    )
    solution = em.solve(request, flat, model, first, em.class_counts(prior, flat.n_labels), limits)
    ability, log_easiness = solution.parameters
    usual_easiness = np.exp(np.median(log_easiness))
    right = expit(ability * usual_easiness)
    confusion = spread_errors(right, flat.n_labels)
    difficulty = {"difficulty": -log_easiness}
    return em.as_fit(request, flat, solution, confusion, {"ability": ability}, difficulty)


def _maximise(correct: em.Expected, parameters: em.Parameters, flat: FlatAnnotations) -> em.Parameters:
    """Newton steps for abilities and log easinesses in turn; the drive of an annotation is ability times easiness."""
    ability, log_easiness = parameters

    def newton_step(
        values: np.ndarray, index: np.ndarray, drive_of: Callable[[np.ndarray], np.ndarray], slope_of_drive: np.ndarray
    ) -> np.ndarray:
        """One step for all annotators, or all items, under their N(1, 1) prior, halved until it climbs."""

        def total(terms: np.ndarray) -> np.ndarray:
            return np.bincount(index, flat.weight * terms, len(values))

        def worth(tried: np.ndarray) -> np.ndarray:
            drive = drive_of(tried)
            # log sigmoid(-drive) = log sigmoid(drive) - drive
            of_answers = total(log_expit(drive) - (1 - correct) * drive)
            log_prior = -0.5 * (tried - 1) ** 2
            return of_answers + log_prior

        right = expit(drive_of(values))
        slope = total(slope_of_drive * (correct - right))
        slope -= values - 1
        spread = right * (1 - right)
        curvature = total(slope_of_drive**2 * spread) + 1
        change = np.clip(slope / curvature, -LONGEST_STEP, LONGEST_STEP)
        before = worth(values)
        stepped = values
        waits = np.ones(len(values), bool)
        for halving in range(HALVINGS):
            tried = values + change * 0.5**halving
            climbs = waits & (worth(tried) > before)
            stepped = np.where(climbs, tried, stepped)
            waits &= ~climbs
            if not waits.any():
                break
        return stepped

    for _round in range(NEWTON_STEPS):
        easiness = np.exp(log_easiness)[flat.item]
        ability = newton_step(
            ability,
            flat.annotator,
            lambda tried: tried[flat.annotator] * easiness,  # noqa: B023
            easiness,
        )
        of_annotator = ability[flat.annotator]
        log_easiness = newton_step(
            log_easiness,
            flat.item,
            lambda tried: of_annotator * np.exp(tried)[flat.item],  # noqa: B023
            of_annotator * easiness,
        )
    return ability, log_easiness


def _log_joint(parameters: em.Parameters, flat: FlatAnnotations) -> np.ndarray:
    ability, log_easiness = parameters
    easiness = np.exp(log_easiness)
    drive = ability[flat.annotator] * easiness[flat.item]
    n_wrong = max(flat.n_labels - 1, 1)
    right = flat.weight * log_expit(drive)
    one_wrong = log_expit(-drive) - np.log(n_wrong)
    wrong = flat.weight * one_wrong
    cell = flat.item * flat.n_labels + flat.label
    size = flat.n_items * flat.n_labels
    named = np.bincount(cell, right - wrong, size)
    of_all = np.bincount(flat.item, wrong, flat.n_items)
    return named.reshape(flat.n_items, flat.n_labels) + of_all[:, None]


def _log_prior(parameters: em.Parameters) -> float:
    ability, log_easiness = parameters
    squares = ((ability - 1) ** 2).sum() + ((log_easiness - 1) ** 2).sum()
    return -0.5 * float(squares)
