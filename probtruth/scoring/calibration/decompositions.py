"""Where the expected loss of each model comes from: the labels' own spread, the distance from them, and its parts."""

from functools import partial
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax import Array
from jaxtyping import Int

from probtruth import check, frames
from probtruth.kernels import simplex
from probtruth.kernels.arrays import to_host
from probtruth.kernels.precision import compiled
from probtruth.scoring.align import align
from probtruth.scoring.calibration.binning import Items, Rows
from probtruth.scoring.calibration.corp import Problem
from probtruth.scoring.rules import ScoringRule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.score import asked, floored
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import Tables

if TYPE_CHECKING:
    import polars

CHUNK = 4_000_000  # Numbers held at once, so that many labels do not fill the memory
# Rows that sum to 1 within this are distributions to rounding; others only within the tolerance of files.
EXACT_SUM = 1e-12


def decompose(
    predictions: Predictions | Tables, truth: Truth, rule: RuleLike = "log", floor: float | None = None
) -> "polars.DataFrame":
    """Mean expected loss of each model as entropy plus divergence, and as miscalibration, discrimination, uncertainty.

    Formula: expected = entropy + divergence, with entropy the least expected loss that any report can reach (the same
    for all models) and divergence the rest, by a formula of its own that does not cancel. With a floor, or on rows that
    sum to 1 only within the tolerance of files, divergence is expected - entropy. Arrays of JAX are scored where they
    lie; their labels' columns come to the host one by one for the isotonic fits. Also expected = miscalibration -
    discrimination + uncertainty, the joint form of `calibration_decomposition`. Grouping is what a recalibrated
    forecast still loses beyond the entropy, uncertainty - discrimination - entropy: items with the same forecast that
    differ in their labels, so that expected = miscalibration + grouping + entropy.

    Vote shares of few annotators have too little entropy. Where there are votes, `entropy_corrected` allows for that by
    the jackknife (see `corrected_entropy`) and `divergence_corrected` = expected - entropy_corrected; the
    expected loss itself needs no correction. Votes that scatter look like grouping loss too: subtract
    `entropy_corrected` there.

    Arguments: as in `score`; `predictions` may be {model: array or dataframe}.

    Returns: one row for each model in units of the rule: `model`, `expected`, `entropy`, `divergence`,
    `entropy_corrected`, `divergence_corrected` (both NaN without votes, or where an item has a single one),
    `miscalibration`, `discrimination`, `uncertainty`, `grouping`. Lower is better, but for discrimination.

    Errors: as in `score`.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; Dimitriadis, Gneiting and Jordan (2021),
    doi:10.1073/pnas.2016191118; Kull and Flach (2015), doi:10.1007/978-3-319-23528-8_5, for grouping; Zahl (1977),
    doi:10.2307/1936227, for the jackknife

    >>> import probtruth as pt
    >>> row = pt.decompose({"a": [[0.6, 0.4]]}, pt.Truth.from_probs([[0.7, 0.3]]), rule="brier").row(0, named=True)
    >>> [round(row[part], 2) for part in ("expected", "entropy", "divergence")]
    [0.44, 0.42, 0.02]
    """
    check.own_threads()
    aligned = align(predictions, truth)
    chosen, least = asked(rule, floor, aligned.labels)
    corrected = float("nan")
    if aligned.by_votes and aligned.shares is not None and aligned.n_votes is not None:
        corrected = float(corrected_entropy(chosen, aligned.shares, aligned.n_votes).mean())
    held, rows = aligned.on_host(), []
    rounded = np.abs(held.truth.sum(-1) - 1) > EXACT_SUM
    for model, own_logs in zip(held.models, held.log_probs, strict=True):  # one at a time: they may lie on disk
        table = floored(own_logs, least)
        own, lowest, rest = map(to_host, _parts(chosen, table, held.truth))
        probs = np.exp(table)
        off = (np.abs(probs.sum(-1) - 1) > EXACT_SUM) | rounded
        parts = Problem.of(chosen, table, held.truth, probs).parts(np.ones(len(probs)))
        _, miscalibration, discrimination, uncertainty = parts
        expected, entropy = float(own.mean()), float(lowest.mean())
        rows.append(
            {
                "model": model,
                "expected": expected,
                "entropy": entropy,
                "divergence": float(np.where(off, own - lowest, rest).mean()),
                "entropy_corrected": corrected,
                "divergence_corrected": expected - corrected,
                "miscalibration": miscalibration,
                "discrimination": discrimination,
                "uncertainty": uncertainty,
                "grouping": uncertainty - discrimination - entropy,
            }
        )
    return frames.from_rows(rows)


@partial(compiled, static_argnums=0)
def _parts(rule: ScoringRule, log_probs: np.ndarray | Array, truth: np.ndarray | Array) -> tuple[Array, Array, Array]:
    logs, weights = simplex.as_floats(log_probs, truth)
    return rule.expected_from_log(logs, weights), rule.entropy(weights), rule.divergence_from_log(logs, weights)


def corrected_entropy(rule: ScoringRule, shares: Rows, n_votes: Int[np.ndarray, " item"]) -> Items:
    """Generalised entropy of each item's distribution of opinions, the bias of few votes removed to first order.

    Formula: the jackknife, n H(q) - (n - 1) sum_k q_k H((n q - e_k)/(n - 1)), with q the vote shares of n votes. It is
    unbiased for the Brier, quadratic and ranked probability scores ((1 - |q|^2) n/(n - 1)), and has a bias of order
    1/n^2 for smooth entropies. The plug-in H(q) has one of order 1/n, always downwards: on 1,514 items with 100 votes
    each, log score, the mean is .563 (corrected), and five votes an item give .411 plain and .537 corrected.

    Returns: units of the rule; NaN for items with a single vote, about whose spread nothing is known. Single items
    scatter and may leave the range of an entropy: the mean over items is what it is for.

    Source: Zahl (1977), doi:10.2307/1936227; Efron and Stein (1981), doi:10.1214/aos/1176345462

    >>> import numpy as np, probtruth as pt
    >>> shares, n_votes = np.array([[0.6, 0.4], [1.0, 0.0]]), np.array([5, 5])
    >>> corrected_entropy(pt.rules.brier, shares, n_votes).round(3).tolist()
    [0.6, 0.0]
    """
    votes = shares * n_votes[:, None]
    item, label = np.nonzero(shares > 0)
    size = max(1, CHUNK // shares.shape[1])
    left_out = np.empty(len(item))
    entropy = jax.jit(rule.entropy)
    with jax.enable_x64(True):
        plain = np.asarray(entropy(shares.astype(np.float64)))
        for start in range(0, len(item), size):
            some = slice(start, start + size)
            fewer = votes[item[some]]
            fewer[np.arange(len(fewer)), label[some]] = np.maximum(fewer[np.arange(len(fewer)), label[some]] - 1, 0)
            left_out[some] = entropy(fewer / np.maximum(fewer.sum(1, keepdims=True), 1))
    mean_left_out = np.bincount(item, shares[item, label] * left_out, len(shares))
    corrected = n_votes * plain - (n_votes - 1) * mean_left_out
    return np.where(n_votes > 1, corrected, np.nan)
