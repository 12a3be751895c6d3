"""The hierarchy by quadrature: against adaptive integration, closed forms, and what must not change it."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_scores import cells, estimated, side_by_side
from numpy.testing import assert_allclose
from scipy import integrate, special, stats

import probtruth as pt
from probtruth.comparison.estimation.design import Design
from probtruth.comparison.estimation.estimate import MANY
from probtruth.comparison.posterior.groups import Groups, Hierarchy, Population, quadrature, variance_nodes

QUADRATURE = 2e-4  # Absolute, in probability: a grid of 400 points against adaptive quadrature
TAIL = 2e-3  # Relative, in the width of an interval: the prior ends at 10,000 spreads, the integral does not
NODES_ERROR = 0.025  # Relative: six nodes for the variance of a group
GRID_ERROR = 2e-3
"""In probability, and in the width of an interval: four vectors of the groups' variances a cell against 64."""
ROUNDED = 1e-9  # Relative: scaling and shifting the input rounds it


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    return rng.normal(0.3, 0.5, (6, 1)), rng.uniform(0.02, 0.2, (6, 1))


def known(mean, variance) -> Groups:
    """Groups of one pair whose means have these variances, estimated from very many items."""
    mean, variance = np.asarray(mean, float), np.asarray(variance, float)
    ones = np.ones_like(mean)
    return Groups(mean, ones, MANY * ones, 1 / variance[:, 0], np.ones(1))


def posterior_of(mean, variance) -> Hierarchy:
    summed = known(mean, variance)
    return quadrature(summed, 0)


def test_quadrature_is_that_of_adaptive_integration(groups):
    mean, variance = groups
    scale = known(mean, variance).prior_scale[0]

    def densities(log_tau):
        tau = np.exp(log_tau)
        sd = np.sqrt(tau**2 + variance[:, 0])
        # over the centre by the trapezoidal rule: nothing is integrated out by algebra
        centre = np.linspace(-15, 15, 3001)
        log = stats.norm.logpdf(mean[:, 0], centre[:, None], sd).sum(1)
        density = np.exp(log) / (tau + scale) * tau
        return density.sum(), density[centre < 0].sum() + density[1500] / 2

    evidence = integrate.quad(lambda x: densities(x)[0], -12, 3, limit=200)[0]
    tail = integrate.quad(lambda x: densities(x)[1], -12, 3, limit=200)[0]
    p = posterior_of(mean, variance).mixture().below(0.0)
    assert abs(float(p) - tail / evidence) < QUADRATURE


@pytest.mark.parametrize("n_groups", [2, 3, 5, 20, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("variance", [1e-12])
def test_groups_that_differ_by_far_more_than_their_errors_are_a_t(n_groups, variance):
    # Student's t of the groups' means, for the population; for one new group with its own deviation added
    mean = np.random.default_rng(n_groups).normal(4.0, 3.0, (n_groups, 1))
    posterior = posterior_of(mean, np.full((n_groups, 1), variance))
    se = mean.std(ddof=1) / n_groups**0.5
    half = stats.t.ppf(0.975, n_groups - 1)
    for new_group, factor in ((False, 1.0), (True, (1 + n_groups) ** 0.5)):
        mixture = posterior.mixture(new_group)
        low, high = (float(mixture.quantile(p)) for p in (0.025, 0.975))
        assert (high - low) / 2 == pytest.approx(half * se * factor, rel=TAIL)
        assert (high + low) / 2 == pytest.approx(mean.mean(), abs=TAIL * se)


def test_exact_groups_that_agree_are_known_as_well_as_all_their_items():
    # 50 groups without any difference between them: close to one sample, never narrower
    alike = posterior_of(np.full((50, 1), 0.2), np.full((50, 1), 0.01)).mixture()
    width = float(alike.quantile(0.975) - alike.quantile(0.025))
    assert 1.0 < width / (2 * 1.96 * 0.1 / 50**0.5) < 1.1


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_groups=st.integers(2, 12),
    scale=st.floats(-8, 8).map(lambda power: 10.0**power),
    shift=st.floats(-1e3, 1e3),
    between=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
)
@example(seed=434, n_groups=2, scale=10.0, shift=0.0, between=10.0)  # a quantile was halved away where it was exact
def test_scaling_and_shifting_all_differences_scales_and_shifts_every_answer(seed, n_groups, scale, shift, between):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 500, n_groups)
    mean = between * rng.standard_normal((n_groups, 1)) + rng.standard_normal((n_groups, 1)) / sizes[:, None] ** 0.5
    variance = 1.0 / sizes[:, None]
    one, other = posterior_of(mean, variance), posterior_of(scale * (mean + shift), scale**2 * variance)
    assert_allclose(other.between, scale * one.between, rtol=1e-6, atol=scale * 1e-9)
    for new_group in (False, True):
        for p in (0.025, 0.3, 0.975):
            values = one.mixture(new_group).quantile(p), other.mixture(new_group).quantile(p)
            assert_allclose(values[1], scale * (values[0] + shift), rtol=ROUNDED, atol=scale * 1e-6)


