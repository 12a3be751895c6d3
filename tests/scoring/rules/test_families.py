from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled_once import by_rows, x64
from scipy import special
from scipy.integrate import quad

import probtruth as pt

ROUNDING = 1e-12
"""Relative and absolute error of sums of a few terms of order 1 in float64."""
QUADRATURE = 1e-9
"""What scipy's adaptive quadrature reaches near an integrable singularity."""

POWERS = (0.4, 1.0, 1.5, 3.0)
SHAPES = ((0.0, 0.0), (1.0, 1.0), (-0.5, -0.5), (0.5, 2.0), (3.0, 0.1), (-0.9, 5.0), (1e-9, 0.0))
MANY = {rule.name: rule for b in POWERS for rule in (pt.rules.power(b), pt.rules.pseudospherical(b))}
MANY |= {rule.name: rule for rule in (pt.rules.tempered(0.5), pt.rules.power(10))}
TWO = {rule.name: rule for rule in (pt.rules.beta(a, b) for a, b in SHAPES[2:6])}
GENERATED = {
    "log": (pt.rules.bregman(lambda p: (p * jnp.log(p)).sum()), pt.rules.log),
    "quadratic": (pt.rules.bregman(lambda p: (p**2).sum()), pt.rules.quadratic),
    "spherical": (pt.rules.bregman(lambda p: jnp.sqrt((p**2).sum())), pt.rules.spherical),
    "power(0.5)": (pt.rules.bregman(lambda p: -4 * (jnp.sqrt(p).sum() - 1)), pt.rules.power(0.5)),
}


@cache
def parts_of(rule):
    """All that a rule gives for probabilities and truth, to be compiled together."""

    def parts(probs, truth):
        return rule.expected(probs, truth), rule.entropy(truth), rule.divergence(probs, truth), rule.per_label(probs)

    return parts


def losses_of(rule, probs):
    """In float64, the loss of every label."""
    return x64(rule.per_label, probs)


def table(seed=0, items=20, labels=3):
    """Random distributions, the first rows on edges and corners and equal to each other."""
    rng = np.random.default_rng(seed)
    probs, truth = rng.dirichlet(np.ones(labels) / 2, items), rng.dirichlet(np.ones(labels) / 2, items)
    probs[0], truth[0] = np.eye(labels)[0], np.eye(labels)[0]
    probs[1], truth[1] = np.eye(labels)[0], np.eye(labels)[1]
    probs[2] = truth[2]
    truth[3] = np.eye(labels)[1]
    return probs, truth


def assert_same(ours, theirs, rtol=ROUNDING, atol=ROUNDING):
    """Infinite in the same places, close elsewhere."""
    np.testing.assert_array_equal(np.isinf(ours), np.isinf(theirs))
    finite = np.isfinite(ours)
    np.testing.assert_allclose(ours[finite], theirs[finite], rtol=rtol, atol=atol)


# Reference


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
        losses_of(pt.rules.pseudospherical(2), probs) - 1,
        losses_of(pt.rules.spherical, probs),
        atol=ROUNDING,
    )
    np.testing.assert_allclose(
        losses_of(pt.rules.tempered(0.5), probs), losses_of(pt.rules.power(1.5), probs), atol=ROUNDING
    )
    pair, _ = table(labels=2)
    assert_same(losses_of(pt.rules.beta(0, 0), pair), losses_of(pt.rules.log, pair))
    np.testing.assert_allclose(4 * losses_of(pt.rules.beta(1, 1), pair), losses_of(pt.rules.brier, pair), atol=ROUNDING)


