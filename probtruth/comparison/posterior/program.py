"""The NumPyro program that `compare` fits: differences within groups, groups within a population."""

from typing import Any, ClassVar

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import Array
from jax.lax import erf_inv
from jax.scipy.special import erf, logsumexp
from jaxtyping import Float

from probtruth.comparison.posterior.groups import SPREAD, variance_nodes, with_mean

# Standard deviations of priors that are as good as flat: of what is in units of its standard error, and of a logarithm.
WIDE = 100.0
WIDE_LOG = 30.0
MOST_SCORE = 5.0  # Normal scores beyond this have probability 6e-7
UNTHINKABLE = 15.0  # Log densities this far below the largest are left out


def program(
    mean: Float[Array, "group pair"],
    variance: Float[Array, "group pair"],
    df: Float[Array, "group pair"],
    n_items: Float[Array, " group"] | None = None,
    prior_scale: Float[Array, " pair"] | None = None,
    log_range: Float[Array, " pair"] | None = None,
    root: Float[Array, "pair pair"] | None = None,
    integrated: bool = False,
) -> None:
    r"""The posterior of mean differences from the mean of each group, its variance and the degrees of freedom of that.

    Formula: normal differences give $m_g \sim N(\theta_g, V_g)$ and $s_g^2 \sim \Gamma(\nu_g/2, \nu_g/(2 V_g))$ for the
    observed mean and its variance. Groups are drawn from a population, $\theta_g \sim N(\mu, \tau^2)$ with
    $p(\tau) \propto 1/(\tau + k)$ (k: `prior_scale`; up to $k e^{r}$, r: `log_range`), and the variances of their items
    resemble each other, $\log(n_g V_g) \sim N(\lambda, \omega^2)$, $\omega \sim N^+(0, 1)$. With one group there is no
    population: all pairs share the factor between true and observed variance, so that every difference is Student's t,
    and `root` is a root of the correlations of their means.

    Arguments:
        mean: of the differences of each pair in each group, in the units of the score.
        variance: of these means.
        df: the degrees of freedom of the variances.
        n_items: how many items each group has; needed for two groups or more.
        prior_scale: k of the prior of tau, in the units of the score; needed for two groups or more.
        log_range: r of the prior of tau; needed for two groups or more.
        root: a root of the correlations of the means; needed for one group.
        integrated: integrates the groups' means and variances out, which changes nothing else: `compare` draws so.

    >>> import jax, numpy as np, numpyro
    >>> import probtruth as pt
    >>> one = {"mean": np.array([[0.4]]), "variance": np.array([[0.04]]), "df": np.array([[19.0]]), "root": np.eye(1)}
    >>> seeded = numpyro.handlers.seed(pt.program, jax.random.key(0))
    >>> sites = numpyro.handlers.trace(seeded).get_trace(**one)
    >>> [name for name, site in sites.items() if site["type"] == "sample" and site["is_observed"]]
    ['flat_difference', 'observed_variance', 'observed_mean']
    """
    n_groups, n_pairs = mean.shape
    pairs = numpyro.plate("pair", n_pairs, dim=-1)
    groups = numpyro.plate("group", n_groups, dim=-2)
    if n_groups == 1:
        assert root is not None
        factor = jnp.exp(numpyro.sample("log_factor", dist.Normal(0.0, WIDE_LOG)))
        with pairs:
            difference = flat("difference", mean, 1 / (factor * variance))
        freedom = df.mean()
        of_all = variance.mean()
        rate = freedom / 2 / (factor * of_all)
        numpyro.sample("observed_variance", dist.Gamma(freedom / 2, rate), obs=of_all)
        sd = numpyro.deterministic("sd", jnp.sqrt(factor * variance[0]))
        numpyro.sample("observed_mean", dist.MultivariateNormal(difference, scale_tril=sd[:, None] * root), obs=mean[0])
        return
    assert n_items is not None
    assert prior_scale is not None
    assert log_range is not None
    estimated = df > 0
    freedom = jnp.where(estimated, df, 0.0)
    positive_df = jnp.where(estimated, df, 1.0)
    sizes = n_items[:, None]
    of_items = variance * sizes
    log_seen = jnp.log(of_items)
    with pairs:
        # normal scores of what is bounded: under them NUTS meets no end
        of_between = numpyro.sample("between_score", dist.Normal(0.0, 1.0))
        of_spread = numpyro.sample("spread_score", dist.Normal(0.0, 1.0))
        # where NUTS may be thrown, a spread of 0 or infinity would be NaN
        scores = jnp.clip(jnp.stack([of_between, of_spread]), -MOST_SCORE, MOST_SCORE)
        of_range, of_half_normal = (1 + erf(scores * 0.5**0.5)) / 2
        between = numpyro.deterministic("between", prior_scale * jnp.expm1(of_range * log_range))
        half_normal = SPREAD * 2**0.5 * erf_inv(of_half_normal)
        if integrated:
            noise = jnp.where(estimated, 2 / positive_df, jnp.inf)
            least = least_spread(log_seen, noise)
            above = jnp.hypot(half_normal, least)
            numpyro.factor("above_least_spread", jnp.log(half_normal / above))
            half_normal = above
        spread = numpyro.deterministic("spread", half_normal)
        of_log = jnp.where(estimated, 1 / (spread**2 + 2 / positive_df), 0.0)
        typical = flat("typical", log_seen, of_log)
        # a group's variance is about here: the mean of the typical one and its own by what both tell
        of_typical = 1 / spread**2
        of_group = freedom / 2
        near = (of_typical * typical + of_group * log_seen) / (of_typical + of_group)
        difference = flat("difference", mean, 1 / (between**2 + jnp.exp(near) / sizes))
        with groups:
            if integrated:
                group = Group(difference, between, typical, spread, freedom, sizes)
                numpyro.sample("observed", group, obs=jnp.stack([mean, of_items], -1))
                return
            scaled = numpyro.sample("scaled", dist.Normal(0.0, 1.0))
            of_item = jnp.exp(typical + spread * scaled)
            true = numpyro.deterministic("variance", of_item / sizes)
            centred = numpyro.sample("centred", dist.Normal(0.0, 1.0))
            theta = numpyro.deterministic("group_mean", difference + between * centred)
            shape = positive_df / 2
            of_variance = dist.Gamma(shape, shape / of_item).mask(estimated)
            numpyro.sample("observed_variance", of_variance, obs=of_items)
            numpyro.sample("observed_mean", dist.Normal(theta, jnp.sqrt(true)), obs=mean)


