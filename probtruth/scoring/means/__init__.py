"""Mean scores as one state that merges, fed by arrays on the host, arrays on devices, or batches."""

from probtruth.scoring.means.arrays import mean_score, mean_scores
from probtruth.scoring.means.state import State
from probtruth.scoring.means.streaming import ExpectedCounts, Means, MeanScores

__all__ = ("ExpectedCounts", "MeanScores", "Means", "State", "mean_score", "mean_scores")
