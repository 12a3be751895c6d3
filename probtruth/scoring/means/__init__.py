"""Mean scores as one state that merges, fed by arrays on the host, arrays on devices, or batches."""

from probtruth.scoring.means.state import MeanState
from probtruth.scoring.means.streaming import ExpectedCounts, MeanScores, RunningMeans, mean_score, mean_scores

__all__ = ("ExpectedCounts", "MeanScores", "MeanState", "RunningMeans", "mean_score", "mean_scores")
