"""Where the expected loss of each model comes from: the labels' own spread, and the distance from them."""

from functools import partial
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax import Array

from probtruth import check, frames
from probtruth.kernels import simplex
from probtruth.scoring.align import Aligned, align
from probtruth.scoring.calibration.corp import Problem
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.score import check_floor, floored, mean_corrected_entropy
from probtruth.types import Predictions, Truth

if TYPE_CHECKING:
    import polars

EXACT_SUM = 1e-12
"""Rows that sum to 1 within this are distributions to rounding; others only within the tolerance of files."""


@check.checks_itself
def decompose(
    predictions: Predictions, truth: Truth, rule: RuleLike = "log", floor: float | None = None
) -> "polars.DataFrame":
    """Mean expected loss of each model as entropy plus divergence, and as miscalibration, discrimination, uncertainty.

    Formula: expected = entropy + divergence, with entropy the least expected loss that any report can reach (the same
    for all models) and divergence the rest, by a formula of its own that does not cancel. With a floor, or on rows that
    sum to 1 only within the tolerance of files, divergence is expected - entropy. Also expected = miscalibration -
    discrimination + uncertainty, the joint form of `calibration_decomposition`.

    Vote shares of few annotators have too little entropy. Where there are votes, `entropy_corrected` allows for that by
    the jackknife (see `few_votes.corrected_entropy`) and `divergence_corrected` = expected - entropy_corrected; the
    expected loss itself needs no correction.

    Arguments: as in `score`.

    Returns: one row for each model in units of the rule: `model`, `expected`, `entropy`, `divergence`,
    `entropy_corrected`, `divergence_corrected` (both NaN without votes, or where an item has a single one),
    `miscalibration`, `discrimination`, `uncertainty`. Lower is better, but for discrimination.

    Errors: as in `score`.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; Dimitriadis, Gneiting and Jordan (2021),
    doi:10.1073/pnas.2016191118; Zahl (1977), doi:10.2307/1936227, for the jackknife

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.6, 0.4]]})
    >>> row = pt.decompose(pred, pt.Truth.from_probs([[0.7, 0.3]]), rule="brier").row(0, named=True)
    >>> [round(row[part], 2) for part in ("expected", "entropy", "divergence")]
    [0.44, 0.42, 0.02]
    """
    check.own_threads()
    return decompose_aligned(align(predictions, truth), rule, floor)


def decompose_aligned(aligned: Aligned, rule: object = "log", floor: object = None) -> "polars.DataFrame":
    """`decompose` of predictions and truth that are aligned."""
    chosen = get_rule(rule).for_labels(aligned.labels)
    logs = floored(aligned.log_probs, check_floor(floor, len(aligned.labels)))
    with jax.enable_x64(True):
        expected, entropy, divergence = map(np.asarray, _parts(chosen, logs, aligned.truth))
    off = (np.abs(np.exp(logs).sum(-1) - 1) > EXACT_SUM) | (np.abs(aligned.truth.sum(-1) - 1) > EXACT_SUM)
    rest = np.where(off, expected - entropy, divergence)
    corrected = mean_corrected_entropy(chosen, aligned)
    rows = []
    for place, model in enumerate(aligned.models):
        mean = float(expected[place].mean())
        _, miscalibration, discrimination, uncertainty = Problem.of(chosen, logs[place], aligned.truth).parts()
        rows.append(
            {
                "model": model,
                "expected": mean,
                "entropy": float(entropy.mean()),
                "divergence": float(rest[place].mean()),
                "entropy_corrected": corrected,
                "divergence_corrected": mean - corrected,
                "miscalibration": miscalibration,
                "discrimination": discrimination,
                "uncertainty": uncertainty,
            }
        )
    return frames.from_rows(rows)


@partial(jax.jit, static_argnums=0)
def _parts(rule: ScoringRule, log_probs: np.ndarray | Array, truth: np.ndarray | Array) -> tuple[Array, Array, Array]:
    logs, weights = simplex.as_floats(log_probs, truth)
    return rule.expected_from_log(logs, weights), rule.entropy(weights), rule.divergence_from_log(logs, weights)
