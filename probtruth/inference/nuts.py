"""NUTS for small NumPyro programs: compiled once for a program and its shapes, in float64, with the data as arguments.

`numpyro.infer.MCMC` compiles anew for every data set; here new data of the same shape need no compilation. The
compiled code runs one chain with its parameters in one vector, which is half the work of compiling all chains with a
leaf for every site. The chains run side by side, on the CPU. The caller's global JAX settings stay unchanged.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
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

Program = Callable[..., None]
Progress = Callable[[int, int], None]
CHUNK = 100  # Iterations between two reports of progress; warm-up and draws are rounded up to a multiple of it

WARMUP = 300  # Iterations that adapt a chain, unless a caller wants others
STARTS = 20  # Number of random starting points to try until one has a finite density


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
    warmup: int = WARMUP,
    chains: int = 4,
    target_accept: float = 0.8,
    start_width: float = 1.0,
    on_progress: Progress | None = None,
) -> Draws:
    """Posterior draws of `program(**data)` by the No-U-Turn sampler."""
    warm_chunks, draw_chunks = -(-warmup // CHUNK), -(-draws // CHUNK)
    report = on_progress or (lambda done, total: None)
    with float64_on_cpu():
        arrays = as_arrays(data)
        n_parameters, *compiled = _programs(program, arrays, warmup, target_accept, start_width)
        start, advance = (one.result() for one in compiled)
        states: tuple[Any, ...] = tuple(
            start(*_random(seed, chain, n_parameters, start_width), arrays) for chain in range(chains)
        )
    chunks = []
    with ThreadPoolExecutor(min(chains, os.cpu_count() or 1)) as pool:
        for chunk in range(warm_chunks + draw_chunks):
            states, out = zip(*pool.map(lambda state: advance(state, arrays), states), strict=True)
            report((chunk + 1) * CHUNK, (warm_chunks + draw_chunks) * CHUNK)
            if chunk >= warm_chunks:
                chunks.append(jax.tree.map(lambda *chain: np.stack(chain), *jax.device_get(out)))
    joined = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1)[:, :draws], *chunks)
    return Draws(*joined)


def _random(seed: int, chain: int, n_parameters: int, start_width: float) -> tuple[np.ndarray, np.ndarray]:
    """The bits of a chain's key and its possible starting points, from NumPy, which needs no compilation."""
    of_key, of_points = np.random.SeedSequence([seed, chain]).spawn(2)
    points = np.random.default_rng(of_points).uniform(-start_width, start_width, (STARTS, n_parameters))
    return of_key.generate_state(2, np.uint32), points


def as_arrays(data: Mapping[str, np.ndarray]) -> dict[str, jax.Array]:
    """The arrays as JAX's, on its default device."""
    arrays: dict[str, jax.Array] = jax.device_put({name: np.asarray(value) for name, value in data.items()})
    return arrays


def _programs(
    program: Program, arrays: Mapping[str, jax.Array], warmup: int, target_accept: float, start_width: float
) -> tuple[int, Future[Any], Future[Any]]:
    shapes = tuple((name, array.shape, array.dtype.name) for name, array in arrays.items())
    return _compiled(program, -(-warmup // CHUNK) * CHUNK, target_accept, start_width, shapes)


@lru_cache(maxsize=64)
def _compiled(
    program: Program,
    warmup: int,
    target_accept: float,
    start_width: float,
    shapes: tuple[tuple[str, tuple[int, ...], str], ...],
) -> tuple[int, Future[Any], Future[Any]]:
    """The number of parameters, and two compiled functions."""
    data = {name: jax.ShapeDtypeStruct(shape, dtype) for name, shape, dtype in shapes}
    chain = Chain.of(program, data, warmup, target_accept, start_width)

    bits, points = (
        jax.ShapeDtypeStruct(one.shape, one.dtype) for one in _random(0, 0, chain.n_parameters, start_width)
    )

    def start(bits: jax.Array, points: jax.Array, data: dict[str, jax.Array]) -> Any:
        return chain.start(jax.random.wrap_key_data(bits, impl="threefry2x32"), points, data)

    pool = ThreadPoolExecutor(2)
    first = jax.jit(start).lower(bits, points, data)
    one = pool.submit(first.compile)
    like = jax.tree.map(lambda info: jax.ShapeDtypeStruct(info.shape, info.dtype), first.out_info)
    two = pool.submit(jax.jit(partial(_chunk, chain)).lower(like, data).compile)
    pool.shutdown(wait=False)
    return chain.n_parameters, one, two


@dataclass(frozen=True, eq=False)
class Chain:
    """How one chain moves: all parameters of the program are one vector `z`, which `unravel` splits."""

    program: Program
    unravel: Callable[[jax.Array], dict[str, jax.Array]]
    n_parameters: int
    warmup: int
    target_accept: float
    first_step: float

    @classmethod
    def of(
        cls, program: Program, data: Mapping[str, Any], warmup: int, target_accept: float, first_step: float
    ) -> "Chain":
        """For data of these shapes."""

        def unconstrained(data: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
            sites = handlers.trace(handlers.seed(program, jax.random.key(0))).get_trace(**data)
            latent = {name: one for name, one in sites.items() if one["type"] == "sample" and not one["is_observed"]}
            return {name: biject_to(one["fn"].support).inv(one["value"]) for name, one in latent.items()}

        shapes = jax.eval_shape(unconstrained, data)
        vector, unravel = ravel_pytree({name: np.zeros(one.shape, one.dtype) for name, one in shapes.items()})
        return cls(program, unravel, vector.size, warmup, target_accept, first_step)

    def potential(self, data: Mapping[str, jax.Array], z: jax.Array) -> jax.Array:
        """Minus the log density."""
        return jnp.asarray(potential_energy(self.program, (), data, self.unravel(z)))

    def start(self, key: jax.Array, points: jax.Array, data: Mapping[str, jax.Array]) -> Any:
        """The state at the first point with a finite density."""
        potential = partial(self.potential, data)

        def hopeless(attempt: jax.Array) -> jax.Array:
            return (attempt < len(points) - 1) & ~jnp.isfinite(potential(points[attempt]))

        point = points[lax.while_loop(hopeless, lambda attempt: attempt + 1, jnp.asarray(0))]
        init, _ = hmc(potential_fn=potential, algo="NUTS")
        return init(point, self.warmup, step_size=self.first_step, target_accept_prob=self.target_accept, rng_key=key)

    def step(self, state: Any, data: Mapping[str, jax.Array]) -> Callable[[Any], Any]:
        """From a state to the next."""
        init, step = hmc(potential_fn=partial(self.potential, data), algo="NUTS")
        known = ParamInfo(state.z, state.potential_energy, state.z_grad)
        init(known, self.warmup, target_accept_prob=self.target_accept, rng_key=state.rng_key)  # it sets `step` up
        step_of: Callable[[Any], Any] = step
        return step_of

    def sites(self, z: jax.Array, data: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
        """Every site, latent and deterministic."""
        values: dict[str, jax.Array] = constrain_fn(self.program, (), data, self.unravel(z), return_deterministic=True)
        return values


def _chunk(chain: Chain, state: Any, data: dict[str, jax.Array]) -> Any:
    """The state after a chunk of iterations, and their draws."""
    step = chain.step(state, data)

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
    return state, (lax.map(lambda z: chain.sites(z, data), z), stats)
