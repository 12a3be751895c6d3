"""Kernels on rows of probabilities, compiled once for a number of labels: the rows are padded to one length.

Nearly all time of a test of a kernel is its compilation, and another number of rows is another program.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

LENGTH = 256  # Rows of a call; more are padded to the next multiple


@cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under `jax.jit`, the same object for the same function."""
    return jax.jit(function)


def by_rows(function: Callable[..., Any], *arrays: Any) -> Any:
    """What a function of rows gives, as NumPy arrays; the last axis of the arguments is the label."""
    batch = np.broadcast_shapes(*(np.shape(array)[:-1] for array in arrays))
    n_rows = int(np.prod(batch))

    def padded(array: Any) -> Any:
        rows = np.broadcast_to(array, (*batch, np.shape(array)[-1])).reshape(n_rows, -1)
        return np.pad(rows, ((0, -n_rows % LENGTH), (0, 0)), mode="edge")

    made = compiled(function)(*map(padded, arrays))
    return jax.tree.map(lambda array: np.asarray(array)[:n_rows].reshape((*batch, *array.shape[1:])), made)


def x64(function: Callable[..., Any], *arrays: Any) -> Any:
    """The same with 64-bit arithmetic on."""
    with jax.enable_x64(True):
        return by_rows(function, *arrays)


@cache
def parts_of(rule: Any) -> Any:
    """All that a rule gives for probabilities and truth, to be compiled together."""

    def parts(probs, truth):
        logs = jnp.log(probs)
        divergence = rule.divergence(probs, truth), rule.divergence_from_log(logs, truth)
        expected = rule.expected(probs, truth), rule.expected_from_log(logs, truth)
        return *expected, *divergence, rule.entropy(truth), rule.per_label(probs)

    return parts


def table(labels=3, items=50):
    """Random distributions, the first rows on edges and corners and equal to each other."""
    rng = np.random.default_rng(0)
    probs, truth = rng.dirichlet(np.ones(labels) / 2, items), rng.dirichlet(np.ones(labels) / 2, items)
    hot = np.eye(labels)
    probs[:labels], truth[:labels] = hot, hot
    probs[3], truth[3] = hot[0], hot[1]
    probs[4], truth[5] = truth[4], hot[1]
    probs[6:20] = truth[6:20] * rng.uniform(0.9, 1.1, (14, labels))
    probs[6:20] /= probs[6:20].sum(1, keepdims=True)
    return probs, truth


def assert_same(ours, theirs, rtol=1e-12, atol=1e-12):
    """Infinite in the same places, close elsewhere."""
    np.testing.assert_array_equal(np.isinf(ours), np.isinf(theirs))
    finite = np.isfinite(ours)
    np.testing.assert_allclose(ours[finite], theirs[finite], rtol=rtol, atol=atol)
