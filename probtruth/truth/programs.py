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

EXCLUDED = -1e30  # Log-probability of what is impossible: finite, so that it has a gradient; 0 as a probability

TINY = 1e-30  # A floor for probabilities that rounding can make 0

DIAGONAL_LOGIT = 2.0  # Prior mean of the right label's logit above the others', in the hierarchical program


def dawid_skene(kinds: Float[Array, "item kind"], annotators: Float[Array, " annotator"], **seen: Array) -> None:
    r"""$\pi \sim Dirichlet(2)$, $\theta_{jk} \sim Dirichlet(4.8 on the diagonal, 3.2/(K-1) off it)$."""
    n_labels = kinds.shape[1] - 1
    off = ROW_COUNTS * (1 - DIAGONAL_SHARE) / max(n_labels - 1, 1)
    counts = off + (ROW_COUNTS * DIAGONAL_SHARE - off) * jnp.eye(n_labels)
    counts = jnp.broadcast_to(counts, (len(annotators), n_labels, n_labels))
    gammas = numpyro.sample("confusion_gammas", dist.Gamma(counts, counts).to_event(3))
    log_answers = jnp.log(gammas * counts)
    log_answers = log_answers - jax.nn.logsumexp(log_answers, axis=2, keepdims=True)
    log_marginals = class_marginals(n_labels)
    observe(alone(log_marginals), log_answers, kinds, **seen)


def hierarchical_dawid_skene(
    kinds: Float[Array, "item kind"], annotators: Float[Array, " annotator"], **seen: Array
) -> None:
    r"""$\theta_{jk} = softmax(\beta_k + \sigma_k z_{jk})$: annotators' confusion partially pooled."""
    n_labels = kinds.shape[1] - 1
    shape = (n_labels, n_labels - 1)
    contrasts = zero_sum(n_labels)
    shift = numpyro.sample("shift", dist.Normal(0, 1).expand(shape).to_event(2))
    total = numpyro.sample("total", dist.Chi2(n_labels).expand((n_labels,)).to_event(1))
    shares = numpyro.sample("shares", dist.Dirichlet(jnp.full((n_labels, n_labels), 0.5)).to_event(1))
    own = numpyro.sample("own", dist.Normal(0, 1).expand((len(annotators), *shape)).to_event(3))
    variances = total[:, None] * shares
    roots = jnp.linalg.cholesky(jnp.einsum("la,kl,lb->kab", contrasts, variances, contrasts))
    moved = shift + jnp.einsum("kab,jkb->jka", roots, own)
    logits = DIAGONAL_LOGIT * jnp.eye(n_labels) + moved @ contrasts.T
    log_marginals = class_marginals(n_labels)
    observe(alone(log_marginals), jax.nn.log_softmax(logits, axis=2), kinds, **seen)


def zero_sum(n_labels: int) -> Float[np.ndarray, "label contrast"]:
    """An orthonormal basis of the contrasts of so many numbers, in columns."""
    lower = np.tril(np.ones((n_labels, n_labels)))[:-1].T
    lower[np.arange(1, n_labels), np.arange(n_labels - 1)] = -np.arange(1, n_labels)
    return np.asarray(lower / np.linalg.norm(lower, axis=0))


def class_marginals(n_labels: int) -> Float[Array, " label"]:
    """The log of the class marginals, which have a Dirichlet prior."""
    counts = jnp.full(n_labels, CLASS_COUNTS)
    log_marginals: Array = jnp.log(numpyro.sample("marginals", dist.Dirichlet(counts)))
    numpyro.deterministic("log_marginals", log_marginals)
    return log_marginals


def alone(log_marginals: Float[Array, " label"]) -> Float[Array, "label label"]:
    """log P(class, place) where every class has a place of its own, as in Dawid and Skene's model."""
    return jnp.where(jnp.eye(len(log_marginals), dtype=bool), log_marginals[:, None], EXCLUDED)


def observe(
    log_places: Float[Array, "label place"],
    log_answers: Float[Array, "annotator place label"],
    kinds: Float[Array, "item kind"],
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    table: Float[Array, "cell row"],
    times: Float[Array, " item"],
) -> None:
    """The likelihood of the annotations with the classes and places of the items summed out."""
    numpyro.deterministic("log_places", log_places)
    numpyro.deterministic("log_answers", log_answers)
    by_item = log_joint(item, cell, weight, kinds, log_places, log_answers, table).T
    # sums over the first axis are those that XLA makes fast on a CPU
    numpyro.factor("annotations", (times * jax.nn.logsumexp(by_item, axis=0)).sum())


def log_joint(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    kinds: Float[Array, "item kind"],
    log_places: Float[Array, "label place"],
    log_answers: Float[Array, "annotator place label"],
    table: Float[Array, "cell row"] | None = None,
) -> Float[Array, "item place"]:
    """log P(place, annotations) of every item; `cell` is annotator * n_labels + label."""
    by_kind = jnp.concatenate([jax.nn.logsumexp(log_places, axis=0, keepdims=True), log_places])
    if table is not None and table.size:
        cells = log_answers.transpose(1, 0, 2).reshape(log_answers.shape[1], -1)
        joint = jnp.concatenate([cells, by_kind.T], axis=1) @ table
        return joint.T
    by_cell = log_answers.transpose(0, 2, 1).reshape(-1, log_answers.shape[1])
    return kinds @ by_kind + segment_sum(by_cell[cell] * weight[:, None], item, len(kinds), indices_are_sorted=True)


def classes(
    at_places: Float[Array, "item place"], kinds: Float[Array, "item kind"], log_places: Float[Array, "label place"]
) -> Float[Array, "item label"]:
    """P(class) of every item from P(place): the known class, or that of its places."""
    return kinds[:, :1] * (at_places @ jax.nn.softmax(log_places, axis=0).T) + kinds[:, 1:]


def log_confusion(
    log_answers: Float[Array, "annotator place label"], log_places: Float[Array, "label place"]
) -> Float[Array, "annotator label label"]:
    """The log of P(label | class), over the places of the class."""
    within = jax.nn.softmax(log_places, axis=1)
    return jnp.log(jnp.maximum(jnp.einsum("kp,jpl->jkl", within, jnp.exp(log_answers)), TINY))
