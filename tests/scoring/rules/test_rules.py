"""What holds for every rule: named ones, members of the families, and rules made from a convex function."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled_once import assert_same, by_rows, parts_of, table, x64

import probtruth as pt

ROUNDING = 1e-12  # Relative and absolute error of sums of a few terms of order 1 in float64
SUBTRACTED = 1e-9  # A divergence that is a difference of losses up to 1e3
FLOAT32 = 1e-4  # Float32 sums and cumulative sums over ten thousand terms
ABSOLUTE32 = (
    1e-6  # A few float32 roundings of terms near 1 over beta (beta - 1), of which a loss near 0 is the difference
)

GENERATED = pt.rules.bregman(lambda p: (p * jnp.log(p)).sum(), name="generated")
QUICK = [*pt.rules.RULES.values(), pt.rules.pseudospherical(1.5), GENERATED]
LONG = [pt.rules.power(b) for b in (0.4, 1.5, 10)] + [pt.rules.pseudospherical(0.4)]
LONG += [pt.rules.beta(a, b) for a, b in ((-0.9, 5), (3, 0.1))]
FEW = [pt.rules.log, pt.rules.spherical, GENERATED]
REST = [rule for rule in QUICK if rule not in FEW] + LONG
METHODS = ("per_label", "expected", "entropy", "divergence")


def every(quick=QUICK, long=LONG):
    return pytest.mark.parametrize(
        "rule",
        [pytest.param(rule, id=rule.name) for rule in quick]
        + [pytest.param(rule, id=rule.name, marks=pytest.mark.long) for rule in long],
    )


@every()
def test_parts_add_up_and_losses_stay_in_their_range(rule):
    probs, truth = table(rule.n_labels or 3)
    expected, from_log, divergence, log_divergence, entropy, losses = x64(parts_of(rule), probs, truth)
    assert_same(expected, entropy + divergence, rtol=SUBTRACTED)
    assert_same(expected, (truth * np.where(truth > 0, losses, 0)).sum(1), rtol=SUBTRACTED)
    assert_same(expected, from_log, rtol=SUBTRACTED)
    assert_same(divergence, log_divergence, rtol=1e-7)
    assert (divergence >= 0).all()
    if rule.proper:
        np.testing.assert_allclose(divergence[[0, 1, 4]], 0, atol=ROUNDING)
    low, high = rule.range_for(probs.shape[1])
    corners = losses[: probs.shape[1]]
    assert low - ROUNDING <= losses.min()
    assert losses.max() <= high + ROUNDING
    if rule is not GENERATED:
        np.testing.assert_allclose([corners.min(), corners.max()], [low, high], rtol=1e-10, atol=ROUNDING)


@every(FEW, REST)
def test_methods_compute_numpy_arrays_of_float64_in_float64(rule):
    """Without JAX's 64-bit mode; most methods were cut to float32."""
    probs, truth = (array[4:12] for array in table(rule.n_labels or 3))
    expected, _, divergence, _, entropy, losses = x64(parts_of(rule), probs, truth)
    given = {"per_label": (probs,), "expected": (probs, truth), "entropy": (truth,), "divergence": (probs, truth)}
    for name, exact in zip(METHODS, (losses, expected, entropy, divergence), strict=True):
        ours = getattr(rule, name)(*given[name])
        assert isinstance(ours, np.ndarray), name
        assert ours.dtype == np.float64, name
        assert_same(ours, exact)


@every()
def test_float32_stays_float32(rule):
    pair = (np.ones((4, rule.n_labels or 3), np.float32),) * 2
    for name in METHODS:
        method = getattr(rule, name)
        assert jax.eval_shape(method, *pair[: len(inspect.signature(method).parameters)]).dtype == np.float32


def edges(n_labels):
    """Forecasts and truths: even, random, sparse, one-hot, 1 - 1e-7, and subnormal."""
    rng = np.random.default_rng(n_labels)
    random = [rng.dirichlet(np.full(n_labels, concentration), 3) for concentration in (1.0, 0.05)]
    hot, even = np.eye(n_labels)[[0, n_labels - 1]], np.full((1, n_labels), 1 / n_labels)
    near, subnormal = np.full((1, n_labels), 1e-7 / (n_labels - 1)), np.full((1, n_labels), 1e-39)
    near[0, 0], subnormal[0, -1] = 1 - 1e-7, 1
    sparse = np.zeros((2, n_labels))
    sparse[:, :2] = [[0.3, 0.7], [0.5, 0.5]]
    probs = np.concatenate([*random, hot, even, near, subnormal]).astype(np.float32)
    truth = np.concatenate([*random, hot, even, sparse]).astype(np.float32)
    return np.repeat(probs, len(truth), 0), np.tile(truth, (len(probs), 1))


OF_ANY_SIZE = [*pt.rules.RULES.values(), pt.rules.power(0.5), pt.rules.pseudospherical(1.5)]


@every(OF_ANY_SIZE, [pt.rules.power(3)])
@pytest.mark.parametrize("n_labels", [2, *(pytest.param(number, marks=pytest.mark.long) for number in (10, 10_000))])
def test_float32_agrees_with_float64_on_edges(rule, n_labels):
    probs, truth = edges(n_labels)

    def parts(probs, truth):
        losses = rule.per_label(probs)
        return rule.expected(probs, truth), rule.entropy(truth), rule.divergence(probs, truth), losses[:, :2]

    ours = jax.jit(parts)(probs, truth)
    with jax.enable_x64(True):
        exact = jax.jit(parts)(probs.astype(float), truth.astype(float))
    for low, high in zip(map(np.asarray, ours), map(np.asarray, exact), strict=True):
        assert low.dtype == np.float32
        assert not np.isnan(low).any()
        assert_same(low, high, rtol=FLOAT32, atol=ABSOLUTE32)


