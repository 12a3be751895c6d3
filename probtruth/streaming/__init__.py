"""Metrics over batches whose states merge exactly: any batches, any order and any number of devices, same bits."""

from probtruth.scoring.streaming import Metric as Metric
from probtruth.scoring.streaming import State as State
from probtruth.scoring.streaming import StreamCounts as StreamCounts
from probtruth.scoring.streaming import StreamPowerMeans as StreamPowerMeans
from probtruth.scoring.streaming import StreamRanks as StreamRanks
from probtruth.scoring.streaming import StreamScores as StreamScores
from probtruth.scoring.streaming import StreamTogether as StreamTogether

__all__ = ["Metric", "State", "StreamCounts", "StreamPowerMeans", "StreamRanks", "StreamScores", "StreamTogether"]
