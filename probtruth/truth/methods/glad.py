"""GLAD: annotators of differing ability, items of differing difficulty."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.nn import log_sigmoid, sigmoid
from jax.ops import segment_sum
from jaxtyping import Array, Float, Int

from probtruth.truth import em
from probtruth.truth.annotators.quality import annotator_columns
from probtruth.truth.fit import Fit, Request, class_draws
from probtruth.truth.flat import flatten, positive_row
from probtruth.truth.methods.one_coin import spread_errors

NEWTON_STEPS = 3
"""Rounds of one Newton step for every annotator and one for every item in each M-step; each only ever climbs."""

LONGEST_STEP = 1.0
"""Longest Newton step, in units of ability or log easiness."""

HALVINGS = 4
"""How often a step that does not climb is halved before the parameter is left where it is."""


def glad(
    request: Request,
    *,
    prior: object = None,
    restarts: object = 1,
    max_iterations: object = 500,
    tolerance: object = 1e-6,
) -> Fit:
    """P(y_n = z_i) = sigmoid(a_j b_i), errors equally over the others; a_j ~ N(1, 1), log b_i ~ N(1, 1), z_i uniform.

    Arguments: `prior` are pseudo-counts of the class marginals, which are learned then, and uniform without it; the
    others as in Dawid-Skene. The confusion given is that on an item of median easiness. Draws are of the class given
    the point estimate. An item's `difficulty` is -log b_i.

    Source: Whitehill, Ruvolo, Wu, Bergsma and Movellan (2009), https://papers.nips.cc/paper/3644; several labels as
    in its supplement.
    """
    flat = flatten(request)
    class_counts = np.zeros(flat.n_labels) if prior is None else positive_row(prior, flat.n_labels, "prior")
    probs, found, diagnostics = em.solve(request, flat, climb, (class_counts,), restarts, max_iterations, tolerance)
    log_marginals, ability, log_easiness = found
    right = 1 / (1 + np.exp(-ability * np.exp(np.median(log_easiness))))
    draws = class_draws(probs, request.draws, request.seed)
    confusion = spread_errors(right, flat.n_labels)
    marginals = np.exp(log_marginals)
    columns = annotator_columns(probs, marginals, confusion, flat) | {"ability": ability}
    return Fit(probs, draws, marginals, confusion, diagnostics, columns, {"difficulty": -log_easiness})


@partial(jax.jit, static_argnames="n_annotators")
def climb(
    start: Float[Array, "item label"],
    data: em.Sparse,
    class_counts: Float[Array, " label"],
    tolerance: Float[Array, ""],
    max_iterations: Int[Array, ""],
    n_annotators: int,
) -> em.Climb:
    """Generalised EM from class probabilities; the parameters are log marginals, ability and log easiness."""
    n_items, n_labels = start.shape
    hit = data.label[:, None] == jnp.arange(n_labels)
    others = jnp.log(max(n_labels - 1, 1))

    def score(correct: Array, ability: Array, log_easiness: Array) -> Array:
        drive = ability[data.annotator] * jnp.exp(log_easiness[data.item])
        return data.weight * (correct * log_sigmoid(drive) + (1 - correct) * log_sigmoid(-drive))

    def rise(values: Array, value: Array, worth: Callable[[Array], Array], slope: Array, bend: Array) -> Array:
        change = jnp.clip(slope / bend, -LONGEST_STEP, LONGEST_STEP)
        taken = jnp.zeros_like(values)
        for halving in range(HALVINGS):
            tried = values + change * 0.5**halving
            taken = jnp.where((taken == 0) & (worth(tried) > value), tried - values, taken)
        return values + taken

    def improve_ability(correct: Array, ability: Array, log_easiness: Array) -> Array:
        easiness = jnp.exp(log_easiness[data.item])

        def total(terms: Array) -> Array:
            return segment_sum(terms, data.annotator, n_annotators)

        def worth(tried: Array) -> Array:
            return total(score(correct, tried, log_easiness)) - 0.5 * (tried - 1) ** 2

        right = sigmoid(ability[data.annotator] * easiness)
        slope = total(data.weight * easiness * (correct - right)) - (ability - 1)
        bend = total(data.weight * easiness**2 * right * (1 - right)) + 1
        return rise(ability, worth(ability), worth, slope, bend)

    def improve_easiness(correct: Array, ability: Array, log_easiness: Array) -> Array:
        drive = ability[data.annotator] * jnp.exp(log_easiness[data.item])

        def total(terms: Array) -> Array:
            return segment_sum(terms, data.item, n_items, indices_are_sorted=True)

        def worth(tried: Array) -> Array:
            return total(score(correct, ability, tried)) - 0.5 * (tried - 1) ** 2

        right = sigmoid(drive)
        slope = total(data.weight * drive * (correct - right)) - (log_easiness - 1)
        bend = total(data.weight * drive**2 * right * (1 - right)) + 1
        return rise(log_easiness, worth(log_easiness), worth, slope, bend)

    def maximise(probs: Array, parameters: em.Parameters) -> em.Parameters:
        _, ability, log_easiness = parameters
        correct = probs[data.item, data.label]
        for _ in range(NEWTON_STEPS):
            ability = improve_ability(correct, ability, log_easiness)
            log_easiness = improve_easiness(correct, ability, log_easiness)
        learned, _ = em.log_normalised(probs.sum(0) + class_counts, 0, 1.0)
        return jnp.where(class_counts.sum() > 0, learned, uniform), ability, log_easiness

    def expect(parameters: em.Parameters) -> tuple[Array, Array, Array]:
        log_marginals, ability, log_easiness = parameters
        drive = ability[data.annotator] * jnp.exp(log_easiness[data.item])
        terms = jnp.where(hit, log_sigmoid(drive)[:, None], log_sigmoid(-drive)[:, None] - others)
        probs, log_likelihood = em.classes(log_marginals, terms, data)
        log_prior = -0.5 * ((ability - 1) ** 2).sum() - 0.5 * ((log_easiness - 1) ** 2).sum()
        return probs, log_likelihood, log_prior + em.log_pseudo(class_counts, log_marginals)

    uniform = jnp.full_like(start, -jnp.log(n_labels), shape=n_labels)
    ones = jnp.ones_like(start, shape=n_annotators), jnp.ones_like(start, shape=n_items)
    return em.climb(start, (uniform, *ones), maximise, expect, tolerance, max_iterations)
