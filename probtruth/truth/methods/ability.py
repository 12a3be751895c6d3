"""Annotators of differing ability: one number a person sharpens all rows of their confusion, so rare classes learn."""

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float

from probtruth import check, check_arrays
from probtruth.truth import em
from probtruth.truth.annotators.quality import Values
from probtruth.truth.earlier import EarlierTruth, earlier_of, evidence
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import FlatAnnotations, far_from, flatten, plurality
from probtruth.types import Truth

ABILITY_SPREAD = 0.7
"""Prior sd of ability around 1."""

OWN_SPREAD = 0.5
"""Prior sd of an annotator's liking for a label, and of each cell's own deviation."""

SHARED_SPREAD = 1.5
"""Prior sd of the shared confusion's logits around 3 (delta_kl - 1/K)."""

SHARED_DIAGONAL = 3.0
"""Prior logit by which the right label stands above the others in the shared confusion."""

ABILITY_PRECISION, OWN_PRECISION, SHARED_PRECISION = ABILITY_SPREAD**-2, OWN_SPREAD**-2, SHARED_SPREAD**-2

ANCHOR = 1.0
"""Pseudo-items that each item adds to the class marginals where a label drifts."""

SWEEPS = 4
"""Rounds over the four blocks of parameters in each M-step."""

BOUND = 0.5
"""The Hessian of log softmax is nowhere below -1/2 (Boehning 1992), so that steps scaled by it always climb."""


@check.checks_itself
def ability(
    request: MethodRequest,
    *,
    prior: ArrayLike | Truth = 1,
    max_iterations: int = 500,
    tolerance: float = 1e-6,
) -> MethodFit:
    """P(y_n = l | z_i = k) = softmax_l(a_j G_kl + b_jl + D_jkl), at the maximum of the posterior by EM.

    Priors: a_j ~ N(1, 0.7^2), b and D ~ N(0, 0.5^2), G_kl ~ N(3 (delta_kl - 1/K), 1.5^2); class marginals with
    `prior` pseudo-counts (one for each label, or one number). Or `prior` is an earlier `Truth`: its expected counts of
    annotators and classes are added, its items keep what they had, and annotators not seen before share G. One ability
    a_j for all rows of an annotator's confusion lets classes that they seldom met borrow from those they met often.
    `ability` in `annotators()` is a_j with the interval of its curvature, the other parameters held. Draws are of the
    class given the point estimate.

    Source: this package; the bound of the M-step is that of Boehning (1992), https://doi.org/10.1007/BF00048682.
    """
    earlier, flat = earlier_of(prior, request.annotations), flatten(request)
    extended = earlier.extend(flat)
    own_prior = 1 if isinstance(prior, Truth) else prior
    solution = fit_ability(request, extended, own_prior, max_iterations, tolerance, earlier)
    learned = evidence(solution.probs, extended, earlier)
    present = slice(flat.n_annotators)
    strength, shared = solution.parameters[0][present], solution.parameters[3]
    confusion = np.exp(solution.parameters[-1][present])
    half = 1.96 * _standard_errors(learned["annotations"][present].sum(2), confusion, shared)
    columns = {"ability": strength, "ability_low": strength - half, "ability_high": strength + half}
    return em.as_fit(request, flat, solution, confusion, columns, evidence=learned)


def fit_ability(
    request: MethodRequest,
    flat: FlatAnnotations,
    prior: ArrayLike = 1,
    max_iterations: int = 500,
    tolerance: float = 1e-6,
    earlier: EarlierTruth | None = None,
) -> em.EmSolution:
    """The solution with parameters (a, b, D, G, log confusion by annotator, true class, label)."""
    before = earlier_of(None, request.annotations) if earlier is None else earlier
    class_counts = check_arrays.positive_row(prior, flat.n_labels, "prior") + before.class_counts
    n_annotators, n_labels = flat.n_annotators, flat.n_labels
    cells = np.zeros((n_annotators, n_labels, n_labels))
    first = np.ones(n_annotators), np.zeros((n_annotators, n_labels)), cells, np.asarray(shared_centre(n_labels)), cells
    limits = em.EmLimits(max_iterations, tolerance)
    return em.solve(request, flat, MODEL, first, (before.counts,), class_counts, limits)


