"""What annotations say about annotators: agreement, and how well one annotator predicts the others."""

from probtruth.truth.annotators.agreement import agreement
from probtruth.truth.annotators.alternative_test import AlternativeTest, alternative_annotator_test
from probtruth.truth.annotators.human_ceiling import human_ceiling

__all__ = (
    "AlternativeTest",
    "agreement",
    "alternative_annotator_test",
    "human_ceiling",
)
