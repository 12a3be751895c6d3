"""Likelihoods of one pair's differences; under each the estimand is the mean, which can differ from the location.

Differences as weighted bins, so that the cost of fitting a likelihood does not depend on the number of items.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import Array
from jax.scipy.special import gammaln
from jaxtyping import Float
from numpyro.distributions import constraints
from numpyro.distributions.transforms import AffineTransform

Sites = Mapping[str, Array]
Value = Float[Array, " bin"]


class TwoPieceT(dist.Distribution):  # type: ignore[misc]
    r"""Student's t with heavier tails on one side: density $2/(\gamma + 1/\gamma)\, t(z \gamma^{-sign(z)})/s$.

    Source: Fernandez and Steel 1998, doi:10.1080/01621459.1998.10474117.
    """

    support = constraints.real

    def __init__(self, df: Array, location: Array, scale: Array, skew: Array) -> None:
        """`skew` above 1 makes the upper tail heavier."""
        self.t = dist.StudentT(df)
        self.location, self.scale, self.skew = location, scale, skew
        super().__init__(batch_shape=jnp.shape(location))

    def log_prob(self, value: Value) -> Value:
        """The log density."""
        z = (value - self.location) / self.scale
        piece: Array = self.t.log_prob(jnp.where(z > 0, z / self.skew, z * self.skew))
        return piece - jnp.log(self.scale) + jnp.log(2.0) - jnp.log(self.skew + 1 / self.skew)

    def sample(self, key: Array, sample_shape: tuple[int, ...] = ()) -> Array:
        """Independent draws."""
        of_size, of_side = jax.random.split(key)
        size: Array = jnp.abs(self.t.sample(of_size, sample_shape))
        up = jax.random.uniform(of_side, jnp.shape(size)) < self.skew**2 / (1 + self.skew**2)
        return self.location + self.scale * jnp.where(up, size * self.skew, -size / self.skew)

    @property
    def mean(self) -> Array:
        """The mean, for more than one degree of freedom."""
        df = self.t.df
        of_size = 2 * jnp.exp(gammaln((df + 1) / 2) - gammaln(df / 2)) * jnp.sqrt(df / jnp.pi) / (df - 1)
        return jnp.asarray(self.location + self.scale * of_size * (self.skew - 1 / self.skew))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Priors of the parameters, and the distribution of the differences (of those that are not ties) given them.

    A parameter `tie_rate` is the share of differences that are exactly zero.
    """

    priors: Mapping[str, dist.Distribution]
    distribution: Callable[[Sites], dist.Distribution]

    def log_density(self, sites: Sites, value: Value) -> Value:
        """The log density of differences that are not ties."""
        density: Value = self.distribution(sites).log_prob(value)
        return density + jnp.log1p(-sites["tie_rate"]) if "tie_rate" in sites else density

    def mean(self, sites: Sites, zero: Array) -> Array:
        """The mean difference; `zero` is where a difference of zero lies."""
        mean: Array = self.distribution(sites).mean
        ties = sites.get("tie_rate", 0.0)
        return ties * zero + (1 - ties) * mean

    def simulated(self, sites: Sites, zero: Array, key: Array, n: int) -> Value:
        """Differences drawn under the parameters."""
        of_rest, of_ties = jax.random.split(key)
        values: Array = self.distribution(sites).sample(of_rest, (n,))
        return (
            jnp.where(jax.random.uniform(of_ties, (n,)) < sites["tie_rate"], zero, values)
            if "tie_rate" in sites
            else values
        )

    def __call__(self, value: Value, weight: Value, ties: Float[Array, ""], zero: Float[Array, ""]) -> None:
        """The NumPyro program for weighted values and so many ties; ties have no weight among the values."""
        sites = {name: numpyro.sample(name, prior) for name, prior in self.priors.items()}
        numpyro.factor("differences", (weight * self.log_density(sites, value)).sum())
        if "tie_rate" in sites:
            numpyro.factor("ties", ties * jnp.log(sites["tie_rate"]))
        numpyro.deterministic("mean", self.mean(sites, zero))