def test_power_of_three_by_hand():
    # loss = -(p_y^2 - 1)/2 + (sum p^3 - 1)/3 at p = (.5, .3, .2): sum p^3 = .16
    losses = losses_of(pt.rules.power(3), np.array([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(losses, [0.375 - 0.28, 0.455 - 0.28, 0.48 - 0.28], rtol=ROUNDING)


def test_pseudospherical_of_three_by_hand():
    # loss = -((p_y/|p|)^2 - 1)/2 with |p| = .16^(1/3) at p = (.5, .3, .2)
    losses = losses_of(pt.rules.pseudospherical(3), np.array([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(losses, [(1 - p * p / 0.16 ** (2 / 3)) / 2 for p in (0.5, 0.3, 0.2)], rtol=ROUNDING)


def test_boosting_loss():
    # Buja, Stuetzle and Shen (2005): a = b = -1/2 gives 2 sqrt((1 - p)/p) for the label that came
    losses = losses_of(pt.rules.beta(-0.5, -0.5), np.array([0.2, 0.8]))
    np.testing.assert_allclose(losses, [2 * np.sqrt(0.8 / 0.2), 2 * np.sqrt(0.2 / 0.8)], rtol=ROUNDING)


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.77, 0.99])
def test_beta_family_against_scipy_quadrature(a, b, p):
    losses = losses_of(pt.rules.beta(a, b), np.array([1 - p, p]))
    first = quad(lambda u: u**a * (1 - u) ** (b - 1), 0, p, epsabs=0, epsrel=1e-12)[0]
    second = quad(lambda v: v**b * (1 - v) ** (a - 1), 0, 1 - p, epsabs=0, epsrel=1e-12)[0]
    np.testing.assert_allclose(losses, [first, second], rtol=QUADRATURE)


@pytest.mark.parametrize(("a", "b"), [(20, 20), (50, 50), (100, 3), (3, 100), (12.5, 0.3), (30, -0.5)])
@pytest.mark.parametrize("p", [0.0, 0.01, 0.5, 0.77, 0.95, 1.0])
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
    _, *ours = x64(parts_of(rule), probs, truth)
    _, *theirs = x64(parts_of(known), probs, truth)
    for one, other in zip(ours, theirs, strict=True):
        assert_same(one, other, rtol=close, atol=close)


# Properties


AGAIN = {
    *("power(1)", "power(1.5)", "power(3)", "pseudospherical(0.4)", "pseudospherical(1)", "pseudospherical(1.5)"),
    *("beta(-0.5, -0.5)", "beta(3, 0.1)"),
}
"""Other rules of these families stand beside them, and two of them are the log score."""


@pytest.mark.parametrize(
    "rule",
    [pytest.param(r, marks=pytest.mark.long if name in AGAIN else ()) for name, r in (MANY | TWO).items()],
    ids=MANY | TWO,
)
def test_expected_is_entropy_plus_divergence_and_no_report_beats_the_truth(rule):
    corners = np.eye(rule.n_labels or 3)
    probs, truth = (np.concatenate([part, corners]) for part in table(items=200, labels=len(corners)))
    expected, entropy, divergence, losses = x64(parts_of(rule), probs, truth)
    assert_same(expected, entropy + divergence, rtol=1e-9)
    assert (divergence >= 0).all()
    assert divergence[2] == 0
    low, high = rule.range_for(len(corners))
    assert low - ROUNDING <= losses.min()
    assert losses.max() <= high + ROUNDING
    at_corners = losses[-len(corners) :]
    np.testing.assert_allclose([at_corners.min(), at_corners.max()], [low, high], rtol=1e-10, atol=ROUNDING)


@pytest.mark.long
@pytest.mark.parametrize("rule", (MANY | TWO).values(), ids=MANY | TWO)
def test_close_divergence_in_float32_keeps_its_digits(rule):
    truth = np.array([0.5, 0.25, 0.25] if rule.n_labels is None else [0.5, 0.5], np.float32)
    step = np.float32(2.0**-14) * np.array([1, -1, 0][: len(truth)], np.float32)
    probs = truth + step
    # in float64 a quarter of the step gives a sixteenth: it is the second-order term
    exact, quarter = x64(parts_of(rule), np.float64([probs, truth + step / 4]), np.float64([truth, truth]))[2]
    ours = by_rows(rule.divergence, probs, truth)
    np.testing.assert_allclose(ours, exact, rtol=2e-5)  # some tens of float32 roundings
    np.testing.assert_allclose(16 * quarter, exact, rtol=5e-3)


def test_log_probabilities_stay_logarithms():
    logs = np.array([0.0, -2000.0])
    truth = np.array([0.0, 1.0])
    for family in (pt.rules.power, pt.rules.pseudospherical):
        np.testing.assert_allclose(x64(family(0.9).expected_from_log, logs, truth), np.expm1(200.0) / 0.1, rtol=1e-10)


# Transforms


TRANSFORMED = MANY | TWO | {"generated": GENERATED["log"][0]}


@pytest.mark.parametrize(
    "name",
    [
        "power(0.4)",
        *(pytest.param(n, marks=pytest.mark.long) for n in ("generated", "pseudospherical(1.5)", "beta(0.5, 2)")),
    ],
)
def test_vmap_and_grad(name):
    rule = TRANSFORMED[name]
    probs, truth = table(labels=rule.n_labels or 3)
    close = 1e-10  # a few roundings of numbers up to about 10
    expected, _, divergence, _ = x64(parts_of(rule), probs, truth)
    inner = truth[4:] * 0.9 + 0.1 / truth.shape[1], probs[4:] * 0.9 + 0.1 / probs.shape[1]

    @jax.jit
    def transformed(probs, truth, inner_truth, inner_probs):
        mapped = jax.vmap(rule.expected)(probs, truth), jax.vmap(rule.divergence)(probs, truth)
        of_both = jax.grad(lambda t, p: rule.divergence(p, t).sum(), (0, 1))(inner_truth, inner_probs)
        return *mapped, *of_both, jax.grad(lambda p: rule.expected(p, inner_truth).sum())(inner_probs)

    with jax.enable_x64(True):
        *mapped, of_truth, of_divergence, of_expected = map(np.asarray, transformed(probs, truth, *inner))
    for one, other in zip(mapped, (expected, divergence), strict=True):
        assert one.dtype == np.float64
        assert_same(one, other, rtol=close, atol=close)
    assert np.isfinite(of_truth).all()
    centred = [part - part.mean(-1, keepdims=True) for part in (of_divergence, of_expected)]
    np.testing.assert_allclose(*centred, rtol=100 * close, atol=100 * close)  # along the simplex both are one


@pytest.mark.parametrize(
    "name",
    ["power(0.4)", *(pytest.param(name, marks=pytest.mark.long) for name in ("beta(0.5, 2)", "generated"))],
)
def test_without_jit_the_same(name):
    """Each operation is compiled by itself, which takes seconds."""
    rule = TRANSFORMED[name]
    probs, truth = table(labels=rule.n_labels or 3)
    expected, _, divergence, _ = x64(parts_of(rule), probs, truth)
    with jax.enable_x64(True):
        assert_same(np.asarray(rule.expected(probs, truth)), expected, rtol=1e-10, atol=1e-10)
        assert_same(np.asarray(rule.divergence(probs, truth)), divergence, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("rule", (MANY | TWO).values(), ids=MANY | TWO)
def test_float32_stays_float32(rule):
    pair = (np.ones((4, rule.n_labels or 3), np.float32),) * 2
    for function in (rule.expected, rule.divergence):
        assert jax.eval_shape(function, *pair).dtype == np.float32


def test_one_rule_object_for_one_parameter():
    assert pt.rules.power(1.5) is pt.rules.power(1.5)
    assert hash(pt.rules.beta(1, 2)) == hash(pt.rules.beta(1, 2))


# Errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pt.rules.power(0), "beta 0, expected a number above 0"),
        (lambda: pt.rules.power("two"), "beta 'two', expected a number above 0"),
        (lambda: pt.rules.pseudospherical(-1), "beta -1"),
        (lambda: pt.rules.tempered(2), "temperature 2, expected a number below 2"),
        (lambda: pt.rules.beta(-1, 0), "a -1, expected a number above -1"),
        (lambda: pt.rules.beta(0, float("nan")), "b nan"),
        (lambda: pt.rules.bregman(3), "generator of type int"),
    ],
)
def test_errors(make, message):
    with pytest.raises(pt.InputError, match=message):
        make()


def test_two_label_rule_on_three_labels():
    predictions = pt.Predictions.from_probs({"a": [[0.2, 0.3, 0.5]]})
    with pytest.raises(pt.InputError, match="3 labels, expected 2 labels"):
        pt.score(predictions, pt.Truth.from_probs([[1, 0, 0]]), rule=pt.rules.beta(1, 1))
