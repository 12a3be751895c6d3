"""How far the models' probabilities can be taken at their word, and why the most accurate model may score worse."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from probtruth.check import as_float
from probtruth.line.labelled import Labelled
from probtruth.line.standing import CLAIMED
from probtruth.scoring.align import AlignedOnHost
from probtruth.scoring.calibration.decompositions import decompose
from probtruth.scoring.calibration.reliability import calibration_error, reliability_curve
from probtruth.scoring.nelson.profile import MARKS, RiskProfile, risk_profile
from probtruth.scoring.rules import RULES, ScoringRule
from probtruth.types import Comparison, Scores
from probtruth.types.arguments import JudgedBy
from probtruth.types.comparison import Row, leaders
from probtruth.types.scores import sampled_items

if TYPE_CHECKING:
    import polars

MOST_MODELS = 6  # Models whose calibration is computed, the best first
RESAMPLES = 80  # Of the band of a curve, and of the calibration error by chance
WORSE = 1.5  # How many times the miscalibration of another model is called larger
NEARER = 0.005  # Accuracies nearer than this are not said to disagree with the score


@dataclass(frozen=True)
class CalibrationAnalysis:
    """Reliability curves, risk profile and rows of numbers of the best models, on `n_items` of `n_all` items."""

    models: tuple[str, ...]  # best first
    left_out: int
    event: str | None  # the label that is forecast; None where the event is that the most probable label is right
    curve: "polars.DataFrame"
    risk: RiskProfile
    rows: tuple[Row, ...]
    n_items: int
    n_all: int


def calibration_of(labelled: Labelled, scores: Scores, comparison: Comparison) -> CalibrationAnalysis | None:
    """The calibration of the best models, on all items that they have or, of many, a random sample; None for none."""
    ranked = tuple(row.model for row in leaders(comparison.ranks))
    models = ranked[:MOST_MODELS]
    known = labelled.aligned
    seed = comparison.seed
    lacking = known.lacking[[known.models.index(model) for model in models]]
    there = np.flatnonzero(~lacking.any(0))
    if not len(there):
        return None
    aligned = known.subset(there[sampled_items(len(there), len(known.labels), seed)], models)
    two = len(aligned.labels) == 2
    way: JudgedBy = "label" if two else "top-label"
    sides: tuple[Any, Any] = (aligned, None)  # what stands side by side takes the place of both
    return CalibrationAnalysis(
        models,
        len(ranked) - len(models),
        aligned.labels[-1] if two else None,
        reliability_curve(*sides, by=way, n_resamples=RESAMPLES, seed=seed),
        risk_profile(*sides, powers=list(MARKS.values())),
        tuple(_rows(scores, labelled.options.rule, aligned, way, seed)),
        len(aligned.items),
        len(scores.items),
    )


def _rows(scores: Scores, rule: ScoringRule, aligned: AlignedOnHost, way: JudgedBy, seed: int) -> list[dict[str, Any]]:
    """Miscalibration and discrimination under the rule, where that has a name, and the calibration error."""
    rows: dict[str, dict[str, Any]] = {model: {"model": model} for model in aligned.models}
    sides: tuple[Any, Any] = (aligned, None)
    errors = calibration_error(*sides, by=way, n_resamples=RESAMPLES, seed=seed)
    for row in errors.to_dicts():  # of two labels both have the same error
        rows[row["model"]] |= {"error": row["error"], "if_calibrated": row["if_calibrated"]}
    if scores.rule in RULES:
        for row in decompose(*sides, rule, scores.known.floor).to_dicts():
            rows[row["model"]] |= {key: row[key] for key in ("miscalibration", "discrimination")}
    return list(rows.values())


@dataclass(frozen=True)
class MostAccurate:
    """The model of highest accuracy, which is not that of the best score, and why its score is worse."""

    model: str
    accuracy: float
    accuracy_of_leader: float
    why: Literal["discrimination", "overconfident", "underconfident"]
    miscalibration: float | None = None
    miscalibration_of_leader: float | None = None


def most_accurate(
    comparison: Comparison,
    accuracy: Mapping[str, float],
    calibration: CalibrationAnalysis,
    confidence: Mapping[str, float],
) -> MostAccurate | None:
    """None where the accuracies and the scores agree. `confidence` is the mean probability of the chosen label."""
    ranks = comparison.ranked
    lead = ranks[0].model
    first = max(accuracy, key=accuracy.__getitem__)
    if first == lead or accuracy[first] - accuracy[lead] < NEARER or comparison.rule == "zero-one":
        return None
    ahead = comparison.pair(lead, first).p_a_better
    if ahead is None or ahead < CLAIMED:
        return None
    shown = (first, accuracy[first], accuracy[lead])
    off = {row["model"]: as_float(row.get("miscalibration")) for row in calibration.rows}
    of_first, of_lead = off.get(first), off.get(lead)
    if of_first == np.inf:  # the table says on how many items its score is infinite
        return None
    if of_first is None or of_lead is None or of_first < WORSE * of_lead:
        return MostAccurate(*shown, "discrimination")
    over = confidence[first] > accuracy[first]
    return MostAccurate(*shown, "overconfident" if over else "underconfident", of_first, of_lead)
