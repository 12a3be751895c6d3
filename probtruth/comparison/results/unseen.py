"""What so many items cannot rule out: outcomes that none of them showed and that would cost the leading model more.

`docs/validity/unseen.csv` has its study.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool

from probtruth.kernels.shapes import CellInts, ModelItemLabel

LEVEL = 0.95  # Confidence of the upper bound for the rate of what was not seen
# From this weight on a label counts as observed on an item: a share of the opinions, or the more probable class.
SEEN = {"distribution": 0.01, "class": 0.5}
LEAST = 1e-6  # Mean probability below which an infinite difference is taken for rounding of the forecasts

# Why nothing is said of what was not seen.
NOT_SAMPLED = "the items are held fixed"
OF_VOTES = "a vote has three outcomes, and all are counted"
NO_BOUND = "the scores have no known bound: a rare larger difference cannot be excluded"


def highest_rate(n_units: int) -> float:
    """The upper bound for the rate of something that none of n independent units showed."""
    return float(1.0 - (1.0 - LEVEL) ** (1.0 / n_units))


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What every label would cost on some of the items, how probable the models took it, and which were observed."""

    losses: ModelItemLabel
    log_probs: ModelItemLabel
    observed: Bool[np.ndarray, "item label"]

    @cached_property
    def _places(self) -> CellInts:
        return np.flatnonzero(self.observed)

    def size(self, lead: int, other: int) -> float | None:
        """The mean of the differences, lead minus other, that are larger than any observed."""
        with np.errstate(invalid="ignore"):
            difference = (self.losses[lead] - self.losses[other]).ravel()
            largest = np.nanmax(difference[self._places], initial=0.0)
            unseen = np.flatnonzero(difference > largest)
        sizes = difference[unseen]
        log_probs = self.log_probs[other].ravel()[unseen]
        probs = np.exp(log_probs.astype(np.float64))
        infinite = np.isinf(sizes)
        if infinite.any() and probs[infinite].sum() >= LEAST * len(self.observed):
            return float("inf")
        probs = probs[~infinite]
        total = float(probs.sum())
        if total == 0:
            return None
        return float((probs * sizes[~infinite]).sum()) / total
