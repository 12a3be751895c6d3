"""Models whose difference never varies are one model to the sampler; the others follow at a fixed distance."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.evidence.moments import square
from probtruth.comparison.evidence.sweeps import all_pairs


@dataclass(frozen=True, eq=False)
class Collapse:
    """`kept` are the models that stand for all; model k is `kept[home[k]]` plus `offset[k]`."""

    kept: Int[np.ndarray, " kept"]
    home: Int[np.ndarray, " model"]
    offset: Float[np.ndarray, " model"]

    def pair_rows(self) -> Int[np.ndarray, " pair"]:
        """The rows of the pairs' statistics that belong to pairs of kept models."""
        n_models = len(self.home)
        place = {pair: row for row, pair in enumerate(all_pairs(n_models))}
        kept = self.kept.tolist()
        return np.array([place[kept[a], kept[b]] for a, b in all_pairs(len(kept))], np.int64)

    def expand(self, kept: Float[np.ndarray, "*batch kept"]) -> Float[np.ndarray, "*batch model"]:
        """Values of all models from those of the kept ones, as contrasts that sum to zero."""
        values = kept[..., self.home] + self.offset
        contrast: np.ndarray = values - values.mean(-1, keepdims=True)
        return contrast


def collapse(constant: Bool[np.ndarray, " pair"], difference: Float[np.ndarray, " pair"], n_models: int) -> Collapse:
    """Each model goes to the first that it differs from by a constant; `difference` are those of the pairs."""
    same = square(constant.astype(np.float64), n_models) + np.eye(n_models) > 0
    first = same.argmax(1)
    kept, home = np.unique(first, return_inverse=True)
    offset = square(difference, n_models, -1.0)[np.arange(n_models), first]
    return Collapse(kept, home, offset)
