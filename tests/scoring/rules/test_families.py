import jax
import jax.numpy as jnp
import numpy as np
import pytest
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


def x64(function, *arrays):
    with jax.enable_x64(True):
        return np.asarray(jax.jit(function)(*arrays))


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


def test_members_that_have_names():
    probs, _ = table()
    for family in (pt.rules.power, pt.rules.pseudospherical):
        assert_same(x64(family(1).per_label, probs), x64(pt.rules.log.per_label, probs))
        near = x64(family(1 + 1e-6).per_label, probs)  # the limit is reached at first order in beta - 1
        positive = probs > 1e-3
        np.testing.assert_allclose(near[positive], -np.log(probs[positive]), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        2 * x64(pt.rules.power(2).per_label, probs), x64(pt.rules.brier.per_label, probs), atol=ROUNDING
    )
    np.testing.assert_allclose(
        x64(pt.rules.pseudospherical(2).per_label, probs) - 1,
        x64(pt.rules.spherical.per_label, probs),
        atol=ROUNDING,
    )
    np.testing.assert_allclose(
        x64(pt.rules.tempered(0.5).per_label, probs), x64(pt.rules.power(1.5).per_label, probs), atol=ROUNDING
    )
    pair, _ = table(labels=2)
    assert_same(x64(pt.rules.beta(0, 0).per_label, pair), x64(pt.rules.log.per_label, pair))
    np.testing.assert_allclose(
        4 * x64(pt.rules.beta(1, 1).per_label, pair), x64(pt.rules.brier.per_label, pair), atol=ROUNDING
    )


