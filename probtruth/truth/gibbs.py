"""Blocked Gibbs sampling of the perceived-class model: kernels on flat arrays, one compiled function for all sweeps."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.ops import segment_sum
from jaxtyping import Array, Float, Int, Key, UInt

from probtruth.truth.variates import categorical, log_dirichlet

WALKS = 4
"""Random-walk steps for the global parameters in each sweep."""

TINY = 1e-37
"""Added to probabilities of what was heard before a log or a draw: near the smallest float32."""

ACCEPT = 0.3
"""Acceptance rate that the random walks are tuned to during warm-up."""


class Data(NamedTuple):
    """Annotations sorted by item (`cell` is annotator * n_labels + label), and what is held fixed.

    `log_marginals` of the true classes; `confusable[k, l]`, how errors of perception spread over l != k (rows sum to
    1); `known` is 0, and -inf for the classes that a known answer rules out.
    """

    item: Int[Array, " annotation"]
    cell: Int[Array, " annotation"]
    known: Float[Array, "item label"]
    log_marginals: Float[Array, " label"]
    confusable: Float[Array, "label label"]


class Priors(NamedTuple):
    """Of log delta, log epsilon and log kappa (mean, sd), and of the mean confusion (on the diagonal, off it)."""

    log_delta: Float[Array, "2"]
    log_epsilon: Float[Array, "2"]
    log_kappa: Float[Array, "2"]
    confusion: Float[Array, "2"]


class State(NamedTuple):
    """One point of the chain.

    `log_phi` is each item's distribution of perceptions; `log_theta[j, y, s]` the probability that annotator j says y
    having perceived s; `ease` = (log delta, log epsilon); `habits[s]` = (log kappa_s, log of the gammas whose shares
    are m_s); the rest are log step sizes of the random walks.
    """

    log_phi: Float[Array, "item label"]
    log_theta: Float[Array, "annotator label label"]
    ease: Float[Array, "2"]
    habits: Float[Array, "label parameter"]
    ease_step: Float[Array, ""]
    habit_step: Float[Array, " label"]


class Sums(NamedTuple):
    """Means over kept sweeps: P(class), perceptions, annotators' confusion given the class, P(perceived wrongly)."""

    probs: Float[Array, "item label"]
    phi: Float[Array, "item label"]
    confusion: Float[Array, "annotator label label"]
    difficulty: Float[Array, " item"]


class Trace(NamedTuple):
    """What is kept of every sweep: draws of the classes, annotators' accuracy, skill and information, ease."""

    classes: UInt[Array, "repeat item"]
    accuracy: Float[Array, " annotator"]
    skill: Float[Array, " annotator"]
    information: Float[Array, " annotator"]
    ease: Float[Array, "2"]


@partial(jax.jit, static_argnames=("n_annotators", "most_votes", "warmup", "kept", "repeats"))
def sample(
    key: Key[Array, ""],
    data: Data,
    priors: Priors,
    start: State,
    n_annotators: int,
    most_votes: int,
    warmup: int,
    kept: int,
    repeats: int,
) -> tuple[Sums, Trace]:
    """`warmup` sweeps that tune the walks, then `kept` sweeps that count; `most_votes` bounds an item's annotations."""

    def step(carry: tuple[State, Sums], now: tuple[Array, Array, Array]) -> tuple[tuple[State, Sums], Trace]:
        key, gain, weight = now
        state, sums = carry
        state, added, trace = sweep(key, state, data, priors, n_annotators, most_votes, repeats, gain)
        return (state, jax.tree.map(lambda total, now: total + weight * now, sums, added)), trace

    count = jnp.arange(warmup + kept, dtype=data.known.dtype)
    weights = jnp.where(count < warmup, 0.0, 1.0 / kept).astype(count.dtype)
    gains = jnp.where(count < warmup, 1 / jnp.sqrt(1 + count), 0.0)
    zeros = jnp.zeros_like(data.known)
    blank = Sums(zeros, zeros, jnp.zeros_like(start.log_theta), zeros[:, 0])
    (_, sums), trace = jax.lax.scan(step, (start, blank), (jax.random.split(key, warmup + kept), gains, weights))
    return sums, jax.tree.map(lambda kind: kind[warmup:], trace)


