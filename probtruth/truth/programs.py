"""The NumPyro programs in which every item has one class, the classes summed out.

The NumPyro program of the distribution of opinions with annotators who use some labels more than others.
"""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.ops import segment_sum
from jaxtyping import Array, Float, Int

CLASS_COUNTS = 2.0
"""Prior pseudo-counts of every class."""

ROW_COUNTS, DIAGONAL_SHARE = 8.0, 0.6
"""Prior pseudo-counts of each row of an annotator's confusion, and the share of them on the diagonal."""

STEP, BEYOND = 0.2, 5
"""Distance between the places at which an item can lie, in the ordinal program, and how many lie beyond the last class.

Classes are at distance 1. With few places for each class, sharp annotators can put their cuts between places, where
nobody is ever unsure: chains then settle where an item's place says nothing of its class.
"""

EXCLUDED = -1e30
"""Log-probability of what is impossible: finite, so that it has a gradient; 0 as a probability."""

TINY = 1e-30
"""A floor for probabilities that rounding can make 0."""

DIAGONAL_LOGIT = 2.0
"""Prior mean of the right label's logit above the others', in the hierarchical program."""


def dawid_skene(kinds: Float[Array, "item kind"], annotators: Float[Array, " annotator"], **seen: Array) -> None:
    r"""$\pi \sim Dirichlet(2)$, $\theta_{jk} \sim Dirichlet(4.8 on the diagonal, 3.2/(K-1) off it)$.

    `annotators` only carries their number; `seen` are the annotations, as `observe` takes them. Each Dirichlet of an
    annotator is written as gammas of mean 1 times its pseudo-counts, so that every chain starts near the prior's mean,
    where classes have the names of the labels.
    """
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
    r"""$\theta_{jk} = softmax(\beta_k + \sigma_k z_{jk})$: annotators' confusion partially pooled.

    $\beta_{kl} \sim N(2 [k = l], 1)$, $\sigma_{kl} \sim HalfNormal(1)$, $z \sim N(0, 1)$, $\pi \sim Dirichlet(2)$.
    Only the logits' contrasts have an effect: they alone are sampled, with their covariance under these
    $\sigma_k$, whose total variance is a chi-squared variate, shared out by a Dirichlet(1/2).
    """
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


def ordinal(kinds: Float[Array, "item kind"], annotators: Float[Array, " annotator"], **seen: Array) -> None:
    r"""Cumulative link: annotators' cuts $c_{jl}$ and precision $a_j$ on a line; labels in ascending order.

    Class k stands at k - (K - 1)/2, its items at the places of `places`, with the density of a normal of sd s there:
    $s \sim LogNormal(\log .35, .5)$. Precision: $\log a_j \sim N(\log a, \sigma_a)$, $\log a \sim N(\log 4, .5)$,
    $\sigma_a \sim HalfNormal(.5)$. The mean of an annotator's cuts is $N(m, \sigma_m)$, the log of every gap between
    two is $N(g_l, \sigma_g)$, with $m, g_l \sim N(0, .3)$ and $\sigma_m, \sigma_g \sim HalfNormal(.3)$. Random answers:
    $e_j \sim Beta(1, 9)$. All normal variates are sampled standardised, so that a chain starts near the priors' means.
    """
    n_annotators, n_labels = len(annotators), kinds.shape[1] - 1
    spread = jnp.log(0.35) + 0.5 * numpyro.sample("log_spread", dist.Normal(0, 1))
    precision = jnp.log(4.0) + 0.5 * numpyro.sample("log_precision", dist.Normal(0, 1))
    cuts = 0.3 * numpyro.sample("shared_cuts", dist.Normal(0, 1).expand((n_labels - 1,)).to_event(1))
    spreads = numpyro.sample("spreads", dist.HalfNormal(jnp.array([0.5, 0.3, 0.3])).to_event(1))
    own = numpyro.sample("own", dist.Normal(0, 1).expand((n_annotators, n_labels)).to_event(2))
    random = numpyro.sample("random", dist.Beta(1, 9).expand((n_annotators,)).to_event(1))[:, None, None]

    precisions = jnp.exp(precision + spreads[0] * own[:, 0])[:, None, None]
    gaps = jnp.exp(cuts[1:] + spreads[2] * own[:, 2:])
    steps = jnp.concatenate([jnp.zeros((n_annotators, 1)), jnp.cumsum(gaps, axis=1)], axis=1)
    middle = cuts[0] + spreads[1] * own[:, 1]
    borders = (steps - steps.mean(1, keepdims=True) + middle[:, None])[:, None, :]

    positions = places(n_labels)
    below = jax.nn.sigmoid(precisions * (borders - positions[:, None]))
    edge = jnp.zeros_like(below[:, :, :1])
    within = jnp.diff(jnp.concatenate([edge, below, edge + 1], axis=2), axis=2)
    log_answers = jnp.log((1 - random) * jnp.maximum(within, TINY) + random / n_labels)

    away = positions - (np.arange(n_labels)[:, None] - (n_labels - 1) / 2)
    near = jax.nn.log_softmax(-0.5 * jnp.exp(-2 * spread) * away**2, axis=1)
    observe(class_marginals(n_labels)[:, None] + near, log_answers, kinds, **seen)


