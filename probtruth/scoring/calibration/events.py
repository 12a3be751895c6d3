"""Many labels as questions about two: one label against the others, or the most probable label against being wrong."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

Rows = Float[np.ndarray, "item label"]
Pairs = Float[np.ndarray, "item 2"]


def against_rest(log_probs: Rows, truth: Rows, label: int) -> tuple[Pairs, Pairs]:
    """Log-probabilities and truth of two labels: all others together, then that one."""
    others = np.arange(truth.shape[1]) != label
    rest = log_probs[:, others][:, 0] if others.sum() == 1 else _log_sum(log_probs[:, others])
    return np.stack([rest, log_probs[:, label]], 1), np.stack([truth[:, others].sum(1), truth[:, label]], 1)


def top_label(log_probs: Rows, truth: Rows) -> tuple[Pairs, Pairs]:
    """Log-probabilities and truth of being wrong and of being right with the most probable label; ties share."""
    best = log_probs == log_probs.max(1, keepdims=True)
    right = (truth * best).sum(1) / best.sum(1)
    first = np.arange(truth.shape[1]) == log_probs.argmax(1)[:, None]
    rest = _log_sum(np.where(first, -np.inf, log_probs))
    return np.stack([rest, log_probs.max(1)], 1), np.stack([1 - right, right], 1)


def _log_sum(logs: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.minimum(np.asarray(logsumexp(logs, axis=1)), 0)


def events(
    log_probs: Rows, truth: Rows, labels: Sequence[str], by: str
) -> Iterator[tuple[str | None, Float[np.ndarray, " item"], Float[np.ndarray, " item"]]]:
    """For each label (or the most probable one): its name (or None), forecast probability and outcome of every item."""
    if by == "top-label":
        logs, outcomes = top_label(log_probs, truth)
        yield None, np.exp(logs[:, 1]), outcomes[:, 1]
        return
    for position, label in enumerate(labels):
        yield label, np.exp(log_probs[:, position]), truth[:, position]
