"""Mean scores of large arrays against a read of memory, one logarithm, NumPy, scikit-learn and scoringrules."""

from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

import probtruth as pt
from tests.benchmarks.measure import Section, Work, optional

FLOOR = "floor: one np.log into a ready buffer + one read of both"


@cache
def soft(items: int, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Random forecasts and soft labels in float32, the last axis the label."""
    rng = np.random.default_rng(0)
    drawn = (rng.standard_exponential((items, labels), np.float32) + np.float32(1e-6) for _ in range(2))
    probs, truth = (values / values.sum(1, keepdims=True) for values in drawn)
    return probs, truth


def with_zeros(probs: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A twentieth of the labels ruled out by forecast and truth alike: 0 * log 0."""
    out = np.random.default_rng(1).random(probs.shape) < 0.05
    return np.where(out, 0, probs).astype(np.float32), np.where(out, 0, truth).astype(np.float32)


def one_read(*arrays: np.ndarray) -> list[float]:
    """Every byte once, by NumPy's quickest reduction."""
    return [float(array.max()) for array in arrays]


def mean_log_score(items: int, labels: int, goal: str) -> Section:
    """One mean log score."""
    probs, truth = soft(items, labels)
    buffer = np.empty_like(probs)
    zeros = with_zeros(probs, truth)
    hard = truth.argmax(1)
    one_hot = np.eye(labels, dtype=np.float32)[hard]
    plain = jax.jit(lambda p, t: -(t * jnp.log(p)).sum())
    kernel = jax.jit(lambda p, t: pt.log_score(p, t).mean())
    there = jnp.asarray(probs), jnp.asarray(truth)
    works = [
        Work(FLOOR, lambda: (np.log(probs, out=buffer), one_read(probs, truth))),
        Work("one read of both", lambda: one_read(probs, truth)),
        Work("**mean_score**, soft labels", lambda: pt.streaming.mean_score(probs, truth), goal),
        Work("**mean_score**, JAX arrays", lambda: pt.streaming.mean_score(*there), goal),
        Work("**mean_score**, zeros in both", lambda: pt.streaming.mean_score(*zeros), goal),
        Work("**mean_score**, one-hot labels", lambda: pt.streaming.mean_score(probs, one_hot), goal),
        Work("`log_score(...).mean()` under jit", lambda: kernel(*there)),
        Work("XLA, -(t * log p).sum(), zeros wrong", lambda: plain(*there)),
        Work("NumPy, -(t * np.log(p)).sum(1).mean()", lambda: -(truth * np.log(probs)).sum(1).mean()),
    ]
    skipped = []
    sklearn = optional("sklearn.metrics")
    if sklearn:
        names = np.arange(labels)
        works.append(Work("scikit-learn log_loss, hard labels", lambda: sklearn.log_loss(hard, probs, labels=names)))
    else:
        skipped.append("scikit-learn")
    title = f"Mean log score, {items:,} items x {labels:,} labels, float32"
    return Section(title, "Both arrays in memory, label axis last.", works, skipped=skipped)


def under_jit(items: int, labels: int, gradient: bool) -> Section:
    """The public kernels inside a caller's `jit`, value alone or value and gradient, beside the plain formulas."""
    probs, truth = soft(items, labels)
    optax = optional("optax.losses")
    whole = (lambda score: jax.jit(jax.value_and_grad(score))) if gradient else jax.jit
    there = jnp.asarray(probs), jnp.asarray(truth)
    logits = jnp.log(there[0]), there[1]
    repeats = max(1, 2_000_000 // (items * labels))

    def work(name: str, score: Callable[..., jax.Array], arrays: tuple[jax.Array, ...], goal: str = "") -> Work:
        compiled = whole(lambda p, t: score(p, t).mean())
        return Work(name, lambda: [compiled(*arrays) for _ in range(repeats)][-1], goal, per=repeats)

    works = [
        work("XLA, -(t * log p).sum(-1), zeros wrong", lambda p, t: -(t * jnp.log(p)).sum(-1), there),
        work("**log_score**", pt.log_score, there, "<= 1.5"),
        work("XLA, log_softmax and one product", lambda z, t: -(t * jax.nn.log_softmax(z)).sum(-1), logits),
        work("**log_score_from_logits**", pt.rules.log_score_from_logits, logits),
        work("**log_score_from_log_probs**", pt.rules.log_score_from_log_probs, logits),
    ]
    if optax:
        works.append(work("optax, softmax_cross_entropy from logits", optax.softmax_cross_entropy, logits))
    what = "value and gradient" if gradient else "value"
    title = f"Kernels under your own jit, {items:,} x {labels:,}, {what}"
    text = "The mean over items, float32; the gradient is by the forecast."
    return Section(title, text, works, skipped=() if optax else ("optax",))


def from_log_probs(items: int, labels: int) -> Section:
    """The mean log score where the forecasts are log-probabilities."""
    probs, truth = soft(items, labels)
    logs = np.log(probs)
    plain = jax.jit(lambda p, t: -jnp.vdot(p, t))
    there = jnp.asarray(logs), jnp.asarray(truth)
    works = [
        Work("floor: one read of both", lambda: one_read(logs, truth)),
        Work("**mean_score**, log_probs=True", lambda: pt.streaming.mean_score(logs, truth, log_probs=True), "<= 1.6"),
        Work("NumPy, np.vdot", lambda: np.vdot(logs, truth)),
        Work("XLA, vdot", lambda: plain(*there)),
    ]
    return Section(f"From log-probabilities, {items:,} x {labels:,}", "No logarithm is needed.", works)


def several(items: int, labels: int, rounds: int = 15) -> Section:
    """Several scores in one pass, as ratios to the log score alone."""
    probs, truth = soft(items, labels)
    sklearn = optional("sklearn.metrics")
    hard = truth.argmax(1)

    def by_numpy() -> tuple[float, ...]:
        log = -(truth * np.log(probs)).sum(1).mean()
        brier = ((probs - truth) ** 2 + truth * (1 - truth)).sum(1).mean()
        return log, brier, -((probs * truth).sum(1) / np.sqrt((probs**2).sum(1))).mean()

    works = [
        Work("**mean_score**, log alone", lambda: pt.streaming.mean_score(probs, truth)),
        Work("**mean_score**, Brier alone", lambda: pt.streaming.mean_score(probs, truth, "brier")),
        Work("**mean_score**, spherical alone", lambda: pt.streaming.mean_score(probs, truth, "spherical")),
        Work(
            "**mean_scores**, log + Brier + spherical", lambda: pt.streaming.mean_scores(probs, truth).means, "<= 1.6"
        ),
        Work(
            "**mean_scores**, these + expected counts + power means (1, 0, -2/3)",
            lambda: pt.streaming.mean_scores(probs, truth, powers=(1, 0, -2 / 3), confusion=True).means,
            "<= 3" if labels < 100 else "",
        ),
        Work("NumPy, log + Brier + spherical", by_numpy),
    ]
    if sklearn:
        names = np.arange(labels)
        works.append(
            Work(
                "scikit-learn, log_loss + brier_score_loss, hard labels",
                lambda: (
                    sklearn.log_loss(hard, probs, labels=names),
                    sklearn.brier_score_loss(hard, probs, labels=names),
                ),
            )
        )
    title = f"Several scores in one pass, {items:,} x {labels:,}"
    text = f"Ratios to the log score alone. The expected counts are a table of {labels:,} x {labels:,}."
    return Section(title, text, works, rounds=rounds)


def two_labels() -> Section:
    """Brier score of two labels, where scoringrules has one."""
    probs, truth = soft(1_000_000, 2)
    event, outcome = probs[:, 1].copy(), (truth[:, 1] > 0.5).astype(np.float32)
    hard = np.stack([1 - outcome, outcome], 1)
    works = [
        Work("floor: one read of both", lambda: one_read(probs, hard)),
        Work("**mean_score**, Brier", lambda: pt.streaming.mean_score(probs, hard, "brier")),
    ]
    peer = optional("scoringrules")
    if peer:
        works.append(Work("scoringrules brier_score, mean", lambda: peer.brier_score(outcome, event).mean()))
    return Section("Brier score, 1,000,000 x 2", "", works, skipped=[] if peer else ["scoringrules"])


def streaming() -> Section:
    """States that merge, with entropy and divergence, against the quick mean."""
    probs, truth = (jnp.asarray(array) for array in soft(1_000_000, 10))
    log, three = pt.streaming.RunningMeans("log"), pt.streaming.RunningMeans(("log", "brier", "spherical"))
    counts, powers = pt.streaming.RunningMeans((), n_labels=10), pt.streaming.RunningMeans((), (1, 0, -2 / 3))

    def parts(batch: int) -> object:
        state = log.init()
        for first in range(0, len(probs), batch):
            state = log.update(state, probs[first : first + batch], truth[first : first + batch])
        return state

    works = [
        Work("**mean_score**, log", lambda: pt.streaming.mean_score(probs, truth)),
        Work("**RunningMeans**, log: expected, entropy, divergence", lambda: log.of(probs, truth)),
        Work("the same in 10 batches", lambda: parts(100_000)),
        Work("**RunningMeans**, log + Brier + spherical", lambda: three.of(probs, truth)),
        Work("**RunningMeans**, counts of sampled responses", lambda: counts.of(probs, truth)),
        Work("**RunningMeans**, powers (1, 0, -2/3)", lambda: powers.of(probs, truth)),
    ]
    text = "States merge in any order; totals are pairs of floats, and the result bounds what adding up moved."
    return Section("States that merge, 1,000,000 x 10", text, works, rounds=7)
