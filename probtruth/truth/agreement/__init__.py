"""How far annotators agree with each other and with models: alpha, human ceiling, the alternative annotator test."""

from probtruth.truth.agreement.alternative_test import AlternativeTest, alternative_annotator_test
from probtruth.truth.agreement.human_ceiling import human_ceiling
from probtruth.truth.agreement.krippendorff import krippendorff_alpha
from probtruth.truth.annotators import annotators

__all__ = (
    "AlternativeTest",
    "alternative_annotator_test",
    "annotators",
    "human_ceiling",
    "krippendorff_alpha",
)
