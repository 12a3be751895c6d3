"""NUTS for small NumPyro programs: compiled once for a program and its shapes, in float64, with the data as arguments.

`numpyro.infer.MCMC` compiles anew for every data set; here new data of the same shape costs no compilation. The
caller's global JAX settings are not touched.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpyro import handlers
from numpyro.distributions import biject_to
from numpyro.infer.hmc import hmc
from numpyro.infer.util import constrain_fn, potential_energy

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
        arrays = {name: jnp.asarray(value) for name, value in data.items()}
        keys = jax.random.split(jax.random.key(seed), chains)
        shapes = tuple((name, array.shape, array.dtype.name) for name, array in arrays.items())
        start, advance = _compiled(
            program, warm_chunks * CHUNK, target_accept, chains, shapes, frozenset(keys.devices())
        )
        state = start(keys, arrays)
        kept = []
        for chunk in range(warm_chunks + draw_chunks):
            state, out = advance(state, arrays)
            report((chunk + 1) * CHUNK, (warm_chunks + draw_chunks) * CHUNK)
            if chunk >= warm_chunks:
                kept.append(jax.device_get(out))
    joined = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1)[:, :draws], *kept)
    return Draws(*joined)


def _kernel(
    program: Program, warmup: int, target_accept: float, key: jax.Array, data: dict[str, jax.Array]
) -> tuple[Any, Callable[[Any], Any]]:
    """An initial state and the transition; both must come from one call, because NumPyro's closures share settings."""
    start_key, key = jax.random.split(key)
    sites = handlers.trace(handlers.seed(program, start_key)).get_trace(**data)
    latent = {name: site for name, site in sites.items() if site["type"] == "sample" and not site["is_observed"]}
    shapes = {name: jnp.shape(biject_to(site["fn"].support).inv(site["value"])) for name, site in latent.items()}

    def potential(z: dict[str, jax.Array]) -> jax.Array:
        return jnp.asarray(potential_energy(program, (), data, z))

    def candidate(attempt: jax.Array) -> dict[str, jax.Array]:
        keys = jax.random.split(jax.random.fold_in(start_key, attempt), len(shapes))
        return {
            name: jax.random.uniform(one, shape, minval=-1.0, maxval=1.0)
            for one, (name, shape) in zip(keys, shapes.items(), strict=True)
        }

    def hopeless(attempt: jax.Array) -> jax.Array:
        return (attempt < STARTS - 1) & ~jnp.isfinite(potential(candidate(attempt)))

    start = candidate(lax.while_loop(hopeless, lambda attempt: attempt + 1, jnp.asarray(0)))
    init, step = hmc(potential_fn=potential, algo="NUTS")
    return init(start, warmup, target_accept_prob=target_accept, rng_key=key), step


@lru_cache(maxsize=64)
def _compiled(
    program: Program,
    warmup: int,
    target_accept: float,
    chains: int,
    shapes: tuple[tuple[str, tuple[int, ...], str], ...],
    devices: frozenset[jax.Device],
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """From keys and data to the state of all chains, and from state and data to the next; compiled side by side.

    What is compiled is for the device that is the default now, which `devices` must be.
    """
    data = {name: jax.ShapeDtypeStruct(shape, dtype) for name, shape, dtype in shapes}
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), chains))

    def start(keys: jax.Array, data: dict[str, jax.Array]) -> Any:
        return lax.map(lambda key: _kernel(program, warmup, target_accept, key, data)[0], keys)

    def advance(states: Any, data: dict[str, jax.Array]) -> Any:
        return lax.map(lambda state: _chunk(program, warmup, target_accept, state, data), states)

    first = jax.jit(start).lower(keys, data)
    after = jax.jit(advance).lower(jax.tree.map(_like, first.out_info), data)
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda lowered: lowered.compile(), (first, after))
    return one, two


def _like(info: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(info.shape, info.dtype)


def _chunk(program: Program, warmup: int, target_accept: float, state: Any, data: dict[str, jax.Array]) -> Any:
    """The state after a chunk of one chain's iterations, and what they drew."""
    _, step = _kernel(program, warmup, target_accept, state.rng_key, data)

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
    sites = lax.map(lambda z: constrain_fn(program, (), data, z, return_deterministic=True), z)
    return state, (sites, stats)
