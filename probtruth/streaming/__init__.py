"""Metrics over batches whose states merge exactly: any batches, any order and any number of devices, same bits."""

from probtruth.scoring.means import (
    Metric,
    State,
    StreamCounts,
    StreamPowerMeans,
    StreamRanks,
    StreamScores,
    StreamTogether,
    mean_score,
    mean_scores,
)

__all__ = (
    "Metric",
    "State",
    "StreamCounts",
    "StreamPowerMeans",
    "StreamRanks",
    "StreamScores",
    "StreamTogether",
    "mean_score",
    "mean_scores",
)
