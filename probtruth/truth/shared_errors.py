"""How far annotators may err together, as far as their votes can tell: a lure on some of the items."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import expit, logit, logsumexp

LARGEST = 0.5
"""On more than half of the items a lure would be what annotators mean by the label."""
CHI_SQUARE = 3.84
"""95% point of chi-square with one degree of freedom."""
SHARES = LARGEST * (np.arange(31) / 30) ** 2
"""The shares of items that are tried, close together where they are small."""
STRENGTHS = (np.arange(12) + 0.5) / 12
"""How strongly a lure draws, evenly between not at all and entirely."""
ACCURACIES, STEPS = 30, 16
"""Accuracies that are tried first, and golden sections of the best between its neighbours."""
MOST_ITEMS, MOST_PATTERNS = 50_000, 200
"""Items and kinds of split that the share is fitted on at most, evenly spread: fewer leave more room."""
GOLDEN = (5**0.5 - 1) / 2
DIGITS = 3
"""Decimals that the log-odds of the accuracy are kept to, so that where the search stops leaves no trace."""


@dataclass(frozen=True, eq=False)
class Lure:
    r"""What the votes leave room for: on a share of the items one wrong label draws all annotators.

    Annotators answer an item by its class k with accuracy a, and else by any other label. On a share $\lambda$ of the
    items there is a lure, one of the other labels, and each annotator gives it with probability s before all else; s
    differs from item to item, evenly between 0 and 1. `share` is the largest $\lambda$ up to a half that a likelihood
    ratio test of the splits of votes within items (sorted, so that no name of a label matters) does not reject at 5%,
    `accuracy` the a that fits best with it. `log_ratio` is the log-likelihood ratio of an item's votes with a lure to
    those without, and `classes` its class given a lure, from the votes alone.
    """

    share: float
    accuracy: float
    log_ratio: Float[np.ndarray, " item"]
    classes: Float[np.ndarray, "item label"]

    @classmethod
    def of(cls, counts: Int[np.ndarray, "item label"]) -> "Lure | None":
        """From the votes of each item; None where no item has two, which tells nothing of errors that are shared."""
        if counts.sum(1).max(initial=0) < 2:
            return None
        share, accuracy = _largest(counts)
        order = np.argsort(-counts, axis=1, kind="stable")
        plain, lured = _by_class(np.take_along_axis(counts, order, 1), np.array([accuracy]))
        logs = np.empty(counts.shape)
        np.put_along_axis(logs, order, lured[:, 0], axis=1)
        total = logsumexp(logs, axis=1)
        return cls(share, accuracy, total - logsumexp(plain[:, 0], axis=1), np.exp(logs - total[:, None]))

    def p_lured(self, share: float | None = None) -> Float[np.ndarray, " item"]:
        """The probability that an item has a lure, given its votes, were there one on so many items."""
        share = self.share if share is None else share
        if share == 0:
            return np.zeros(len(self.log_ratio))
        odds = np.log(share) - np.log1p(-share) + self.log_ratio
        return np.asarray(expit(odds))


def _largest(counts: Int[np.ndarray, "item label"]) -> tuple[float, float]:
    """The largest share that is not rejected, and the accuracy that fits best with it."""
    splits = -np.sort(-counts, axis=1)
    splits = splits[np.lexsort(splits.T)]
    splits = splits[np.linspace(0, len(splits) - 1, min(len(splits), MOST_ITEMS)).astype(np.int64)]
    patterns, often = np.unique(splits, axis=0, return_counts=True)
    chosen = np.linspace(0, len(patterns) - 1, min(len(patterns), MOST_PATTERNS)).astype(np.int64)
    patterns, often = patterns[chosen], often[chosen]
    chance = 1 / counts.shape[1]
    step = (1 - chance) / (ACCURACIES + 1)
    accuracies = chance + step * np.arange(1, ACCURACIES + 1)
    plain, lured = _patterns(patterns, accuracies)
    coarse = np.stack([often @ _mixed(plain, lured, share) for share in SHARES])
    best = accuracies[coarse.argmax(1)]
    low, high = best - step, best + step * (1 - 1e-6)
    for _ in range(STEPS):
        inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        left = _fit(patterns, often, inner) > _fit(patterns, often, outer)
        low, high = np.where(left, low, inner), np.where(left, outer, high)
    best = (low + high) / 2
    fits = _fit(patterns, often, best)
    last = int(np.flatnonzero(2 * (fits.max() - fits) <= CHI_SQUARE)[-1])
    return float(SHARES[last]), float(expit(np.round(logit(best[last]), DIGITS)))


def _fit(
    patterns: Int[np.ndarray, "pattern label"],
    often: Int[np.ndarray, " pattern"],
    accuracy: Float[np.ndarray, " share"],
) -> Float[np.ndarray, " share"]:
    """The log-likelihood of each share of `SHARES` with its own accuracy."""
    return np.asarray(often @ _mixed(*_patterns(patterns, accuracy), SHARES))


def _mixed(plain: np.ndarray, lured: np.ndarray, share: float | np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(np.log1p(-np.asarray(share)) + plain, np.log(share) + lured))


def _patterns(
    patterns: Int[np.ndarray, "pattern label"], accuracy: Float[np.ndarray, " one"]
) -> tuple[Float[np.ndarray, "pattern one"], Float[np.ndarray, "pattern one"]]:
    """The log-likelihoods of the patterns without a lure and with one, any class as probable as any other."""
    plain, lured = _by_class(patterns, accuracy)
    return logsumexp(plain, axis=2), logsumexp(lured, axis=2)


def _by_class(
    counts: Int[np.ndarray, "row label"], accuracy: Float[np.ndarray, " one"]
) -> tuple[Float[np.ndarray, "row one label"], Float[np.ndarray, "row one label"]]:
    """The same for each class; `counts` fall from left to right.

    With x and y what a vote for the class and for the lure is worth beside any other, the sum over all lures l but the
    class is x^c_k sum_l y^c_l.
    """
    n_labels = counts.shape[1]
    votes, most = counts.sum(1)[:, None], counts[:, :1]
    below = (counts - most)[:, None, :]
    other = np.log1p(-accuracy) - np.log(n_labels - 1)
    gain = (np.log(accuracy) - other)[None, :, None]
    plain = (votes * other + most * gain[..., 0])[..., None] + below * gain
    parts = []
    for strength in STRENGTHS:
        pulled = np.logaddexp(np.log(strength), np.log1p(-strength) + other) - np.log1p(-strength) - other
        powers = np.exp(below * pulled[None, :, None])
        behind = powers[..., 1:].sum(-1)
        others = np.concatenate([behind[..., None], 1 + behind[..., None] - powers[..., 1:]], axis=-1)
        start = votes * (np.log1p(-strength) + other) + most * (gain[..., 0] + pulled)
        with np.errstate(divide="ignore"):
            parts.append(start[..., None] + below * gain + np.log(others))
    lured = logsumexp(np.stack(parts), axis=0) - np.log(len(STRENGTHS) * (n_labels - 1))
    return plain, lured
