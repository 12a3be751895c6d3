import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled_once import x64

import probtruth as pt
from probtruth.scoring.means.state import FIRST, NO_POSITION, next_position

RULES = ("log", "brier", "spherical")
POWERS = (1.0, 0.5, 1e-7, 0.0, -1e-7, -2 / 3)
KINDS = {"float32": 2e-7, "float64": 1e-13}
"""Relative error of a mean of losses of that type: their own roundings partly cancel."""
POWER_KINDS = {"float32": 2e-6, "float64": 1e-12}
"""Of a power mean: that of the mean of terms by 1/m and the derivative."""
PRODUCTS = 2e-6
"""Of a sum of 256 float32 products."""
BOTH_WAYS = [
    ("float32", True),
    ("float64", False),
    pytest.param("float32", False, marks=pytest.mark.long),
    pytest.param("float64", True, marks=pytest.mark.long),
]
"""Types of arrays, and whether forecasts are logarithms: each pair is another program to compile."""
MEANS = pt.streaming.RunningMeans(RULES)


def table(items=9000, labels=5, seed=0, kind="float32"):
    rng = np.random.default_rng(seed)
    probs, truth = (rng.dirichlet(np.full(labels, 0.3), items).astype(kind) for _ in range(2))
    probs[:20, 0], probs[:20, 1:] = 1, 0
    truth[:20] = probs[:20]
    return probs, truth


def logged(probs):
    with np.errstate(divide="ignore"):
        return np.log(probs)


def every_part(probs, truth):
    """What the rules give for every item, to be compiled together."""
    chosen = map(pt.rules.get_rule, RULES)
    return [(rule.expected(probs, truth), rule.entropy(truth), rule.divergence(probs, truth)) for rule in chosen]


def one_pass(means, *arrays):
    return means.finalize(means.of(*arrays))


def near(one, other):
    """Equal to within a few roundings of a float32 kernel, whose bits depend on the shape of the batch."""
    for name in ("means", "entropy", "divergence"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=KINDS["float32"])
    assert one.n_items == other.n_items
    assert one.n_infinite.tolist() == other.n_infinite.tolist()
    assert one.infinite_items == other.infinite_items


# Reference


@pytest.mark.parametrize(("kind", "log_probs"), BOTH_WAYS)
def test_means_are_those_of_the_losses(kind, log_probs):
    probs, truth = table(kind=kind)
    means = pt.streaming.RunningMeans(RULES, log_probs=log_probs)
    result = one_pass(means, logged(probs) if log_probs else probs, truth)
    for at, twins in enumerate(x64(every_part, probs.astype(float), truth.astype(float))):
        parts = result.means[at], result.entropy[at], result.divergence[at]
        np.testing.assert_allclose(parts, [float(twin.mean()) for twin in twins], rtol=KINDS[kind])
    assert result.rules == RULES
    assert result.n_items == len(probs)
    assert not result.n_infinite.any()


@pytest.mark.parametrize(("kind", "log_probs"), BOTH_WAYS)
@pytest.mark.parametrize("parts", [False, True])
def test_power_means_are_those_of_the_kernel(kind, log_probs, parts):
    """On the host (without parts) and by compiled blocks."""
    probs, truth = table(kind=kind, labels=3)
    probs = (probs + probs.dtype.type(0.01)) / (1 + probs.dtype.type(0.03))
    means = pt.streaming.RunningMeans((), POWERS, parts=parts, log_probs=log_probs)
    result = one_pass(means, logged(probs) if log_probs else probs, truth)
    with jax.enable_x64(True):
        flat, weights = probs.astype(float).ravel(), truth.astype(float).ravel()
        expected = [float(pt.generalized_mean(flat, power, weights)) for power in POWERS]
    np.testing.assert_allclose(result.power_means, expected, rtol=POWER_KINDS[kind])


@pytest.mark.parametrize(("response", "threshold"), [("sample", None), ("argmax", None), ("threshold", (0.5,) * 4)])
@pytest.mark.parametrize("log_probs", [False, True])
def test_counts_and_metrics_are_those_of_expected_confusion(response, threshold, log_probs):
    probs, truth = (array + np.float32(1e-3) for array in table(items=500, labels=4))
    probs, truth = (array / array.sum(1, keepdims=True) for array in (probs, truth))
    means = pt.streaming.RunningMeans((), n_labels=4, response=response, threshold=threshold, log_probs=log_probs)
    found = one_pass(means, np.log(probs) if log_probs else probs, truth).confusion()
    predictions = pt.Predictions.from_probs({"a": probs})
    expected = pt.expected_confusion(predictions, pt.Truth.from_probs(truth), response, threshold=threshold)
    np.testing.assert_allclose(found.counts, expected.counts[0], rtol=PRODUCTS)
    np.testing.assert_allclose(found.values, expected.values[0], rtol=PRODUCTS)
    assert [(one.metric, one.label) for one in found.measures] == [(one.metric, one.label) for one in expected.measures]


