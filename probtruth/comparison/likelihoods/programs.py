"""Likelihoods of one pair's differences; under each the estimand is the mean, which a location need not be."""

from collections.abc import Callable, Mapping

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import Array
from jax.scipy.special import gammaln, logsumexp
from jaxtyping import Float

Sites = Mapping[str, Array]
Value = Float[Array, " bin"]
HALF_LOG_TWO_PI = 0.9189385332046727


def normal_density(sites: Sites, value: Value) -> Value:
    """Log density of the normal."""
    return -0.5 * ((value - sites["location"]) / sites["scale"]) ** 2 - jnp.log(sites["scale"]) - HALF_LOG_TWO_PI


def _t(z: Value, df: Array) -> Value:
    constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * jnp.log(df * jnp.pi)
    return constant - (df + 1) / 2 * jnp.log1p(z**2 / df)


def student_density(sites: Sites, value: Value) -> Value:
    """Log density of Student's t."""
    return _t((value - sites["location"]) / sites["scale"], sites["df"]) - jnp.log(sites["scale"])


def skew_density(sites: Sites, value: Value) -> Value:
    r"""Log density of the two-piece t: $2/(\gamma + 1/\gamma)\, t(z \gamma^{-sign(z)})/s$.

    Source: Fernandez and Steel 1998, doi:10.1080/01621459.1998.10474117.
    """
    skew = sites["skew"]
    z = (value - sites["location"]) / sites["scale"]
    piece = jnp.where(z > 0, z / skew, z * skew)
    return _t(piece, sites["df"]) - jnp.log(sites["scale"]) + jnp.log(2.0) - jnp.log(skew + 1 / skew)


def spike_density(sites: Sites, value: Value) -> Value:
    """Log density of the two-piece t beside the spike of ties: of the differences that are not zero."""
    return skew_density(sites, value) + jnp.log1p(-sites["tie_rate"])


def two_density(sites: Sites, value: Value) -> Value:
    """Log density of two normals, the second wider."""
    first = normal_density(sites, value) + jnp.log1p(-sites["share"])
    second = {"location": sites["other_location"], "scale": sites["scale"] * sites["wider"]}
    return logsumexp(jnp.stack([first, normal_density(second, value) + jnp.log(sites["share"])]), axis=0)


def _t_mean(df: Array) -> Array:
    """Mean of |t|."""
    return 2 * jnp.exp(gammaln((df + 1) / 2) - gammaln(df / 2)) * jnp.sqrt(df / jnp.pi) / (df - 1)


def _skew_mean(sites: Sites) -> Array:
    return sites["location"] + sites["scale"] * _t_mean(sites["df"]) * (sites["skew"] - 1 / sites["skew"])


def _location() -> dict[str, Array]:
    return {
        "location": numpyro.sample("location", dist.Normal(0, 1)),
        "scale": numpyro.sample("scale", dist.HalfNormal(1.0)),
    }


def _heavy() -> dict[str, Array]:
    """Degrees of freedom above 1, so that there is a mean."""
    return {"df": 1 + numpyro.sample("df_above_one", dist.Gamma(2.0, 0.1))}


def _observe(density: Callable[[Sites, Value], Value], sites: Sites, value: Value, weight: Value) -> None:
    numpyro.factor("differences", (weight * density(sites, value)).sum())


def _told(sites: Sites, mean: Array) -> None:
    numpyro.deterministic("mean", mean)
    if "df" in sites:
        numpyro.deterministic("df", sites["df"])


def normal(value: Value, weight: Value, ties: Float[Array, ""], zero: Float[Array, ""]) -> None:
    """Normal differences."""
    sites = _location()
    _observe(normal_density, sites, value, weight)
    _told(sites, sites["location"])


def student_t(value: Value, weight: Value, ties: Float[Array, ""], zero: Float[Array, ""]) -> None:
    """Differences with heavy, symmetric tails."""
    sites = {**_location(), **_heavy()}
    _observe(student_density, sites, value, weight)
    _told(sites, sites["location"])


def _skewed() -> dict[str, Array]:
    return {**_location(), **_heavy(), "skew": numpyro.sample("skew", dist.LogNormal(0.0, 0.5))}


def skew_t(value: Value, weight: Value, ties: Float[Array, ""], zero: Float[Array, ""]) -> None:
    """Differences with heavy tails, one heavier than the other."""
    sites = _skewed()
    _observe(skew_density, sites, value, weight)
    _told(sites, _skew_mean(sites))


def tie_spike(value: Value, weight: Value, ties: Float[Array, ""], zero: Float[Array, ""]) -> None:
    """A share of exact ties, the others as under `skew_t`; ties have no weight among the values."""
    sites = {**_skewed(), "tie_rate": numpyro.sample("tie_rate", dist.Beta(1.0, 1.0))}
    numpyro.factor("ties", ties * jnp.log(sites["tie_rate"]))
    _observe(spike_density, sites, value, weight)
    _told(sites, sites["tie_rate"] * zero + (1 - sites["tie_rate"]) * _skew_mean(sites))


def two_component(value: Value, weight: Value, ties: Float[Array, ""], zero: Float[Array, ""]) -> None:
    """Most differences from one normal, some from another, at least twice as wide."""
    sites = {
        **_location(),
        "share": numpyro.sample("share", dist.Beta(1.0, 4.0)),
        "other_location": numpyro.sample("other_location", dist.Normal(0.0, 3.0)),
    }
    sites["wider"] = 2 + numpyro.sample("wider_than_two", dist.HalfNormal(5.0))
    numpyro.deterministic("wider", sites["wider"])
    _observe(two_density, sites, value, weight)
    _told(sites, (1 - sites["share"]) * sites["location"] + sites["share"] * sites["other_location"])


PROGRAMS: dict[str, tuple[Callable[..., None], Callable[[Sites, Value], Value]]] = {
    "normal": (normal, normal_density),
    "student-t": (student_t, student_density),
    "skew-t": (skew_t, skew_density),
    "tie-spike": (tie_spike, spike_density),
    "two-component": (two_component, two_density),
}
