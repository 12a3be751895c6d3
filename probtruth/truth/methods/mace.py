"""MACE: an annotator either knows and says the truth, or spams from a distribution of their own."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.ops import segment_sum
from jaxtyping import Array, Float, Int

from probtruth.truth import em
from probtruth.truth.annotators.quality import annotator_columns
from probtruth.truth.fit import Fit, Request, class_draws
from probtruth.truth.flat import flatten, non_negative, positive_row


def mace(
    request: Request,
    *,
    prior: object = None,
    smoothing: object = None,
    restarts: object = 10,
    max_iterations: object = 2000,
    tolerance: object = 1e-6,
) -> Fit:
    """P(y_n = l | z_i = k) = (1 - s_j) [l = k] + s_j xi_j[l], z_i uniform; s_j is how often annotator j spams.

    Arguments: `smoothing` are pseudo-counts of spamming, of not spamming and of each spammed label (0.01/K without
    it); `prior` are pseudo-counts of the class marginals, which are learned then, and uniform without it; the others
    as in Dawid-Skene. The first start is the vote shares, the others are drawn around them. Draws are of the class
    given the point estimate.

    Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), https://aclanthology.org/N13-1132.
    """
    flat = flatten(request)
    class_counts = np.zeros(flat.n_labels) if prior is None else positive_row(prior, flat.n_labels, "prior")
    pseudo = 0.01 / flat.n_labels if smoothing is None else non_negative(smoothing, "smoothing")
    probs, found, diagnostics = em.solve(
        request, flat, climb, (pseudo, class_counts), restarts, max_iterations, tolerance
    )
    log_marginals, log_spam, log_habit = found
    spam, habit = np.exp(log_spam[:, 1]), np.exp(log_habit)
    confusion = spam[:, None, None] * habit[:, None, :] + (1 - spam)[:, None, None] * np.eye(flat.n_labels)
    draws = class_draws(probs, request.draws, request.seed)
    marginals = np.exp(log_marginals)
    columns = annotator_columns(probs, marginals, confusion, flat) | {"ability": 1 - spam}
    return Fit(probs, draws, marginals, confusion, diagnostics, columns)


@partial(jax.jit, static_argnames="n_annotators")
def climb(
    start: Float[Array, "item label"],
    data: em.Sparse,
    pseudo: Float[Array, ""],
    class_counts: Float[Array, " label"],
    tolerance: Float[Array, ""],
    max_iterations: Int[Array, ""],
    n_annotators: int,
) -> em.Climb:
    """EM from class probabilities; parameters: log marginals, log P(no spam), log P(spam), log habit."""
    n_labels = start.shape[1]
    hit = data.label[:, None] == jnp.arange(n_labels)
    uniform = jnp.full_like(start, -jnp.log(n_labels), shape=n_labels)

    def maximise(probs: Array, parameters: em.Parameters) -> em.Parameters:
        _, log_spam, log_habit = parameters
        mine = log_spam[data.annotator]
        guessed = mine[:, 1] + log_habit.reshape(-1)[data.cell]
        right_by_luck = jnp.exp(guessed - jnp.logaddexp(mine[:, 0], guessed))
        correct = probs[data.item, data.label]
        spammed = (correct * right_by_luck + 1 - correct) * data.weight
        habit = segment_sum(spammed, data.cell, n_annotators * n_labels)
        habit = habit.reshape(n_annotators, n_labels)
        votes = segment_sum(data.weight, data.annotator, n_annotators)
        both = jnp.stack([votes - habit.sum(1), habit.sum(1)], 1)
        learned, _ = em.log_normalised(probs.sum(0) + class_counts, 0, 1.0)
        log_marginals = jnp.where(class_counts.sum() > 0, learned, uniform)
        spam = em.log_normalised(jnp.maximum(both, 0.0) + pseudo, 1, 0.5)[0]
        return log_marginals, spam, em.log_normalised(habit + pseudo, 1, 1 / n_labels)[0]

    def expect(parameters: em.Parameters) -> tuple[Array, Array, Array]:
        log_marginals, log_spam, log_habit = parameters
        mine = log_spam[data.annotator]
        guessed = mine[:, 1] + log_habit.reshape(-1)[data.cell]
        terms = jnp.where(hit, jnp.logaddexp(mine[:, 0], guessed)[:, None], guessed[:, None])
        probs, log_likelihood = em.classes(log_marginals, terms, data)
        log_prior = sum(em.log_pseudo(jnp.broadcast_to(pseudo, part.shape), part) for part in (log_spam, log_habit))
        return probs, log_likelihood, log_prior + em.log_pseudo(class_counts, log_marginals)

    even = jnp.full_like(start, jnp.log(0.5), shape=(n_annotators, 2))
    blank = uniform, even, jnp.broadcast_to(uniform, (n_annotators, n_labels))
    return em.climb(start, blank, maximise, expect, tolerance, max_iterations)
