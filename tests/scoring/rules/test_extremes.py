"""Every rule in float32 against float64, from two labels to ten thousand, on edges of all kinds."""

import jax
import numpy as np
import pytest

import probtruth as pt

RULES = [*pt.rules.RULES.values(), pt.rules.power(0.5), pt.rules.power(3), pt.rules.pseudospherical(1.5)]

RELATIVE = 1e-4
"""Float32 sums and cumulative sums over ten thousand terms; all but two of the rules reach 1e-5."""
ABSOLUTE = 3e-7
"""A few float32 roundings of the terms near 1 that a loss near 0 is the difference of."""


def cases(n_labels):
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


IN_TEST_PROPER = {"brier", "quadratic", "spherical", "zero-one", "linear"}
"""Rules whose kernels are compared in both types, on fewer edges, there."""
AGAIN = {"power(3)", "pseudospherical(1.5)"}
"""Another power stands beside them."""


@pytest.mark.parametrize(
    "rule",
    [pytest.param(r, marks=pytest.mark.long if r.name in IN_TEST_PROPER | AGAIN else (), id=r.name) for r in RULES],
)
@pytest.mark.parametrize("n_labels", [2, *(pytest.param(number, marks=pytest.mark.long) for number in (10, 10_000))])
def test_float32_agrees_with_float64(rule, n_labels):
    probs, truth = cases(n_labels)

    def parts(probs, truth):
        losses = rule.per_label(probs)
        return rule.expected(probs, truth), rule.entropy(truth), rule.divergence(probs, truth), losses[:, :2]

    ours = jax.jit(parts)(probs, truth)
    with jax.enable_x64(True):
        exact = jax.jit(parts)(probs.astype(float), truth.astype(float))
    for low, high in zip(map(np.asarray, ours), map(np.asarray, exact), strict=True):
        assert low.dtype == np.float32
        assert not np.isnan(low).any()
        np.testing.assert_array_equal(np.isinf(low), np.isinf(high))
        finite = np.isfinite(high)
        np.testing.assert_allclose(low[finite], high[finite], rtol=RELATIVE, atol=ABSOLUTE)


@pytest.mark.parametrize(
    "rule",
    [pt.rules.log, pt.rules.power(0.9), pytest.param(pt.rules.pseudospherical(0.9), marks=pytest.mark.long)],
    ids=lambda r: r.name,
)
def test_logits_that_underflow_as_probabilities_keep_all_parts(rule):
    logs, truth = np.array([[0.0, -2000.0], [0.0, -np.inf]]), np.array([[0.5, 0.5], [1.0, 0.0]])
    with jax.enable_x64(True):
        expected = np.asarray(jax.jit(rule.expected_from_log)(logs, truth))
        parts = np.asarray(jax.jit(lambda p, t: rule.entropy(t) + rule.divergence_from_log(p, t))(logs, truth))
    assert np.isfinite(expected).all()
    assert expected[0] > 900
    np.testing.assert_allclose(expected, parts, rtol=1e-10)


def test_gradients_at_the_edge_are_not_nan():
    probs, truth = np.float32([[0, 1], [1, 0], [0.5, 0.5]]), np.float32([[0, 1], [1, 0], [0, 1]])
    rules = [*RULES, pt.rules.beta(0.5, 0), pt.rules.beta(-0.5, -0.5)]

    @jax.jit
    def slopes(probs, truth):
        return [jax.grad(lambda p, t, rule=rule: rule.expected(p, t).sum(), (0, 1))(probs, truth) for rule in rules]

    for rule, both in zip(rules, slopes(probs, truth), strict=True):
        for slope in both:
            assert not np.isnan(slope).any(), rule.name