def test_one_threshold_for_two_labels():
    probs = np.array([[0.7, 0.3], [0.6, 0.4], [0.59, 0.41]], np.float32)
    means = pt.streaming.RunningMeans((), n_labels=2, response="threshold", threshold=(0.4,))
    assert one_pass(means, probs, np.eye(2, dtype=np.float32)[[0, 0, 1]]).counts.tolist() == [[1, 1], [0, 1]]


def test_hard_labels_and_responses_are_counted_exactly():
    labels, answers = np.random.default_rng(0).integers(0, 3, (2, 20_000))
    result = one_pass(pt.streaming.RunningMeans((), n_labels=3), np.eye(3)[answers], np.eye(3)[labels])
    assert (result.counts == np.bincount(labels * 3 + answers, minlength=9).reshape(3, 3)).all()


# Properties


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [False, True])
def test_the_error_bounds_what_adding_up_moved(kind, parts):
    """Against Python's exact sum of losses that are whole numbers of 2^-10: no kernel rounds them."""
    rng = np.random.default_rng(3)
    second = (rng.integers(0, 1025, 50_000) / 1024).astype(kind)
    probs, truth = np.stack([1 - second, second], 1), np.tile(np.array([0, 1], kind), (50_000, 1))
    result = one_pass(pt.streaming.RunningMeans("linear", parts=parts), probs, truth)
    exact = -second.astype(float).sum() / 50_000  # multiples of 2^-10, far below 2^53
    assert abs(result.means[0] - exact) <= result.error[0]
    assert 0 < result.error[0] < 1e-3
    if parts:
        assert result.error[0] < 1e-9


@pytest.mark.parametrize("sizes", [(4500,), pytest.param((4500, 1, 4499), marks=pytest.mark.long)])
def test_any_batches_in_any_order_give_one_pass(sizes):
    """Each size of a batch is a program of its own."""
    probs, truth = table()
    order = np.random.default_rng(1).permutation(len(probs))
    state, first, step = MEANS.init(), 0, 0
    while first < len(order):
        rows = order[first : first + sizes[step % len(sizes)]]
        if step % 2:
            state = MEANS.merge(MEANS.of(probs[rows], truth[rows]), state)
        else:
            state = MEANS.update(state, probs[rows], truth[rows])
        first, step = first + len(rows), step + 1
    near(MEANS.finalize(state), one_pass(MEANS, probs, truth))


def test_states_of_the_host_and_of_devices_merge():
    probs, truth = table()
    quick = pt.streaming.RunningMeans(RULES, parts=False)
    there = jax.jit(quick.of)(probs[:4000], truth[:4000])
    both = quick.finalize(quick.merge(there, quick.of(probs[4000:], truth[4000:])))
    whole = quick.finalize(quick.of(probs, truth))
    np.testing.assert_allclose(both.means, whole.means, rtol=KINDS["float32"])
    assert both.n_items == whole.n_items == 9000


def test_infinite_losses_are_counted_and_their_first_items_named():
    probs, truth = table()
    lost = np.arange(50, 8000, 100)
    probs[lost], truth[lost] = [1, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0]
    result = one_pass(MEANS, probs, truth)
    assert result.means[0] == result.divergence[0] == np.inf
    assert np.isfinite(result.entropy).all()
    assert np.isfinite(result.means[1:]).all()
    assert result.n_infinite.tolist() == [len(lost), 0, 0]
    assert result.infinite_items == (tuple(lost[:FIRST]), (), ())
    late = MEANS.of(probs[4500:], truth[4500:], start=4500)
    near(MEANS.finalize(MEANS.merge(late, MEANS.of(probs[:4500], truth[:4500]))), result)
    near(MEANS.finalize(MEANS.update(MEANS.of(probs[:4500], truth[:4500]), probs[4500:], truth[4500:])), result)


