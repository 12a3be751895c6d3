import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from scipy import stats

from probtruth.comparison.posterior import programs
from probtruth.inference import ancestral

ROOT = np.array([[0.5, 0.0], [-0.2, 0.3], [-0.3, -0.3]])


@pytest.fixture(scope="module")
def draws():
    data = {"mean": np.array([0.1, -0.4, 0.3]), "root": ROOT, "df": np.asarray(7.0)}
    return ancestral.draw(programs.location, data, 5, draws=2500, chains=4)


def test_contrasts_are_the_multivariate_t_of_the_program(draws):
    contrast = draws.sites["contrast"]
    assert contrast.shape == (4, 2500, 3)
    assert contrast.dtype == np.float64
    for model, centre in enumerate((0.1, -0.4, 0.3)):
        t = stats.t(7, centre, np.linalg.norm(ROOT[model]))  # the margin that the docstring of the program states
        assert stats.kstest(contrast[..., model].ravel(), t.cdf).pvalue > 1e-4


def test_sites_are_drawn_from_their_own_distributions(draws):
    assert stats.kstest(draws.sites["scale"].ravel(), stats.gamma(3.5, scale=1 / 3.5).cdf).pvalue > 1e-4
    assert stats.kstest(draws.sites["innovation"].ravel(), stats.norm.cdf).pvalue > 1e-4
    assert draws.stats == {}


def test_draws_are_independent_along_a_chain_and_follow_from_the_seed(draws):
    first = draws.sites["contrast"][..., 0]
    assert abs(np.corrcoef(first[:, 1:].ravel(), first[:, :-1].ravel())[0, 1]) < 0.05  # five errors of 10,000 draws
    data = {"mean": np.zeros(3), "root": ROOT, "df": np.asarray(7.0)}
    one, same, other = (ancestral.draw(programs.location, data, seed, draws=50, chains=2) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.sites["contrast"], same.sites["contrast"])
    assert not np.array_equal(one.sites["contrast"], other.sites["contrast"])
    assert jax.config.jax_enable_x64 is False


def test_a_distribution_that_has_no_sampler_here_is_refused():
    def program(unit):
        numpyro.sample("angle", dist.VonMises(0.0, unit))

    with pytest.raises(TypeError, match="VonMises"):
        ancestral.draw(program, {"unit": np.ones(())}, 0, draws=10, chains=2)


def test_one_program_is_compiled(compiled):
    """What the program computes besides its sites is compiled with the rest, not operation by operation."""
    data = {"mean": np.zeros(4), "root": np.eye(4)[:, :3], "df": np.asarray(9.0)}
    ancestral.draw(programs.location, data, 0, draws=10, chains=2)
    assert compiled == ["jit(one)"]
