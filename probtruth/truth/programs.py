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

POSITIONS = 5
"""Places at which an item of a class can lie, in the ordinal program."""

TINY = 1e-30
"""A floor for differences of logistics, which rounding can make 0."""

DIAGONAL_LOGIT = 2.0
"""Prior mean of the right label's logit above the others', in the hierarchical program."""


def dawid_skene(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
    annotators: Float[Array, " annotator"],
    table: Float[Array, "row cell"],
    times: Float[Array, " item"],
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
    log_answers = jnp.log(gammas * counts)
    observe(item, cell, weight, known, table, times, log_answers - jax.nn.logsumexp(log_answers, axis=2, keepdims=True))


def hierarchical_dawid_skene(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
    annotators: Float[Array, " annotator"],
    table: Float[Array, "row cell"],
    times: Float[Array, " item"],
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
    observe(item, cell, weight, known, table, times, jax.nn.log_softmax(logits, axis=2))


def ordinal(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
    annotators: Float[Array, " annotator"],
    table: Float[Array, "row cell"],
    times: Float[Array, " item"],
) -> None:
    r"""Cumulative link: annotators' cuts $c_{jl}$ and precision $a_j$ on a line; labels in ascending order.

    Class k stands at k - (K - 1)/2. Items of a class: $s \sim LogNormal(\log .35, .5)$. Precision:
    $\log a_j \sim N(\log a, \sigma_a)$, $\log a \sim N(\log 4, .5)$, $\sigma_a \sim HalfNormal(.5)$. The mean of an
    annotator's cuts is $N(m, \sigma_m)$, the log of every gap between two is $N(g_l, \sigma_g)$, with
    $m, g_l \sim N(0, .3)$ and $\sigma_m, \sigma_g \sim HalfNormal(.3)$. Random answers: $e_j \sim Beta(1, 9)$.
    """
    n_annotators, n_labels = len(annotators), known.shape[1]
    spread = numpyro.sample("log_spread", dist.Normal(jnp.log(0.35), 0.5))
    precision = numpyro.sample("log_precision", dist.Normal(jnp.log(4.0), 0.5))
    cuts = numpyro.sample("shared_cuts", dist.Normal(0, 0.3).expand((n_labels - 1,)).to_event(1))
    spreads = numpyro.sample("spreads", dist.HalfNormal(jnp.array([0.5, 0.3, 0.3])).to_event(1))
    own = numpyro.sample("own", dist.Normal(0, 1).expand((n_annotators, n_labels)).to_event(2))
    random = numpyro.sample("random", dist.Beta(1, 9).expand((n_annotators,)).to_event(1))[:, None, None]

    precisions = jnp.exp(precision + spreads[0] * own[:, 0])[:, None, None]
    gaps = jnp.exp(cuts[1:] + spreads[2] * own[:, 2:])
    steps = jnp.concatenate([jnp.zeros((n_annotators, 1)), jnp.cumsum(gaps, axis=1)], axis=1)
    middle = cuts[0] + spreads[1] * own[:, 1]
    places = (steps - steps.mean(1, keepdims=True) + middle[:, None])[:, None, :]

    points = jnp.exp(spread) * quadrature(POSITIONS)[0]
    positions = (jnp.arange(n_labels)[:, None] - (n_labels - 1) / 2 + points).reshape(-1, 1)
    below = jax.nn.sigmoid(precisions * (places - positions))
    edge = jnp.zeros_like(below[:, :, :1])
    within = jnp.diff(jnp.concatenate([edge, below, edge + 1], axis=2), axis=2)
    observe(
        item, cell, weight, known, table, times, jnp.log((1 - random) * jnp.maximum(within, TINY) + random / n_labels)
    )


def observe(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
    table: Float[Array, "row cell"],
    times: Float[Array, " item"],
    log_answers: Float[Array, "annotator position label"],
) -> None:
    """Class marginals, and the likelihood of the annotations with the classes and their positions summed out.

    `times` is how many items have each row of `table` and `known`.
    """
    n_labels = known.shape[1]
    counts = jnp.full(n_labels, CLASS_COUNTS)
    gammas = numpyro.sample("class_gammas", dist.Gamma(counts, counts).to_event(1))
    log_marginals = jnp.log(gammas / gammas.sum())
    numpyro.deterministic("log_marginals", log_marginals)
    numpyro.deterministic("log_answers", log_answers)
    joint = log_positions(item, cell, weight, known, log_marginals, log_answers, table)
    by_item = joint.reshape(len(known), -1).T  # sums over the first axis are those that XLA makes fast on a CPU
    numpyro.factor("annotations", (times * jax.nn.logsumexp(by_item, axis=0)).sum())


def log_joint(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
    log_marginals: Float[Array, " label"],
    log_answers: Float[Array, "annotator position label"],
) -> Float[Array, "item label"]:
    """log P(class, annotations) of every item; `cell` is annotator * n_labels + label."""
    return jax.nn.logsumexp(log_positions(item, cell, weight, known, log_marginals, log_answers), axis=2)


def log_positions(
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
    log_marginals: Float[Array, " label"],
    log_answers: Float[Array, "annotator position label"],
    table: Float[Array, "row cell"] | None = None,
) -> Float[Array, "item label point"]:
    """log P(class, position, annotations) of every item.

    Positions are those of the first class, then those of the second, and so on; one a class in Dawid and Skene's model.
    `table` has the weights by item and cell, if it has rows: then the sums are a product of matrices, whose gradient is
    several times faster than that of sums along the list.
    """
    n_items, n_labels = known.shape
    n_positions = log_answers.shape[1]
    by_cell = log_answers.transpose(0, 2, 1).reshape(-1, n_positions)
    if table is not None and len(table):
        joint = table @ by_cell
    else:
        joint = segment_sum(by_cell[cell] * weight[:, None], item, n_items, indices_are_sorted=True)
    joint = joint.reshape(n_items, n_labels, -1)
    return joint + (log_marginals + known)[:, :, None] + _log_weights(n_positions // n_labels)


def log_confusion(log_answers: Float[Array, "annotator position label"]) -> Float[Array, "annotator label label"]:
    """The log of P(label | class), over the positions of the class."""
    n_annotators, n_positions, n_labels = log_answers.shape
    split = log_answers.reshape(n_annotators, n_labels, -1, n_labels)
    return jax.nn.logsumexp(split + _log_weights(n_positions // n_labels)[:, None], axis=2)


def quadrature(points: int) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
    """Points and weights of Gauss-Hermite quadrature for the standard normal distribution."""
    places, weights = np.polynomial.hermite_e.hermegauss(points)
    return places, weights / weights.sum()


def _log_weights(points: int) -> Float[np.ndarray, " point"]:
    return np.asarray(np.log(quadrature(points)[1]))


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
