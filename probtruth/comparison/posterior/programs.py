"""The NumPyro programs: the definition of the model that both engines compute."""

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import Array
from jaxtyping import Float

Values = Array | np.ndarray


def location(mean: Float[Values, " model"], root: Float[Values, "model direction"], df: Float[Values, ""]) -> None:
    r"""The mean contrasts mu of one population of items, given their sample mean and its covariance.

    Under the prior $p(\mu, \Sigma) \propto |\Sigma|^{-q}$ on the q = K - 1 zero-sum contrasts, mu given n items is
    multivariate t with n - 1 degrees of freedom, location m and scale S/(n(n-1)), whatever the number of models; every
    pairwise margin is that of the paired t. Here it is written as the scale mixture of normals that it is: `scale` is
    what remains of Sigma once its shape is integrated out, and `innovation` is mu - m in units of `root`
    (root root' = S/(n(n-1))), which the flat prior on mu leaves standard normal.
    """
    scale = numpyro.sample("scale", dist.Gamma(df / 2, df / 2))
    innovation = numpyro.sample("innovation", dist.Normal(0, 1).expand([root.shape[1]]).to_event(1))
    numpyro.deterministic("contrast", mean + root @ innovation / jnp.sqrt(scale))


def hierarchy(
    count: Float[Array, " size"],
    mean: Float[Array, "size pair"],
    square: Float[Array, "size pair"],
    variance: Float[Array, "size pair"],
    knee: Float[Array, " pair"],
    reach: Float[Array, " pair"],
) -> None:
    r"""The population of groups, each pair by itself: $m_g \sim N(\theta_g, V_g)$, $\theta_g \sim N(\mu, \tau^2)$.

    theta is integrated out. Priors: mu flat; $p(\tau) \propto 1/(\tau + k)$ up to an end, as tau = k (e^{ru} - 1) of a
    uniform u (k `knee`, r `reach`). The posterior of mu given tau is normal: `innovation` is where mu lies in it, in
    its sds, and the rest of the groups' density is that of tau. The m_g of one V_g enter by their number, their mean
    and the squares about it, which are sufficient. Rows of no groups say nothing: they fill the arrays up to a size
    that is compiled already.
    """
    quantile = numpyro.sample("quantile", dist.Uniform(0.0, 1.0).expand(knee.shape).to_event(1))
    between = numpyro.deterministic("between", knee * jnp.expm1(quantile * reach))
    precision = 1 / (variance + between**2)
    weight = count[:, None] * precision
    total = weight.sum(0)
    centre = (weight * mean).sum(0) / total
    about = precision * square + weight * (mean - centre) ** 2
    density = 0.5 * (count[:, None] * jnp.log(precision) - about).sum(0) - 0.5 * jnp.log(total)
    numpyro.factor("groups", density.sum())
    innovation = numpyro.sample("innovation", dist.Normal(0, 1).expand(knee.shape).to_event(1))
    numpyro.deterministic("centre", centre + innovation / jnp.sqrt(total))


def correlated_hierarchy(
    mean: Float[Array, " group"],
    square: Float[Array, " group"],
    folds: Float[Array, ""],
    correlation: Float[Array, ""],
    centre_limit: Float[Array, ""],
    between_limit: Float[Array, ""],
) -> None:
    r"""Folds of each group (data set) equicorrelated around its own mean, the means t-distributed over groups.

    Sufficient are a group's mean over folds, normal with variance $\sigma^2 (1 + (n-1)\rho)/n$, and the sum of squares
    about it, $\sigma^2 (1-\rho)$ times chi-square with n - 1 degrees of freedom. The group's own mean is written as
    the scale mixture of normals that a t is, integrated out given its scale. Units and priors as in
    `benavoli.hierarchical_test`.
    """
    centre = numpyro.sample("centre", dist.Uniform(-centre_limit, centre_limit))
    between = numpyro.sample("between", dist.Uniform(0.0, between_limit))
    shape = numpyro.sample("shape", dist.Uniform(0.5, 5.0))
    rate = numpyro.sample("rate", dist.Uniform(0.05, 0.15))
    df = numpyro.sample("df", dist.Gamma(shape, rate))
    within = numpyro.sample("within", dist.Uniform(0.0, 1000.0).expand(mean.shape).to_event(1))
    precision = numpyro.sample("precision", dist.Gamma(df / 2, df / 2).expand(mean.shape).to_event(1))
    of_mean = within**2 * (1 + (folds - 1) * correlation) / folds
    numpyro.sample("mean", dist.Normal(centre, jnp.sqrt(of_mean + between**2 / precision)).to_event(1), obs=mean)
    spread = within**2 * (1 - correlation)
    numpyro.sample("square", dist.Gamma((folds - 1) / 2, 1 / (2 * spread)).to_event(1), obs=square)
