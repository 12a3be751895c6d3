"""The feeder for arrays on devices, and inside `jit`: blocks of items are scored and summed up where they lie."""

from functools import partial, reduce

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.sharding import NamedSharding, PartitionSpec
from jaxtyping import Bool, Float, Int, Real

from probtruth.errors import InputError
from probtruth.kernels import compensated, simplex
from probtruth.kernels.arrays import on_device
from probtruth.kernels.compensated import Total
from probtruth.scoring.means import one_pass
from probtruth.scoring.means.state import NO_POSITION, MeanOptions, MeanState, exactly, merge
from probtruth.scoring.rules import ScoringRule, proper

CELLS = {"cpu": 1 << 18, "gpu": 1 << 23}
"""Entries of a block: on a CPU what is held for it stays in the cache, on a GPU it keeps every core busy."""
GROUP = 256
"""Items whose products are added up in the arrays' own precision; groups are added up as pairs."""

Rows = Float[Array, "item label"]
Batch = Real[Array | np.ndarray, "item label"]
Position = Int[Array, ""]


def fold(options: MeanOptions, forecast: Rows, truth: Rows, start: Position, platform: str) -> MeanState:
    """The state of the items of two arrays, for use inside a traced function."""
    values, weights = simplex.as_floats(forecast, truth)
    if options.n_labels is None and in_one_pass(options) and len(values):
        return _in_one_pass(options, values, weights)
    return _in_blocks(options, values, weights, start, platform)


def _in_one_pass(options: MeanOptions, forecast: Rows, truth: Rows) -> MeanState:
    kind = forecast.dtype
    recipes = [made for made in (one_pass.recipe(*column) for column in options.columns) if made is not None]
    summed, endless = one_pass.totals(one_pass.losses(recipes, forecast, truth, options.log_probs))
    return MeanState(
        exactly(jnp.int32(len(forecast)), kind),
        summed,
        exactly(endless, kind),
        compensated.zero((0, 0), kind),
        jnp.zeros((len(options.rules), 0), jnp.int32),
    )


