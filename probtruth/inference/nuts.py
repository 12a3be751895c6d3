"""NUTS for small NumPyro programs: compiled once for a program and its shapes, in float64, with the data as arguments.

`numpyro.infer.MCMC` compiles anew for every data set; here new data of the same shape need no compilation. The
compiled code runs one chain with its parameters in one vector, which is half the work of compiling all chains with a
leaf for every site. The chains run side by side, on the CPU. The caller's global JAX settings stay unchanged.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree
from numpyro import handlers
from numpyro.distributions import biject_to
from numpyro.infer.hmc import hmc
from numpyro.infer.util import ParamInfo, constrain_fn, potential_energy

from probtruth.kernels.precision import float64_on_cpu

CHUNK = 100  # Iterations of a call; warm-up and draws are rounded up to a multiple of it
DEPTH = 10  # Doublings of a trajectory at most
UNKNOWN = 1e10  # The potential that a chain's start is said to have: any point that it reaches is accepted

Program = Callable[..., None]


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of every site, latent and deterministic, and the sampler's statistics."""

    sites: Mapping[str, np.ndarray]
    stats: Mapping[str, np.ndarray]


def sample(
    program: Program,
    data: Mapping[str, np.ndarray],
    seed: int,
    *,
    draws: int = 1000,
    warmup: int = 300,
    chains: int = 4,
    target_accept: float = 0.8,
    start_width: float = 1.0,
    warm_depth: int = DEPTH,
    enough: Callable[[Draws], bool] | None = None,
    most: int = 8,
) -> Draws:
    """Posterior draws of `program(**data)` by the No-U-Turn sampler; `start_width`: how far from 0 chains may start.

    In the warm-up trajectories have at most 2^`warm_depth` steps: before it knows the scales, long ones are wasted.
    Until the draws are `enough`, as many again are made, up to `most` times as many.
    """
    host = {name: np.asarray(data[name]) for name in sorted(data)}
    shapes = tuple([(name, array.shape, array.dtype.name) for name, array in host.items()])
    warm_chunks = ceil(warmup / CHUNK)
    draw_chunks = ceil(draws / CHUNK)
    states: list[Any] = []
    with float64_on_cpu():
        warm = warm_chunks * CHUNK
        n_parameters, start, advance = _compiled(program, warm, target_accept, start_width, warm_depth, shapes)
        arrays = jax.device_put(host)
        for chain in range(chains):  # bits and places from NumPy, which needs no compilation
            of_key, of_place = np.random.SeedSequence([seed, chain]).spawn(2)
            place = np.random.default_rng(of_place).uniform(-start_width, start_width, n_parameters)
            states.append(start(of_key.generate_state(2, np.uint32), place))

    def run(state: Any, n_chunks: int) -> tuple[Any, list[Any]]:
        found: list[Any] = []
        for _ in range(n_chunks):
            state, drawn = advance(state, arrays)
            found.append(drawn)
        return state, jax.device_get(found)

    kept: list[list[Any]] = [[] for _ in range(chains)]
    with ThreadPoolExecutor(min(chains, os.cpu_count() or 1)) as pool:
        states = [state for state, _ in pool.map(run, states, [warm_chunks] * chains)]
        for times in range(1, most + 1):
            advanced = list(pool.map(run, states, [draw_chunks] * chains))
            states = [state for state, _ in advanced]
            for parts, (_, new) in zip(kept, advanced, strict=True):
                parts += new
            found = _joined(kept, times * draws)
            if enough is None or enough(found):
                break
    return found


def _joined(chains: Sequence[Sequence[Any]], draws: int) -> Draws:
    of_chains: list[Any] = []
    for parts in chains:
        of_chains.append(jax.tree.map(lambda *part: np.concatenate(part)[:draws], *parts))
    return Draws(*jax.tree.map(lambda *chain: np.stack(chain), *of_chains))


@lru_cache(maxsize=64)
def _compiled(
    program: Program,
    warmup: int,
    target_accept: float,
    first_step: float,
    warm_depth: int,
    shapes: tuple[tuple[str, tuple[int, ...], str], ...],
) -> tuple[int, Callable[..., Any], Callable[..., Any]]:
    """The number of parameters, which are one vector, the first state of a chain, and what advances it by a chunk."""

    def unconstrained(data: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
        """A value of every latent site, as the sampler sees it."""
        seeded = handlers.seed(program, jax.random.key(0))
        values = {}
        for name, site in handlers.trace(seeded).get_trace(**data).items():
            if site["type"] == "sample" and not site["is_observed"]:
                to_support = biject_to(site["fn"].support)
                values[name] = to_support.inv(site["value"])
        return values

    data = {name: jax.ShapeDtypeStruct(shape, dtype) for name, shape, dtype in shapes}
    latent = jax.eval_shape(unconstrained, data)
    zeros = {name: np.zeros(value.shape, value.dtype) for name, value in latent.items()}
    vector, unravel = ravel_pytree(zeros)

    def potential_of(data: Mapping[str, jax.Array]) -> Callable[[jax.Array], jax.Array]:
        return lambda z: jnp.asarray(potential_energy(program, (), data, unravel(z)))

    init, step = hmc(potential_fn_gen=potential_of, algo="NUTS")  # tracing `init` sets `step` up

    def start(bits: jax.Array, place: jax.Array) -> Any:
        return init(
            ParamInfo(place, jnp.asarray(UNKNOWN), jnp.zeros_like(place)),  # so that the density is compiled once
            warmup,
            step_size=first_step,
            target_accept_prob=target_accept,
            max_tree_depth=(warm_depth, DEPTH),
            model_args=(data,),
            rng_key=jax.random.wrap_key_data(bits, impl="threefry2x32"),
        )

    def chunk(state: Any, data: Mapping[str, jax.Array]) -> Any:
        def one(state: Any, _: None) -> Any:
            state = step(state, (data,))
            stats = {
                "diverging": state.diverging,
                "energy": state.energy,
                "n_steps": state.num_steps,
                "acceptance_rate": state.accept_prob,
                "lp": -state.potential_energy,
            }
            return state, (state.z, stats)

        def sites_of(z: jax.Array) -> Any:
            return constrain_fn(program, (), data, unravel(z), return_deterministic=True)

        state, (vectors, stats) = lax.scan(one, state, None, CHUNK)
        return state, (lax.map(sites_of, vectors), stats)

    bits = jax.ShapeDtypeStruct((2,), np.uint32)
    place = jax.ShapeDtypeStruct(vector.shape, vector.dtype)
    lowered = jax.jit(start).lower(bits, place)
    state = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype), lowered.out_info)
    # runs once a chain: what optimising it costs would never come back
    compiled_start = lowered.compile({"xla_backend_optimization_level": 0})
    return vector.size, compiled_start, jax.jit(chunk).lower(state, data).compile()
