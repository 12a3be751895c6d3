"""Tables that lie on devices, in their own types whatever JAX's x64 mode is; see `kernels.arrays`."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding
from jaxtyping import Int

from probtruth.kernels import simplex
from probtruth.kernels.arrays import Table, on_device, some_items, to_host
from probtruth.kernels.precision import compiled


def as_float_table(values: Array) -> Array:
    """Real numbers as floats: float32 and float64 stay, half precision becomes float32, and all else float64."""
    spread, kind = values.sharding, values.dtype
    if isinstance(spread, NamedSharding) and AxisType.Explicit in spread.mesh.axis_types:  # left to the compiler
        axes = (AxisType.Auto,) * spread.mesh.devices.ndim
        mesh = Mesh(spread.mesh.devices, spread.mesh.axis_names, axis_types=axes)
        values = jax.device_put(values, NamedSharding(mesh, spread.spec))
    if kind in (np.float32, np.float64):
        return values
    return _cast(values, np.float32 if jnp.issubdtype(kind, jnp.floating) else np.float64)


@partial(compiled, static_argnums=1)
def _cast(values: Array, kind: type) -> Array:
    return values.astype(kind)


@partial(compiled, static_argnums=(1, 2))
def _first_faults(cells: Array, kind: str, tolerance: float) -> Int[Array, " fault"]:
    """The first row of each fault, the number of rows where there is none; one read of the table."""
    n = len(cells)
    if kind == "logits":
        flags = [(jnp.isnan(cells) | (cells == jnp.inf)).any(-1) | (cells == -jnp.inf).all(-1)]
    else:
        probs = jnp.exp(cells) if kind == "log-probs" else cells
        off = jnp.abs(probs.sum(-1, dtype=jnp.float64) - 1) > tolerance
        flags = [(~jnp.isfinite(probs)).any(-1), (probs < 0).any(-1), off]
    return jnp.stack([jnp.where(flag, jnp.arange(n, dtype=jnp.int32), n).min() for flag in flags])


def faulty_row(cells: Array, kind: str, tolerance: float) -> tuple[int, np.ndarray] | None:
    """The first row with the first kind of fault, and its numbers; None where every row is sound."""
    first = next((int(row) for row in to_host(_first_faults(cells, kind, tolerance)) if row < len(cells)), None)
    return None if first is None else (first, some_items(cells, np.array([first]))[0])


def log_table(kind: str, cells: Array) -> Array:
    """Log-probabilities from checked cells, which are "probs", "log-probs" or "logits"."""
    return cells if kind == "log-probs" else _logs(kind, cells)


@partial(compiled, static_argnums=0)
def _logs(kind: str, cells: Array) -> Array:
    return jax.nn.log_softmax(cells, axis=-1) if kind == "logits" else simplex.log(cells)


def beside(table: Table, other: Array) -> Array:
    """The table where another with the same items lies (the last two axes are item and label), in its type."""
    with jax.enable_x64(True):
        if not on_device(table):
            put: Array = jax.device_put(np.ascontiguousarray(table, other.dtype), _by_items(other, table.ndim))
            return put
        moved = jax.device_put(table, _by_items(other, table.ndim))
        return moved if moved.dtype == other.dtype else _cast(moved, other.dtype.type)


def _by_items(other: Array, n_axes: int) -> Sharding:
    """Where a table of so many axes lies with its items spread as those of another one."""
    spread = other.sharding
    if not isinstance(spread, NamedSharding):
        return SingleDeviceSharding(next(iter(spread.device_set)))
    axes = (*spread.spec, *[None] * other.ndim)[: other.ndim]
    return NamedSharding(spread.mesh, PartitionSpec(*[None] * (n_axes - 2), axes[-2], None))  # type: ignore[no-untyped-call]
