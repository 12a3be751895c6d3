"""Mean scores as states that merge: of arrays on the host or on devices, and of batches."""

from probtruth.scoring.means.arrays import mean_score, mean_scores
from probtruth.scoring.means.event_ranks import StreamRanks
from probtruth.scoring.means.metric import Metric, State, StreamTogether
from probtruth.scoring.means.stream_counts import StreamCounts
from probtruth.scoring.means.stream_powers import StreamPowerMeans
from probtruth.scoring.means.stream_scores import StreamScores

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
