"""The programs against twins in which nothing is integrated out."""

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from scipy import stats

from probtruth.comparison import program
from probtruth.comparison.groups import Groups, Prior, from_draws, quadrature
from probtruth.inference import nuts
from probtruth.inference.diagnostics import mean_with_error

MONTE_CARLO = 5.0
"""Standard errors of a mean of draws."""


def of_prior(scale, end):
    """tau from e^-20 to its end, its density 1/(tau + k) on the scale of its logarithm."""
    log = numpyro.sample("log", dist.Uniform(-20.0, jnp.log(end)).expand(scale.shape).to_event(1))
    between = numpyro.deterministic("between", jnp.exp(log))
    numpyro.factor("prior", (log - jnp.log(between + scale)).sum())
    return between


def unmarginalised_hierarchy(mean, variance, scale, end):
    """Every group's own theta is a site, mu has a prior flat for these data, tau the density of its prior."""
    between = of_prior(scale, end)
    centre = numpyro.sample("centre", dist.Normal(0.0, 100.0).expand(scale.shape).to_event(1))
    shift = numpyro.sample("shift", dist.Normal(0, 1).expand(mean.shape).to_event(2))
    numpyro.sample("mean", dist.Normal(centre + between * shift, variance**0.5).to_event(2), obs=mean)


@pytest.fixture(scope="module")
def data():
    mean = np.random.default_rng(1).normal([0.3, -0.1], 0.4, (6, 2))
    return {"mean": mean, "variance": np.repeat([[0.05, 0.02], [0.01, 0.04]], [4, 2], axis=0)}


def agree(sites, wanted):
    """The sampled spread between groups and centre of every pair have the moments of the quadrature (of the sd's log,
    and of the centre's arctangent: heavy tails have no fourth moments)."""
    for pair in range(len(wanted.between)):
        between, weight = wanted.between[pair], wanted.weight[pair]
        centre, variance = wanted.centre[pair], wanted.variance[pair]
        assert_close(np.log(sites["between"][..., pair]), weight @ np.log(between))
        nodes, of_node = np.polynomial.hermite_e.hermegauss(40)
        at = centre[:, None] + variance[:, None] ** 0.5 * nodes
        assert_close(np.arctan(sites["centre"][..., pair]), weight @ np.arctan(at) @ of_node / of_node.sum())


def assert_close(draws, wanted):
    mean, error = mean_with_error(draws)
    assert abs(mean - wanted) < MONTE_CARLO * error


@pytest.mark.long
def test_hierarchy_with_and_without_its_group_means_is_the_quadrature(data):
    mean, variance = data["mean"], data["variance"]
    groups = Groups(data["mean"], data["variance"])
    prior = Prior.of(groups)
    wanted = quadrature(groups, prior)
    data = {**vars(groups), "prior_scale": prior.scale, "log_range": prior.log_range}
    sites = nuts.sample(program.comparison, data, 0, draws=2500).sites
    drawn = from_draws(groups, sites["between"].reshape(-1, 2))
    centre = drawn.draws(10_000, 0)[0].T.reshape(4, 2500, 2)
    agree({"between": sites["between"], "centre": centre}, wanted)
    end = (prior.scale * np.expm1(prior.log_range)).max()
    whole = {"mean": mean, "variance": variance, "scale": prior.scale, "end": end}
    agree(nuts.sample(unmarginalised_hierarchy, whole, 0, draws=3000, target_accept=0.95).sites, wanted)


def full_data(value, group, within, scale, end):
    """Every item is observed; nothing is summed up."""
    between = of_prior(scale, end)
    centre = numpyro.sample("centre", dist.Normal(0.0, 100.0).expand([1]).to_event(1))
    shift = numpyro.sample("shift", dist.Normal(0, 1).expand([4]).to_event(1))
    numpyro.sample("value", dist.Normal((centre + between * shift)[group], within).to_event(1), obs=value)


@pytest.mark.long
def test_sufficient_statistics_are_sufficient():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(4), [3, 10, 25, 40])
    value, within = rng.normal(np.array([0.6, -0.2, 0.1, 0.4])[group], 0.8), 0.8
    n_items = np.bincount(group)
    mean, variance = np.bincount(group, value) / n_items, within**2 / n_items
    groups = Groups(mean[:, None], variance[:, None])
    prior = Prior.of(groups)
    end = (prior.scale * np.expm1(prior.log_range))[0]
    data = {"value": value, "group": group, "within": np.asarray(within), "scale": prior.scale, "end": end}
    drawn = nuts.sample(full_data, data, 0, draws=4000, target_accept=0.99)
    agree(drawn.sites, quadrature(groups, prior))


@pytest.mark.long
def test_location_is_the_mean_under_an_explicit_covariance():
    # prior |Sigma|^-q on q contrasts: Sigma | data ~ inverse Wishart with n - 2 + q degrees of freedom and the scatter,
    # mu | Sigma, data ~ N(m, Sigma / n)
    rng = np.random.default_rng(2)
    n, q = 9, 3
    values = rng.gamma(1.0, size=(q, n))
    mean, covariance = values.mean(1), np.cov(values)
    sigma = stats.invwishart(n - 2 + q, covariance * (n - 1)).rvs(8000, random_state=rng)
    twin = mean + np.einsum("dij,dj->di", np.linalg.cholesky(sigma / n), rng.normal(size=(8000, q)))
    # the steps from the first contrast to the others are what the program draws
    steps = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    spread = np.sqrt(np.diag(steps @ covariance @ steps.T) / n)
    correlation = steps @ covariance @ steps.T / n / np.outer(spread, spread)
    arguments = {"root": np.linalg.cholesky(correlation), "df": np.asarray(n - 1.0)}
    drawn = nuts.sample(program.comparison, arguments, 0, draws=2000).sites["shift"].reshape(-1, 2) * spread
    for direction in (np.array([1.0, 0.0]), np.array([1.0, 1.0]), np.array([0.3, -1.0])):
        along = direction @ steps
        margin = stats.t(n - 1, along @ mean, np.sqrt(along @ covariance @ along / n))
        assert stats.kstest(twin @ along, margin.cdf).pvalue > 1e-4
        assert stats.kstest(drawn @ direction + along @ mean, margin.cdf).statistic < 0.03  # dependent draws: a bound
