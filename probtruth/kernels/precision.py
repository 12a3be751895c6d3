"""Kernels on NumPy arrays in float64, whatever JAX's x64 mode is."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np


def float64_for_numpy[Kernel: Callable[..., Any]](kernel: Kernel) -> Kernel:
    """The kernel, which computes in float64 if an argument is a NumPy array of float64; NumPy in, NumPy out.

    With JAX's x64 mode off, JAX would silently round such an array to float32: 1e-50 becomes 0, and its log infinite.
    JAX arrays, and everything inside a transformation (jit, grad, vmap), follow JAX's own rules.
    """

    @wraps(kernel)
    def wide(*arrays: Any, **named: Any) -> Any:
        if jax.config.jax_enable_x64 or not _all_on_the_host((*arrays, *named.values())) or _inside_jit():
            return kernel(*arrays, **named)
        with jax.enable_x64(True):
            return np.asarray(kernel(*arrays, **named))

    return cast(Kernel, wide)


def _all_on_the_host(values: tuple[Any, ...]) -> bool:
    """Whether there is a NumPy array of float64 among them, and no JAX array (or tracer)."""
    wide = any(isinstance(value, np.ndarray) and value.dtype == np.float64 for value in values)
    return wide and not any(isinstance(value, jax.Array) for value in values)


def _inside_jit() -> bool:
    """Whether a function is being traced, in which even constants become tracers."""
    return isinstance(jnp.zeros(()), jax.core.Tracer)