def sweep(
    key: Key[Array, ""],
    state: State,
    data: Data,
    priors: Priors,
    n_annotators: int,
    most_votes: int,
    repeats: int,
    gain: float | Float[Array, ""],
) -> tuple[State, Sums, Trace]:
    """One update of everything, what is averaged over sweeps, and what is kept of each."""
    n_items, n_labels = data.known.shape
    keys = jax.random.split(key, 6)
    said = jnp.exp(state.log_theta).reshape(-1, n_labels)[data.cell]
    log_phi = swap(keys[0], state, data, said)

    seen = categorical(keys[1], jnp.exp(log_phi)[data.item] * said + TINY)
    place = count(data.item * n_labels + seen, n_items * n_labels).reshape(n_items, n_labels)
    votes = place.astype(said.dtype)
    answers = count(data.cell * n_labels + seen, n_annotators * n_labels**2)
    answers = answers.astype(said.dtype).reshape(n_annotators, n_labels, n_labels)

    log_class = data.log_marginals + data.known + rising(alphas(state.ease, data), place, most_votes)
    log_probs = jax.nn.log_softmax(log_class, axis=1)
    probs = jnp.exp(log_probs)
    drawn = jax.vmap(lambda now: categorical(now, probs))(jax.random.split(keys[2], repeats))
    classes = drawn[0]

    ease, ease_step = walk_ease(keys[3], state, data, priors, classes, place, most_votes, gain)
    alpha = alphas(ease, data)
    habits, habit_step = walk_habits(keys[4], state, priors, answers, gain)
    rows = (answers.transpose(0, 2, 1) + shared_counts(habits)).reshape(-1, n_labels)
    logs = log_dirichlet(keys[5], jnp.concatenate([alpha[classes] + votes, rows]))
    log_phi, log_theta = logs[:n_items], logs[n_items:].reshape(answers.shape).transpose(0, 2, 1)

    mean_perception = alpha / alpha.sum(1, keepdims=True)
    confusion = jnp.einsum("ks,jys->jky", mean_perception, jnp.exp(log_theta))
    trace = Trace(
        drawn.astype(jnp.uint8 if n_labels <= 256 else jnp.uint16), *quality(confusion, data.log_marginals), ease
    )
    state = State(log_phi, log_theta, ease, habits, ease_step, habit_step)
    phi = jnp.exp(log_phi)
    missed = 1 - phi[jnp.arange(n_items), classes]
    return state, Sums(probs, phi, confusion, missed), trace


def count(place: Int[Array, " annotation"], length: int) -> Int[Array, " place"]:
    """How many annotations fall into each place."""
    return jnp.zeros(length, jnp.int32).at[place].add(1)


def alphas(ease: Float[Array, "2"], data: Data) -> Float[Array, "label label"]:
    """The Dirichlet parameters of perception, one row for each true class."""
    delta, epsilon = jnp.exp(ease)
    return delta * jnp.eye(data.confusable.shape[0], dtype=ease.dtype) + epsilon * data.confusable


def swap(
    key: Key[Array, ""], state: State, data: Data, said: Float[Array, "annotation label"]
) -> Float[Array, "item label"]:
    """Metropolis: exchange two labels in an item's perceptions, with perceived labels and classes summed out."""
    n_items, n_labels = data.known.shape
    if n_labels < 2:
        return state.log_phi
    pair_key, gap_key, accept_key = jax.random.split(key, 3)
    one = jax.random.randint(pair_key, (n_items, 1), 0, n_labels)
    two = (one + jax.random.randint(gap_key, (n_items, 1), 1, n_labels)) % n_labels
    order = jnp.arange(n_labels)
    order = jnp.where(order == one, two, jnp.where(order == two, one, order))
    other = jnp.take_along_axis(state.log_phi, order, axis=1)
    alpha = alphas(state.ease, data)

    def log_density(log_phi: Array) -> Array:
        heard = jnp.log((jnp.exp(log_phi)[data.item] * said).sum(1) + TINY)
        fit = segment_sum(heard, data.item, n_items, indices_are_sorted=True)
        by_class = data.log_marginals + data.known + (log_phi @ (alpha - 1).T) + log_beta(alpha)
        return fit + jax.nn.logsumexp(by_class, axis=1)

    rise = log_density(other) - log_density(state.log_phi)
    accepted = jnp.log(jax.random.uniform(accept_key, (n_items,), said.dtype, minval=1e-30)) < rise
    return jnp.where(accepted[:, None], other, state.log_phi)


