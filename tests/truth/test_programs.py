"""A short form of the calibration in tests/slow/truth_calibration.py, and what its ranks can and cannot see."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro import handlers
from scipy.stats import ks_2samp
from simulation_calibration import THINNED, p_values, simulations, z_values

from probtruth.truth import programs


@pytest.mark.long
def test_ranks_of_the_hierarchical_program_are_even() -> None:
    """Forty simulations, ranks in four bins of ten: gross errors only; the slow form has the power for small ones."""
    ranks, errors = simulations(programs.hierarchical_dawid_skene, 40, warmup=100, thin=2, seed=0)
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


@pytest.mark.long
def test_contrasts_have_the_prior_of_independent_logits() -> None:
    """Differences of the logits of a row, drawn in contrasts, against the normals that the docstring names."""
    n_labels, n_annotators, many = 3, 2, 4000
    nothing = {"item": np.zeros(0, int), "cell": np.zeros(0, int), "weight": np.zeros(0)}
    nothing |= {"known": np.zeros((0, n_labels)), "annotators": np.zeros(n_annotators)}

    def differences(key: jax.Array) -> jax.Array:
        trace = handlers.trace(handlers.seed(programs.hierarchical_dawid_skene, key)).get_trace(
            **jax.tree.map(jnp.asarray, nothing)
        )
        rows = trace["log_confusion"]["value"]
        return rows[:, :, 1:] - rows[:, :, :1]

    found = np.asarray(jax.jit(jax.vmap(differences))(jax.random.split(jax.random.key(0), many)))
    generator = np.random.default_rng(0)
    rows = (n_labels, n_labels)
    logits = programs.DIAGONAL_LOGIT * np.eye(n_labels) + generator.normal(size=(many, 1, *rows))
    spread = np.abs(generator.normal(size=(many, 1, *rows)))
    logits = logits + spread * generator.normal(size=(many, n_annotators, *rows))
    wanted = logits[..., 1:] - logits[..., :1]
    for one, other in zip(found.reshape(many, -1).T, wanted.reshape(many, -1).T, strict=True):
        assert ks_2samp(one, other).pvalue > 1e-4  # twelve of a fixed seed
    for statistic in (lambda x: x[:, 0, 0, 0] * x[:, 0, 0, 1], lambda x: x[:, 0, 1, 0] * x[:, 1, 1, 0]):
        assert ks_2samp(statistic(found), statistic(wanted)).pvalue > 1e-4
