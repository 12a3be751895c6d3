"""Blocked Gibbs sampling of the perceived-class model on flat arrays, in NumPy: nothing to compile, exact gammas.

A sweep is a few passes over the annotations. Compiling the same sweep for an accelerator takes longer than thousands of
sweeps of a usual data set, and NumPy draws random numbers faster than XLA does on a CPU.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt
from scipy.special import gammaln

from probtruth.truth.em import log_total

WALKS = 4  # Random-walk steps for the global parameters in each sweep

SWAP_EVERY = 2  # Sweeps from one exchange of labels in the items' perceptions to the next

TINY = 1e-300  # Added to weights before a log or a draw

ACCEPT = 0.3  # Acceptance rate that the random walks are tuned to during warm-up


class GibbsData(NamedTuple):
    """Annotations sorted by item (`cell` is annotator * n_labels + label), and what is held fixed."""

    item: Int[np.ndarray, " annotation"]
    cell: Int[np.ndarray, " annotation"]
    known: Float[np.ndarray, "label item"]
    log_marginals: Float[np.ndarray, " label"]
    confusable: Float[np.ndarray, "label label"]


class GibbsPriors(NamedTuple):
    """Of log delta, log epsilon and log kappa (mean, sd), and of the mean confusion (on the diagonal, off it)."""

    log_delta: tuple[float, float]
    log_epsilon: tuple[float, float]
    log_kappa: tuple[float, float]
    confusion: tuple[float, float]


class GibbsState(NamedTuple):
    """One point of the chain."""

    log_phi: Float[np.ndarray, "label item"]
    confusion: Float[np.ndarray, "label cell"]
    ease: Float[np.ndarray, "2"]
    habits: Float[np.ndarray, "label parameter"]
    ease_step: Float[np.ndarray, ""]
    habit_step: Float[np.ndarray, " label"]


class Perceptions(NamedTuple):
    """Perceptions that occur: `often` annotations of `item` were of `label`; `answers` counts them by (seen, cell)."""

    item: Int[np.ndarray, " perception"]
    label: Int[np.ndarray, " perception"]
    often: Int[np.ndarray, " perception"]
    answers: Int[np.ndarray, "label cell"]


@dataclass(frozen=True, eq=False)
class GibbsChain:
    """Means over the sweeps that count (of (delta, epsilon) for `ease`), and classes drawn in them."""

    probs: Float[np.ndarray, "label item"]
    confusion: Float[np.ndarray, "label cell"]
    difficulty: Float[np.ndarray, " item"]
    ease: Float[np.ndarray, "2"]
    classes: UInt[np.ndarray, "draw item"]


def sample(
    random: np.random.Generator,
    data: GibbsData,
    priors: GibbsPriors,
    state: GibbsState,
    warmup: int,
    sweeps: int,
    repeats: int,
) -> GibbsChain:
    """`warmup` sweeps that tune the walks, then `sweeps` that count, each with `repeats` draws of the classes."""
    n_labels, n_items = data.known.shape
    probs, confusion = np.zeros_like(data.known), np.zeros_like(state.confusion)
    difficulty, ease = np.zeros(n_items), np.zeros(2)
    classes = np.empty((sweeps * repeats, n_items), np.uint8 if n_labels <= 256 else np.uint16)
    for turn in range(-warmup, sweeps):
        gain = 1 / np.sqrt(1 + warmup + turn) if turn < 0 else 0.0
        if (warmup + turn) % SWAP_EVERY == 0:
            state = state._replace(log_phi=swap(random, state, data))
        state, class_probs, drawn = sweep(random, state, data, priors, gain)
        if turn < 0:
            continue
        for repeat in range(repeats):
            classes[turn * repeats + repeat] = categorical(random, class_probs) if repeat else drawn
        alpha = alphas(state.ease, data)
        probs += class_probs
        confusion += (alpha / alpha.sum(1, keepdims=True)) @ state.confusion
        difficulty += 1 - np.exp(state.log_phi[drawn, np.arange(n_items)])
        ease += np.exp(state.ease)
    return GibbsChain(probs / sweeps, confusion / sweeps, difficulty / sweeps, ease / sweeps, classes)


def sweep(
    random: np.random.Generator, state: GibbsState, data: GibbsData, priors: GibbsPriors, gain: float
) -> tuple[GibbsState, Float[np.ndarray, "label item"], Int[np.ndarray, " item"]]:
    """One update of everything but the swaps: the new state, P(class | perceptions), and classes drawn from it."""
    n_labels, n_items = data.known.shape
    seen = perceive(random, np.exp(state.log_phi), state.confusion, data)
    log_class = data.log_marginals[:, None] + data.known + rising(alphas(state.ease, data), seen, n_items)
    probs = np.exp(log_class - log_class.max(0))
    probs /= probs.sum(0)
    classes = categorical(random, probs)

    ease, ease_step = walk_ease(random, state, data, priors, classes, seen, gain)
    habits, habit_step = walk_habits(random, state, priors, seen.answers, gain)
    counts = alphas(ease, data)[classes].T
    counts[seen.label, seen.item] += seen.often
    log_phi = log_dirichlet(random, counts)
    rows = random.standard_gamma(seen.answers.reshape(n_labels, -1, n_labels) + shared_counts(habits)[:, None, :]).clip(
        TINY
    )
    confusion = (rows / rows.sum(2, keepdims=True)).reshape(n_labels, -1)
    return GibbsState(log_phi, confusion, ease, habits, ease_step, habit_step), probs, classes


def perceive(
    random: np.random.Generator,
    phi: Float[np.ndarray, "label item"],
    confusion: Float[np.ndarray, "label cell"],
    data: GibbsData,
) -> Perceptions:
    """What every annotator saw, given the item's distribution and what they answered."""
    n_labels, n_items = phi.shape
    running = np.empty((n_labels, len(data.item)))
    for label in range(n_labels):
        np.multiply(phi[label][data.item], confusion[label][data.cell], out=running[label])
        running[label] += running[label - 1] if label else TINY
    level = random.random(len(data.item)) * running[-1]
    seen = np.zeros(len(data.item), np.int64)
    for label in range(n_labels - 1):
        seen += level >= running[label]
    cells = np.bincount(data.item * n_labels + seen, minlength=n_items * n_labels)
    met = np.flatnonzero(cells)
    answers = np.bincount(seen * confusion.shape[1] + data.cell, minlength=confusion.size).reshape(confusion.shape)
    return Perceptions(*np.divmod(met, n_labels), cells[met], answers)


