"""Where and how precisely samplers and iterations compute, whatever the caller set for JAX."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax


@contextmanager
def float64_on_cpu() -> Iterator[None]:
    """Float64 on the CPU: small programs of loops are far slower on an accelerator. The caller's settings come back."""
    with jax.enable_x64(True), jax.default_device(jax.local_devices(backend="cpu")[0]):
        yield
