"""The programs against twins in which nothing is integrated out."""

import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from scipy import stats

from probtruth.comparison.posterior import programs
from probtruth.comparison.posterior.engines import FEW_GROUPS_ACCEPT, factor, filled_up
from probtruth.comparison.posterior.quadrature import Groups, hierarchy
from probtruth.inference import nuts
from probtruth.inference.diagnostics import mean_with_error

MONTE_CARLO = 5.0
"""Standard errors of a mean of draws."""


def unmarginalised_hierarchy(mean, variance, basis):
    """Every group's own theta is a site."""
    between = numpyro.sample("between", dist.HalfNormal(1.0))
    centre = numpyro.sample("centre", dist.Normal(0, 1).expand([mean.shape[1]]).to_event(1))
    shift = numpyro.sample("shift", dist.Normal(0, 1).expand(mean.shape).to_event(2))
    theta = numpyro.deterministic("theta", centre + between * shift)
    numpyro.sample("mean", dist.Normal(theta, variance**0.5).to_event(2), obs=mean)
    numpyro.deterministic("population", basis @ centre)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    basis = np.array([[1.0, 0.0], [-0.5, 1.0], [-0.5, -1.0]])
    return {"mean": rng.normal([0.3, -0.1], 0.4, (6, 2)), "variance": np.full((6, 2), 0.05), "basis": basis}


def agree(sites, wanted):
    """The sampled spread between groups and first direction of the centre have the moments of the quadrature."""
    for site, exact, square in (
        (sites["between"], wanted.weight @ wanted.between, wanted.weight @ wanted.between**2),
        (
            sites["centre"][..., 0],
            wanted.weight @ wanted.centre[:, 0],
            wanted.weight @ (wanted.centre[:, 0] ** 2 + wanted.variance[:, 0]),
        ),
    ):
        for draws, value in ((site, exact), (site**2, square)):
            mean, error = mean_with_error(draws)
            assert abs(mean - value) < MONTE_CARLO * error


@pytest.mark.long
def test_hierarchy_with_and_without_its_group_means_is_the_quadrature(data):
    mean, variance = data["mean"], np.repeat([[0.05, 0.02], [0.01, 0.04]], [4, 2], axis=0)
    groups = Groups.of(mean, variance)
    summed = {**filled_up(groups), "basis": data["basis"]}
    agree(nuts.sample(programs.hierarchy, summed, 0, draws=1500).sites, hierarchy(groups))
    whole = {**data, "variance": variance}
    agree(nuts.sample(unmarginalised_hierarchy, whole, 0, draws=1500).sites, hierarchy(groups))


def full_data(value, group, within):
    """Every item is observed; nothing is summed up."""
    between = numpyro.sample("between", dist.HalfNormal(1.0))
    centre = numpyro.sample("centre", dist.Normal(0, 1).expand([1]).to_event(1))
    shift = numpyro.sample("shift", dist.Normal(0, 1).expand([4]).to_event(1))
    numpyro.sample("value", dist.Normal((centre + between * shift)[group], within).to_event(1), obs=value)


@pytest.mark.long
def test_sufficient_statistics_are_sufficient():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(4), [3, 10, 25, 40])
    value, within = rng.normal(np.array([0.6, -0.2, 0.1, 0.4])[group], 0.8), 0.8
    n_items = np.bincount(group)
    mean, variance = np.bincount(group, value) / n_items, within**2 / n_items
    data = {"value": value, "group": group, "within": np.asarray(within)}
    drawn = nuts.sample(full_data, data, 0, draws=3000, target_accept=FEW_GROUPS_ACCEPT)
    agree(drawn.sites, hierarchy(Groups.of(mean[:, None], variance[:, None])))


def test_location_is_the_mean_under_an_explicit_covariance():
    # prior |Sigma|^-q on q contrasts: Sigma | data ~ inverse Wishart with n - 2 + q degrees of freedom and the scatter,
    # mu | Sigma, data ~ N(m, Sigma / n)
    rng = np.random.default_rng(2)
    n, q = 9, 3
    values = rng.gamma(1.0, size=(q, n))
    mean, covariance = values.mean(1), np.cov(values)
    sigma = stats.invwishart(n - 2 + q, covariance * (n - 1)).rvs(8000, random_state=rng)
    twin = mean + np.einsum("dij,dj->di", np.linalg.cholesky(sigma / n), rng.normal(size=(8000, q)))
    arguments = {"mean": mean, "root": factor(covariance / n), "df": np.asarray(n - 1.0)}
    drawn = nuts.sample(programs.location, arguments, 0, draws=2000).sites["contrast"].reshape(-1, q)
    for direction in (np.array([1.0, -1.0, 0.0]), np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0])):
        scale = np.sqrt(direction @ covariance @ direction / n)
        margin = stats.t(n - 1, direction @ mean, scale)
        assert stats.kstest(twin @ direction, margin.cdf).pvalue > 1e-4
        assert stats.kstest(drawn @ direction, margin.cdf).statistic < 0.03  # dependent draws: a bound, not a p
