"""Where the expected loss of each model comes from: the labels' own spread, the distance from them, and its parts."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from jax import Array

from probtruth import check, frames
from probtruth.kernels import simplex
from probtruth.kernels.arrays import to_host
from probtruth.kernels.precision import compiled
from probtruth.scoring.align import align
from probtruth.scoring.calibration.corp import Problem
from probtruth.scoring.rules import ScoringRule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.score import asked, floored, mean_corrected_entropy
from probtruth.types import Predictions, Truth

if TYPE_CHECKING:
    import polars

# Rows that sum to 1 within this are distributions to rounding; others only within the tolerance of files.
EXACT_SUM = 1e-12


def decompose(
    predictions: Predictions, truth: Truth, rule: RuleLike = "log", floor: float | None = None
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
    the jackknife (see `score.corrected_entropy`) and `divergence_corrected` = expected - entropy_corrected; the
    expected loss itself needs no correction. Votes that scatter look like grouping loss too: subtract
    `entropy_corrected` there.

    Arguments: as in `score`.

    Returns: one row for each model in units of the rule: `model`, `expected`, `entropy`, `divergence`,
    `entropy_corrected`, `divergence_corrected` (both NaN without votes, or where an item has a single one),
    `miscalibration`, `discrimination`, `uncertainty`, `grouping`. Lower is better, but for discrimination.

    Errors: as in `score`.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; Dimitriadis, Gneiting and Jordan (2021),
    doi:10.1073/pnas.2016191118; Kull and Flach (2015), doi:10.1007/978-3-319-23528-8_5, for grouping; Zahl (1977),
    doi:10.2307/1936227, for the jackknife

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.6, 0.4]]})
    >>> row = pt.decompose(pred, pt.Truth.from_probs([[0.7, 0.3]]), rule="brier").row(0, named=True)
    >>> [round(row[part], 2) for part in ("expected", "entropy", "divergence")]
    [0.44, 0.42, 0.02]
    """
    check.own_threads()
    aligned = align(predictions, truth)
    chosen, least = asked(rule, floor, aligned.labels)
    corrected = mean_corrected_entropy(chosen, aligned)
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
