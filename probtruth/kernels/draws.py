"""Random labels."""

import numpy as np
from jaxtyping import Float, Int


def categorical(
    generator: np.random.Generator, cumulative: Float[np.ndarray, "row label"], draws: int = 1
) -> Int[np.ndarray, "row draw"]:
    """Independent positions in each row, from the running sums of its weights; one of weight 0 is never drawn."""
    level = generator.random((len(cumulative), draws)) * cumulative[:, -1:]
    labels = np.zeros(level.shape, np.int64)
    for sum_of_first in cumulative[:, :-1].T:
        labels += level >= sum_of_first[:, None]
    return labels
