"""Independent draws of a NumPyro program that conditions on nothing: no sampler, hardly anything to compile."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as np
import numpyro.distributions as dist
from numpyro import handlers
from numpyro.primitives import Messenger

from probtruth.inference.nuts import Draws, Program, as_arrays
from probtruth.kernels.precision import float64_on_cpu

Shape = tuple[int, ...]


def draw(program: Program, data: Mapping[str, np.ndarray], seed: int, *, draws: int, chains: int) -> Draws:
    """Draws of every site of `program(**data)`, whose distributions depend on the data alone, not on other sites.

    Axes as of `nuts.sample`, whose chains are here parts of one random sample; there are no statistics of a sampler.
    NumPy draws the sites, since XLA compiles a gamma variate for seconds; the program itself makes the rest of them.
    """
    generator = np.random.default_rng(seed)
    with float64_on_cpu():
        host = _FromNumPy(generator, (chains, draws))
        with host:
            jax.eval_shape(partial(program, **data))  # the sites' parameters stay NumPy's; the rest is not computed
        sites = jax.device_get(_completed(program)(as_arrays(host.values), as_arrays(data)))
    return Draws(sites, {})


@lru_cache(maxsize=64)
def _completed(program: Program) -> Callable[..., dict[str, jax.Array]]:
    """From the values of the sites that are drawn to those of all sites; both leading axes are mapped over."""

    def one(values: Mapping[str, jax.Array], data: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
        trace = handlers.trace(handlers.substitute(program, data=dict(values))).get_trace(**data)
        return {name: site["value"] for name, site in trace.items()}

    return jax.jit(jax.vmap(jax.vmap(one, (0, None)), (0, None)))


class _FromNumPy(Messenger):  # type: ignore[misc]  # NumPyro has no types
    """Draws every site with NumPy: `values` for the caller, the first of them for the program that is run."""

    def __init__(self, generator: np.random.Generator, shape: Shape) -> None:
        self.generator, self.shape = generator, shape
        self.values: dict[str, np.ndarray] = {}
        super().__init__()

    def process_message(self, msg: dict[str, Any]) -> None:
        if msg["type"] == "sample":
            values = _drawn(msg["fn"], self.generator, self.shape)
            self.values[msg["name"]] = values
            msg["value"] = values[(0,) * len(self.shape)]


def _drawn(site: dist.Distribution, generator: np.random.Generator, shape: Shape) -> np.ndarray:
    """Draws of a site: independent normals or gammas, of any batch and event shape."""
    size = (*shape, *site.batch_shape, *site.event_shape)
    base = site
    while isinstance(base, dist.Independent | dist.ExpandedDistribution):
        base = base.base_dist
    if isinstance(base, dist.Normal):
        return generator.normal(np.asarray(base.loc), np.asarray(base.scale), size)
    if isinstance(base, dist.Gamma):
        return generator.gamma(np.asarray(base.concentration), 1 / np.asarray(base.rate), size)
    raise TypeError(f"got a site of {type(base).__name__}, expected a normal or a gamma, which NumPy draws")
