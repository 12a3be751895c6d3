"""Metrics over draws: of the truth's posterior, or of labels and responses without a posterior."""

import numpy as np
from jaxtyping import Float, Int

from probtruth.scoring.align import Aligned
from probtruth.scoring.confusion.measures import Summary, measure, summarise
from probtruth.types.truth import Truth

CELLS = 2**21
"""Drawn labels in memory at a time (16 MiB of random numbers); a different number gives different draws."""

FEW_LABELS = 16
"""Up to this many labels a draw is compared with each cumulative probability; above, it is found by a search."""


def draw_labels(
    probs: Float[np.ndarray, "item label"], draws: int, generator: np.random.Generator
) -> Int[np.ndarray, "item draw"]:
    """Independent labels of every item. A label of probability 0 is never drawn."""
    steps = np.cumsum(probs, axis=1)
    steps /= steps[:, -1:]
    chance = generator.random((len(probs), draws))
    n_labels = probs.shape[1]
    if n_labels <= FEW_LABELS:
        labels = np.zeros(chance.shape, np.int64)
        for step in steps[:, :-1].T:
            labels += chance >= step[:, None]
        return labels
    positions = [np.searchsorted(row, numbers, side="right") for row, numbers in zip(steps, chance, strict=True)]
    return np.stack(positions)


def sampled_measures(
    truth: Float[np.ndarray, "item label"],
    answers: Float[np.ndarray, "model item label"],
    draws: int,
    seed: int,
    respond: bool,
) -> Summary:
    """The measures over independent draws of every item's label, the same for all models.

    With `respond` the responses are drawn too; otherwise the counts are expected over the responses.
    """
    n_items, n_labels = truth.shape
    generator = np.random.default_rng(seed)
    shape = (draws, len(answers), n_labels)
    right, of_response, of_label = np.zeros(shape), np.zeros(shape), np.zeros((draws, 1, n_labels))
    block = max(1, CELLS // draws)
    for start in range(0, n_items, block):
        rows = slice(start, start + block)
        labels = draw_labels(truth[rows], draws, generator)
        code = (labels + n_labels * np.arange(draws)).ravel()
        of_label[:, 0] += _sums(code, None, draws, n_labels)
        for model, answer in enumerate(answers[:, rows]):
            if not respond:
                weights = np.take_along_axis(answer, labels, axis=1).ravel()
                right[:, model] += _sums(code, weights, draws, n_labels)
                of_response[:, model] += answer.sum(0)
                continue
            responses = draw_labels(answer, draws, generator)
            right[:, model] += _sums(code[(responses == labels).ravel()], None, draws, n_labels)
            of_response[:, model] += _sums((responses + n_labels * np.arange(draws)).ravel(), None, draws, n_labels)
    return summarise(*measure(right, np.broadcast_to(of_label, shape), of_response))


def _sums(
    code: Int[np.ndarray, " cell"], weights: Float[np.ndarray, " cell"] | None, draws: int, n_labels: int
) -> np.ndarray:
    return np.bincount(code, weights, draws * n_labels).reshape(draws, n_labels)


def truth_draws(truth: Truth, aligned: Aligned) -> Float[np.ndarray, "draw item label"] | None:
    """The draws of the truth on the items and labels that it shares with the predictions; None if it has none."""
    if truth.draws is None:
        return None
    tables = np.zeros((len(truth.draws), *aligned.truth.shape), truth.draws.dtype)
    tables[:, :, aligned.columns] = truth.draws[:, aligned.rows]
    return tables


def posterior_measures(
    tables: Float[np.ndarray, "draw item label"], answers: Float[np.ndarray, "model item label"]
) -> Summary:
    """The measures of every drawn table of labels, with counts expected over labels and responses given the table."""
    right = np.stack([np.einsum("nk,mnk->mk", table.astype(np.float64), answers) for table in tables])
    of_label = tables.sum(1, dtype=np.float64)[:, None]
    shape = right.shape
    return summarise(*measure(right, np.broadcast_to(of_label, shape), np.broadcast_to(answers.sum(1), shape)))