def categorical(random: np.random.Generator, probs: Float[np.ndarray, "label item"]) -> Int[np.ndarray, " item"]:
    """A position in each column, with probabilities in proportion to its entries."""
    steps = np.cumsum(probs, axis=0)
    return np.asarray((random.random(probs.shape[1]) * steps[-1] >= steps[:-1]).sum(0))


def log_dirichlet(
    random: np.random.Generator, counts: Float[np.ndarray, "label item"]
) -> Float[np.ndarray, "label item"]:
    """The log of a Dirichlet variate for each column, exact for any counts above 0: G(a) = G(a + 1) U^(1/a)."""
    logs = np.log(random.standard_gamma(counts + 1)) - random.standard_exponential(counts.shape) / counts
    return np.asarray(logs - log_total(logs, 0))


def alphas(ease: Float[np.ndarray, "2"], data: GibbsData) -> Float[np.ndarray, "label label"]:
    """The Dirichlet parameters of perception, one row for each true class."""
    delta, epsilon = np.exp(ease)
    alpha: np.ndarray = epsilon * data.confusable
    alpha.flat[:: len(alpha) + 1] += delta
    return alpha


def swap(random: np.random.Generator, state: GibbsState, data: GibbsData) -> Float[np.ndarray, "label item"]:
    """Metropolis: exchange two labels in an item's perceptions, with perceived labels and classes summed out."""
    n_labels, n_items = data.known.shape
    if n_labels < 2:
        return state.log_phi
    one: np.ndarray = np.asarray(random.integers(0, n_labels, n_items))
    two: np.ndarray = (one + np.asarray(random.integers(1, n_labels, n_items))) % n_labels
    each = np.arange(n_items)
    own, other = state.log_phi[one, each], state.log_phi[two, each]
    phi = np.exp(state.log_phi)
    before = np.full(len(data.item), TINY)
    for label in range(n_labels):
        before += phi[label][data.item] * state.confusion[label][data.cell]
    flat, width = state.confusion.reshape(-1), state.confusion.shape[1]
    gap = flat[one[data.item] * width + data.cell] - flat[two[data.item] * width + data.cell]
    after = before + (np.exp(other) - np.exp(own))[data.item] * gap
    rise = np.bincount(data.item, np.log(np.maximum(after, TINY) / before), n_items)
    alpha = alphas(state.ease, data)
    log_beta = gammaln(alpha.sum(1)) - gammaln(alpha).sum(1)
    by_class = data.log_marginals[:, None] + data.known + log_beta[:, None] + (alpha - 1) @ state.log_phi
    exchanged = by_class + (alpha[:, one] - alpha[:, two]) * (other - own)
    rise += (log_total(exchanged, 0) - log_total(by_class, 0))[0]
    taken: np.ndarray = -random.standard_exponential(n_items) < rise
    log_phi = state.log_phi.copy()
    log_phi[one[taken], each[taken]], log_phi[two[taken], each[taken]] = other[taken], own[taken]
    return log_phi


def rising(alpha: Float[np.ndarray, "label label"], seen: Perceptions, n_items: int) -> Float[np.ndarray, "label item"]:
    """Log Dirichlet-multinomial probability of each item's perceptions under each class, up to what classes share."""
    most = int(seen.often.max(initial=0))
    steps = np.log(alpha[..., None] + np.arange(most))
    table = np.concatenate([np.zeros_like(steps[..., :1]), np.cumsum(steps, axis=2)], axis=2)
    entry = seen.label * (most + 1) + seen.often
    return np.stack([np.bincount(seen.item, row.reshape(-1)[entry], n_items) for row in table])


