"""Which report is best: expected losses over the simplex, candidates, and a local search without derivatives."""

from collections.abc import Callable
from itertools import combinations
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import gammaln, xlogy

from probtruth.errors import InputError

Loss = Callable[..., object]
Asked = Callable[[Float[np.ndarray, "report label"], Float[np.ndarray, " label"]], Float[np.ndarray, " report"]]

MOST_SHARES = 20_000
"""The largest number of vote shares to list; five annotators and ten labels have 2,002."""
EXPONENTS = (0.0, 0.25, 0.5, 0.8, 0.95, 1.05, 1.25, 2.0, 4.0, 16.0)
"""Powers of the truth to try as reports: hedged below 1, sharpened above."""


def asked(loss: Loss, n_labels: int, annotators: int | None) -> Asked:
    """The expected loss of many reports under one distribution of labels, as a function of both."""
    shares = None if annotators is None else vote_shares(n_labels, annotators)

    def losses(
        reports: Float[np.ndarray, "report label"], truth: Float[np.ndarray, " label"]
    ) -> Float[np.ndarray, " report"]:
        with jax.enable_x64(True), np.errstate(all="ignore"):
            if shares is None:
                return np.asarray(loss(jnp.asarray(reports), jnp.asarray(truth)), np.float64)
            each = np.asarray(loss(jnp.asarray(reports)[:, None], jnp.asarray(shares)), np.float64)
        chance = share_probs(shares, truth, annotators or 0)
        mean: np.ndarray = (np.where(chance > 0, each, 0) * chance).sum(1)
        return mean

    return losses


def vote_shares(n_labels: int, annotators: int) -> Float[np.ndarray, "share label"]:
    """All possible shares of the votes of this many annotators."""
    if isinstance(annotators, bool) or not isinstance(annotators, (int, np.integer)) or annotators < 1:
        raise InputError(
            f"annotators {annotators!r}", "an integer of at least 1", "How many annotators vote on an item?"
        )
    size = comb(annotators + n_labels - 1, n_labels - 1)
    if size > MOST_SHARES:
        raise InputError(
            f"{annotators} annotators and {n_labels} labels, which have {size} vote shares",
            f"at most {MOST_SHARES}",
            "Ask with fewer labels or annotators: a fault shows with two labels already.",
        )
    bars = np.array(list(combinations(range(annotators + n_labels - 1), n_labels - 1)), int).reshape(size, -1)
    edges = np.concatenate([np.full((size, 1), -1), bars, np.full((size, 1), annotators + n_labels - 1)], 1)
    shares: np.ndarray = (np.diff(edges, axis=1) - 1) / annotators
    return shares


def share_probs(
    shares: Float[np.ndarray, "share label"], truth: Float[np.ndarray, " label"], annotators: int
) -> Float[np.ndarray, " share"]:
    """Multinomial probability of each vote share."""
    votes = shares * annotators
    logs = gammaln(annotators + 1) - gammaln(votes + 1).sum(1) + xlogy(votes, truth).sum(1)
    chance: np.ndarray = np.exp(logs)
    return chance


def simplex_points(n_labels: int) -> Float[np.ndarray, "point label"]:
    """A grid for two or three labels; corners, middle and a fixed random sample of sparse and even rows for more."""
    if n_labels == 2:
        first = np.linspace(0, 1, 101)
        return np.stack([1 - first, first], 1)
    if n_labels == 3:
        return vote_shares(3, 16)
    rng = np.random.default_rng(20_010)  # a fixed sample: the same question has the same answer
    size = int(np.clip(20_000 // n_labels, 20, 200))
    rows = [rng.dirichlet(np.full(n_labels, concentration), size // 4) for concentration in (0.1, 0.5, 1, 5)]
    return np.concatenate([np.eye(n_labels)[:10], np.full((1, n_labels), 1 / n_labels), *rows])


def tempered_points(truth: Float[np.ndarray, " label"]) -> Float[np.ndarray, "point label"]:
    """Hedged and sharpened versions of a distribution, and the certainty of its most probable label."""
    powered = np.stack([np.where(truth > 0, truth, 0) ** power for power in EXPONENTS])
    powered = np.where(truth > 0, powered, 0)
    corner = np.eye(len(truth))[[int(np.argmax(truth))]]
    return np.concatenate([powered / powered.sum(1, keepdims=True), corner, 0.9 * truth[None] + 0.1 * corner])


def polished(
    losses: Asked, truth: Float[np.ndarray, " label"], report: Float[np.ndarray, " label"]
) -> tuple[Float[np.ndarray, " label"], float]:
    """The report after a descent: probability moves between two labels in steps that halve when none helps."""
    n_labels = len(report)
    labels = np.arange(n_labels) if n_labels <= 12 else np.argsort(report * -1 - truth)[:12]
    pairs = [(one, other) for one in labels for other in labels if one != other]
    value, step = float(losses(report[None], truth)[0]), 0.05
    while step > 1e-8:
        moved = np.repeat(report[None], len(pairs), 0)
        for row, (one, other) in enumerate(pairs):
            size = min(step, report[one])
            moved[row, one] -= size
            moved[row, other] += size
        tried = losses(moved, truth)
        best = int(np.nanargmin(tried))
        if tried[best] < value:
            report, value = moved[best], float(tried[best])
        else:
            step /= 2
    return report, value