def test_another_pair_changes_no_bit_of_the_first():
    rng = np.random.default_rng(3)
    mean, seen = rng.normal(size=(7, 3)), rng.gamma(4.0, size=(7, 3))
    sizes = rng.integers(2, 50, 7).astype(float)
    df = np.repeat(sizes[:, None] - 1, 3, axis=1)
    of_all = Groups(mean, seen, df, sizes, seen.mean(0))
    of_first = Groups(mean[:, :1], seen[:, :1], df[:, :1], sizes, seen.mean(0)[:1])
    alone, beside = (quadrature(one, 0) for one in (of_first, of_all))
    for name in ("between", "weight", "variance"):
        assert np.array_equal(getattr(alone, name), getattr(beside, name))


@pytest.mark.parametrize("sizes", [(5,) * 10, (12, 12, 12)])
def test_a_finer_grid_says_the_same(monkeypatch, sizes):
    """The same vectors in every cell moved P by 0.02 with ten groups of five items."""
    rng = np.random.default_rng(5)
    n_items = np.array(sizes, float)
    df = n_items[:, None] - 1
    mean = 0.4 * rng.standard_normal(df.shape) + rng.standard_normal(df.shape) / np.sqrt(n_items[:, None])
    groups = Groups(mean, rng.chisquare(df) / df, df, n_items, np.ones(1))
    default = quadrature(groups, 0).mixture()
    monkeypatch.setattr("probtruth.comparison.posterior.groups.POINTS", 100)
    monkeypatch.setattr("probtruth.comparison.posterior.groups.CELLS_OF_VARIANCES", (28, 48))
    finer = quadrature(groups, 0).mixture()
    assert abs(float(default.below(0.0)) - float(finer.below(0.0))) < GRID_ERROR
    width = float(finer.quantile(0.975) - finer.quantile(0.025))
    for p in (0.025, 0.975):
        assert default.quantile(p) == pytest.approx(float(finer.quantile(p)), abs=GRID_ERROR * width)


def test_a_groups_own_answer_is_its_conditional_averaged_over_the_draws(groups):
    mean, variance = groups
    posterior = posterior_of(*groups)
    rng = np.random.default_rng(0)
    part = rng.choice(len(posterior.weight), 200_000, p=posterior.weight)
    of_population = posterior.mixture()
    centre = rng.normal(of_population.mean[part], of_population.sd[part])
    between = posterior.between[part]
    mixtures = posterior.of_groups()
    for group in range(len(mean)):
        # given centre and sd, which the draws have from all groups, theta_g is the usual precision-weighted mean
        precision = 1 / variance[group, 0] + between**-2.0
        at = (mean[group, 0] / variance[group, 0] + centre / between**2) / precision
        theta = at + np.random.default_rng(group).normal(size=len(at)) / precision**0.5
        assert mixtures[group].below(0.1) == pytest.approx((theta < 0.1).mean(), abs=0.01)


