"""Tables that lie on devices: one compiled program checks, takes logarithms or picks rows, and a few numbers come back.

Types are named everywhere: float32 stays float32 whatever JAX's x64 mode is, and so does float64. Whatever goes to a
device or comes from it is put there, or fetched, by name.
"""

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding
from jaxtyping import Float, Int

from probtruth.kernels import simplex
from probtruth.kernels.arrays import Order, Table, is_own, moments_around_mean, on_device, to_host
from probtruth.kernels.precision import compiled


def as_float_table(values: Array) -> Array:
    """Real numbers as floats: float32 and float64 stay, half precision becomes float32, and all else float64."""
    values, kind = _left_to_the_compiler(values), values.dtype
    if kind in (np.float32, np.float64):
        return values
    return _cast(values, np.float32 if jnp.issubdtype(kind, jnp.floating) else np.float64)


def _left_to_the_compiler(values: Array) -> Array:
    """The array under a mesh whose axes the compiler may use as it sees fit; no number moves.

    Axes that are explicit ask for the place of every result by name, also of rows that are picked.
    """
    spread = values.sharding
    if not isinstance(spread, NamedSharding) or AxisType.Explicit not in spread.mesh.axis_types:
        return values
    mesh = Mesh(spread.mesh.devices, spread.mesh.axis_names, axis_types=(AxisType.Auto,) * spread.mesh.devices.ndim)
    same: Array = jax.device_put(values, NamedSharding(mesh, spread.spec))
    return same


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
    """The first row with the first kind of fault, and its numbers; None where every row is sound.

    Arguments: `kind` is what the cells are: "probs", "log-probs" (whose exponentials are judged) or "logits".
    """
    first = next((int(row) for row in to_host(_first_faults(cells, kind, tolerance)) if row < len(cells)), None)
    return None if first is None else (first, to_host(one_of(cells, first)))


def surely_simplex(cells: Array, tolerance: float) -> bool:
    """Whether every row is a distribution within the tolerance; there must be one."""
    return cells.size > 0 and bool((to_host(_first_faults(cells, "probs", tolerance)) == len(cells)).all())


def log_table(kind: str, cells: Array) -> Array:
    """Log-probabilities from checked cells, which are "probs", "log-probs" or "logits"."""
    return cells if kind == "log-probs" else _logs(kind, cells)


@partial(compiled, static_argnums=0)
def _logs(kind: str, cells: Array) -> Array:
    return jax.nn.log_softmax(cells, axis=-1) if kind == "logits" else simplex.log(cells)


@compiled
def exponential(table: Array) -> Array:
    """e to the power of each number, where they lie."""
    return jnp.exp(table)


def together(tables: Sequence[Table]) -> list[Array]:
    """The tables beside the first of them that lies on a device."""
    first = next(table for table in tables if on_device(table))
    return [beside(table, first) for table in tables]


def beside(table: Table, other: Array) -> Array:
    """The table where another with the same items lies (the last two axes are item and label), in its type."""
    with jax.enable_x64(True):
        where = _by_items(other, table.ndim)
        if not on_device(table):
            put: Array = jax.device_put(np.ascontiguousarray(table, other.dtype), where)
            return put
        moved = table if table.sharding == where else jax.device_put(table, where)
        return moved if moved.dtype == other.dtype else _cast(moved, other.dtype.type)


def _by_items(other: Array, n_axes: int) -> Sharding:
    """Where a table of so many axes lies beside another one: its items are spread in the same way."""
    spread = other.sharding
    if not isinstance(spread, NamedSharding):
        return SingleDeviceSharding(next(iter(spread.device_set)))
    axes = (*spread.spec, *[None] * other.ndim)[: other.ndim]
    return NamedSharding(spread.mesh, PartitionSpec(*[None] * (n_axes - 2), axes[-2], None))  # type: ignore[no-untyped-call]


def _everywhere(other: Array) -> Sharding:
    """On every device that holds some of another table."""
    spread = other.sharding
    if isinstance(spread, NamedSharding):
        return NamedSharding(spread.mesh, PartitionSpec())  # type: ignore[no-untyped-call]
    return SingleDeviceSharding(next(iter(spread.device_set)))


def stacked(tables: Sequence[Array], rows: Order, columns: Order) -> Float[Array, "table item label"]:
    """One table for all, with rows and columns in this order."""
    return reordered(_stack(*tables), rows, columns)


@compiled
def _stack(*tables: Array) -> Array:
    return jnp.stack(tables)


def reordered(table: Array, rows: Order, columns: Order) -> Array:
    """The rows and columns (the last two axes) in this order."""
    own = is_own(rows, table.shape[-2]), is_own(columns, table.shape[-1])
    if all(own):
        return table
    return _picked(*own, _spread_of(table, len(rows)), table, *_beside_all(table, rows, columns))


def _beside_all(table: Array, *positions: int | Order) -> list[Array]:
    """Positions on every device that holds some of a table."""
    return [jax.device_put(np.asarray(some, np.int32), _everywhere(table)) for some in positions]