def places(n_labels: int) -> Float[np.ndarray, " place"]:
    """Where an item can lie in the ordinal program."""
    half = (n_labels - 1) / 2 + BEYOND * STEP
    return np.linspace(-half, half, round(2 * half / STEP) + 1)


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
    """The likelihood of the annotations with the classes and places of the items summed out.

    `times` is how many items have each row of `kinds` (column of `table`); `log_places` is log P(class, place).
    """
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
    """log P(place, annotations) of every item; `cell` is annotator * n_labels + label.

    `kinds` has a 1 in the first column for an item whose class is not known, else in the one after that of its label.
    `table` has, in the columns of items, the weights by cell and then `kinds`, unless it is empty: then the sums are a
    product of matrices, whose gradient is several times faster than that of sums along the list. It lies as the product
    reads it: XLA would turn it round, and join it, in every step.
    """
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


BASE_COUNTS = 2.0
"""Prior pseudo-counts of every label in the mean distribution of the items."""


def annotator_effects(
    item: Int[Array, " annotation"],
    annotator: Int[Array, " annotation"],
    label: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    items: Float[Array, " item"],
    annotators: Float[Array, " annotator"],
    labels: Float[Array, " label"],
) -> None:
    r"""$y_n \sim softmax(\log p_i + b_j)$, $p_i \sim Dirichlet(\alpha m)$, $b_j \sim N(0, \sigma^2)$ for each label.

    $m \sim Dirichlet(2)$, $\log \alpha \sim N(\log 2, 1)$, $\sigma \sim HalfNormal(1)$. `items`, `annotators` and
    `labels` only carry their numbers.
    """
    counts = jnp.full(len(labels), BASE_COUNTS)
    base = numpyro.sample("base_gammas", dist.Gamma(counts, counts).to_event(1))
    log_concentration = numpyro.sample("log_concentration", dist.Normal(jnp.log(2.0), 1.0))
    alpha = jnp.exp(log_concentration) * base / base.sum()
    shape = jnp.broadcast_to(alpha, (len(items), len(labels)))
    log_gamma = dist.TransformedDistribution(dist.Gamma(shape, 1.0), dist.transforms.ExpTransform().inv)
    log_gammas = numpyro.sample("log_gammas", log_gamma.to_event(2))
    log_p = jax.nn.log_softmax(log_gammas, axis=1)
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    own = numpyro.sample("own", dist.Normal(0, 1).expand((len(annotators), len(labels))).to_event(2))
    bias = spread * own
    numpyro.deterministic("log_p", log_p)
    numpyro.deterministic("bias", bias)
    log_probs = jax.nn.log_softmax(log_p[item] + bias[annotator], axis=1)
    terms = jnp.take_along_axis(log_probs, label[:, None], axis=1)[:, 0]
    numpyro.factor("annotations", (terms * weight).sum())
