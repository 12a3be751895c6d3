import jax.numpy as jnp
import numpy as np
import pytest
from compiled_once import assert_same, parts_of, table, x64
from scipy import special
from scipy.integrate import quad

import probtruth as pt

ROUNDING = 1e-12  # Relative and absolute error of sums of a few terms of order 1 in float64
QUADRATURE = 1e-9  # What scipy's adaptive quadrature reaches near an integrable singularity

SHAPES = ((0.0, 0.0), (1.0, 1.0), (-0.5, -0.5), (0.5, 2.0), (3.0, 0.1), (-0.9, 5.0), (1e-9, 0.0))
GENERATED = {
    "log": (pt.rules.bregman(lambda p: (p * jnp.log(p)).sum()), pt.rules.log),
    "quadratic": (pt.rules.bregman(lambda p: (p**2).sum()), pt.rules.quadratic),
    "spherical": (pt.rules.bregman(lambda p: jnp.sqrt((p**2).sum())), pt.rules.spherical),
    "power(0.5)": (pt.rules.bregman(lambda p: -4 * (jnp.sqrt(p).sum() - 1)), pt.rules.power(0.5)),
}


def losses_of(rule, probs):
    """In float64, the loss of every label."""
    return x64(rule.per_label, probs)


@pytest.mark.long
def test_members_that_have_names():
    probs, _ = table()
    for family in (pt.rules.power, pt.rules.pseudospherical):
        assert_same(losses_of(family(1), probs), losses_of(pt.rules.log, probs))
        near = losses_of(family(1 + 1e-6), probs)  # the limit is reached at first order in beta - 1
        positive = probs > 1e-3
        np.testing.assert_allclose(near[positive], -np.log(probs[positive]), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(2 * losses_of(pt.rules.power(2), probs), losses_of(pt.rules.brier, probs), atol=ROUNDING)
    np.testing.assert_allclose(
        losses_of(pt.rules.pseudospherical(2), probs) - 1, losses_of(pt.rules.spherical, probs), atol=ROUNDING
    )
    pair, _ = table(2)
    assert_same(losses_of(pt.rules.beta(0, 0), pair), losses_of(pt.rules.log, pair))
    np.testing.assert_allclose(4 * losses_of(pt.rules.beta(1, 1), pair), losses_of(pt.rules.brier, pair), atol=ROUNDING)


def test_members_of_three_by_hand():
    # at p = (.5, .3, .2), with sum p^3 = .16: (1 - p_y^2)/2 + (.16 - 1)/3, and (1 - (p_y/.16^(1/3))^2)/2
    probs = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(losses_of(pt.rules.power(3), probs), (1 - probs**2) / 2 - 0.28, rtol=ROUNDING)
    expected = (1 - probs**2 / 0.16 ** (2 / 3)) / 2
    np.testing.assert_allclose(losses_of(pt.rules.pseudospherical(3), probs), expected, rtol=ROUNDING)


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.77, 0.99])
def test_beta_family_against_scipy_quadrature(a, b, p):
    losses = losses_of(pt.rules.beta(a, b), np.array([1 - p, p]))
    first = quad(lambda u: u**a * (1 - u) ** (b - 1), 0, p, epsabs=0, epsrel=1e-12)[0]
    second = quad(lambda v: v**b * (1 - v) ** (a - 1), 0, 1 - p, epsabs=0, epsrel=1e-12)[0]
    np.testing.assert_allclose(losses, [first, second], rtol=QUADRATURE)


@pytest.mark.parametrize(("a", "b"), [(20, 20), (50, 50), (100, 3), (3, 100), (12.5, 0.3), (30, -0.5)])
@pytest.mark.parametrize("p", [0.0, 0.77, *(pytest.param(p, marks=pytest.mark.long) for p in (0.01, 0.5, 0.95, 1.0))])
def test_beta_family_of_narrow_weights_against_scipy(a, b, p):
    """Weights that concentrate around a threshold, as the rule says that large a + b does."""
    losses = losses_of(pt.rules.beta(a, b), np.array([1 - p, p]))
    # for b <= 0 by parts: the integral of u^a (1-u)^(b-1) is (u^a (1-u)^b - a int u^(a-1) (1-u)^b) / -b
    first = special.beta(a + 1, b) * special.betainc(a + 1, b, p) if b > 0 else np.inf
    if b < 0 and p < 1:
        first = (p**a * (1 - p) ** b - a * special.beta(a, b + 1) * special.betainc(a, b + 1, p)) / -b
    second = special.beta(b + 1, a) * special.betainc(b + 1, a, 1 - p)
    most = special.beta(a + 1, b) if b > 0 else 1.0
    np.testing.assert_allclose(losses, [first, second], rtol=1e-10, atol=1e-10 * min(most, special.beta(b + 1, a)))


@pytest.mark.parametrize(("beta", "labels"), [(60, 2), (20, 10)])
def test_pseudospherical_of_large_beta_by_its_formula(beta, labels):
    """sum p^beta is below rounding beside 1: 10 * .1^20 = 1e-19."""
    rule, truth = pt.rules.pseudospherical(beta), np.full(labels, 1 / labels)
    sure = np.eye(labels)[0]
    length = labels ** (1 / beta) / labels
    np.testing.assert_allclose(x64(rule.entropy, truth), (1 - length) / (beta - 1), rtol=ROUNDING)
    # the divergence of a certain report: |t| - t_0, divided by beta - 1
    np.testing.assert_allclose(x64(rule.divergence, sure, truth), (length - 1 / labels) / (beta - 1), rtol=ROUNDING)
    np.testing.assert_allclose(
        x64(rule.divergence, truth, sure), (1 - (1 / labels / length) ** (beta - 1)) / (beta - 1)
    )


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("log", np.float64),
        ("quadratic", np.float64),
        ("log", np.float32),
        *(pytest.param(name, np.float64, marks=pytest.mark.long) for name in ("spherical", "power(0.5)")),
        *(pytest.param(name, np.float32, marks=pytest.mark.long) for name in ("quadratic", "spherical", "power(0.5)")),
    ],
)
def test_generated_rules_are_the_rules_of_their_generators(name, dtype):
    rule, known = GENERATED[name]
    probs, truth = (array.astype(dtype) for array in table())
    close = 2e-5 if dtype == np.float32 else 1e-11  # subtraction at relative distance .1 leaves two digits fewer
    ours, theirs = (x64(parts_of(each), probs, truth) for each in (rule, known))
    for one, other in zip(ours, theirs, strict=True):
        assert_same(one, other, rtol=close, atol=close)


def test_one_rule_object_for_one_parameter():
    assert pt.rules.power(1.5) is pt.rules.power(1.5)
    assert hash(pt.rules.beta(1, 2)) == hash(pt.rules.beta(1, 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pt.rules.power(0), "beta 0, expected a number above 0"),
        (lambda: pt.rules.power("two"), "beta 'two', expected a number above 0"),
        (lambda: pt.rules.pseudospherical(-1), "beta -1"),
        (lambda: pt.rules.beta(-1, 0), "a -1, expected a number above -1"),
        (lambda: pt.rules.beta(0, float("nan")), "b nan"),
        (lambda: pt.rules.bregman(3), "generator of type int"),
        (lambda: pt.score({"a": [[0.2, 0.3, 0.5]]}, [0], rule=pt.rules.beta(1, 1)), "3 labels, expected 2 labels"),
    ],
)
def test_errors(make, message):
    with pytest.raises(pt.InputError, match=message):
        make()