def fit_anchored(request: MethodRequest, flat: FlatAnnotations) -> em.EmSolution:
    """As `fit_ability`; where a label drifts far above what most votes name, marginals are pooled with the latter.

    With a confusion of their own, annotators can explain split votes by a class that nobody recognises well: a rare
    class then absorbs the items on which they disagree.
    """
    free = fit_ability(request, flat)
    possible = np.where(flat.known == 0, flat.votes(), -1.0)  # a known answer stands for the votes
    voted = plurality(possible).sum(0)
    if not (far_from(free.probs.sum(0), voted) > 0).any():
        return free
    return fit_ability(request, flat, 1 + ANCHOR * voted)


def shared_centre(n_labels: int) -> Float[np.ndarray, "label label"]:
    """The prior mean of the shared confusion's logits."""
    return SHARED_DIAGONAL * (np.eye(n_labels) - 1 / n_labels)


def _logits(a: Values, b: Values, d: Values, g: Values) -> Float[Values, "annotator label label"]:
    return a[:, None, None] * g + b[:, None, :] + d


def _maximise(probs: Values, parameters: em.Parameters, data: em.SparseAnnotations, priors: em.Priors) -> em.Parameters:
    """Climbs along blocks of parameters, bounded by curvature.

    `priors` are expected annotations of former data, by annotator, class and label, that count like those of these.
    """
    counts = em.answers_by_class(probs, data, len(parameters[0])).transpose(0, 2, 1) + priors[0]
    rows = counts.sum(2, keepdims=True)
    xp, centre = probs.__array_namespace__(), shared_centre(probs.shape[1])

    def residual(a: Values, b: Values, d: Values, g: Values) -> Values:
        logits = _logits(a, b, d, g)
        answers = xp.exp(logits - logits.max(2, keepdims=True))
        expected: Values = answers * (rows / answers.sum(2, keepdims=True))
        return counts - expected

    def round_of_blocks(blocks: em.Parameters) -> em.Parameters:
        a, b, d, g = blocks
        d = d + (residual(a, b, d, g) - OWN_PRECISION * d) / (BOUND * rows + OWN_PRECISION)
        b = b + (residual(a, b, d, g).sum(1) - OWN_PRECISION * b) / (BOUND * rows.sum(1) + OWN_PRECISION)
        spread = (g.max(1) - g.min(1)) ** 2 / 4
        slope = (residual(a, b, d, g) * g).sum((1, 2)) - ABILITY_PRECISION * (a - 1)
        a = a + slope / ((rows[:, :, 0] * spread).sum(1) + ABILITY_PRECISION)
        slope = (a[:, None, None] * residual(a, b, d, g)).sum(0) - SHARED_PRECISION * (g - centre)
        g = g + slope / (BOUND * (a[:, None, None] ** 2 * rows).sum(0) + SHARED_PRECISION)
        return a, b, d, g

    blocks = em.repeated(SWEEPS, round_of_blocks, parameters[:4])
    logits = _logits(*blocks)
    return *blocks, logits - em.log_total(logits, 2)


def _log_terms(parameters: em.Parameters, data: em.SparseAnnotations) -> Values:
    log_answers = parameters[4]
    return log_answers.transpose(0, 2, 1).reshape(-1, log_answers.shape[2])[data.cell]


def _log_prior(parameters: em.Parameters, priors: em.Priors) -> em.Number:
    a, b, d, g, log_answers = parameters
    squares = ABILITY_PRECISION * ((a - 1) ** 2).sum() + OWN_PRECISION * ((b**2).sum() + (d**2).sum())
    squares += SHARED_PRECISION * ((g - shared_centre(len(g))) ** 2).sum()
    return em.log_pseudo(priors[0], log_answers) - 0.5 * squares


MODEL = em.EmModel(_maximise, _log_terms, _log_prior)


def _standard_errors(
    mass: Float[np.ndarray, "annotator label"],
    confusion: Float[np.ndarray, "annotator label label"],
    shared: Float[np.ndarray, "label label"],
) -> Float[np.ndarray, " annotator"]:
    """Of ability, from the curvature of the expected log posterior with the other parameters held.

    `mass` is how many annotations they gave to items of each class.
    """
    mean = (confusion * shared).sum(2)
    variance = (confusion * shared**2).sum(2) - mean**2
    errors: np.ndarray = 1 / np.sqrt((mass * variance).sum(1) + ABILITY_PRECISION)
    return errors
