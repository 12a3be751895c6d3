"""The NumPyro programs of Dawid and Skene's model, the true classes summed out."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax.ops import segment_sum
from jaxtyping import Array, Float, Int

CLASS_COUNTS = 2.0
"""Prior pseudo-counts of every class."""

ROW_COUNTS, DIAGONAL_SHARE = 8.0, 0.6
"""Prior pseudo-counts of each row of an annotator's confusion, and the share of them on the diagonal."""

DIAGONAL_LOGIT = 2.0
"""Prior mean of the right label's logit above the others', in the hierarchical program."""


def dawid_skene(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
    annotators: Float[Array, " annotator"],
) -> None:
    r"""$\pi \sim Dirichlet(2)$, $\theta_{jk} \sim Dirichlet(4.8 on the diagonal, 3.2/(K-1) off it)$.

    `annotators` only carries their number. Each Dirichlet is written as gammas of mean 1 times its pseudo-counts, so
    that every chain starts near the prior's mean, where classes have the names of the labels.
    """
    n_labels = known.shape[1]
    off = ROW_COUNTS * (1 - DIAGONAL_SHARE) / max(n_labels - 1, 1)
    counts = off + (ROW_COUNTS * DIAGONAL_SHARE - off) * jnp.eye(n_labels)
    counts = jnp.broadcast_to(counts, (len(annotators), n_labels, n_labels))
    gammas = numpyro.sample("confusion_gammas", dist.Gamma(counts, counts).to_event(3))
    log_said = jnp.log(gammas * counts)
    _observe(item, cell, weight, known, log_said - jax.nn.logsumexp(log_said, axis=2, keepdims=True))


def hierarchical_dawid_skene(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
    annotators: Float[Array, " annotator"],
) -> None:
    r"""$\theta_{jk} = softmax(\beta_k + \sigma_k z_{jk})$: annotators' confusion partially pooled.

    $\beta_{kl} \sim N(2 [k = l], 1)$, $\sigma_{kl} \sim HalfNormal(1)$, $z \sim N(0, 1)$, $\pi \sim Dirichlet(2)$.
    """
    n_labels = known.shape[1]
    shape = (n_labels, n_labels)
    shift = numpyro.sample("shift", dist.Normal(0, 1).expand(shape).to_event(2))
    spread = numpyro.sample("spread", dist.HalfNormal(1).expand(shape).to_event(2))
    own = numpyro.sample("own", dist.Normal(0, 1).expand((len(annotators), *shape)).to_event(3))
    logits = DIAGONAL_LOGIT * jnp.eye(n_labels) + shift + spread * own
    _observe(item, cell, weight, known, jax.nn.log_softmax(logits, axis=2))


def _observe(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
    log_said: Float[Array, "annotator label label"],
) -> None:
    """Class marginals, and the likelihood of the annotations with the classes summed out."""
    n_labels = known.shape[1]
    counts = jnp.full(n_labels, CLASS_COUNTS)
    gammas = numpyro.sample("class_gammas", dist.Gamma(counts, counts).to_event(1))
    log_marginals = jnp.log(gammas / gammas.sum())
    numpyro.deterministic("log_marginals", log_marginals)
    numpyro.deterministic("log_said", log_said)
    joint = log_joint(item, cell, weight, known, log_marginals, log_said)
    numpyro.factor("annotations", jax.nn.logsumexp(joint, axis=1).sum())


def log_joint(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
    log_marginals: Float[Array, " label"],
    log_said: Float[Array, "annotator label label"],
) -> Float[Array, "item label"]:
    """log P(class, annotations) of every item; `cell` is annotator * n_labels + label said."""
    terms = log_said.transpose(0, 2, 1).reshape(-1, known.shape[1])[cell] * weight[:, None]
    return log_marginals + known + segment_sum(terms, item, known.shape[0], indices_are_sorted=True)
