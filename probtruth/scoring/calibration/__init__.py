"""Calibration: how well probabilities agree with frequencies."""

from probtruth.scoring.calibration.reliability import calibration_error, reliability_curve

__all__ = ("calibration_error", "reliability_curve")
