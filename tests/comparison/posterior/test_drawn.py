"""What the draws of NUTS say of the population of groups, and how well."""

import numpy as np
import pytest
from made_scores import estimated

from probtruth.comparison.estimation.design import Design
from probtruth.comparison.options import checked_options
from probtruth.comparison.posterior.drawn import (
    ACCEPT,
    END_ERROR,
    GROUP_DRAWS,
    START,
    WARMUP,
    draw_population,
    mixture_errors,
)
from probtruth.comparison.posterior.groups import Groups, Population, from_draws, quadrature
from probtruth.comparison.posterior.program import integrated
from probtruth.inference import nuts

FROM_QUADRATURE = 0.03  # Of an interval's width: what six nodes for the variance of a small group leave


def groups_of(n_groups, between, spread, seed):
    """Of 4 to 400 items whose variances differ, or of 30 of one variance; in units of their spread."""
    rng = np.random.default_rng([seed, n_groups])
    sizes = np.rint(np.geomspace(4, 400, n_groups)) if spread else np.full(n_groups, 30.0)
    df = sizes[:, None] - 1
    true = np.exp(spread * rng.standard_normal(df.shape))
    mean = between * rng.standard_normal(df.shape) + np.sqrt(true / sizes[:, None]) * rng.standard_normal(df.shape)
    seen = true * rng.chisquare(df) / df
    unit = np.sqrt(mean.var() + (seen[:, 0] / sizes).mean())
    seen = seen / unit**2
    return Groups((mean - mean.mean()) / unit, seen, df, sizes, (df * seen).sum(0) / df.sum())


def drawn(groups, seed):
    how = {"draws": 2 * GROUP_DRAWS, "warmup": WARMUP, "target_accept": ACCEPT, "start_width": START}
    run = nuts.sample(integrated, groups.data(0), seed, **how)
    return run, from_draws(groups, run.sites, 0, seed).mixture()


@pytest.mark.long
@pytest.mark.parametrize("n_groups", [2, 3, 4, 10, 40])
def test_no_divergences_and_ends_as_exact(n_groups):
    for between in (0.0, 0.3, 3.0, 100.0):
        for spread in (0.0, 1.0) if n_groups < 10 else (1.0,):
            groups = groups_of(n_groups, between, spread, 0)
            exact = quadrature(groups, 0).mixture()
            width = exact.quantile(0.975) - exact.quantile(0.025)
            run, mixture = drawn(groups, 0)
            assert not run.stats["diverging"].any()
            assert mixture_errors(mixture)[1] < END_ERROR
            for p in (0.025, 0.975):
                assert abs(mixture.quantile(p) - exact.quantile(p)) < FROM_QUADRATURE * width


@pytest.mark.long
@pytest.mark.parametrize("df", [200.0, 20_000.0, 1e6])
def test_variances_that_are_well_known_are_no_wall(df):
    """Groups of thousands of items, and votes: transitions diverged for one data set in five, and no verdict came."""
    for seed, sd in enumerate((0.1, 0.4, 1.5)):
        rng = np.random.default_rng(seed)
        true = np.exp(sd * np.array([[1.0], [-1.0], [0.3]]))
        mean = rng.standard_normal((3, 1))
        seen = true * rng.chisquare(df, (3, 1)) / df * 1000
        sizes = np.full(3, 1000.0)
        groups = Groups(mean - mean.mean(), seen, np.full((3, 1), df), sizes, seen.mean(0))
        exact = quadrature(groups, 0).mixture()
        run, mixture = drawn(groups, 0)
        assert not run.stats["diverging"].any()
        width = exact.quantile(0.975) - exact.quantile(0.025)
        for p in (0.025, 0.975):
            assert abs(mixture.quantile(p) - exact.quantile(p)) < FROM_QUADRATURE * width


@pytest.mark.long
def test_errors_of_ends_cover_what_seeds_do():
    """With two groups, whose interval hangs on the largest sds between them, ends moved by 0.06 of the width."""
    groups = groups_of(2, 0.3, 1.0, 0)
    found = [drawn(groups, seed)[1] for seed in range(6)]
    ends = np.array([[one.quantile(0.025), one.quantile(0.975)] for one in found])
    width = np.mean(ends[:, 1] - ends[:, 0])
    error = np.mean([mixture_errors(one)[1] for one in found])
    assert ends.std(0, ddof=1).max() < 1.5 * error * width


@pytest.mark.long
def test_no_chain_is_lost_at_its_start():
    """Right answers on 57 subjects: one chain of four stayed where its first step had thrown it (R-hat 1.56)."""
    differences = np.random.default_rng(1).choice([1.0, -1.0, 0.0], 57 * 50, p=[0.2, 0.15, 0.65])
    values = np.stack([differences, np.zeros(57 * 50)])
    population = Population.of(estimated(values, Design.of(np.repeat(np.arange(57), 50)), 1.0))
    _, run = draw_population(population, checked_options(seed=0))
    assert run.diagnostics()["max_rhat"] < 1.02


def test_the_error_of_ends_is_that_of_the_groups_too():
    """Of four groups of four items that differ, it is four times that of their population."""
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(4), 4)
    values = np.stack([2 * rng.normal(size=4)[group] + rng.normal(size=16), np.zeros(16)])
    population, run = draw_population(Population.of(estimated(values, Design.of(group))), checked_options(seed=0))
    (posterior,) = population.posterior
    over_groups = max(mixture_errors(posterior.mixture(new_group))[1] for new_group in (False, True))
    of_groups = max(mixture_errors(one)[1] for one in posterior.of_groups())
    assert run.end_mcse == of_groups > 2 * over_groups


@pytest.mark.long
def test_what_does_not_pass_is_drawn_again_in_smaller_steps():
    """Five groups of two items, one of them almost of one value: a transition diverged, and no verdict came."""
    mean = [[-0.003388180519], [0.2892433623], [-0.07503137151], [-1.107171207], [0.8963473968]]
    seen = [[1.188601183], [0.009797092748], [1.529562444], [1.220578452e-05], [1.975602957]]
    groups = Groups(np.array(mean), np.array(seen), np.ones((5, 1)), np.full(5, 2.0), np.array([0.9407151765]))
    one = np.ones(1)
    population = Population(groups, one > 0, 0 * one, one, (), None, None)
    _, run = draw_population(population, checked_options(seed=0))
    assert run.diagnostics()["divergences"] == 0
