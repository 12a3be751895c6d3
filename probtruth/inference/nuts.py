"""NUTS for small NumPyro programs: compiled once for a program and its shapes, in float64, with the data as arguments.

`numpyro.infer.MCMC` compiles anew for every data set; here new data of the same shape costs no compilation. What is
compiled is one chain with its parameters in one vector: half the work for the compiler of all chains with a leaf for
every site. The chains run side by side. The caller's global JAX settings are not touched.
"""

import os
from collections.abc import Callable, Mapping
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
from numpyro.infer.util import ParamInfo, constrain_fn, potential_energy

Program = Callable[..., None]
Progress = Callable[[int, int], None]
CHUNK = 100
"""Iterations between two reports of progress; warm-up and draws are rounded up to it."""

STARTS = 20
"""Random starting points that are tried until one has a finite density."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of every site, latent and deterministic, and the sampler's figures; axes chain, draw, the site's own."""

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
    on_progress: Progress | None = None,
) -> Draws:
    """Posterior draws of `program(**data)` by the No-U-Turn sampler.

    Arguments: `program` is a module-level function of NumPyro statements; `data` its arrays; `on_progress(done, total)`
    is called after every hundred iterations of all chains.

    Source: Hoffman and Gelman 2014, "The No-U-Turn sampler", Journal of Machine Learning Research 15; NumPyro
    (Phan, Pradhan and Jankowiak 2019, doi:10.48550/arXiv.1912.11554).
    """
    warm_chunks, draw_chunks = -(-warmup // CHUNK), -(-draws // CHUNK)
    report = on_progress or (lambda done, total: None)
    with jax.enable_x64(True):
        arrays = _on_device(data)
        start, advance = (one.result() for one in _programs(program, arrays, warmup, target_accept))
        states: tuple[Any, ...] = tuple(start(np.int64(seed), np.int64(chain), arrays) for chain in range(chains))
    kept = []
    with ThreadPoolExecutor(min(chains, os.cpu_count() or 1)) as pool:
        for chunk in range(warm_chunks + draw_chunks):
            states, out = zip(*pool.map(lambda state: advance(state, arrays), states), strict=True)
            report((chunk + 1) * CHUNK, (warm_chunks + draw_chunks) * CHUNK)
            if chunk >= warm_chunks:
                kept.append(jax.tree.map(lambda *chain: np.stack(chain), *jax.device_get(out)))
    joined = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1)[:, :draws], *kept)
    return Draws(*joined)


def prepare(program: Program, data: Mapping[str, np.ndarray], *, warmup: int = 300, target_accept: float = 0.8) -> None:
    """Begins to compile what `sample` will need for these, and does not wait for it."""
    with jax.enable_x64(True):
        _programs(program, _on_device(data), warmup, target_accept)


def _on_device(data: Mapping[str, np.ndarray]) -> dict[str, jax.Array]:
    arrays: dict[str, jax.Array] = jax.device_put({name: np.asarray(value) for name, value in data.items()})
    return arrays


def _programs(
    program: Program, arrays: Mapping[str, jax.Array], warmup: int, target_accept: float
) -> tuple[Future[Any], Future[Any]]:
    shapes = tuple((name, array.shape, array.dtype.name) for name, array in arrays.items())
    devices = frozenset(device for array in arrays.values() for device in array.devices())
    return _compiled(program, -(-warmup // CHUNK) * CHUNK, target_accept, shapes, devices)


@lru_cache(maxsize=64)
def _compiled(
    program: Program,
    warmup: int,
    target_accept: float,
    shapes: tuple[tuple[str, tuple[int, ...], str], ...],
    devices: frozenset[jax.Device],
) -> tuple[Future[Any], Future[Any]]:
    """From a seed and a chain's number to its state, and from that to the next and what was drawn; made side by side.

    What is compiled is for the device that is the default now, which `devices` must be.
    """
    data = {name: jax.ShapeDtypeStruct(shape, dtype) for name, shape, dtype in shapes}
    number = jax.ShapeDtypeStruct((), np.int64)

    def start(seed: jax.Array, chain: jax.Array, data: dict[str, jax.Array]) -> Any:
        return initial(program, warmup, target_accept, jax.random.fold_in(jax.random.key(seed), chain), data)

    def advance(state: Any, data: dict[str, jax.Array]) -> Any:
        return _chunk(program, warmup, target_accept, state, data)

    pool = ThreadPoolExecutor(2)
    first = jax.jit(start).lower(number, number, data)
    one = pool.submit(first.compile)
    like = jax.tree.map(lambda info: jax.ShapeDtypeStruct(info.shape, info.dtype), first.out_info)
    two = pool.submit(jax.jit(advance).lower(like, data).compile)
    pool.shutdown(wait=False)
    return one, two


def initial(program: Program, warmup: int, target_accept: float, key: jax.Array, data: dict[str, jax.Array]) -> Any:
    """The state of a chain at a random point of finite density; all its parameters are one vector `z`."""
    unravel, n_parameters = parameters(program, data)
    potential = _potential(program, data, unravel)
    start_key, key = jax.random.split(key)
    points = jax.random.uniform(start_key, (STARTS, n_parameters), minval=-1.0, maxval=1.0)

    def hopeless(attempt: jax.Array) -> jax.Array:
        return (attempt < STARTS - 1) & ~jnp.isfinite(potential(points[attempt]))

    point = points[lax.while_loop(hopeless, lambda attempt: attempt + 1, jnp.asarray(0))]
    init, _ = hmc(potential_fn=potential, algo="NUTS")
    return init(point, warmup, target_accept_prob=target_accept, rng_key=key)


def transition(
    program: Program, warmup: int, target_accept: float, state: Any, data: dict[str, jax.Array]
) -> Callable[[Any], Any]:
    """From a chain's state to its next."""
    potential = _potential(program, data, parameters(program, data)[0])
    step: Callable[[Any], Any]
    init, step = hmc(potential_fn=potential, algo="NUTS")
    known = ParamInfo(state.z, state.potential_energy, state.z_grad)
    init(known, warmup, target_accept_prob=target_accept, rng_key=state.rng_key)  # from which `step` has its settings
    return step


def parameters(program: Program, data: Mapping[str, jax.Array]) -> tuple[Callable[[jax.Array], Any], int]:
    """From a vector to the program's unconstrained parameters by name, and how long the vector is."""

    def unconstrained(data: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
        sites = handlers.trace(handlers.seed(program, jax.random.key(0))).get_trace(**data)
        latent = {name: site for name, site in sites.items() if site["type"] == "sample" and not site["is_observed"]}
        return {name: biject_to(site["fn"].support).inv(site["value"]) for name, site in latent.items()}

    shapes = jax.eval_shape(unconstrained, data)
    vector, unravel = ravel_pytree({name: np.zeros(one.shape, one.dtype) for name, one in shapes.items()})
    return unravel, vector.size


def _potential(
    program: Program, data: dict[str, jax.Array], unravel: Callable[[jax.Array], Any]
) -> Callable[[jax.Array], jax.Array]:
    return lambda z: jnp.asarray(potential_energy(program, (), data, unravel(z)))


def _chunk(program: Program, warmup: int, target_accept: float, state: Any, data: dict[str, jax.Array]) -> Any:
    """The state after a chunk of one chain's iterations, and what they drew."""
    step = transition(program, warmup, target_accept, state, data)
    unravel, _ = parameters(program, data)

    def one(state: Any, _: None) -> Any:
        state = step(state)
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
