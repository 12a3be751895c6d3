"""One coin an annotator: right with one probability whatever the class, errors spread equally over the other labels."""

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


def one_coin(
    request: Request,
    *,
    prior: object = None,
    right: object = 0,
    wrong: object = 0,
    restarts: object = 1,
    max_iterations: object = 2000,
    tolerance: object = 1e-9,
) -> Fit:
    """P(y_n = l | z_i = k) = a_j where l = k, (1 - a_j) / (K - 1) elsewhere; a and the marginals at their maximum.

    Arguments: `right` and `wrong` are pseudo-counts of every annotator's right and wrong answers; the others as in
    Dawid-Skene. Draws are of the class given the point estimate.

    Source: Zhang, Chen, Zhou and Jordan (2016), https://jmlr.org/papers/v17/14-511.html.
    """
    flat = flatten(request)
    class_counts = np.zeros(flat.n_labels) if prior is None else positive_row(prior, flat.n_labels, "prior")
    pseudo = np.array([non_negative(right, "right"), non_negative(wrong, "wrong")])
    probs, found, diagnostics = em.solve(
        request, flat, climb, (pseudo, class_counts), restarts, max_iterations, tolerance
    )
    log_marginals, log_coin = found
    confusion = spread_errors(np.exp(log_coin[:, 0]), flat.n_labels)
    draws = class_draws(probs, request.draws, request.seed)
    marginals = np.exp(log_marginals)
    columns = annotator_columns(probs, marginals, confusion, flat) | {"ability": np.exp(log_coin[:, 0])}
    return Fit(probs, draws, marginals, confusion, diagnostics, columns)


@partial(jax.jit, static_argnames="n_annotators")
def climb(
    start: Float[Array, "item label"],
    data: em.Sparse,
    pseudo: Float[Array, "2"],
    class_counts: Float[Array, " label"],
    tolerance: Float[Array, ""],
    max_iterations: Int[Array, ""],
    n_annotators: int,
) -> em.Climb:
    """EM from class probabilities; the parameters are log marginals and each annotator's log P(right), log P(wrong)."""
    n_labels = start.shape[1]
    hit = data.label[:, None] == jnp.arange(n_labels)

    def maximise(probs: Array, _: em.Parameters) -> em.Parameters:
        log_marginals, _ = em.log_normalised(probs.sum(0) + class_counts, 0, 1.0)
        correct = probs[data.item, data.label]
        both = jnp.stack([correct, 1 - correct], 1) * data.weight[:, None]
        counts = segment_sum(both, data.annotator, n_annotators)
        return log_marginals, em.log_normalised(counts + pseudo, 1, 0.5)[0]

    def expect(parameters: em.Parameters) -> tuple[Array, Array, Array]:
        log_marginals, log_coin = parameters
        mine = log_coin[data.annotator]
        missed = mine[:, 1:] - jnp.log(max(n_labels - 1, 1))
        probs, log_likelihood = em.classes(log_marginals, jnp.where(hit, mine[:, :1], missed), data)
        log_prior = em.log_pseudo(jnp.broadcast_to(pseudo, log_coin.shape), log_coin)
        return probs, log_likelihood, log_prior + em.log_pseudo(class_counts, log_marginals)

    blank = jnp.zeros_like(start, shape=n_labels), jnp.zeros_like(start, shape=(n_annotators, 2))
    return em.climb(start, blank, maximise, expect, tolerance, max_iterations)


def spread_errors(right: Float[np.ndarray, " annotator"], n_labels: int) -> Float[np.ndarray, "annotator label label"]:
    """Confusion matrices with `right` on the diagonal and the rest spread equally."""
    confusion = np.repeat((1 - right)[:, None, None] / max(n_labels - 1, 1), n_labels, 1).repeat(n_labels, 2)
    confusion[:, range(n_labels), range(n_labels)] = right[:, None] if n_labels > 1 else 1.0
    return confusion