def log_beta(alpha: Float[Array, "label label"]) -> Float[Array, " label"]:
    """Log normaliser of a Dirichlet density for each row (parameters of 0, where there is one label, are skipped)."""
    return log_gamma_function(alpha.sum(1)) - jnp.where(
        alpha > 0, log_gamma_function(jnp.where(alpha > 0, alpha, 1.0)), 0.0
    ).sum(1)


def rising(
    alpha: Float[Array, "label label"], votes: Int[Array, "item label"], most_votes: int
) -> Float[Array, "item label"]:
    """Log Dirichlet-multinomial probability of each item's perceptions under each class, up to what classes share.

    log Gamma(a + n) - log Gamma(a) is a running sum of log(a + n), looked up in a table by n.
    """
    steps = jnp.log(alpha[..., None] + jnp.arange(most_votes, dtype=alpha.dtype))
    table = jnp.concatenate([jnp.zeros_like(steps[..., :1]), jnp.cumsum(steps, axis=2)], axis=2)
    columns = [table[:, label, :].T[votes[:, label]] for label in range(alpha.shape[1])]
    return jnp.sum(jnp.stack(columns), axis=0)


def walk_ease(
    key: Key[Array, ""],
    state: State,
    data: Data,
    priors: Priors,
    classes: Int[Array, " item"],
    votes: Int[Array, "item label"],
    most_votes: int,
    gain: float | Float[Array, ""],
) -> tuple[Float[Array, "2"], Float[Array, ""]]:
    """Random walk in (log delta, log epsilon) given classes and perceptions, the items' distributions summed out."""
    n_items, n_labels = votes.shape
    size = n_labels * n_labels * (most_votes + 1)
    place = (classes[:, None] * n_labels + jnp.arange(n_labels)) * (most_votes + 1) + votes
    ones = jnp.ones((n_items, n_labels), data.known.dtype)
    often = segment_sum(ones.reshape(-1), place.reshape(-1), size).reshape(n_labels, n_labels, most_votes + 1)
    above = jnp.flip(jnp.cumsum(jnp.flip(often, 2), 2), 2)[..., 1:]  # how many items have more than n perceptions
    totals = jnp.bincount(votes.sum(1), length=most_votes + 1).astype(ones.dtype)
    above_totals = jnp.flip(jnp.cumsum(jnp.flip(totals)))[1:]
    numbers = jnp.arange(most_votes, dtype=ones.dtype)

    def log_density(ease: Array) -> Array:
        alpha = alphas(ease, data)
        own = jnp.where(above > 0, above * jnp.log(alpha[..., None] + numbers), 0.0).sum()
        whole = (above_totals * jnp.log(jnp.exp(ease).sum() + numbers)).sum()
        return own - whole + normal(ease[0], priors.log_delta) + normal(ease[1], priors.log_epsilon)

    return walk(key, state.ease, state.ease_step, log_density, gain)