def least_spread(log_seen: Array, noise: Array) -> Array:
    """The spread below which the two variances furthest apart are out of the question: NUTS would meet a wall there."""
    square = (log_seen[:, None] - log_seen) ** 2
    of_two = square / (2 * UNTHINKABLE) - noise[:, None] - noise
    return jnp.sqrt(jnp.maximum(of_two.max((0, 1)), 0.0) / 2)


def flat(name: str, seen: Array, precision: Array) -> Array:
    """A quantity with a flat prior, of which each group shows a value, in units of what all groups say of it."""
    sd = 1 / jnp.sqrt(precision.sum(0))
    centre = (precision * seen).sum(0) * sd**2
    standardised = numpyro.sample(f"standardised_{name}", dist.Normal(0.0, WIDE))
    numpyro.factor(f"flat_{name}", jnp.log(sd))
    value: Array = numpyro.deterministic(name, centre + sd * standardised)
    return value


def integrated(**data: Array) -> None:
    """The program with the groups' own means and variances integrated out, which the sampler runs."""
    program(**data, integrated=True)


class Group(dist.Distribution):  # type: ignore[misc]  # NumPyro has no types
    """The mean and the variance of one item that a group shows, its own mean and variance integrated out.

    Of the mean by algebra, of the logarithm of the variance by Gauss-Hermite quadrature about its mode.
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}
    support = dist.constraints.real_vector

    def __init__(
        self, difference: Array, between: Array, typical: Array, spread: Array, df: Array, n_items: Array
    ) -> None:
        self.difference = difference
        self.between = between
        self.typical = typical
        self.spread = spread
        self.df = df
        self.n_items = n_items
        super().__init__(batch_shape=df.shape, event_shape=(2,))

    def log_prob(self, value: Array) -> Array:
        """Up to what the variance that is seen says alone."""
        mean = value[..., 0]
        nodes, log_weights = variance_nodes(self.typical, self.spread, self.df, value[..., 1], jnp)
        variance = self.between**2 + jnp.exp(nodes) / self.n_items
        return logsumexp(with_mean(log_weights, variance, mean - self.difference, jnp), axis=0)
