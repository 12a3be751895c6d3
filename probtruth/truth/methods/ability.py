"""Annotators of differing ability: one number a person sharpens all rows of their confusion, so rare classes learn."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from probtruth.truth import em
from probtruth.truth.annotators.quality import annotator_columns
from probtruth.truth.earlier import Earlier, evidence, from_truth, nothing_earlier
from probtruth.truth.fit import Fit, Request, class_draws
from probtruth.truth.flat import Flat, flatten, positive_row
from probtruth.types import Truth

ABILITY_SPREAD = 0.7
"""Prior sd of ability around 1."""

OWN_SPREAD = 0.5
"""Prior sd of an annotator's liking for a label, and of each cell's own deviation."""

SHARED_SPREAD = 1.5
"""Prior sd of the shared confusion's logits around 3 (delta_kl - 1/K)."""

SHARED_DIAGONAL = 3.0
"""Prior logit by which the right label stands above the others in the shared confusion."""

SWEEPS = 4
"""Rounds over the four blocks of parameters in each M-step."""

BOUND = 0.5
"""The Hessian of log softmax is nowhere below -1/2 (Boehning 1992), so that steps scaled by it always climb."""


def ability(
    request: Request,
    *,
    prior: object = 1,
    max_iterations: object = 500,
    tolerance: object = 1e-6,
) -> Fit:
    """P(y_n = l | z_i = k) = softmax_l(a_j G_kl + b_jl + D_jkl), at the maximum of the posterior by EM.

    Priors: a_j ~ N(1, 0.7^2), b and D ~ N(0, 0.5^2), G_kl ~ N(3 (delta_kl - 1/K), 1.5^2); class marginals with
    `prior` pseudo-counts (one for each label, or one number). Or `prior` is an earlier `Truth`: its expected counts of
    annotators and classes are added, its items keep what they had, and annotators not seen before share G. One ability
    a_j for all rows of an annotator's confusion lets classes that they seldom met borrow from those they met often.
    `ability` in `annotators()` is a_j with the interval of its curvature, the other parameters held. Draws are of the
    class given the point estimate.

    Source: this package; the bound of the M-step is that of Boehning (1992), https://doi.org/10.1007/BF00048682.
    """
    given, flat = isinstance(prior, Truth), flatten(request)
    earlier = (
        from_truth(prior, request.annotations) if isinstance(prior, Truth) else nothing_earlier(request.annotations)
    )
    wide = earlier.extend(flat)
    probs, found, diagnostics = fit_ability(request, wide, 1 if given else prior, max_iterations, tolerance, earlier)
    learned = evidence(probs, wide, earlier)
    present = slice(request.annotations.n_annotators)
    log_marginals, strength, shared, log_said = found[0], found[1][present], found[4], found[5][present]
    marginals, confusion = np.exp(log_marginals), np.exp(log_said)
    columns = annotator_columns(probs, marginals, confusion, flat)
    spread = 1.96 * _standard_errors(learned["annotations"][present].sum(2), confusion, shared)
    columns |= {"ability": strength, "ability_low": strength - spread, "ability_high": strength + spread}
    draws = class_draws(probs, request.draws, request.seed)
    return Fit(probs, draws, marginals, confusion, diagnostics, columns, evidence=learned)


def fit_ability(
    request: Request,
    flat: Flat,
    prior: object = 1,
    max_iterations: object = 500,
    tolerance: object = 1e-6,
    earlier: Earlier | None = None,
) -> tuple[Float[np.ndarray, "item label"], em.Parameters, dict[str, object]]:
    """Class probabilities, (log marginals, a, b, D, G, log confusion as annotator-truth-said), and diagnostics."""
    class_counts = positive_row(prior, flat.n_labels, "prior")
    before = nothing_earlier(request.annotations) if earlier is None else earlier
    fixed = class_counts + before.class_counts, before.counts
    return em.solve(request, flat, climb, fixed, 1, max_iterations, tolerance)