@pytest.mark.parametrize("spread", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("df", [1.0, 3.0, 200.0])
@pytest.mark.parametrize("seen", [0.4, 1e-6])  # the latter of a group whose items are alike
def test_the_variance_of_a_group_is_integrated_out(spread, df, seen):
    """Six nodes against adaptive quadrature of prior times likelihood times density of the mean."""
    typical, size, between = 0.3, 7.0, 0.2

    def density(log, apart):
        likelihood = stats.gamma.pdf(seen, df / 2, scale=2 * np.exp(log) / df)
        return (
            stats.norm.pdf(log, typical, spread)
            * likelihood
            * stats.norm.pdf(apart, 0, np.sqrt(between**2 + np.exp(log) / size))
        )

    nodes, log_weights = variance_nodes(np.array([typical]), np.array([spread]), np.array([df]), np.array([seen]))
    of_seen = df / 2 * np.log(df / 2) + (df / 2 - 1) * np.log(seen) - special.gammaln(df / 2)
    for apart in (0.0, 0.5):
        wanted = integrate.quad(
            lambda log, apart=apart: density(log, apart),
            typical - 12 * spread - 6,
            typical + 12 * spread + 6,
            points=[np.log(seen), typical],
            limit=300,
        )[0]
        found = (
            np.exp(log_weights + of_seen) * stats.norm.pdf(apart, 0, np.sqrt(between**2 + np.exp(nodes) / size))
        ).sum()
        assert found == pytest.approx(wanted, rel=NODES_ERROR)


def test_a_noisy_group_leans_on_the_others_for_its_variance():
    """Four items that happen to agree do not make a group certain: its variance is between its own and the typical."""
    rng = np.random.default_rng(0)
    sizes = np.r_[4.0, np.full(9, 40.0)]
    seen = np.r_[0.01, rng.chisquare(39, 9) / 39][:, None]
    groups = Groups(np.zeros((10, 1)), seen, sizes[:, None] - 1, sizes, np.ones(1))
    found = quadrature(groups, 0)
    own = np.sqrt((found.variance[0] * found.weight).sum() * 4)
    assert 0.15 < own < 1.0


def groups_of(values, n_groups):
    n_items = values.shape[1]
    return estimated(values, Design.of(np.arange(n_items) // (n_items // n_groups)))


def test_population_of_models_at_a_fixed_distance():
    rng = np.random.default_rng(6)
    row, other = rng.normal(size=(2, 60))
    population = Population.of(groups_of(np.stack([row, row + 0.5, row, other]), 4)).by_quadrature()
    # pairs (0, 1), (0, 2), (0, 3), ...
    shifted, same, other, _, shifted_from_other, _ = [population.differences(pair, "new group")[0] for pair in range(6)]
    assert (same.below(0.0), same.centre) == (0.5, 0.0)
    assert shifted.interval() == (pytest.approx(-0.5, rel=1e-12),) * 2
    assert [found.centre for found in population.differences(1, "groups")] == [0.0] * 4
    assert shifted_from_other.quantile(0.3) == pytest.approx(other.quantile(0.3) + 0.5)


def test_no_population_without_variance_within_groups():
    assert Population.of(groups_of(np.ones((2, 8)), 2)) is None


@pytest.mark.parametrize("engine", ["exact", pytest.param("auto", marks=pytest.mark.long)])
def test_three_groups_that_all_say_a_half_have_a_population_near_a_half(engine):
    # items of sd .1 about -.50, -.55 and -.45: a prior of mu in item sds answered -.20 (-.41 to -.01)
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.1, (3, 40))
    means = np.array([-0.50, -0.55, -0.45])
    differences = (noise - noise.mean(1, keepdims=True) + means[:, None]).ravel()
    scores = pt.Scores.from_frame(side_by_side(a=differences, b=0 * differences), higher_is_better=False)
    comparison = pt.compare(scores, groups=np.repeat(["x", "y", "z"], 40).tolist(), engine=engine)
    (row,) = comparison.group_results["population of groups"]
    assert row["difference"] == pytest.approx(-0.5, abs=0.001)
    assert row["low"] < means.min() < means.max() < row["high"] < -0.3
    # at most the t of three means, at least what 120 items of one population would say
    half = (row["high"] - row["low"]) / 2
    # 1.08: the Monte Carlo error of an end where draws are shown
    assert 1.96 * 0.1 / 120**0.5 < half < 1.08 * stats.t.ppf(0.975, 2) * means.std(ddof=1) / 3**0.5
    assert row["p_a_better"] > 0.99


@pytest.mark.parametrize("n_annotators", [2, 3, 8])
@pytest.mark.parametrize("engine", ["exact", pytest.param("auto", marks=pytest.mark.long)])
def test_what_few_annotators_tell_of_new_ones_is_as_unsure_in_groups_as_in_the_headline(n_annotators, engine):
    """Groups took the annotators' variance for known: with two annotators their intervals covered 0.69 to 0.85."""
    frame = cells(np.random.default_rng(1), np.zeros(n_annotators), 200, n_annotators, 3.0, 0.1)
    scores = pt.read_scores(frame, higher_is_better=False, annotator="annotator")
    groups = {item: int(item[1:]) % 10 for item in scores.items}
    comparison = pt.compare(scores, groups=groups, engine=engine)
    width = comparison.pairs[0].high - comparison.pairs[0].low
    rows = [*comparison.groups, *comparison.group_results["population of groups"]]
    assert len(rows) == 11
    for row in rows:  # annotators differ by far more than items or groups; the headline alone counts their skewness
        assert row.high - row.low == pytest.approx(width, rel=0.08)
