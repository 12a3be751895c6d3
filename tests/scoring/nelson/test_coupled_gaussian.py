import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special, stats

from probtruth.scoring.nelson import coupled_gaussian
from probtruth.scoring.nelson import coupled_gaussian as cg

LOG_ROUNDING = 1e-12  # Rounding of log-gamma functions of arguments up to 1,000, in SciPy as in float64 here

POINTS = np.linspace(-6, 6, 7)
LOG_DENSITY = jax.jit(cg.log_density)


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("freedom", [1, 2, 10, 1000])
def test_heavy_tails_are_students_t(freedom):
    found = LOG_DENSITY(POINTS, 0.3, 1.7, 1 / freedom)
    np.testing.assert_allclose(found, stats.t.logpdf(POINTS, freedom, 0.3, 1.7), rtol=LOG_ROUNDING)


def test_kappa_zero_is_the_gaussian():
    np.testing.assert_allclose(LOG_DENSITY(POINTS, 0.3, 1.7), stats.norm.logpdf(POINTS, 0.3, 1.7), rtol=LOG_ROUNDING)


@pytest.mark.long
@pytest.mark.parametrize("dim", [1, 3, 10])
def test_several_dimensions(dim):
    rng = np.random.default_rng(0)
    loc, scale, x = rng.normal(size=dim), np.eye(dim) * 1.3 + 0.2, rng.normal(size=(4, 2, dim))
    found = cg.multivariate_log_density(x, loc, scale, 0.162)
    np.testing.assert_allclose(found, stats.multivariate_t.logpdf(x, loc, scale, 1 / 0.162), rtol=LOG_ROUNDING)
    found = cg.multivariate_log_density(x, loc, scale)
    np.testing.assert_allclose(found, stats.multivariate_normal.logpdf(x, loc, scale), rtol=LOG_ROUNDING)


DENSITY = jax.jit(lambda x, kappa: jnp.exp(cg.log_density(x, 0.0, 1.0, kappa)))


@pytest.mark.parametrize("kappa", [-0.9, -0.3, -0.095, -1e-4, 0.0, 1e-4, 0.5])
def test_densities_integrate_to_one(kappa):
    """Both branches of the normaliser of Equation 14, and the support +-1/sqrt(-kappa) of the compact one."""
    edge = np.inf if kappa >= 0 else (-1 / kappa) ** 0.5
    total, error = integrate.quad(lambda x: float(DENSITY(x, kappa)), -edge, edge)
    assert abs(total - 1) < 10 * error + 1e-9
    if kappa < 0:
        assert float(DENSITY(edge * 1.0001, kappa)) == 0


@pytest.mark.parametrize("dim", [1, 2, 10])
@pytest.mark.parametrize("share", [-0.9, -0.3, -0.01])
def test_the_compact_normaliser_as_written(dim, share):
    """|Sigma|^.5 (pi/|kappa|)^(d/2) Gamma(a+1)/Gamma(a+1+d/2), a = -(1/kappa + d)/2."""
    kappa = share / dim
    a = -0.5 * (1 / kappa + dim)
    expected = dim / 2 * np.log(-np.pi / kappa) + special.gammaln(a + 1) - special.gammaln(a + 1 + dim / 2)
    assert float(cg.log_normalizer(kappa, dim)) == pytest.approx(expected, rel=LOG_ROUNDING)


@pytest.mark.long
@pytest.mark.parametrize("kappa", [-0.9, -0.3, 0.0, 0.2, 1.0])
def test_draws_follow_the_density(kappa):
    drawn = (np.asarray(cg.sample(jax.random.key(1), (4000,), 1.0, 2.0, kappa)) - 1) / 2
    if kappa < 0:
        drawn, law = -kappa * drawn**2, stats.beta(0.5, 1 - 0.5 * (1 / kappa + 1))
    else:
        law = stats.t(1 / kappa) if kappa else stats.norm
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-3


