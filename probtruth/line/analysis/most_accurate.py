"""The model of highest accuracy, where it is not that of the best score, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from probtruth.check import as_float
from probtruth.line.analysis.calibration import CalibrationAnalysis
from probtruth.line.standing import CLAIMED
from probtruth.types import Comparison, Scores

WORSE = 1.5  # How many times the miscalibration of another model is called larger
NEARER = 0.005  # Accuracies nearer than this are not said to disagree with the score


@dataclass(frozen=True)
class MostAccurate:
    """The model of highest accuracy, which is not that of the best score, and why its score is worse."""

    model: str
    accuracy: float
    accuracy_of_leader: float
    last: bool  # no model scores worse
    why: Literal["infinite", "discrimination", "overconfident", "underconfident"]
    miscalibration: float | None = None
    miscalibration_of_leader: float | None = None


def most_accurate(
    scores: Scores,
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
    last = comparison.ranks[-1].model == first
    shown = (first, accuracy[first], accuracy[lead], last)
    if scores.n_infinite[scores.models.index(first)]:
        return MostAccurate(*shown, "infinite")
    off = {row["model"]: as_float(row.get("miscalibration")) for row in calibration.rows}
    of_first, of_lead = off.get(first), off.get(lead)
    if of_first is None or of_lead is None or of_first < WORSE * of_lead:
        return MostAccurate(*shown, "discrimination")
    over = confidence[first] > accuracy[first]
    return MostAccurate(*shown, "overconfident" if over else "underconfident", of_first, of_lead)
