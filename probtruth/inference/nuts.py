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
    warm_chunks, draw_chunks = -(-warmup // CHUNK), -(-draws // CHUNK)
    report = on_progress or (lambda done, total: None)
    with float64_on_cpu():
        arrays: dict[str, jax.Array] = jax.device_put({name: np.asarray(value) for name, value in data.items()})
        shapes = tuple((name, array.shape, array.dtype.name) for name, array in arrays.items())
        n_parameters, *compiled = _compiled(program, warm_chunks * CHUNK, target_accept, start_width, shapes)
        start, advance = (one.result() for one in compiled)
        states: tuple[Any, ...] = tuple(
            start(*_random(seed, chain, n_parameters, start_width), arrays) for chain in range(chains)
        )
    chunks: list[Any] = []
    with ThreadPoolExecutor(min(chains, os.cpu_count() or 1)) as pool:
        for chunk in range(warm_chunks + most * draw_chunks):
            states, out = zip(*pool.map(lambda state: advance(state, arrays), states), strict=True)
            if chunk < warm_chunks + draw_chunks:
                report((chunk + 1) * CHUNK, (warm_chunks + draw_chunks) * CHUNK)
            if chunk < warm_chunks:
                continue
            chunks.append(jax.tree.map(lambda *chain: np.stack(chain), *jax.device_get(out)))
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


@lru_cache(maxsize=64)
def _compiled(
    program: Program,
    warmup: int,
    target_accept: float,
    first_step: float,
    shapes: tuple[tuple[str, tuple[int, ...], str], ...],
) -> tuple[int, Future[Any], Future[Any]]:
    """The number of parameters, which are one vector, and two compiled functions: the first state, and a chunk."""

    def unconstrained(data: Data) -> dict[str, jax.Array]:
        sites = handlers.trace(handlers.seed(program, jax.random.key(0))).get_trace(**data)
        latent = {name: one for name, one in sites.items() if one["type"] == "sample" and not one["is_observed"]}
        return {name: biject_to(one["fn"].support).inv(one["value"]) for name, one in latent.items()}

    data = {name: jax.ShapeDtypeStruct(shape, dtype) for name, shape, dtype in shapes}
    latent = jax.eval_shape(unconstrained, data)
    vector, unravel = ravel_pytree({name: np.zeros(one.shape, one.dtype) for name, one in latent.items()})

    @jax.jit  # the sampler calls it in many places: traced once
    def potential_at(z: jax.Array, data: Data) -> jax.Array:
        return jnp.asarray(potential_energy(program, (), data, unravel(z)))

    def potential_of(data: Data) -> Callable[[jax.Array], jax.Array]:
        return lambda z: potential_at(z, data)

    init, step = hmc(potential_fn_gen=potential_of, algo="NUTS")  # tracing `init` sets `step` up

    def start(bits: jax.Array, points: jax.Array, data: Data) -> Any:
        potential = potential_of(data)
        point = points[
            lax.while_loop(
                lambda at: (at < len(points) - 1) & ~jnp.isfinite(potential(points[at])),
                lambda at: at + 1,
                jnp.asarray(0),
            )
        ]
        key = jax.random.wrap_key_data(bits, impl="threefry2x32")
        how = {"step_size": first_step, "target_accept_prob": target_accept}
        return init(point, warmup, **how, model_args=(data,), rng_key=key)

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

        state, (z, stats) = lax.scan(one, state, None, CHUNK)
        sites = lax.map(lambda z: constrain_fn(program, (), data, unravel(z), return_deterministic=True), z)
        return state, (sites, stats)

    bits, points = (jax.ShapeDtypeStruct(one.shape, one.dtype) for one in _random(0, 0, vector.size))
    pool = ThreadPoolExecutor(2)
    first = jax.jit(start).lower(bits, points, data)
    one = pool.submit(first.compile)
    like = jax.tree.map(lambda info: jax.ShapeDtypeStruct(info.shape, info.dtype), first.out_info)
    two = pool.submit(jax.jit(chunk).lower(like, data).compile)
    pool.shutdown(wait=False)
    return vector.size, one, two