def _in_blocks(options: MeanOptions, values: Rows, weights: Rows, start: Position, platform: str) -> MeanState:
    """Block by block: a block is taken from both arrays once, and all that is asked of it is computed from there.

    A product of matrices, as counts are, is a loop of its own; it reads the block, which is still in the cache.
    """
    n, n_labels = values.shape
    size = max(CELLS.get(platform, CELLS["gpu"]) // n_labels, 1)
    body = n // size * size
    state = options.init(values.dtype)
    if body:

        def step(so_far: MeanState, number: Array) -> tuple[MeanState, None]:
            block = [lax.dynamic_slice_in_dim(array, number * size, size) for array in (values, weights)]
            rows, share = lax.optimization_barrier(block)  # else each loop over the block takes it from the array again
            return merge(so_far, _of_block(options, rows, share, _later(start, number * size))), None

        state, _ = lax.scan(step, state, jnp.arange(body // size, dtype=jnp.int32))
    if n > body:
        state = merge(state, _of_block(options, values[body:], weights[body:], _later(start, jnp.int32(body))))
    return state


def in_one_pass(options: MeanOptions) -> bool:
    """Whether all that is averaged can be computed in one read of both arrays, and totalled in the same loop."""
    made = all(one_pass.recipe(*column) is not None for column in options.columns)
    return made and bool(options.columns) and not options.n_first


fold_here = partial(jax.jit, static_argnums=(0, 4))(fold)


def fold_there(options: MeanOptions, forecast: Batch, truth: Batch, start: Position | int = 0) -> MeanState:
    """The state of the items of two arrays, where the first of them that lies on devices does (else on the CPU)."""
    with jax.enable_x64(True):  # types are named everywhere: float32 stays float32
        spread = item_sharding(forecast)
        arrays = [array for array in (forecast, truth) if on_device(array)]
        far = [array for array in arrays if next(iter(array.devices())).platform != "cpu"]
        first = (far or arrays)[:1]
        on = next(iter(first[0].devices())) if first else jax.local_devices(backend="cpu")[0]
        where = on if spread is None else spread
        both = [jax.device_put(array, where) for array in (forecast, truth)]
        number = start if on_device(start) else np.int32(start)
        if spread is not None:
            number = jax.device_put(number, NamedSharding(spread.mesh, PartitionSpec()))  # type: ignore[no-untyped-call]
            sharded: MeanState = fold_sharded(options, spread, *both, number)
            return sharded
        folded: MeanState = fold_here(options, *both, jax.device_put(number, on), on.platform)
        return folded


@partial(jax.jit, static_argnums=(0, 1))
def fold_sharded(
    options: MeanOptions, spread: NamedSharding, forecast: Array, truth: Array, start: Position
) -> MeanState:
    """Every device folds its own items; only their states travel."""
    axes = spread.spec[0]
    platform = spread.mesh.devices.flat[0].platform
    n_devices = int(np.prod([spread.mesh.shape[axis] for axis in (axes if isinstance(axes, tuple) else (axes,))]))

    def local(forecast: Array, truth: Array, start: Position) -> MeanState:
        first = _later(start, lax.axis_index(axes).astype(jnp.int32) * forecast.shape[0])
        gathered: MeanState = lax.all_gather(fold(options, forecast, truth, first, platform), axes)
        return gathered

    everywhere = PartitionSpec()  # type: ignore[no-untyped-call]
    into = (spread.spec, spread.spec, everywhere)
    run = jax.shard_map(local, mesh=spread.mesh, in_specs=into, out_specs=everywhere, check_vma=False)
    states = run(forecast, truth, start)
    parts: list[MeanState] = [jax.tree.map(lambda leaf, at=at: leaf[at], states) for at in range(n_devices)]
    return reduce(merge, parts)


def item_sharding(array: Array | np.ndarray) -> NamedSharding | None:
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


def _later(start: Position, by: Int[Array, "*row"]) -> Int[Array, "*row"]:
    """Positions behind the first one; NO_POSITION where they are beyond."""
    return jnp.where(start < NO_POSITION - by, start + by, NO_POSITION)


def _of_block(options: MeanOptions, forecast: Rows, truth: Rows, start: Position) -> MeanState:
    if in_one_pass(options):
        return _in_one_pass(options, forecast, truth)._replace(counts=_counts(options, forecast, truth))
    n, kind = forecast.shape[0], forecast.dtype
    columns = [_column(options, what, rule, forecast, truth) for what, rule in options.columns]
    terms = jnp.stack(columns) if columns else jnp.zeros((0, n), kind)
    endless = jnp.stack([terms == jnp.inf, terms == -jnp.inf])
    finite = jnp.where(jnp.isinf(terms), 0, terms)
    return MeanState(
        exactly(jnp.int32(n), kind),
        compensated.total(finite),
        exactly(endless.sum(-1, dtype=jnp.int32), kind),
        _counts(options, forecast, truth),
        _lowest(options, endless[0], start),
    )


def _column(
    options: MeanOptions, what: str, of: ScoringRule | float, forecast: Rows, truth: Rows
) -> Float[Array, " item"]:
    """One quantity of each item."""
    made = one_pass.recipe(what, of)
    if made is not None:
        return one_pass.losses([made], forecast, truth, options.log_probs)[0]
    assert isinstance(of, ScoringRule)  # a power has a recipe
    if what == "entropy":
        return of.entropy(truth)
    if what == "divergence":
        return of.divergence_from_log(forecast, truth) if options.log_probs else of.divergence(forecast, truth)
    return of.expected_from_log(forecast, truth) if options.log_probs else of.expected(forecast, truth)


def _counts(options: MeanOptions, forecast: Rows, truth: Rows) -> Total:
    """sum_i t_ij r_ik of the items of a block."""
    if options.n_labels is None:
        return compensated.zero((0, 0), forecast.dtype)
    response = _response(options, forecast)
    body = len(truth) // GROUP * GROUP
    groups = [array[:body].reshape(-1, GROUP, options.n_labels) for array in (truth, response)]
    rest = [array[None, body:] for array in (truth, response)]
    products = jnp.concatenate([_products(*groups), _products(*rest)], -1)
    summed = compensated.total(products)
    return summed._replace(error=summed.error + GROUP * np.finfo(products.dtype).eps / 2 * summed.high)


def _products(truth: Float[Array, "group item label"], response: Float[Array, "group item label"]) -> Array:
    return jnp.einsum("gij,gik->jkg", truth, response, precision="highest")


def _response(options: MeanOptions, forecast: Rows) -> Rows:
    """The probabilities with which each label is the answer."""
    probs = jnp.exp(forecast) if options.log_probs else forecast
    if options.response == "sample":
        return probs
    if options.threshold is None:
        return proper.chosen(forecast)
    limits = jnp.asarray(options.threshold, forecast.dtype)
    if len(options.threshold) == 1:
        lost = simplex.lost_as_log(np.asarray(options.threshold), limits.dtype) if options.log_probs else 0.0
        second = (probs[:, 1] >= limits * (1 - lost)).astype(limits.dtype)
        return jnp.stack([1 - second, second], -1)
    return proper.chosen((forecast if options.log_probs else simplex.log(forecast)) - jnp.log(limits))


def _lowest(options: MeanOptions, endless: Bool[Array, "column item"], start: Position) -> Int[Array, "rule first"]:
    """The lowest positions of items with an infinite loss, by rule."""
    n_first = options.n_first
    if not n_first:
        return jnp.zeros((len(options.rules), 0), jnp.int32)
    rows = _later(start, jnp.arange(endless.shape[-1], dtype=jnp.int32))
    position = jnp.where(endless[: len(options.rules)], rows, NO_POSITION)
    padded = jnp.pad(position, ((0, 0), (0, n_first)), constant_values=NO_POSITION)
    return -lax.top_k(-padded, n_first)[0]
