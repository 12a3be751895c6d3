"""Powers of the prior and of the likelihood: closed forms against draws and against ArviZ."""

import numpy as np
import pytest
from made_scores import make

from probtruth.comparison.compare import compare
from probtruth.comparison.posterior import pooling
from probtruth.comparison.posterior.engines import draw_location, location_densities
from probtruth.comparison.posterior.margins import Margin
from probtruth.comparison.posterior.population import hierarchy_densities
from probtruth.comparison.posterior.sensitivity import scaled_p, sensitive, weights

MONTE_CARLO = 0.02
"""Absolute, in probability: five standard errors of 20,000 weighted draws with an efficiency above a fifth."""
GRID = 5e-4
"""Absolute, in probability: the sums over a grid, whose point at 0 is shared."""


@pytest.mark.parametrize(("prior", "likelihood"), [(1.0, 1.0), (0.5, 1.0), (2.0, 1.0), (1.0, 0.5), (1.0, 2.0)])
def test_a_pair_is_the_integral_over_its_variance(prior, likelihood):
    # by quadrature over the precision of the definition: prior 1/sigma^2, normal likelihood of n items
    margin, n = Margin(-0.3, 0.2, 9.0), 10

    precision, mean = np.linspace(1e-6, 12, 2401)[:, None], np.linspace(-4, 4, 1601)
    scaled = (mean + 0.3) / 0.2
    log = -prior * np.log(precision)
    log = log + likelihood * (n / 2 * np.log(precision) - precision * (n - 1 + scaled**2) / 2)
    share = np.exp(log).sum(0)
    below, above = share[mean < 0].sum() + share[800] / 2, share[mean > 0].sum() + share[800] / 2
    assert scaled_p(margin, prior, likelihood) == pytest.approx(below / (below + above), abs=GRID)
    assert scaled_p(margin, 1.0, 1.0) == margin.below(0.0)


def test_no_degrees_of_freedom_are_left():
    assert scaled_p(Margin(1.0, 1.0, 1.0), 2.0, 1.0) is None
    assert scaled_p(Margin(0.0, 0.0, 5.0), 2.0, 1.0) == 0.5


def test_weighted_draws_of_the_location_give_the_closed_form():
    root = np.array([[0.1], [-0.1]])
    sites = draw_location(np.array([-0.1, 0.1]), root, 7.0, (4, 5000), 0)
    margin = Margin(-0.2, 0.2, 7.0)
    ahead = (sites["contrast"][..., 0] < sites["contrast"][..., 1]).ravel()
    for power, densities in ((0.5, 0), (2.0, 0), (0.5, 1), (2.0, 1)):
        share = weights(location_densities(sites, 7.0)[densities], power)
        pair = (power, 1.0) if densities == 0 else (1.0, power)
        assert share @ ahead == pytest.approx(scaled_p(margin, *pair), abs=MONTE_CARLO)


def test_the_hierarchy_by_draws_and_by_quadrature():
    rng = np.random.default_rng(1)
    mean, variance = rng.normal(-0.2, 0.3, (8, 1)), np.full((8, 1), 0.02)
    groups = pooling.Groups.of(mean, variance)
    prior = pooling.Prior.of(groups)
    sites = pooling.draw_hierarchy(pooling.hierarchy(groups, prior), (4, 5000), 0)
    ahead = (sites["centre"][..., 0] < 0).ravel()
    for power, densities in ((0.5, 0), (2.0, 0), (2.0, 1)):
        share = weights(hierarchy_densities(sites, groups, prior)[densities], power)
        pair = (power, 1.0) if densities == 0 else (1.0, power)
        wanted = pooling.hierarchy(groups, prior, *pair).mixture().below(0.0)[0]
        assert share @ ahead == pytest.approx(wanted, abs=MONTE_CARLO)


def test_powers_that_leave_no_posterior_are_refused():
    two, three = (pooling.Groups.of(np.ones((n, 1)), np.ones((n, 1))) for n in (2, 3))
    assert not pooling.proper(two, 1.0, 0.5)
    assert pooling.proper(three, 1.0, 0.5)


@pytest.mark.long
def test_arviz_finds_the_same_densities(five_compared, grouped):
    import arviz_stats

    for comparison in (five_compared, grouped):
        tree = comparison.datatree
        found = arviz_stats.psense(tree, group="prior", var_names=["difference"])["difference"]
        assert (found < 0.05).all()  # 80 items say more than the prior
        stats = tree["sample_stats"]
        programs = list(tree["log_prior"].data_vars)
        assert [name for name in stats.data_vars if name.startswith("log_likelihood")] == [
            f"log_likelihood_{name}" for name in programs
        ]
        assert all(np.isfinite(stats[f"log_likelihood_{name}"]).all() for name in programs)


def test_loo_is_not_computed_from_one_observation(five_compared, grouped):
    import arviz

    for comparison in (five_compared, grouped):
        assert "log_likelihood" not in comparison.datatree.children
        with pytest.raises((TypeError, ValueError, KeyError), match=r"log_likelihood|log likelihood"):
            arviz.loo(comparison.datatree)


def test_every_result_carries_the_table(five_compared, grouped):
    table = five_compared.prior_sensitivity()
    assert table.filter(kind="pair").height == 10
    assert table.filter(kind="best").height == 5
    best = {row["model"]: row["p_best"] for row in five_compared.ranks}
    for row in table.filter(kind="best").iter_rows(named=True):
        assert row["p"] == pytest.approx(best[row["what"].split()[0][2:]], abs=1e-9)
        assert abs(row["prior_double"] - row["p"]) < 0.02
    assert grouped.prior_sensitivity().filter(kind="population").height == 10


def test_few_items_are_said_to_lean_on_the_prior():
    values = np.array([[1.0, 2.0, 3.0, 2.5], [1.9, 2.3, 4.6, 3.0]])
    few = compare(make(values, "ab"), engine="exact")
    assert any("half or double weight" in said for said in few.warnings) == bool(sensitive(few.sensitivity))
    assert sensitive([{"what": "P", "p": 0.9, "prior_half": 0.8, "prior_double": None}])
    many = compare(make(np.random.default_rng(2).normal(size=(2, 400))), engine="exact")
    assert not any("half or double" in said for said in many.warnings)
