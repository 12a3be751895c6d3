"""Mean scores and comparisons as states that merge, fed by arrays on the host, arrays on devices, or batches."""

from probtruth.scoring.means import (
    ExpectedCounts,
    MeanScores,
    MeanState,
    RunningMeans,
    mean_score,
    mean_scores,
)
from probtruth.streaming.comparison_state import ComparisonState, comparison_state

__all__ = (
    "ComparisonState",
    "ExpectedCounts",
    "MeanScores",
    "MeanState",
    "RunningMeans",
    "comparison_state",
    "mean_score",
    "mean_scores",
)
