"""Metrics over batches whose states merge exactly: any batches, any order and any number of devices, same bits."""

from probtruth.scoring.means import Metric as Metric
from probtruth.scoring.means import State as State
from probtruth.scoring.means import StreamCounts as StreamCounts
from probtruth.scoring.means import StreamPowerMeans as StreamPowerMeans
from probtruth.scoring.means import StreamRanks as StreamRanks
from probtruth.scoring.means import StreamScores as StreamScores
from probtruth.scoring.means import StreamTogether as StreamTogether

__all__ = ["Metric", "State", "StreamCounts", "StreamPowerMeans", "StreamRanks", "StreamScores", "StreamTogether"]