def test_two_classes_by_bayes_rule():
    """Two Student-t (kappa = 1/2) at 0 and 2: the tails return to the prior instead of saturating (Figure 2c)."""
    x = np.array([-1e4, 1.0, 1e4])
    logs = LOG_DENSITY(x[:, None], np.array([0.0, 2.0]), 1.0, 0.5)
    found = np.exp(np.asarray(cg.log_posterior(logs, np.array([0.3, 0.7]))))
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-14)
    np.testing.assert_allclose(found[:, 0], 0.3, atol=3e-4)  # 6/x away from the prior
    gaussian = np.exp(np.asarray(cg.log_posterior(LOG_DENSITY(x[:, None], np.array([0.0, 2.0])), np.ones(2))))
    np.testing.assert_array_equal(gaussian[[0, 2], 0], [1, 0])


def test_outside_of_both_supports_nothing_is_known():
    logs = LOG_DENSITY(np.array([1.0, 3.0, 9.0])[:, None], np.array([0.0, 2.0]), 1.0, -0.5)
    found = np.exp(np.asarray(cg.log_posterior(logs, np.array([0.5, 0.5]))))
    np.testing.assert_array_equal(found[1], [0, 1])
    assert np.isnan(found[2]).all()


def test_jit_vmap_and_gradients():
    kappas = jnp.array([-0.5, -1e-6, 0.0, 1e-6, 0.5])
    for function in (cg.log_density, LOG_DENSITY):
        each = [float(function(0.7, 0.1, 1.3, kappa)) for kappa in kappas]
        np.testing.assert_allclose(jax.vmap(lambda k, f=function: f(0.7, 0.1, 1.3, k))(kappas), each, rtol=LOG_ROUNDING)
    slopes = jax.jit(jax.grad(cg.log_density, (0, 1, 2, 3)))
    step, allowed = 1e-6, 1e-8  # central differences: step^2 and rounding/step
    for argument in range(4):
        for kappa in (-0.5, 0.0, 0.5):
            at = [0.7, 0.1, 1.3, kappa]
            up, down = list(at), list(at)
            up[argument] += step
            down[argument] -= step
            slope = (float(LOG_DENSITY(*up)) - float(LOG_DENSITY(*down))) / (2 * step)
            assert float(slopes(*at)[argument]) == pytest.approx(slope, abs=allowed)


def test_gradients_outside_the_support_are_finite():
    assert np.isfinite(jax.jit(jax.grad(cg.log_density))(9.0, 0.0, 1.0, -0.5))
    logs = jnp.array([-jnp.inf, 0.3])
    slopes = jax.jit(jax.jacobian(lambda x: cg.log_posterior(x, jnp.array([0.5, 0.5]))[1]))
    assert np.isfinite(slopes(logs)).all()


def test_float32_near_the_gaussian():
    """The textbook form of the normaliser cancels: at kappa 1e-6 its float32 value is off in the first digit."""
    with jax.enable_x64(False):
        found = float(cg.log_normalizer(np.float32(1e-6)))
        z = np.float32(0.5e6)
        naive = (
            0.5 * np.log(np.float32(np.pi * 1e6)) + jax.scipy.special.gammaln(z) - jax.scipy.special.gammaln(z + 0.5)
        )
    assert found == pytest.approx(0.5 * np.log(2 * np.pi), rel=1e-6)
    assert abs(float(naive) - found) > 0.01


ROUND_OFF = 1e-14  # Three operations in float64


@pytest.mark.parametrize(("kappa", "power"), [(0.5, -2 / 3), (-1 / 3, 1.0), (0.0, 0.0), (1.0, -1.0)])
def test_equation_11(kappa, power):
    """Nelson (2017): m = -2 kappa/(1 + d kappa) at d = 1; kappa = 1/2 gives -2/3, -1/3 gives 1."""
    assert coupled_gaussian.power_from_coupling(kappa) == pytest.approx(power, abs=ROUND_OFF)
    assert coupled_gaussian.coupling_from_power(power) == pytest.approx(kappa, abs=ROUND_OFF)


def test_the_papers_second_equality_is_the_dual_index():
    """m = q - 1 would make q = 1/3; Student's t with 2 degrees of freedom has q = 5/3 = 2 - 1/3."""
    freedom = 2
    assert coupled_gaussian.student_index(-2 / 3) == pytest.approx((freedom + 3) / (freedom + 1), rel=ROUND_OFF)
    assert 2 - coupled_gaussian.student_index(-2 / 3) == pytest.approx(-2 / 3 + 1, rel=ROUND_OFF)
