"""Parts of the expected loss (entropy and divergence; miscalibration and discrimination by CORP)."""

from typing import TYPE_CHECKING

import numpy as np

from probtruth import check, frames
from probtruth.kernels.host import distinct
from probtruth.kernels.shapes import ItemLabel
from probtruth.scoring.align import align
from probtruth.scoring.calibration.events import isotonic
from probtruth.scoring.rules import ScoringRule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.score import entropies, expected_losses, floored, rule_and_floor
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import Tables

if TYPE_CHECKING:
    import polars


def decompose(
    predictions: Predictions | Tables, truth: Truth, rule: RuleLike = "log", floor: float | None = None
) -> "polars.DataFrame":
    """Mean expected loss of each model as entropy plus divergence, and as miscalibration, discrimination, uncertainty.

    Formula: expected = entropy + divergence, with entropy the least expected loss that any report can reach (the same
    for all models). Also expected = S(p) = [S(p) - S(c)] - [S(r) - S(c)] + S(r) = miscalibration - discrimination +
    uncertainty (CORP), with S the mean loss, c the isotonic fits of all labels divided by their sum (equal forecasts
    pooled; p or r itself where that has a lower loss), and r the mean label, the same forecast for every item. Grouping
    = uncertainty - discrimination - entropy is what a recalibrated forecast still
    loses beyond the entropy, on items with the same forecast and other labels.

    Vote shares of few annotators have too little entropy, and the divergence is too large by as much; the expected loss
    needs no correction.

    Arguments:
        predictions: may be {model: array or dataframe}.
        truth: the reference, used as it is: what `infer_truth` or `Truth.from_probs` makes, or `result.truth`, in which
            the models' forecasts are evidence of inferred classes too, as in `score`.
        rule: as in `score`.
        floor: as in `score`.

    Returns: one row for each model in units of the rule: `model`, `expected`, `entropy`, `divergence`,
    `miscalibration`, `discrimination`, `uncertainty`, `grouping`. Lower is better, but for discrimination.

    Errors: as in `score`.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; Dimitriadis, Gneiting and Jordan (2021),
    doi:10.1073/pnas.2016191118; Kull and Flach (2015), doi:10.1007/978-3-319-23528-8_5, for grouping

    >>> import probtruth as pt
    >>> row = pt.decompose({"a": [[0.6, 0.4]]}, pt.Truth.from_probs([[0.7, 0.3]]), rule="brier").row(0, named=True)
    >>> [round(row[part], 2) for part in ("expected", "entropy", "divergence")]
    [0.44, 0.42, 0.02]
    """
    check.own_threads()
    aligned = align(predictions, truth)
    chosen, least = rule_and_floor(rule, floor, aligned.labels)
    both = aligned.on_host()
    rows = []
    entropy = float(entropies(chosen, both.truth).mean())
    for model, logs in zip(both.models, both.log_probs, strict=True):  # one at a time: they may lie on disk
        table = floored(logs, least)
        expected, miscalibration, discrimination, uncertainty = corp_parts(chosen, table, both.truth)
        rows.append(
            {
                "model": model,
                "expected": expected,
                "entropy": entropy,
                "divergence": expected - entropy,
                "miscalibration": miscalibration,
                "discrimination": discrimination,
                "uncertainty": uncertainty,
                "grouping": uncertainty - discrimination - entropy,
            }
        )
    return frames.from_rows(rows)


def corp_parts(rule: ScoringRule, log_probs: ItemLabel, truth: ItemLabel) -> tuple[float, float, float, float]:
    """Mean loss, miscalibration, discrimination and uncertainty of one model."""
    n_labels = truth.shape[1]
    fitted = np.empty(truth.shape)
    for label in range(1 if n_labels == 2 else 0, n_labels):  # with two labels one order serves both
        _, point_of, count = distinct(np.exp(log_probs[:, label]))
        fitted[:, label] = isotonic(point_of, count, truth[:, label])[point_of]
    if n_labels == 2:
        fitted[:, 0] = 1 - fitted[:, 1]
    else:
        total = fitted.sum(1, keepdims=True)
        positive = total > 0
        fitted = np.where(positive, fitted / np.where(positive, total, 1), 1 / n_labels)
    with np.errstate(divide="ignore"):
        log_fitted = np.log(fitted)
        log_mean = np.log(truth.mean(0))
    score = float(expected_losses(rule, None, log_probs, truth).mean())
    of_fitted = float(expected_losses(rule, None, log_fitted, truth).mean())
    of_mean = float(expected_losses(rule, None, np.broadcast_to(log_mean, truth.shape), truth).mean())
    best = min(score, of_fitted, of_mean)
    return score, score - best, of_mean - best, of_mean