@partial(jax.jit, static_argnames="n_annotators")
def climb(
    start: Float[Array, "item label"],
    data: em.Sparse,
    class_counts: Float[Array, " label"],
    earlier: Float[Array, "annotator label label"],
    tolerance: Float[Array, ""],
    max_iterations: Int[Array, ""],
    n_annotators: int,
) -> em.Climb:
    """Generalised EM from class probabilities; each M-step climbs along blocks of parameters, bounded by curvature.

    `earlier[j, k, l]` are expected annotations of former data, that count like those of these.
    """
    n_labels = start.shape[1]
    centre = SHARED_DIAGONAL * (jnp.eye(n_labels, dtype=start.dtype) - 1 / n_labels)
    own, shared_precision, ability_precision = OWN_SPREAD**-2, SHARED_SPREAD**-2, ABILITY_SPREAD**-2

    def log_said(a: Array, b: Array, d: Array, g: Array) -> Array:
        return jax.nn.log_softmax(a[:, None, None] * g + b[:, None, :] + d, axis=2)

    def maximise(probs: Array, parameters: em.Parameters) -> em.Parameters:
        _, a, b, d, g, _ = parameters
        counts = em.said_given_class(probs, data, n_annotators).transpose(0, 2, 1) + earlier
        rows = counts.sum(2, keepdims=True)

        def residual(a: Array, b: Array, d: Array, g: Array) -> Array:
            return counts - rows * jnp.exp(log_said(a, b, d, g))

        def round_of_blocks(_: Array, blocks: tuple[Array, ...]) -> tuple[Array, ...]:
            a, b, d, g = blocks
            d = d + (residual(a, b, d, g) - own * d) / (BOUND * rows + own)
            b = b + (residual(a, b, d, g).sum(1) - own * b) / (BOUND * rows.sum(1) + own)
            spread = (g.max(1) - g.min(1)) ** 2 / 4
            slope = (residual(a, b, d, g) * g).sum((1, 2)) - ability_precision * (a - 1)
            a = a + slope / ((rows[:, :, 0] * spread).sum(1) + ability_precision)
            slope = (a[:, None, None] * residual(a, b, d, g)).sum(0) - shared_precision * (g - centre)
            g = g + slope / (BOUND * (a[:, None, None] ** 2 * rows).sum(0) + shared_precision)
            return a, b, d, g

        a, b, d, g = jax.lax.fori_loop(0, SWEEPS, round_of_blocks, (a, b, d, g))
        log_marginals, _ = em.log_normalised(probs.sum(0) + class_counts, 0, 1.0)
        return log_marginals, a, b, d, g, log_said(a, b, d, g)

    def expect(parameters: em.Parameters) -> tuple[Array, Array, Array]:
        log_marginals, a, b, d, g, said = parameters
        terms = said.transpose(0, 2, 1).reshape(-1, n_labels)[data.cell]
        probs, log_likelihood = em.classes(log_marginals, terms, data)
        squares = ability_precision * ((a - 1) ** 2).sum() + own * ((b**2).sum() + (d**2).sum())
        squares += shared_precision * ((g - centre) ** 2).sum()
        log_prior = em.log_pseudo(class_counts, log_marginals) + em.log_pseudo(earlier, said)
        return probs, log_likelihood, log_prior - 0.5 * squares

    a = jnp.ones_like(start, shape=n_annotators)
    b = jnp.zeros_like(start, shape=(n_annotators, n_labels))
    d = jnp.zeros_like(start, shape=(n_annotators, n_labels, n_labels))
    first = jnp.full_like(start, -jnp.log(n_labels), shape=n_labels), a, b, d, centre, log_said(a, b, d, centre)
    return em.climb(start, first, maximise, expect, tolerance, max_iterations)


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
    errors: np.ndarray = 1 / np.sqrt((mass * variance).sum(1) + ABILITY_SPREAD**-2)
    return errors
