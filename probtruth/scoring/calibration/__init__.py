"""Calibration: how well probabilities agree with frequencies, and how much of a loss is miscalibration."""

from probtruth.scoring.calibration.decompositions import calibration_decomposition, skill_scores
from probtruth.scoring.calibration.reliability import calibration_error, murphy_diagram, reliability_curve

__all__ = (
    "calibration_decomposition",
    "calibration_error",
    "murphy_diagram",
    "reliability_curve",
    "skill_scores",
)
