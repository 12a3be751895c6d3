"""Takes batches in blocks of one fixed size, on one core, all cores or many devices, with the same bits.

The compiled arithmetic of one item depends on the shape of the arrays around it (fused multiply-adds, vectors); with
blocks of one shape, cut out by a loop whose length the compiler does not know, it does not depend on the batch.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.sharding import NamedSharding, PartitionSpec
from jaxtyping import Int, Real

from probtruth.errors import InputError
from probtruth.kernels import simplex, sums
from probtruth.kernels.cores import n_cores
from probtruth.scoring.means.metric import NO_POSITION, Block, Metric, Parts, State, apart

CELLS = {"cpu": 1 << 18, "gpu": 1 << 23}
"""Entries of a block: on a CPU what is held for it stays in the cache, on a GPU it keeps every core busy."""
LEAST_BLOCK = 64
BLOCKS_PER_CORE = 16
"""Fewer than this for each core of the host are not worth a thread."""

Batch = Real[Array | np.ndarray, "item label"]
Place = Int[Array, ""]


def update(metric: Metric, state: State, forecast: Batch, truth: Batch, start: object) -> State:
    """The state after a batch; see `Metric.update`."""
    first = None if start is None else jnp.asarray(start, jnp.int32)
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((state, forecast, truth, first))):
        return fold(metric, state, forecast, truth, first, jax.default_backend())
    wide = any(array.dtype == np.float64 for array in (forecast, truth))
    with jax.enable_x64(wide or bool(jax.config.jax_enable_x64)):
        spread = item_sharding(forecast)
        if spread is None:
            return _on_cores(metric, state, jnp.asarray(forecast), jnp.asarray(truth), first)
        arrays = (jax.device_put(array, spread) for array in (forecast, truth))
        sharded: State = _sharded(metric, spread, state, *arrays, first)
        return sharded


def block_size(n_labels: int, platform: str) -> int:
    """How many items are taken at once: depends on the number of labels and the kind of device alone."""
    cells = CELLS.get(platform, CELLS["gpu"])
    size = 1 << max(cells // max(n_labels, 1), 1).bit_length() - 1
    return min(max(size, LEAST_BLOCK), sums.BLOCK if platform == "cpu" else sums.BLOCK * sums.BLOCKS)


def fold(metric: Metric, state: State, forecast: Batch, truth: Batch, start: Place | None, platform: str) -> State:
    """`Metric.update` as a pure function; under vmap it runs for one after the other, with the same bits."""
    origin = next_position(state.n) if start is None else start
    rows = jnp.zeros((), jnp.int32), jnp.asarray(forecast.shape[0], jnp.int32)
    run: Any = jax.custom_batching.sequential_vmap(partial(fold_rows, metric, platform))  # type: ignore[no-untyped-call]
    after: State = run(state, jnp.asarray(forecast), jnp.asarray(truth), origin, *rows)
    return after


def fold_rows(
    metric: Metric, platform: str, state: State, forecast: Batch, truth: Batch, origin: Place, low: Place, high: Place
) -> State:
    """Takes the rows from `low` up to `high`; `origin` is the position of the first row of the arrays."""
    values, weights = simplex.as_floats(forecast, truth)
    n, n_labels = values.shape
    size = block_size(n_labels, platform)
    if n < size:
        values, weights = (jnp.pad(array, ((0, size - n), (0, 0))) for array in (values, weights))

    def step(place: Array, parts: Parts) -> Parts:
        wanted = low + place * size
        first = jnp.minimum(wanted, max(n - size, 0))
        rows = first + jnp.arange(size, dtype=jnp.int32)
        cut, share = apart([lax.dynamic_slice_in_dim(array, first, size) for array in (values, weights)])
        present = (rows >= wanted) & (rows < high)
        position = jnp.where(origin < NO_POSITION - rows, origin + rows, NO_POSITION)
        return metric.add(parts, Block(cut, share, present, position, place, metric.log_probs))

    n_blocks = apart((high - low + (size - 1)) // size)
    parts = lax.fori_loop(0, n_blocks, step, state.parts)
    return State(sums.settle(sums.count(state.n, high - low)), metric.settled(parts))


_fold_rows = partial(jax.jit, static_argnums=(0, 1))(fold_rows)


def _on_cores(metric: Metric, state: State, forecast: Array, truth: Array, start: Place | None) -> State:
    """One call for each core of the host, side by side; the states merge exactly."""
    platform = next(iter(forecast.devices())).platform
    n = forecast.shape[0]
    size = block_size(forecast.shape[1], platform)
    n_parts = max(1, min(n_cores(), n // (BLOCKS_PER_CORE * size))) if platform == "cpu" else 1
    step = -(-n // (n_parts * size)) * size
    origin = next_position(state.n) if start is None else start
    wide = bool(jax.config.jax_enable_x64)

    def part(low: int) -> State:
        with jax.enable_x64(wide):
            before = state if low == 0 else metric.init()
            ends = jnp.asarray(low, jnp.int32), jnp.asarray(min(low + step, n), jnp.int32)
            after: State = _fold_rows(metric, platform, before, forecast, truth, origin, *ends)
            return after

    lows = range(0, n, step)
    if len(lows) == 1:
        return part(0)
    with ThreadPoolExecutor(len(lows)) as pool:
        return reduce(metric.merge, pool.map(part, lows))


@partial(jax.jit, static_argnums=(0, 1))
def _sharded(
    metric: Metric, spread: NamedSharding, state: State, forecast: Array, truth: Array, start: Place | None
) -> State:
    """Every device folds its own items; only their states travel."""
    axes = spread.spec[0]
    platform = spread.mesh.devices.flat[0].platform
    origin = next_position(state.n) if start is None else start
    n_devices = int(np.prod([spread.mesh.shape[axis] for axis in (axes if isinstance(axes, tuple) else (axes,))]))

    def local(forecast: Array, truth: Array) -> State:
        offset = lax.axis_index(axes).astype(jnp.int32) * forecast.shape[0]
        first = jnp.where(origin < NO_POSITION - offset, origin + offset, NO_POSITION)
        found: State = lax.all_gather(fold(metric, metric.init(), forecast, truth, first, platform), axes)
        return found

    everywhere = PartitionSpec()  # type: ignore[no-untyped-call]
    run = jax.shard_map(local, mesh=spread.mesh, in_specs=spread.spec, out_specs=everywhere, check_vma=False)
    states = run(forecast, truth)
    for device in range(n_devices):
        state = metric.merge(state, jax.tree.map(lambda leaf, device=device: leaf[device], states))
    return state


def item_sharding(array: object) -> NamedSharding | None:
    """How the items lie over several devices; None for one device.

    Errors: `InputError` for an array that is sharded in another way.
    """
    spread = getattr(array, "sharding", None)
    if spread is None or len(spread.device_set) == 1 or spread.is_fully_replicated:
        return None
    if not isinstance(spread, NamedSharding) or any(axis is not None for axis in spread.spec[1:]):
        raise InputError(
            f"an array with sharding {spread}",
            "a NamedSharding over the items alone",
            "Place it with jax.device_put(array, NamedSharding(mesh, PartitionSpec('item'))).",
        )
    return NamedSharding(spread.mesh, PartitionSpec(spread.spec[0], None))  # type: ignore[no-untyped-call]


def next_position(n: Int[Array, "*batch count"]) -> Int[Array, "*batch"]:
    """The number of items so far as a position; NO_POSITION where it is beyond."""
    fits = (n[..., 1] < 1 << (31 - sums.WIDTH)) & ~n[..., 2:].any(-1)
    return jnp.where(fits, n[..., 0] + (n[..., 1] << sums.WIDTH), NO_POSITION)
