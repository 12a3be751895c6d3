"""The NumPyro program: per-sample differences within groups, groups within a population."""

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import Array
from jaxtyping import Float


def comparison(
    df: Float[Array, ""] | None = None,
    root: Float[Array, "step step"] | None = None,
    mean: Float[Array, "group pair"] | None = None,
    variance: Float[Array, "group pair"] | None = None,
    prior_scale: Float[Array, " pair"] | None = None,
    log_range: Float[Array, " pair"] | None = None,
) -> None:
    r"""The posterior of mean differences, given their sufficient statistics; either part may be left out.

    These groups (without groups, the one that all items are): differences $d_i \sim (\mu, \sigma^2)$ whose mean $m$ has
    the standard error $s$ with $\nu$ degrees of freedom, flat priors of $\mu$ and $\log \sigma$, so that
    $\lambda = s^2 / \mathrm{Var}(m) \sim \Gamma(\nu/2, \nu/2)$ and $(\mu - m)/s = R z / \sqrt{\lambda}$,
    $z \sim N(0, I)$; $R R^T$ is the correlation of the differences that lead from model to model.

    The population of groups, each pair of models by itself: $m_g \sim N(\theta_g, V_g)$,
    $\theta_g \sim N(\mu, \tau^2)$, $p(\mu) \propto 1$, $p(\tau) \propto 1/(\tau + k)$ up to an end (k: `prior_scale`).
    Given $\tau$, all else is normal and integrated out.
    """
    if df is not None and root is not None:
        scale = numpyro.sample("scale", dist.Gamma(df / 2, df / 2))
        innovation = numpyro.sample("innovation", dist.Normal(0, 1).expand([root.shape[1]]).to_event(1))
        numpyro.deterministic("shift", root @ innovation / jnp.sqrt(scale))
    if mean is not None and variance is not None and prior_scale is not None and log_range is not None:
        quantile = numpyro.sample("quantile", dist.Uniform(0.0, 1.0).expand(prior_scale.shape).to_event(1))
        between = numpyro.deterministic("between", prior_scale * jnp.expm1(quantile * log_range))
        precision = 1 / (variance + between**2)
        total = precision.sum(0)
        centre = (precision * mean).sum(0) / total
        about = precision * (mean - centre) ** 2
        density = 0.5 * (jnp.log(precision) - about).sum(0) - 0.5 * jnp.log(total)
        numpyro.factor("groups", density.sum())
