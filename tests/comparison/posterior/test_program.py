"""The program: what it observes, its equal forms, its calibration, and a twin on the differences of single items."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from made_scores import make
from numpyro import handlers
from numpyro.infer.util import log_density
from scipy import integrate, stats

from probtruth.comparison.compare import compare
from probtruth.comparison.posterior.drawn import ACCEPT, SITES
from probtruth.comparison.posterior.groups import TINY, Groups, from_draws, quadrature
from probtruth.comparison.posterior.program import integrated, program
from probtruth.inference import nuts
from probtruth.inference.diagnostics import mean_with_error

MONTE_CARLO = 5.0  # Standard errors of a mean of draws
NODES = 0.01  # Of a log density: six nodes for each group's variance
KEPT, THIN = 49, 6


def simulated(rng, between=0.4, spread=0.5, centre=0.3, sizes=(5, 12, 30, 60)):
    """Items of groups drawn from a population, and what they say in sums."""
    sizes = np.array(sizes)
    sds = np.exp(spread * rng.standard_normal(len(sizes)) / 2)
    theta = centre + between * rng.standard_normal(len(sizes))
    items = [t + sd * rng.standard_normal(n) for t, sd, n in zip(theta, sds, sizes, strict=True)]
    return items, summed(items)


def summed(items):
    sizes = np.array([len(one) for one in items], float)
    mean = np.array([[one.mean()] for one in items])
    seen = np.array([[one.var(ddof=1)] for one in items])
    df = sizes[:, None] - 1
    return Groups(mean, seen, df, sizes, (df * seen).sum(0) / df.sum())


def one_group(mean, variance, df):
    mean, variance = np.atleast_2d(mean).astype(float), np.atleast_2d(variance).astype(float)
    return {"mean": mean, "variance": variance, "df": np.full(mean.shape, df), "root": np.eye(mean.shape[1])}


def assert_close(draws, wanted):
    mean, error = mean_with_error(draws)
    assert abs(mean - wanted) < MONTE_CARLO * error


def traced(data, **options):
    sites = handlers.trace(handlers.seed(program, jax.random.key(0))).get_trace(**data, **options)
    samples = {name: site for name, site in sites.items() if site["type"] == "sample"}
    return {name for name, site in samples.items() if site["is_observed"]}, samples, sites


def test_the_program_observes_the_mean_and_the_variance_of_every_group():
    groups = simulated(np.random.default_rng(0))[1]
    observed, samples, sites = traced(groups.data(0))
    assert observed == {"observed_mean", "observed_variance", "flat_difference", "flat_typical"}
    plates = {frame.name: frame.size for frame in samples["observed_mean"]["cond_indep_stack"]}
    assert plates == {"group": 4, "pair": 1}
    np.testing.assert_allclose(samples["observed_mean"]["value"], groups.mean)
    np.testing.assert_allclose(samples["observed_variance"]["value"], groups.seen, rtol=1e-6)
    assert {"difference", "between", "typical", "spread", "variance", "group_mean"} <= set(sites)
    observed, samples, _ = traced(one_group([0.4], [0.04], 19.0))
    assert observed == {"observed_mean", "observed_variance", "flat_difference"}
    np.testing.assert_allclose(samples["observed_variance"]["value"], 0.04, rtol=1e-6)


@pytest.mark.parametrize("groups", [None, pytest.param(np.arange(40) % 4, marks=pytest.mark.long)])
def test_scores_of_another_scale_give_the_same_draws_scaled(groups):
    values = np.random.default_rng(1).normal([[0.0], [0.3]], 1.0, (2, 40))
    small, large = (compare(make(scale * values), groups, engine="nuts", draws=200) for scale in (1.0, 300.0))
    names = ("difference",) if groups is None else ("difference", "population_difference", "between_group_sd")
    for name in names:
        drawn = [one.datatree["posterior"][name].values for one in (small, large)]
        np.testing.assert_allclose(drawn[1], 300.0 * drawn[0], rtol=1e-6, atol=1e-6 * np.ptp(drawn[1]))


def test_one_group_is_students_t():
    data = one_group([0.4, -1.0], [0.04, 0.3], 7.0)
    drawn = nuts.sample(program, data, 0, draws=2500).sites["difference"]
    for pair in range(2):
        t = stats.t(7.0, data["mean"][0, pair], data["variance"][0, pair] ** 0.5)
        for p in (0.025, 0.3, 0.975):
            assert_close((drawn[..., pair] < t.ppf(p)) * 1.0, p)


def test_what_is_integrated_out_changes_no_density():
    """The full program with the groups' means and variances integrated numerically, at several values of the others."""
    groups = simulated(np.random.default_rng(2), sizes=(4, 30))[1]
    data = groups.data(0)
    found, wanted = [], []
    names = ("between_score", "spread_score", "standardised_typical", "standardised_difference")
    for values in ((-0.5, -0.6, 0.1, 0.2), (0.5, 0.5, -0.2, -0.5), (0.0, 0.3, 0.0, 0.0)):
        latent = {name: np.array([value]) for name, value in zip(names, values, strict=True)}
        with jax.enable_x64(True):
            found.append(float(log_density(integrated, (), data, latent)[0]))
            seeded = handlers.seed(integrated, jax.random.key(0))
            sites = handlers.trace(handlers.substitute(seeded, latent)).get_trace(**data)
            parts = [site["fn"].log_prob(site["value"]).sum() for name, site in sites.items() if name in latent]
            flat = [site["fn"].log_factor.sum() for name, site in sites.items() if name.startswith("flat")]
            rest = float(sum(parts) + sum(flat))
            mu, tau, typical, spread = (float(sites[name]["value"][0]) for name in SITES[:4])
        for g in range(2):

            def density_of(log, g=g, mu=mu, tau=tau, typical=typical, spread=spread):
                df, n = groups.df[g, 0], groups.n_items[g]
                likelihood = stats.gamma.pdf(groups.seen[g, 0], df / 2, scale=2 * np.exp(log) / df)
                of_mean = stats.norm.pdf(groups.mean[g, 0], mu, np.sqrt(tau**2 + np.exp(log) / n))
                return stats.norm.pdf(log, typical, spread) * likelihood * of_mean

            rest += np.log(integrate.quad(density_of, typical - 10, typical + 10, points=[typical], limit=200)[0])
        wanted.append(rest)
    # up to what the observed variances say alone
    np.testing.assert_allclose(np.diff(found), np.diff(wanted), atol=NODES)


