"""Kernels on rows of probabilities, compiled once for a number of labels: the rows are padded to one length.

Nearly all time of a test of a kernel is its compilation, and another number of rows is another program.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
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
