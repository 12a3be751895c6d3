"""Where the expected loss of each model comes from: the labels' own spread, the distance from them, and its parts."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax import Array

from probtruth import check, frames
from probtruth.kernels import device_tables, simplex
from probtruth.kernels.arrays import on_device
from probtruth.scoring import device_losses
from probtruth.scoring.align import Aligned, align
from probtruth.scoring.calibration.corp import Problem, calibrated_there, of_losses
from probtruth.scoring.rules import ScoringRule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.score import (
    asked,
    baseline_of,
    entropies,
    floored,
    mean_corrected_entropy,
    truth_means,
)
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
    sum to 1 only within the tolerance of files, divergence is expected - entropy. Arrays of JAX are scored where they
    lie; their labels' columns come to the host one by one for the isotonic fits. Also expected = miscalibration -
    discrimination + uncertainty, the joint form of `calibration_decomposition`.

    Vote shares of few annotators have too little entropy. Where there are votes, `entropy_corrected` allows for that by
    the jackknife (see `score.corrected_entropy`) and `divergence_corrected` = expected - entropy_corrected; the
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
    chosen, least = asked(rule, floor, aligned.labels)
    parts = _parts_of(aligned, chosen, least)
    corrected = mean_corrected_entropy(chosen, aligned)
    rows = []
    for model, (mean, entropy, rest, (_, miscalibration, discrimination, uncertainty)) in zip(
        aligned.models, parts, strict=True
    ):
        rows.append(
            {
                "model": model,
                "expected": mean,
                "entropy": entropy,
                "divergence": rest,
                "entropy_corrected": corrected,
                "divergence_corrected": mean - corrected,
                "miscalibration": miscalibration,
                "discrimination": discrimination,
                "uncertainty": uncertainty,
            }
        )
    return frames.from_rows(rows)


type Parts = tuple[float, float, float, tuple[float, float, float, float]]
"""Means of expected loss, entropy and divergence; then mean loss, miscalibration, discrimination, uncertainty."""


def _parts_of(aligned: Aligned, rule: ScoringRule, floor: float | None) -> Iterator[Parts]:
    """The parts of each model, computed where its predictions lie."""
    if on_device(aligned.log_probs):
        entropy, mean_label = truth_means(rule, aligned.truth)
        values, rests = device_losses.parts(rule, floor, aligned.log_probs, aligned.truth)
        for at, (own, rest) in enumerate(zip(values, rests, strict=True)):
            calibrated = calibrated_there(device_tables.one_of(aligned.log_probs, at), aligned.truth)
            fitted = device_losses.mean_of_probs(rule, calibrated, aligned.truth)
            joint = of_losses(float(own.mean()), fitted, baseline_of(rule, mean_label))
            yield float(own.mean()), entropy, float(rest.mean()), joint
        return
    held = aligned.on_host()
    logs = floored(held.log_probs, floor)
    with jax.enable_x64(True):
        expected, least, divergence = map(np.asarray, _parts(rule, logs, held.truth))
    rounded = np.abs(held.truth.sum(-1) - 1) > EXACT_SUM
    for own, rest, table in zip(expected, divergence, logs, strict=True):
        probs = np.exp(table)
        off = (np.abs(probs.sum(-1) - 1) > EXACT_SUM) | rounded
        yield (
            float(own.mean()),
            float(least.mean()),
            float(np.where(off, own - least, rest).mean()),
            Problem.of(rule, table, held.truth, probs).parts(),
        )


@partial(jax.jit, static_argnums=0)
def _parts(rule: ScoringRule, log_probs: np.ndarray | Array, truth: np.ndarray | Array) -> tuple[Array, Array, Array]:
    logs, weights = simplex.as_floats(log_probs, truth)
    return rule.expected_from_log(logs, weights), rule.entropy(weights), rule.divergence_from_log(logs, weights)


@check.checks_itself
def grouping_decomposition(
    predictions: Predictions, truth: Truth, rule: RuleLike = "log", floor: float | None = None
) -> "polars.DataFrame":
    """Mean expected loss as calibration plus grouping plus irreducible loss; soft labels make the parts computable.

    Formula: S(p) = [S(p) - S(c)] + [S(c) - H(t)] + H(t), with S the mean expected loss, c the calibrated forecasts (as
    in `calibration_decomposition`, jointly over the labels) and H(t) the mean entropy of the items' labels. The
    grouping loss is the mean divergence of t from c: items with the same forecast that differ in their labels. In terms
    of CORP it is uncertainty - discrimination - entropy.

    Arguments: as in `score`.

    Returns: one row for each model, in units of the rule, lower is better: `model`, `expected`, `calibration`,
    `grouping`, `irreducible`; and, if the labels are vote shares, `grouping_corrected` and `irreducible_corrected`,
    which allow for few votes (votes scatter around the item's distribution, which looks like grouping loss; see
    `decompose`), else NaN.

    Errors: as in `score`.

    Source: Kull and Flach (2015), doi:10.1007/978-3-319-23528-8_5

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.5, 0.5], [0.5, 0.5]]})
    >>> truth = pt.Truth.from_probs([[0.9, 0.1], [0.3, 0.7]])
    >>> row = pt.calibration.grouping_decomposition(pred, truth, rule="brier").row(0, named=True)
    >>> [round(row[part], 3) for part in ("expected", "calibration", "grouping", "irreducible")]
    [0.5, 0.02, 0.18, 0.3]
    """
    aligned = align(predictions, truth).on_host()
    chosen, least = asked(rule, floor, aligned.labels)
    irreducible = float(entropies(chosen, aligned.truth.astype(np.float64)).mean())
    corrected = mean_corrected_entropy(chosen, aligned)
    rows = []
    for model, table in zip(aligned.models, floored(aligned.log_probs, least), strict=True):
        expected, calibration, discrimination, uncertainty = Problem.of(chosen, table, aligned.truth).parts()
        calibrated = uncertainty - discrimination
        rows.append(
            {
                "model": model,
                "expected": expected,
                "calibration": calibration,
                "grouping": calibrated - irreducible,
                "irreducible": irreducible,
                "grouping_corrected": calibrated - corrected,
                "irreducible_corrected": corrected,
            }
        )
    return frames.from_rows(rows)
