"""The data types of the pipeline: Annotations, Predictions, Truth, Scores, Comparison."""

from probtruth.types.annotations import Annotations as Annotations
from probtruth.types.comparison import Comparison as Comparison
from probtruth.types.index import Audit as Audit
from probtruth.types.index import Index as Index
from probtruth.types.predictions import Predictions as Predictions
from probtruth.types.score_rows import Partition as Partition
from probtruth.types.score_rows import Replicates as Replicates
from probtruth.types.scores import ExpertScores as ExpertScores
from probtruth.types.scores import LabelsBehind as LabelsBehind
from probtruth.types.scores import RuleFacts as RuleFacts
from probtruth.types.scores import Scores as Scores
from probtruth.types.truth import Truth as Truth
from probtruth.types.votes import Votes as Votes
