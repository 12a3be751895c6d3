"""Metrics over batches whose states merge exactly: any batches, any order and any number of devices, same bits."""

from probtruth.scoring.means.event_ranks import StreamRanks as StreamRanks
from probtruth.scoring.means.metric import Metric as Metric
from probtruth.scoring.means.metric import State as State
from probtruth.scoring.means.metric import StreamTogether as StreamTogether
from probtruth.scoring.means.stream_counts import StreamCounts as StreamCounts
from probtruth.scoring.means.stream_powers import StreamPowerMeans as StreamPowerMeans
from probtruth.scoring.means.stream_scores import StreamScores as StreamScores