def walk_habits(
    key: Key[Array, ""],
    state: State,
    priors: Priors,
    answers: Float[Array, "annotator label label"],
    gain: float | Float[Array, ""],
) -> tuple[Float[Array, "label parameter"], Float[Array, " label"]]:
    """Random walks in (log kappa_s, log gammas of m_s), one for each perceived label, annotators' theta summed out."""
    eye = jnp.eye(answers.shape[2], dtype=answers.dtype)
    counts = priors.confusion[0] * eye + priors.confusion[1] * (1 - eye)
    said = answers.transpose(0, 2, 1)
    totals = said.sum(2)

    def log_density(habits: Array) -> Array:
        kappa, pseudo = jnp.exp(habits[:, 0]), shared_counts(habits)
        own = log_gamma_function(said + pseudo) - log_gamma_function(pseudo)
        own = own.sum(2) - log_gamma_function(totals + kappa) + log_gamma_function(kappa)
        prior = (counts * habits[:, 1:] - jnp.exp(habits[:, 1:])).sum(1)
        return own.sum(0) + prior + normal(habits[:, 0], priors.log_kappa)

    return walk(key, state.habits, state.habit_step, log_density, gain)


def walk(
    key: Key[Array, ""],
    point: Float[Array, "*row parameter"],
    log_step: Float[Array, "*row"],
    log_density: Callable[[Array], Array],
    gain: float | Float[Array, ""],
) -> tuple[Float[Array, "*row parameter"], Float[Array, "*row"]]:
    """Random-walk Metropolis, every row by itself; `gain` above 0 tunes the steps towards `ACCEPT`."""

    def step(carry: tuple[Array, Array, Array], key: Array) -> tuple[tuple[Array, Array, Array], None]:
        point, density, log_step = carry
        move_key, accept_key = jax.random.split(key)
        tried = point + jnp.exp(log_step)[..., None] * jax.random.normal(move_key, point.shape, point.dtype)
        found = log_density(tried)
        rate = jnp.minimum(1.0, jnp.exp(found - density))
        taken = jax.random.uniform(accept_key, rate.shape, point.dtype) < rate
        point, density = jnp.where(taken[..., None], tried, point), jnp.where(taken, found, density)
        return (point, density, log_step + gain * (rate - ACCEPT)), None

    first = point, log_density(point), log_step
    (point, _, log_step), _ = jax.lax.scan(step, first, jax.random.split(key, WALKS))
    return point, log_step


def shared_counts(habits: Float[Array, "label parameter"]) -> Float[Array, "label label"]:
    """kappa_s m_s: the pseudo-counts that all annotators share, of saying y (column) having perceived s (row)."""
    return jnp.exp(habits[:, :1] + jax.nn.log_softmax(habits[:, 1:], axis=1))


def log_gamma_function(x: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """log Gamma(x) for x > 0 by Stirling's series at x + 4, which compiles in a tenth of the library's time.

    The next term of the series is below 2e-8 there; float32 rounds at 6e-8.
    """
    y = x + 4
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / y**2) / y**2) / y**2) / y
    return (y - 0.5) * jnp.log(y) - y + 0.9189385332046727 + series - jnp.log(x * (x + 1) * (x + 2) * (x + 3))


def normal(value: Float[Array, "*batch"], prior: Float[Array, "2"]) -> Float[Array, "*batch"]:
    """Log density of a normal prior (mean, sd), up to a constant."""
    return -0.5 * ((value - prior[0]) / prior[1]) ** 2


def quality(
    confusion: Float[Array, "annotator label label"], log_marginals: Float[Array, " label"]
) -> tuple[Float[Array, " annotator"], Float[Array, " annotator"], Float[Array, " annotator"]]:
    """P(an annotator says the true class), their kappa with the truth, and mutual information of both in nats."""
    marginals = jnp.exp(log_marginals)
    joint = marginals[:, None] * confusion
    accuracy = jnp.trace(joint, axis1=1, axis2=2)
    said = joint.sum(1, keepdims=True)
    chance = (said[:, 0] * marginals).sum(1)
    skill = (accuracy - chance) / jnp.maximum(1 - chance, TINY)
    ratio = jnp.where(confusion > 0, confusion, 1.0) / jnp.where(said > 0, said, 1.0)
    return accuracy, skill, (joint * jnp.log(ratio)).sum((1, 2))
