"""The NumPyro programs in which every item has one class, the classes summed out."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.ops import segment_sum
from jaxtyping import Array, Float, Int

CLASS_COUNTS = 2.0  # Prior pseudo-counts of every class

# Prior pseudo-counts of each row of an annotator's confusion, and the share of them on the diagonal.
ROW_COUNTS, DIAGONAL_SHARE = 8.0, 0.6

DIAGONAL_LOGIT = 2.0  # Prior mean of the right label's logit above the others', in the hierarchical program


def dawid_skene(known: Float[Array, "item label"], annotators: Float[Array, " annotator"], **seen: Array) -> None:
    r"""$\pi \sim Dirichlet(2)$, $\theta_{jk} \sim Dirichlet(4.8 on the diagonal, 3.2/(K-1) off it)$."""
    n_labels = known.shape[1]
    on = ROW_COUNTS * DIAGONAL_SHARE
    off = (ROW_COUNTS - on) / max(n_labels - 1, 1)
    row_counts = off + (on - off) * jnp.eye(n_labels)
    counts = jnp.broadcast_to(row_counts, (len(annotators), n_labels, n_labels))
    prior = dist.Gamma(counts, counts).to_event(3)
    gammas = numpyro.sample("confusion_gammas", prior)
    log_answers = jnp.log(gammas * counts)
    log_totals = jax.nn.logsumexp(log_answers, axis=2, keepdims=True)
    _observe(log_answers - log_totals, known, **seen)


def hierarchical_dawid_skene(
    known: Float[Array, "item label"], annotators: Float[Array, " annotator"], **seen: Array
) -> None:
    r"""$\theta_{jk} = softmax(\beta_k + \sigma_k z_{jk})$: annotators' confusion partially pooled."""
    n_labels = known.shape[1]
    shape = (n_labels, n_labels - 1)
    contrasts = zero_sum(n_labels)
    normal = dist.Normal(0, 1)
    halves = jnp.full((n_labels, n_labels), 0.5)
    shift = numpyro.sample("shift", normal.expand(shape).to_event(2))
    total = numpyro.sample("total", dist.Chi2(n_labels).expand((n_labels,)).to_event(1))
    shares = numpyro.sample("shares", dist.Dirichlet(halves).to_event(1))
    own = numpyro.sample("own", normal.expand((len(annotators), *shape)).to_event(3))
    variances = total[:, None] * shares
    covariances = jnp.einsum("la,kl,lb->kab", contrasts, variances, contrasts)
    roots = jnp.linalg.cholesky(covariances)
    deviations = shift + jnp.einsum("kab,jkb->jka", roots, own)
    diagonal = DIAGONAL_LOGIT * jnp.eye(n_labels)
    logits = diagonal + deviations @ contrasts.T
    _observe(jax.nn.log_softmax(logits, axis=2), known, **seen)


def zero_sum(n_labels: int) -> Float[np.ndarray, "label contrast"]:
    """An orthonormal basis of the contrasts of so many numbers, in columns."""
    lower = np.tril(np.ones((n_labels, n_labels)))[:-1].T
    row = np.arange(1, n_labels)
    lower[row, row - 1] = -row
    length = np.linalg.norm(lower, axis=0)
    return lower / length


def _observe(
    log_confusion: Float[Array, "annotator label label"], known: Float[Array, "item label"], **seen: Array
) -> None:
    """The class marginals, and the likelihood of the annotations with the items' classes summed out."""
    counts = jnp.full(known.shape[1], CLASS_COUNTS)
    marginals = numpyro.sample("marginals", dist.Dirichlet(counts))
    log_marginals = jnp.log(marginals)
    numpyro.deterministic("log_marginals", log_marginals)
    numpyro.deterministic("log_confusion", log_confusion)
    by_item = log_joint(log_marginals, log_confusion, known, **seen)
    log_likelihood = jax.nn.logsumexp(by_item, axis=1)
    numpyro.factor("annotations", log_likelihood.sum())


def log_joint(
    log_marginals: Float[Array, " label"],
    log_confusion: Float[Array, "annotator label label"],
    known: Float[Array, "item label"],
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
) -> Float[Array, "item label"]:
    """log P(class, annotations) of every item; `cell` is annotator * n_labels + label, `known` 0 or -inf."""
    n_labels = log_confusion.shape[1]
    by_cell = log_confusion.transpose(0, 2, 1).reshape(-1, n_labels)
    each = by_cell[cell] * weight[:, None]
    answers = segment_sum(each, item, len(known), indices_are_sorted=True)
    return log_marginals + known + answers
