"""How precisely JAX computes, whatever its x64 mode is: kernels on NumPy arrays, compiled functions, samplers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np


@contextmanager
def float64_on_cpu() -> Iterator[None]:
    """Float64 on the CPU: small programs of loops are far slower on an accelerator. The caller's settings come back."""
    with jax.enable_x64(True), jax.default_device(jax.local_devices(backend="cpu")[0]):
        yield


def compiled[F: Callable[..., Any]](function: F, static_argnums: int | tuple[int, ...] = ()) -> F:
    """The function compiled by JAX in the types of its arguments: float32 stays float32, and so does float64."""
    inner = jax.jit(function, static_argnums=static_argnums)

    @wraps(function)
    def wide(*arguments: Any) -> Any:
        with jax.enable_x64(True), jax.transfer_guard_host_to_device("allow"):
            return inner(*arguments)

    return cast(F, wide)


def float64_for_numpy[Kernel: Callable[..., Any]](kernel: Kernel) -> Kernel:
    """The kernel, which computes in float64 if an argument is a NumPy array of float64; NumPy in, NumPy out."""

    @wraps(kernel)
    def wide(*arrays: Any, **named: Any) -> Any:
        arguments = [*arrays, *named.values()]
        any_double = any(isinstance(one, np.ndarray) and one.dtype == np.float64 for one in arguments)
        any_of_jax = any(isinstance(one, jax.Array) for one in arguments)  # tracers are such
        if jax.config.jax_enable_x64 or not any_double or any_of_jax:
            return kernel(*arrays, **named)
        if isinstance(jnp.zeros(()), jax.core.Tracer):  # in a function that is being traced even constants are tracers
            return kernel(*arrays, **named)
        with jax.enable_x64(True):
            return np.asarray(kernel(*arrays, **named))

    return cast(Kernel, wide)