def walk_ease(
    random: np.random.Generator,
    state: GibbsState,
    data: GibbsData,
    priors: GibbsPriors,
    classes: Int[np.ndarray, " item"],
    seen: Perceptions,
    gain: float,
) -> tuple[Float[np.ndarray, "2"], Float[np.ndarray, ""]]:
    """Random walk in (log delta, log epsilon) given classes and perceptions, the items' distributions summed out."""
    n_labels, n_items = data.known.shape
    cell, number, above = exceeding(classes[seen.item] * n_labels + seen.label, seen.often)
    totals = np.bincount(seen.item, seen.often, n_items).astype(np.int64)
    _, total, above_total = exceeding(np.zeros_like(totals), totals)

    def log_density(ease: np.ndarray) -> np.ndarray:
        own = above @ np.log(alphas(ease, data).reshape(-1)[cell] + number)
        whole = above_total @ np.log(np.exp(ease).sum() + total)
        value = own - whole + normal(ease[0], priors.log_delta) + normal(ease[1], priors.log_epsilon)
        return np.asarray(value)

    return walk(random, state.ease, state.ease_step, log_density, gain)


def walk_habits(
    random: np.random.Generator,
    state: GibbsState,
    priors: GibbsPriors,
    answers: Int[np.ndarray, "label cell"],
    gain: float,
) -> tuple[Float[np.ndarray, "label parameter"], Float[np.ndarray, " label"]]:
    """Random walks in (log kappa_s, log gammas of m_s), one for each perceived label, annotators' theta summed out."""
    n_labels = len(answers)
    on, off = priors.confusion
    counts = np.where(np.eye(n_labels, dtype=bool), on, off)
    by_annotator = answers.reshape(n_labels, -1, n_labels)
    row = np.arange(n_labels)[:, None, None] * n_labels + np.arange(n_labels)
    cell, number, above = exceeding(np.broadcast_to(row, by_annotator.shape).reshape(-1), by_annotator.reshape(-1))
    totals = by_annotator.sum(2)
    seen, total, above_total = exceeding(np.repeat(np.arange(n_labels), totals.shape[1]), totals.reshape(-1))

    def log_density(habits: np.ndarray) -> np.ndarray:
        kappa, pseudo = np.exp(habits[:, 0]), shared_counts(habits).reshape(-1)
        own = np.bincount(cell // n_labels, above * np.log(pseudo[cell] + number), n_labels)
        own -= np.bincount(seen, above_total * np.log(kappa[seen] + total), n_labels)
        prior = (counts * habits[:, 1:] - np.exp(habits[:, 1:])).sum(1)
        return np.asarray(own + prior + normal(habits[:, 0], priors.log_kappa))

    return walk(random, state.habits, state.habit_step, log_density, gain)


def exceeding(
    cell: Int[np.ndarray, " count"], count: Int[np.ndarray, " count"]
) -> tuple[Int[np.ndarray, " step"], Int[np.ndarray, " step"], Int[np.ndarray, " step"]]:
    """How many of a cell's counts exceed n = 0, 1, ...: (cell, n, how many), where any do."""
    most = int(count.max(initial=0)) + 1
    often = np.bincount(cell * most + count, minlength=(int(cell.max(initial=0)) + 1) * most).reshape(-1, most)
    above = np.flip(np.cumsum(np.flip(often[:, 1:], 1), 1), 1)
    cells, number = np.nonzero(above)
    return cells, number, above[cells, number]


def walk(
    random: np.random.Generator,
    point: Float[np.ndarray, "*row parameter"],
    log_step: Float[np.ndarray, "*row"],
    log_density: Callable[[np.ndarray], np.ndarray],
    gain: float,
) -> tuple[Float[np.ndarray, "*row parameter"], Float[np.ndarray, "*row"]]:
    """Random-walk Metropolis, every row by itself; `gain` above 0 tunes the steps towards `ACCEPT`."""
    density = log_density(point)
    for _ in range(WALKS):
        tried = point + np.exp(log_step)[..., None] * random.standard_normal(point.shape)
        proposed = log_density(tried)
        rate = np.exp(np.minimum(proposed - density, 0.0))
        taken = random.random(rate.shape) < rate
        point, density = np.where(taken[..., None], tried, point), np.where(taken, proposed, density)
        log_step = log_step + gain * (rate - ACCEPT)
    return point, np.asarray(log_step)


def shared_counts(habits: Float[np.ndarray, "label parameter"]) -> Float[np.ndarray, "label label"]:
    """kappa_s m_s: the pseudo-counts that all annotators share, of answering y (column) having perceived s (row)."""
    gammas = np.exp(habits[:, 1:])
    return np.asarray(np.exp(habits[:, :1]) * gammas / gammas.sum(1, keepdims=True))


def normal(value: Float[np.ndarray, "*batch"] | float, prior: tuple[float, float]) -> Float[np.ndarray, "*batch"]:
    """Log density of a normal prior (mean, sd), up to a constant."""
    return np.asarray(-0.5 * ((value - prior[0]) / prior[1]) ** 2)
