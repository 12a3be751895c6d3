"""A short form of the calibration in tests/slow/truth_calibration.py, and what its ranks can and cannot see."""

import numpy as np
from simulation_calibration import THINNED, p_values, simulations, z_values

from probtruth.truth import programs


def test_ranks_of_the_hierarchical_program_are_even() -> None:
    """Forty simulations, ranks in four bins of ten: gross errors only; the slow form has the power for small ones."""
    ranks, errors = simulations(programs.hierarchical_dawid_skene, 40, warmup=100, thin=2, batch=40, seed=0)
    assert ranks.shape == (40, 8)
    chance = 0.001  # of one p-value; eight are looked at, of a fixed seed
    assert p_values(ranks, bins=4).min() > chance
    assert np.abs(z_values(errors)).max() < 3.5


def test_ranks_of_a_wrong_width_are_not_even() -> None:
    generator = np.random.default_rng(0)
    for spread in (0.5, 2.0):
        true, drawn = generator.normal(size=(200, 1)), spread * generator.normal(size=(200, THINNED))
        ranks = (drawn < true).sum(1, keepdims=True)
        assert p_values(ranks)[0] < 0.001, spread
    even = generator.integers(THINNED + 1, size=(400, 1))
    assert p_values(even)[0] > 0.01
