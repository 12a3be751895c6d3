"""Random labels have the frequencies of their weights."""

import numpy as np

from probtruth.kernels.draws import categorical

DRAWS = 40_000
STANDARD_ERRORS = 5


def test_frequencies_are_the_weights_and_a_weight_of_0_is_never_drawn():
    weights = np.array([[2.0, 0.0, 6.0], [0.0, 1.0, 1.0], [0.0, 0.0, 3.0]])
    drawn = categorical(np.random.default_rng(3), np.cumsum(weights, axis=1), DRAWS)
    assert drawn.shape == (3, DRAWS)
    shares = weights / weights.sum(1, keepdims=True)
    for row, share in zip(drawn, shares, strict=True):
        found = np.bincount(row, minlength=3) / DRAWS
        assert (found[share == 0] == 0).all()
        assert (np.abs(found - share) <= STANDARD_ERRORS * np.sqrt(share * (1 - share) / DRAWS)).all()