def _above(least: float, prior: dist.Distribution) -> dist.Distribution:
    return dist.TransformedDistribution(prior, AffineTransform(least, 1.0, domain=constraints.positive))


def _skewed(sites: Sites) -> TwoPieceT:
    return TwoPieceT(sites["df"], sites["location"], sites["scale"], sites["skew"])


def _two_normals(sites: Sites) -> dist.Distribution:
    share, wide = sites["share"], sites["scale"] * sites["wider"]
    return dist.MixtureSameFamily(
        dist.Categorical(probs=jnp.stack([1 - share, share])),
        dist.Normal(jnp.stack([sites["location"], sites["other_location"]]), jnp.stack([sites["scale"], wide])),
    )


_LOCATION_SCALE = {"location": dist.Normal(0.0, 1.0), "scale": dist.HalfNormal(1.0)}
_HEAVY = {**_LOCATION_SCALE, "df": _above(1.0, dist.Gamma(2.0, 0.1))}  # above 1, so that there is a mean
_SKEWED = {**_HEAVY, "skew": dist.LogNormal(0.0, 0.5)}
_TWO = {
    **_LOCATION_SCALE,
    "share": dist.Beta(1.0, 4.0),
    "other_location": dist.Normal(0.0, 3.0),
    "wider": _above(2.0, dist.HalfNormal(5.0)),
}

LIKELIHOODS = {
    "normal": Likelihood(_LOCATION_SCALE, lambda sites: dist.Normal(sites["location"], sites["scale"])),
    "student-t": Likelihood(_HEAVY, lambda sites: dist.StudentT(sites["df"], sites["location"], sites["scale"])),
    "skew-t": Likelihood(_SKEWED, _skewed),
    "tie-spike": Likelihood({**_SKEWED, "tie_rate": dist.Beta(1.0, 1.0)}, _skewed),
    "two-component": Likelihood(_TWO, _two_normals),
}
"""The likelihoods by name; differences are in units of their standard deviation, from their mean."""


FEWEST, TAIL = 256, 32
"""Smallest number of bins, and how many of the largest and of the smallest differences get their own bin."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Values with the number of items at (or near) each, in units of `unit` from `centre`; `ties` are exactly zero.

    Bins of weight 0 pad the arrays to a power of two, so that fits of other data need no new compilation.
    """

    value: Float[np.ndarray, " bin"]
    weight: Float[np.ndarray, " bin"]
    ties: int
    n_items: int
    centre: float
    unit: float

    @property
    def zero(self) -> float:
        """Where a difference of zero lies on the scale of the values."""
        return -self.centre / self.unit


def bins(differences: Float[np.ndarray, " item"]) -> Bins:
    """The bins of one pair's differences; between the tails they have equal width, and each lies at the mean of its
    items."""
    values = np.sort(differences)
    n, ties = len(values), int((values == 0).sum())
    centre, unit = float(values.mean()), float(values.std(ddof=1))
    scaled = (values - centre) / unit
    most = max(FEWEST, int(2 * np.sqrt(n)))
    if n <= most:
        value, weight = scaled, np.ones(n)
    else:
        inner = scaled[TAIL:-TAIL]
        bin_of = np.minimum(((inner - inner[0]) / np.ptp(inner) * (most - 2 * TAIL)).astype(int), most - 2 * TAIL - 1)
        count = np.bincount(bin_of, minlength=most - 2 * TAIL)
        total = np.bincount(bin_of, inner, minlength=most - 2 * TAIL)
        used = count > 0
        value = np.r_[scaled[:TAIL], total[used] / count[used], scaled[-TAIL:]]
        weight = np.r_[np.ones(TAIL), count[used], np.ones(TAIL)].astype(np.float64)
    size = 1 << max(len(value) - 1, 1).bit_length()
    gap = size - len(value)
    return Bins(np.r_[value, np.zeros(gap)], np.r_[weight, np.zeros(gap)], ties, n, centre, unit)