@pytest.mark.parametrize("parts", [False, True])
def test_impossible_labels_give_a_power_mean_of_zero_where_the_power_is_not_positive(parts):
    probs = np.array([[0.0, 1.0], [0.5, 0.5], [0.0, 1.0]], np.float32)
    truth = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], np.float32)
    result = one_pass(pt.streaming.RunningMeans((), (1, 0, -1), parts=parts), probs, truth)
    np.testing.assert_allclose(result.power_means, [0.5, 0, 0], rtol=KINDS["float32"])
    assert result.n_impossible.tolist() == [0, 1, 1]


def test_a_power_that_leaves_float32_is_unknown_there_and_known_in_float64():
    probs, truth = np.array([[1e-30, 1.0], [0.5, 0.5]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    means = pt.streaming.RunningMeans((), (-2.0,))
    assert np.isnan(one_pass(means, probs.astype(np.float32), truth.astype(np.float32)).power_means[0])
    np.testing.assert_allclose(one_pass(means, probs, truth).power_means, [2**0.5 * 1e-30], rtol=1e-12)


def test_unknown_values_stay_unknown_and_no_items_have_no_mean():
    probs, truth = table()
    probs[3] = np.nan
    assert np.isnan(one_pass(MEANS, probs, truth).means).all()
    nothing = MEANS.update(MEANS.init(), np.zeros((0, 5)), np.zeros((0, 5)))
    assert np.isnan(MEANS.finalize(nothing).means).all()
    assert MEANS.finalize(nothing).n_items == 0


@pytest.mark.parametrize(
    ("n", "position"), [(0, 0), (10**6 + 1, 10**6 + 1), (2**24 + 1, 2**24 + 1), (2**40, NO_POSITION)]
)
def test_positions_beyond_31_bits_are_not_kept(n, position):
    high = np.float32(n)
    state = MEANS.init(np.float32)
    count = state.n._replace(high=jnp.asarray(high), low=jnp.asarray(n - int(high), jnp.float32))
    assert int(next_position(state._replace(n=count))) == position


# Errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pt.streaming.RunningMeans("logg"), "Did you mean 'log'"),
        (lambda: pt.streaming.RunningMeans(("log", "log")), "rule 'log' more than once"),
        (lambda: MEANS.of(np.ones((2, 2)), np.ones((3, 2))), "same two axes"),
        (lambda: MEANS.of(np.ones(2), np.ones(2)), "same two axes"),
        (lambda: pt.streaming.RunningMeans((), np.inf), "a finite number"),
        (lambda: pt.streaming.RunningMeans((), n_labels=3, response="argmx"), "Did you mean 'argmax'"),
        (
            lambda: pt.streaming.RunningMeans((), n_labels=3, response="threshold"),
            "threshold None, expected a number above 0",
        ),
        (lambda: pt.streaming.RunningMeans((), n_labels=3, threshold=(0.5,)), "with response 'sample'"),
        (lambda: pt.streaming.RunningMeans((), response="argmax"), "the number of labels"),
        (
            lambda: pt.streaming.RunningMeans((), n_labels=3, response="threshold", threshold=(0.5,)),
            "3 thresholds, one for each label",
        ),
        (lambda: pt.streaming.RunningMeans((), n_labels=3, response="threshold", threshold=(0.5, 0.0, 1.0)), "above 0"),
        (lambda: pt.streaming.RunningMeans((), n_labels=3).of(np.ones((2, 2)), np.ones((2, 2))), "n_labels = 3"),
        (lambda: one_pass(MEANS, np.ones((1, 2)), np.ones((1, 2))).confusion(), "means with counts"),
    ],
)
def test_errors(call, message):
    with pytest.raises(pt.InputError, match=message):
        call()


# Transforms


def test_jit_and_vmap_are_a_loop():
    probs, truth = table()
    models = np.stack([probs, truth])
    update = jax.jit(jax.vmap(MEANS.update, in_axes=(None, 0, None)))
    both = update(MEANS.init(), models, truth)
    for at, model in enumerate(models):
        near(MEANS.finalize(jax.tree.map(lambda leaf, at=at: leaf[at], both)), one_pass(MEANS, model, truth))


@pytest.mark.parametrize("kind", KINDS)
def test_the_type_of_a_state_is_that_of_its_batches_in_both_modes(kind):
    probs, truth = table(kind=kind)
    narrow = MEANS.of(probs, truth)
    with jax.enable_x64(True):
        wide = MEANS.of(probs, truth)
    assert {leaf.dtype.name for leaf in jax.tree.leaves((narrow, wide))} == {kind, "int32"}
    near(MEANS.finalize(narrow), MEANS.finalize(wide))
