"""Calibration: how well probabilities agree with frequencies, and how much of a loss is miscalibration."""

from probtruth.scoring.calibration.decompositions import calibration_decomposition
from probtruth.scoring.calibration.reliability import calibration_error, reliability_curve

__all__ = (
    "calibration_decomposition",
    "calibration_error",
    "reliability_curve",
)
