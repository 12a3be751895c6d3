"""NUTS for small NumPyro programs: compiled once for a program and its shapes, in float64, with the data as arguments.

`numpyro.infer.MCMC` compiles anew for every data set; here new data of the same shape need no compilation. The
compiled code runs one chain with its parameters in one vector, which is half the work of compiling all chains with a
leaf for every site. The chains run side by side, on the CPU. The caller's global JAX settings stay unchanged.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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
from numpyro.infer.util import constrain_fn, potential_energy

from probtruth.kernels.precision import float64_on_cpu

CHUNK = 50  # Iterations between two reports of progress; warm-up and draws are rounded up to a multiple of it
STARTS = 20  # Number of random starting points to try until one has a finite density

Program = Callable[..., None]
Data = Mapping[str, jax.Array]


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
    enough: Callable[[Draws], bool] | None = None,
    most: int = 8,
    on_progress: Callable[[int, int], None] | None = None,
) -> Draws:
    """Posterior draws of `program(**data)` by the No-U-Turn sampler; `start_width`: how far from 0 chains may start.

    Until the draws are `enough`, as many again are made, up to `most` times as many.
    """
    warm_chunks = ceil(warmup / CHUNK)
    draw_chunks = ceil(draws / CHUNK)
    n_chunks = warm_chunks + draw_chunks
    with float64_on_cpu():
        host = {name: np.asarray(value) for name, value in data.items()}
        arrays: dict[str, jax.Array] = jax.device_put(host)
        shapes = tuple([(name, array.shape, array.dtype.name) for name, array in arrays.items()])
        compiled = _compiled(program, warm_chunks * CHUNK, target_accept, start_width, shapes)
        start = compiled.start.result()
        advance = compiled.advance.result()
        states: list[Any] = []
        for chain in range(chains):
            bits, points = _random(seed, chain, compiled.n_parameters, start_width)
            states.append(start(bits, points, arrays))
    chunks: list[Any] = []
    with ThreadPoolExecutor(min(chains, os.cpu_count() or 1)) as pool:
        for chunk in range(warm_chunks + most * draw_chunks):
            advanced = list(pool.map(lambda state: advance(state, arrays), states))
            states = [state for state, _ in advanced]
            if on_progress is not None and chunk < n_chunks:
                on_progress((chunk + 1) * CHUNK, n_chunks * CHUNK)
            if chunk < warm_chunks:
                continue
            out = jax.device_get([drawn for _, drawn in advanced])
            chunks.append(jax.tree.map(lambda *chain: np.stack(chain), *out))
            if len(chunks) % draw_chunks == 0:
                found = _joined(chunks, draws * (len(chunks) // draw_chunks))
                if enough is None or enough(found):
                    break
    return found


def _joined(chunks: Sequence[Any], draws: int) -> Draws:
    return Draws(*jax.tree.map(lambda *parts: np.concatenate(parts, axis=1)[:, :draws], *chunks))


def _random(seed: int, chain: int, n_parameters: int, width: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """The bits of a chain's key and its possible starting points, from NumPy, which needs no compilation."""
    of_key, of_points = np.random.SeedSequence([seed, chain]).spawn(2)
    points = np.random.default_rng(of_points).uniform(-width, width, (STARTS, n_parameters))
    return of_key.generate_state(2, np.uint32), points


@dataclass(frozen=True, eq=False)
class Compiled:
    """The number of parameters, which are one vector, and what is being compiled: the first state, and a chunk."""

    n_parameters: int
    start: Future[Any]
    advance: Future[Any]


@lru_cache(maxsize=64)
def _compiled(
    program: Program,
    warmup: int,
    target_accept: float,
    first_step: float,
    shapes: tuple[tuple[str, tuple[int, ...], str], ...],
) -> Compiled:
    def unconstrained(data: Data) -> dict[str, jax.Array]:
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

    @jax.jit  # the sampler calls it in many places: traced once
    def potential_at(z: jax.Array, data: Data) -> jax.Array:
        return jnp.asarray(potential_energy(program, (), data, unravel(z)))

    def potential_of(data: Data) -> Callable[[jax.Array], jax.Array]:
        return lambda z: potential_at(z, data)

    init, step = hmc(potential_fn_gen=potential_of, algo="NUTS")  # tracing `init` sets `step` up

    def start(bits: jax.Array, points: jax.Array, data: Data) -> Any:
        potential = potential_of(data)

        def useless(position: jax.Array) -> jax.Array:
            return (position < len(points) - 1) & ~jnp.isfinite(potential(points[position]))

        first_finite = lax.while_loop(useless, lambda position: position + 1, jnp.asarray(0))
        return init(
            points[first_finite],
            warmup,
            step_size=first_step,
            target_accept_prob=target_accept,
            model_args=(data,),
            rng_key=jax.random.wrap_key_data(bits, impl="threefry2x32"),
        )

    def chunk(state: Any, data: Data) -> Any:
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

    bits, points = map(_shape_of, _random(0, 0, vector.size))
    pool = ThreadPoolExecutor(2)
    lowered = jax.jit(start).lower(bits, points, data)
    # runs once a chain: what optimising it costs would never come back
    compiled_start = pool.submit(lowered.compile, {"xla_backend_optimization_level": 0})
    state = jax.tree.map(_shape_of, lowered.out_info)
    compiled_chunk = pool.submit(jax.jit(chunk).lower(state, data).compile)
    pool.shutdown(wait=False)
    return Compiled(vector.size, compiled_start, compiled_chunk)


def _shape_of(array: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(array.shape, array.dtype)
