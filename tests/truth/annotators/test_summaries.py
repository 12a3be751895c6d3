"""Draws of classes and quality of annotators, by hand."""

import jax
import jax.numpy as jnp
import numpy as np

from probtruth.truth.annotators.summaries import categorical, quality


def test_categorical_draws_in_proportion_and_never_what_is_impossible() -> None:
    weights = jnp.tile(jnp.array([0.0, 2.0, 6.0, 0.0]), (8000, 1))
    drawn = np.asarray(jax.jit(categorical)(jax.random.key(3), weights))
    assert set(drawn) == {1, 2}
    five_errors = 5 * np.sqrt(0.25 * 0.75 / 8000)
    assert abs((drawn == 1).mean() - 0.25) < five_errors


def test_quality_by_hand() -> None:
    """Right always: accuracy and kappa 1, information ln 2; a coin: 1/2, 0, 0; always wrong: 0, -1, ln 2."""
    confusion = jnp.stack([jnp.eye(2), jnp.full((2, 2), 0.5), 1 - jnp.eye(2)])
    found = jax.jit(quality)(confusion, jnp.log(jnp.array([0.5, 0.5])))
    single = 1e-6
    np.testing.assert_allclose(found, [[1, 0.5, 0], [1, 0, -1], [np.log(2), 0, np.log(2)]], rtol=single, atol=single)
