"""Tables that lie on devices, in their own types whatever JAX's x64 mode is; see `kernels.arrays`."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding

from probtruth.kernels import simplex
from probtruth.kernels.precision import compiled


def as_float_table(values: Array) -> Array:
    """Real numbers as floats: float32 and float64 stay, half precision becomes float32, and all else float64."""
    spread, kind = values.sharding, values.dtype
    if isinstance(spread, NamedSharding) and AxisType.Explicit in spread.mesh.axis_types:
        mesh = spread.mesh
        left_to_compiler = (AxisType.Auto,) * mesh.devices.ndim
        mesh = Mesh(mesh.devices, mesh.axis_names, axis_types=left_to_compiler)
        values = jax.device_put(values, NamedSharding(mesh, spread.spec))
    if kind in (np.float32, np.float64):
        return values
    return _cast(values, np.float32 if jnp.issubdtype(kind, jnp.floating) else np.float64)


_cast = compiled(jax.lax.convert_element_type, static_argnums=1)
logarithm = compiled(simplex.log)


def placed_as(table: np.ndarray | Array, other: Array) -> Array:
    """The table where another with the same items lies (the last two axes are item and label), in its type."""
    where = _by_items(other, table.ndim)
    with jax.enable_x64(True):
        if not isinstance(table, Array):
            table = np.ascontiguousarray(table, other.dtype)
        moved: Array = jax.device_put(table, where)
        if moved.dtype != other.dtype:
            moved = _cast(moved, other.dtype.type)
        return moved


def _by_items(other: Array, n_axes: int) -> Sharding:
    """Where a table of so many axes lies with its items spread as those of another one."""
    spread = other.sharding
    if not isinstance(spread, NamedSharding):
        return SingleDeviceSharding(next(iter(spread.device_set)))
    axes = (*spread.spec, *[None] * other.ndim)[: other.ndim]
    leading = [None] * (n_axes - 2)
    spec = PartitionSpec(*leading, axes[-2], None)  # type: ignore[no-untyped-call]
    return NamedSharding(spread.mesh, spec)