def _spread_of(table: Array, n_items: int) -> NamedSharding | None:
    """How so many items of a table are spread as all of them are; None where they do not share out evenly."""
    spread = table.sharding
    if not isinstance(spread, NamedSharding):
        return None
    shared = n_items % (table.shape[-2] // spread.shard_shape(table.shape)[-2])
    return None if shared else spread


@partial(compiled, static_argnums=(0, 1, 2))
def _picked(
    all_rows: bool, all_columns: bool, spread: NamedSharding | None, table: Array, rows: Array, columns: Array
) -> Array:
    some = table if all_rows else jnp.take(table, rows, axis=-2)
    chosen = some if all_columns else jnp.take(some, columns, axis=-1)
    return chosen if spread is None else jax.lax.with_sharding_constraint(chosen, spread)


def widened(table: Float[Array, "row column"], rows: Order, columns: Order, n_labels: int) -> Array:
    """These rows of a table, its columns at their positions among the labels; the other labels get 0."""
    if is_own(rows, len(table)) and is_own(columns, n_labels):
        return table
    return _widened(n_labels, table, *_beside_all(table, rows, columns))


@partial(compiled, static_argnums=0)
def _widened(n_labels: int, table: Array, rows: Array, columns: Array) -> Array:
    some = jnp.take(table, rows, axis=0)
    return jnp.zeros((len(rows), n_labels), table.dtype).at[:, columns].set(some)


def central_moments(
    losses: Float[Array, "model item label"], weight: Float[Table, "item label"], model: int, minus: int | None
) -> tuple[Float[np.ndarray, " item"], Float[np.ndarray, " item"]]:
    """The second and third central moment, over the labels, of a model's loss on each item (host).

    Of its difference from the model `minus`, unless that is None. A label of weight 0 counts as no loss.
    """
    models = _beside_all(losses, model, model if minus is None else minus)
    second, third = _central(minus is None, losses, weight, *models)
    return to_host(second).astype(np.float64), to_host(third).astype(np.float64)


@partial(compiled, static_argnums=0)
def _central(alone: bool, losses: Array, weight: Table, *models: Array) -> tuple[Array, Array]:
    one, other = (jnp.where(weight > 0, jnp.take(losses, model, axis=0), 0) for model in models)
    return moments_around_mean(one if alone else one - other, weight)


def first_infinite(
    losses: Float[Array, "model item label"], weight: Float[Table, "item label"], models: Sequence[int]
) -> tuple[int, int] | None:
    """The first of these models, and its item, with a loss that is not finite under a label of positive weight."""
    first = to_host(_first_infinite(losses, weight))
    n_items = losses.shape[1]
    return next(((at, int(first[model])) for at, model in enumerate(models) if first[model] < n_items), None)


@compiled
def _first_infinite(losses: Array, weight: Table) -> Int[Array, " model"]:
    odd = (~jnp.isfinite(losses) & (weight > 0)).any(-1)
    n = odd.shape[1]
    return jnp.where(odd, jnp.arange(n, dtype=jnp.int32), n).min(-1)


def one_of(tables: Float[Array, "model ..."], model: int) -> Float[Array, "..."]:
    """The table (or row) of one model (or item)."""
    return _row(tables, *_beside_all(tables, model))


@compiled
def _row(table: Array, position: Array) -> Array:
    return jnp.take(table, position, axis=0)


def column(table: Float[Table, "item label"], label: int) -> Float[np.ndarray, " item"]:
    """The numbers of one label (host, float64)."""
    where = _everywhere(table) if on_device(table) else None
    return to_host(_column(table, jax.device_put(np.int32(label), where))).astype(np.float64)


@compiled
def _column(table: Table, label: Array) -> Array:
    return jnp.take(table, label, axis=1)


def top_label(
    log_probs: Float[Array, "item label"], truth: Float[Array, "item label"]
) -> tuple[Float[np.ndarray, " item"], Float[np.ndarray, " item"]]:
    """The largest log-probability of each item, and how probably its label is the right one (host); ties share."""
    highest, right = _top_label(log_probs, truth)
    return to_host(highest).astype(np.float64), to_host(right).astype(np.float64)


@compiled
def _top_label(log_probs: Array, truth: Array) -> tuple[Array, Array]:
    highest = log_probs.max(1)
    best = log_probs == highest[:, None]
    return highest, jnp.where(best, truth, 0).sum(1) / best.sum(1, dtype=truth.dtype)


def distributions(columns: Sequence[Float[np.ndarray, " item"]], other: Array) -> Float[Array, "item label"]:
    """Columns that are not negative as a table beside another one, each row divided by its sum."""
    with jax.enable_x64(True):
        where = _by_items(other, 2)
        along = NamedSharding(where.mesh, PartitionSpec(where.spec[0])) if isinstance(where, NamedSharding) else where  # type: ignore[no-untyped-call]
        return _distributions(*(jax.device_put(np.asarray(one, other.dtype), along) for one in columns))


@compiled
def _distributions(*columns: Array) -> Array:
    table = jnp.stack(columns, 1)
    whole = table.sum(1, keepdims=True)
    return jnp.where(whole > 0, table / jnp.where(whole > 0, whole, 1), 1 / len(columns)).astype(table.dtype)
