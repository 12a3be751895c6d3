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
    off = ROW_COUNTS * (1 - DIAGONAL_SHARE) / max(n_labels - 1, 1)
    counts = off + (ROW_COUNTS * DIAGONAL_SHARE - off) * jnp.eye(n_labels)
    counts = jnp.broadcast_to(counts, (len(annotators), n_labels, n_labels))
    gammas = numpyro.sample("confusion_gammas", dist.Gamma(counts, counts).to_event(3))
    log_answers = jnp.log(gammas * counts)
    _observe(log_answers - jax.nn.logsumexp(log_answers, axis=2, keepdims=True), known, **seen)


def hierarchical_dawid_skene(
    known: Float[Array, "item label"], annotators: Float[Array, " annotator"], **seen: Array
) -> None:
    r"""$\theta_{jk} = softmax(\beta_k + \sigma_k z_{jk})$: annotators' confusion partially pooled."""
    n_labels = known.shape[1]
    shape = (n_labels, n_labels - 1)
    contrasts = zero_sum(n_labels)
    shift = numpyro.sample("shift", dist.Normal(0, 1).expand(shape).to_event(2))
    total = numpyro.sample("total", dist.Chi2(n_labels).expand((n_labels,)).to_event(1))
    shares = numpyro.sample("shares", dist.Dirichlet(jnp.full((n_labels, n_labels), 0.5)).to_event(1))
    own = numpyro.sample("own", dist.Normal(0, 1).expand((len(annotators), *shape)).to_event(3))
    variances = total[:, None] * shares
    roots = jnp.linalg.cholesky(jnp.einsum("la,kl,lb->kab", contrasts, variances, contrasts))
    deviations = shift + jnp.einsum("kab,jkb->jka", roots, own)
    logits = DIAGONAL_LOGIT * jnp.eye(n_labels) + deviations @ contrasts.T
    _observe(jax.nn.log_softmax(logits, axis=2), known, **seen)


def zero_sum(n_labels: int) -> Float[np.ndarray, "label contrast"]:
    """An orthonormal basis of the contrasts of so many numbers, in columns."""
    lower = np.tril(np.ones((n_labels, n_labels)))[:-1].T
    lower[np.arange(1, n_labels), np.arange(n_labels - 1)] = -np.arange(1, n_labels)
    return np.asarray(lower / np.linalg.norm(lower, axis=0))


def _observe(
    log_confusion: Float[Array, "annotator label label"], known: Float[Array, "item label"], **seen: Array
) -> None:
    """The class marginals, and the likelihood of the annotations with the items' classes summed out."""
    counts = jnp.full(known.shape[1], CLASS_COUNTS)
    log_marginals = jnp.log(numpyro.sample("marginals", dist.Dirichlet(counts)))
    numpyro.deterministic("log_marginals", log_marginals)
    numpyro.deterministic("log_confusion", log_confusion)
    by_item = log_joint(log_marginals, log_confusion, known, **seen)
    numpyro.factor("annotations", jax.nn.logsumexp(by_item, axis=1).sum())


def log_joint(
    log_marginals: Float[Array, " label"],
    log_confusion: Float[Array, "annotator label label"],
    known: Float[Array, "item label"],
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
) -> Float[Array, "item label"]:
    """log P(class, annotations) of every item; `cell` is annotator * n_labels + label, `known` 0 or -inf."""
    by_cell = log_confusion.transpose(0, 2, 1).reshape(-1, log_confusion.shape[1])
    answers = segment_sum(by_cell[cell] * weight[:, None], item, len(known), indices_are_sorted=True)
    return log_marginals + known + answers