@pytest.mark.parametrize("name", ["log", "brier", "quadratic", "ranked-probability"])
def test_divergence_of_close_distributions_keeps_its_digits_in_float32(name):
    rule = pt.rules.RULES[name]
    truth = np.array([0.5, 0.25, 0.25], np.float32)
    step = np.float32(2.0**-14) * np.array([1, -1, 0], np.float32)
    exact = x64(rule.divergence, np.float64([truth + step]), np.float64([truth]))
    ours = by_rows(rule.divergence, truth + step, truth)
    np.testing.assert_allclose(ours, exact[0], rtol=2e-5)  # some tens of float32 roundings


@every(FEW, REST)
def test_vmap_and_gradients(rule):
    probs, truth = (0.9 * array[4:] + 0.1 / array.shape[1] for array in table(rule.n_labels or 3))

    @jax.jit
    def transformed(probs, truth):
        plain = rule.divergence(probs, truth), rule.expected(probs, truth), rule.per_label(probs)
        mapped = (jax.vmap(rule.divergence)(probs, truth), jax.vmap(rule.expected)(probs, truth))
        slopes = [
            jax.grad(lambda p, t, f=f: f(p, t).sum(), (0, 1))(probs, truth) for f in (rule.divergence, rule.expected)
        ]
        return plain, (*mapped, jax.vmap(rule.per_label)(probs)), slopes

    with jax.enable_x64(True):
        plain, mapped, slopes = transformed(probs, truth)
    for one, other in zip(plain, mapped, strict=True):
        assert one.dtype == np.float64
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-10)
    (of_divergence, of_truth), (of_expected, _) = ([np.asarray(slope) for slope in both] for both in slopes)
    assert np.isfinite(of_truth).all()
    # along the simplex the entropy does not depend on the forecast
    centred = [slope - slope.mean(-1, keepdims=True) for slope in (of_divergence, of_expected)]
    np.testing.assert_allclose(*centred, rtol=1e-8, atol=1e-8)


def test_gradients_at_the_edge_are_not_nan():
    probs, truth = np.float32([[0, 1], [1, 0], [0.5, 0.5]]), np.float32([[0, 1], [1, 0], [0, 1]])
    rules = [*OF_ANY_SIZE, pt.rules.power(2), pt.rules.beta(0.5, 0), pt.rules.beta(-0.5, -0.5)]

    @jax.jit
    def slopes(probs, truth):
        return [jax.grad(lambda p, t, rule=rule: rule.expected(p, t).sum(), (0, 1))(probs, truth) for rule in rules]

    for rule, both in zip(rules, slopes(probs, truth), strict=True):
        for slope in both:
            assert not np.isnan(slope).any(), rule.name


def test_the_slope_of_a_label_that_was_ruled_out_is_that_of_the_brier_score():
    # half of |p - e_y|^2 = (p_1 - 1)^2 + p_2^2 at p = (0, 1): its slopes are -1 and 1; NaN from logarithms
    slope = jax.grad(lambda p: pt.rules.power(2).expected(p, jnp.array([1.0, 0.0])))(jnp.array([0.0, 1.0]))
    np.testing.assert_allclose(slope, [-1, 1])


@every([pt.rules.log, pt.rules.power(0.9), pt.rules.pseudospherical(0.9)], ())
def test_log_probabilities_that_underflow_keep_all_parts(rule):
    logs, truth = np.array([[0.0, -2000.0], [0.0, -np.inf], [0.0, -2000.0]]), np.array([[0.5, 0.5], [1, 0], [0, 1]])
    expected, entropy, divergence = (
        rule.expected_from_log(logs, truth),
        rule.entropy(truth),
        rule.divergence_from_log(logs, truth),
    )
    np.testing.assert_allclose(expected, entropy + divergence, rtol=1e-10)
    # by hand: -log p_y, and -(p_y^-0.1 - 1)/-0.1 with sum_k p_k^0.9 = 1
    np.testing.assert_allclose(expected[2], 2000 if rule is pt.rules.log else np.expm1(200.0) / 0.1, rtol=1e-10)


KERNELS = ("log_score", "brier_score", "quadratic_score", "spherical_score", "ranked_probability_score")
KERNELS += ("zero_one_score", "kl_divergence")


def test_every_score_takes_the_forecast_first():
    """`log_score(probs, truth)` beside `kl_divergence(truth, probs)` made careful readers swap the two."""
    methods = (pt.rules.log.expected, pt.rules.log.divergence)
    for kernel in (*(getattr(pt, name) for name in KERNELS), *methods):
        assert list(inspect.signature(kernel).parameters) == ["probs", "truth"]


@pytest.mark.parametrize("truth", [np.array([0]), np.array(1), np.array([[1.0, 0.0, 0.0]])])
@pytest.mark.parametrize("name", KERNELS)
def test_another_number_of_labels_is_an_error_and_does_not_broadcast(name, truth):
    # a class number would broadcast over the labels: log_score([[0.6, 0.4]], [0]) was 0 where the loss is -log 0.6
    for call in (getattr(pt, name), jax.jit(getattr(pt, name))):
        with pytest.raises(pt.InputError, match="the same labels along the last axis"):
            call(np.array([[0.6, 0.4]]), truth)
