"""Generalised means of probabilities (Nelson's risk profile), coupled Gaussians and their powers."""

from probtruth.kernels.power_mean import generalized_mean
from probtruth.scoring.nelson import coupled_gaussian
from probtruth.scoring.nelson.coupled_gaussian import (
    coupling_from_power,
    power_from_coupling,
    student_index,
)
from probtruth.scoring.nelson.profile import perplexity, risk_profile

__all__ = (
    "coupled_gaussian",
    "coupling_from_power",
    "generalized_mean",
    "perplexity",
    "power_from_coupling",
    "risk_profile",
    "student_index",
)
