"""What recalibration cannot repair: items that a model cannot tell apart, and the spread of the labels themselves."""

from typing import TYPE_CHECKING

import numpy as np

from probtruth import check, frames
from probtruth.scoring.align import align
from probtruth.scoring.calibration.corp import Problem
from probtruth.scoring.rules import get_rule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.score import check_floor, entropies, floored, mean_corrected_entropy
from probtruth.types import Predictions, Truth

if TYPE_CHECKING:
    import polars


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
    chosen = get_rule(rule).for_labels(aligned.labels)
    logs = floored(aligned.log_probs, check_floor(floor, len(aligned.labels)))
    irreducible = float(entropies(chosen, aligned.truth.astype(np.float64)).mean())
    corrected = mean_corrected_entropy(chosen, aligned)
    rows = []
    for model, table in zip(aligned.models, logs, strict=True):
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
