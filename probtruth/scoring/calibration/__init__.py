"""Calibration: how well probabilities agree with frequencies, and how much of a loss is miscalibration."""

from probtruth.scoring.calibration.decompositions import calibration_decomposition
from probtruth.scoring.calibration.reliability import calibration_error, murphy_diagram, reliability_curve
from probtruth.scoring.skill import skill_scores

__all__ = (
    "calibration_decomposition",
    "calibration_error",
    "murphy_diagram",
    "reliability_curve",
    "skill_scores",
)
