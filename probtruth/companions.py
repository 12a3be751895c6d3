"""Other tests and likelihoods to set beside `compare`."""

from probtruth.comparison.companions.benavoli import (
    ThreeRegions,
    correlated_t_test,
    hierarchical_test,
    signed_rank_test,
)
from probtruth.comparison.likelihoods.fit import compare_likelihoods

__all__ = (
    "ThreeRegions",
    "compare_likelihoods",
    "correlated_t_test",
    "hierarchical_test",
    "signed_rank_test",
)