def test_power_of_three_by_hand():
    # loss = -(p_y^2 - 1)/2 + (sum p^3 - 1)/3 at p = (.5, .3, .2): sum p^3 = .16
    losses = x64(pt.rules.power(3).per_label, np.array([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(losses, [0.375 - 0.28, 0.455 - 0.28, 0.48 - 0.28], rtol=ROUNDING)


def test_pseudospherical_of_three_by_hand():
    # loss = -((p_y/|p|)^2 - 1)/2 with |p| = .16^(1/3) at p = (.5, .3, .2)
    losses = x64(pt.rules.pseudospherical(3).per_label, np.array([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(losses, [(1 - p * p / 0.16 ** (2 / 3)) / 2 for p in (0.5, 0.3, 0.2)], rtol=ROUNDING)


def test_boosting_loss():
    # Buja, Stuetzle and Shen (2005): a = b = -1/2 gives 2 sqrt((1 - p)/p) for the label that came
    losses = x64(pt.rules.beta(-0.5, -0.5).per_label, np.array([0.2, 0.8]))
    np.testing.assert_allclose(losses, [2 * np.sqrt(0.8 / 0.2), 2 * np.sqrt(0.2 / 0.8)], rtol=ROUNDING)


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.77, 0.99])
def test_beta_family_against_scipy_quadrature(a, b, p):
    losses = x64(pt.rules.beta(a, b).per_label, np.array([1 - p, p]))
    first = quad(lambda u: u**a * (1 - u) ** (b - 1), 0, p, epsabs=0, epsrel=1e-12)[0]
    second = quad(lambda v: v**b * (1 - v) ** (a - 1), 0, 1 - p, epsabs=0, epsrel=1e-12)[0]
    np.testing.assert_allclose(losses, [first, second], rtol=QUADRATURE)


@pytest.mark.parametrize("name", GENERATED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_generated_rules_are_the_rules_of_their_generators(name, dtype):
    rule, known = GENERATED[name]
    probs, truth = (array.astype(dtype) for array in table())
    close = 2e-5 if dtype == np.float32 else 1e-11  # subtraction at relative distance .1 leaves two digits fewer
    for ours, theirs, arrays in (
        (rule.per_label, known.per_label, (probs,)),
        (rule.entropy, known.entropy, (truth,)),
        (rule.divergence, known.divergence, (probs, truth)),
    ):
        assert_same(x64(ours, *arrays), x64(theirs, *arrays), rtol=close, atol=close)


# Properties


@pytest.mark.parametrize("rule", (MANY | TWO).values(), ids=MANY | TWO)
def test_expected_is_entropy_plus_divergence_and_no_report_beats_the_truth(rule):
    probs, truth = table(items=200, labels=rule.n_labels or 4)

    def parts(probs, truth):
        return rule.expected(probs, truth), rule.entropy(truth), rule.divergence(probs, truth), rule.per_label(probs)

    with jax.enable_x64(True):
        expected, entropy, divergence, losses = map(np.asarray, jax.jit(parts)(probs, truth))
    assert_same(expected, entropy + divergence, rtol=1e-9)
    assert (divergence >= 0).all()
    assert divergence[2] == 0
    low, high = rule.range_for(rule.n_labels or 4)
    assert low - ROUNDING <= losses.min()
    assert losses.max() <= high + ROUNDING
    corners = x64(rule.per_label, np.eye(rule.n_labels or 4))
    np.testing.assert_allclose([corners.min(), corners.max()], [low, high], rtol=1e-10, atol=ROUNDING)


@pytest.mark.parametrize("rule", (MANY | TWO).values(), ids=MANY | TWO)
def test_close_divergence_in_float32_keeps_its_digits(rule):
    truth = np.array([0.5, 0.25, 0.25] if rule.n_labels is None else [0.5, 0.5], np.float32)
    step = np.float32(2.0**-14) * np.array([1, -1, 0][: len(truth)], np.float32)
    probs = truth + step
    # in float64 a quarter of the step gives a sixteenth: it is the second-order term
    exact, quarter = x64(rule.divergence, np.float64([probs, truth + step / 4]), np.float64([truth, truth]))
    ours = jax.jit(rule.divergence)(probs, truth)
    np.testing.assert_allclose(ours, exact, rtol=2e-5)  # some tens of float32 roundings
    np.testing.assert_allclose(16 * quarter, exact, rtol=5e-3)


def test_log_probabilities_stay_logarithms():
    logs = np.array([0.0, -2000.0])
    truth = np.array([0.0, 1.0])
    for family in (pt.rules.power, pt.rules.pseudospherical):
        np.testing.assert_allclose(x64(family(0.9).expected_from_log, logs, truth), np.expm1(200.0) / 0.1, rtol=1e-10)


# Transforms


@pytest.mark.parametrize("name", ["power(0.4)", "pseudospherical(1.5)", "beta(0.5, 2)", "generated"])
def test_jit_vmap_and_grad(name):
    """In float64, one type for all rules: without jit every operation is compiled, and they share those."""
    rule = (MANY | TWO | {"generated": GENERATED["log"][0]})[name]
    probs, truth = table(labels=rule.n_labels or 3)
    close = 1e-10  # a few roundings of numbers up to about 10
    with jax.enable_x64(True):
        for function in (rule.expected, rule.divergence):
            plain = np.asarray(function(probs, truth))
            assert plain.dtype == np.float64
            both = jax.jit(lambda *arrays, f=function: (f(*arrays), jax.vmap(f)(*arrays)))(probs, truth)
            for transformed in map(np.asarray, both):
                assert_same(transformed, plain, rtol=close, atol=close)
        inner = truth[4:] * 0.9 + 0.1 / truth.shape[1], probs[4:] * 0.9 + 0.1 / probs.shape[1]

        @jax.jit
        def slopes(truth, probs):
            divergence = jax.grad(lambda t, p: rule.divergence(p, t).sum(), (0, 1))(truth, probs)
            return *divergence, jax.grad(lambda p: rule.expected(p, truth).sum())(probs)

        of_truth, *of_probs = map(np.asarray, slopes(*inner))
    assert np.isfinite(of_truth).all()
    centred = [part - part.mean(-1, keepdims=True) for part in of_probs]
    np.testing.assert_allclose(*centred, rtol=100 * close, atol=100 * close)  # along the simplex both are one


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
        (lambda: pt.rules.power("two"), "beta 'two', expected a finite number"),
        (lambda: pt.rules.pseudospherical(-1), "beta -1"),
        (lambda: pt.rules.tempered(2), "temperature 2, expected a number below 2"),
        (lambda: pt.rules.beta(-1, 0), "a -1.0, expected a number above -1"),
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
