"""Generalised means of probabilities: Nelson's risk profile."""

from probtruth.kernels.power_mean import generalized_mean
from probtruth.scoring.nelson.profile import risk_profile

__all__ = ("generalized_mean", "risk_profile")