@pytest.mark.long
@pytest.mark.parametrize("n_constant", [0, 1, None])
def test_the_sampler_and_the_quadrature_agree(n_constant):
    """Also where groups are constant: five fixed spreads of the variances left ends 4 per cent off."""
    for seed, sizes in ((3, (4, 4, 8, 30, 100)), (4, (12, 12, 12)), (5, (5,) * 20), (6, (9, 30))):
        items, _ = simulated(np.random.default_rng(seed), sizes=sizes)
        groups = summed(items)
        constant = len(sizes) // 2 if n_constant is None else n_constant
        seen = groups.seen.copy()
        seen[:constant] = TINY * groups.pooled
        groups = replace(groups, seen=seen)
        sites = nuts.sample(integrated, groups.data(0), 0, draws=1000, target_accept=ACCEPT).sites
        drawn, exact = from_draws(groups, sites, 0, 0), quadrature(groups, 0)
        for one, other in ((drawn.mixture(), exact.mixture()), (drawn.mixture(True), exact.mixture(True))):
            width = other.quantile(0.975) - other.quantile(0.025)
            assert one.below(0.0) == pytest.approx(float(other.below(0.0)), abs=0.01)
            for p in (0.025, 0.975):
                assert one.quantile(p) == pytest.approx(float(other.quantile(p)), abs=0.02 * width)
        width, apart = np.transpose(
            [
                (one.quantile(0.975) - one.quantile(0.025), other.quantile(0.975) - one.quantile(0.975))
                for one, other in zip(exact.of_groups(), drawn.of_groups(), strict=True)
            ]
        )
        # six nodes say little of a group without spread: over 32 seeds its end lay -0.04 to 0.19 widths away
        tolerance = np.where(np.arange(len(sizes)) < constant, 0.25, 0.06)
        assert (np.abs(apart) < tolerance * np.maximum(width, width.mean())).all()


def per_item(value, group, prior_scale, log_range, centre, unit, log_pooled):
    """Every item is observed; nothing is summed up or integrated out."""
    quantile = numpyro.sample("quantile", dist.Uniform(0.0, 1.0))
    between = numpyro.deterministic("between", prior_scale * jnp.expm1(quantile * log_range))
    difference = numpyro.sample("difference", dist.Normal(centre, 100 * unit))
    typical = numpyro.sample("typical", dist.Normal(log_pooled, 30.0))
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    with numpyro.plate("group", 4):
        theta = difference + between * numpyro.sample("theta", dist.Normal(0.0, 1.0))
        log_variance = typical + spread * numpyro.sample("log_variance", dist.Normal(0.0, 1.0))
    with numpyro.plate("item", len(value)):
        numpyro.sample("value", dist.Normal(theta[group], jnp.exp(log_variance / 2)[group]), obs=value)


@pytest.mark.long
def test_a_twin_on_single_items_says_the_same():
    items, groups = simulated(np.random.default_rng(6))
    whole = {
        "value": np.concatenate(items),
        "group": np.repeat(np.arange(4), [len(one) for one in items]),
        "prior_scale": groups.prior_scale[0],
        "log_range": groups.log_range[0],
        "centre": groups.mean.mean(),
        "unit": groups.mean.std(),
        "log_pooled": np.log(groups.pooled[0]),
    }
    twin = nuts.sample(per_item, whole, 0, draws=4000, target_accept=0.98).sites
    exact = quadrature(groups, 0).mixture()
    for p in (0.1, 0.5, 0.9):
        at = float(exact.quantile(p))
        chance, error = mean_with_error((twin["difference"] < at) * 1.0)
        assert abs(chance - p) < MONTE_CARLO * error + 0.01


@pytest.mark.long
def test_ranks_of_the_truth_are_even_under_the_programs_own_prior_predictive():
    """Talts et al. 2018, arXiv:1804.06788. One group is Student's t, above."""
    rng, ranks = np.random.default_rng(7), []
    sizes, scale, log_range = np.array([5, 8, 20.0]), 0.2, 3.0
    for seed in range(200):
        truth = scale * np.expm1(rng.random() * log_range)
        spread = abs(rng.standard_normal())
        typical = rng.uniform(-8, 8)  # a flat prior of the logarithm, beside which the sd's prior has a scale
        true = np.exp(typical + spread * rng.standard_normal(3))
        mean = rng.normal(truth * rng.standard_normal(3), np.sqrt(true / sizes))[:, None]
        seen = (true * rng.chisquare(sizes - 1) / (sizes - 1))[:, None]
        data = Groups(mean, seen, sizes[:, None] - 1, sizes, np.ones(1)).data(0)
        data |= {"prior_scale": np.array([scale]), "log_range": np.array([log_range])}
        drawn = nuts.sample(integrated, data, seed, draws=KEPT * THIN, chains=1, target_accept=0.9).sites["between"]
        ranks.append(int((drawn[0, ::THIN, 0][:KEPT] < truth).sum()))
    counts = np.bincount(np.array(ranks) // 5, minlength=10)
    assert stats.chisquare(counts).pvalue > 1e-3
