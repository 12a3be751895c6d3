"""Metrics over batches whose states merge exactly: any batches, any order and any number of devices, same bits."""

from probtruth.scoring.streaming.event_ranks import StreamRanks as StreamRanks
from probtruth.scoring.streaming.expected_counts import StreamCounts as StreamCounts
from probtruth.scoring.streaming.mean_scores import StreamScores as StreamScores
from probtruth.scoring.streaming.metric import Metric as Metric
from probtruth.scoring.streaming.metric import State as State
from probtruth.scoring.streaming.metric import StreamTogether as StreamTogether
from probtruth.scoring.streaming.power_means import StreamPowerMeans as StreamPowerMeans
