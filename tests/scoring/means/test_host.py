import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled_once import x64
from sklearn.metrics import log_loss

import probtruth as pt
from probtruth.kernels import compensated
from probtruth.scoring.means import host

FLOAT32 = 2e-7
"""Error, relative to the larger of the mean and 1, of a mean of float32 losses: their own roundings partly cancel."""
FLOAT64 = 1e-13
"""The same in float64."""
COUNTS = 2e-6
"""Of a matrix product over 2^10 items in float32."""
RULES = tuple(pt.rules.RULES)
KINDS = {"float32": FLOAT32, "float64": FLOAT64}


def table(items=3000, labels=4, seed=0, kind="float64"):
    rng = np.random.default_rng(seed)
    return tuple(rng.dirichlet(np.full(labels, 0.5), items).astype(kind) for _ in range(2))


def every_loss(probs, truth):
    """The losses of all rules, to be compiled together."""
    return [pt.rules.get_rule(rule).expected(probs, truth) for rule in RULES]


def plain(rules, probs, truth):
    """The slow twin: every item's loss in float64, then their mean."""
    means = [losses.mean() for losses in x64(every_loss, probs.astype(float), truth.astype(float))]
    return np.array([means[RULES.index(rule)] for rule in rules])


# Reference


def test_agrees_with_scikit_learn_on_hard_labels():
    probs, _ = table()
    labels = np.random.default_rng(1).integers(0, 4, len(probs))
    expected = log_loss(labels, probs, labels=list(range(4)))
    np.testing.assert_allclose(pt.streaming.mean_score(probs, np.eye(4)[labels]), expected, rtol=FLOAT64)


# Properties


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [2, *(pytest.param(number, marks=pytest.mark.long) for number in (3, 10, 100))])
@pytest.mark.parametrize("log_probs", [False, True])
def test_every_rule_is_the_mean_of_its_losses(kind, labels, log_probs):
    probs, truth = table(labels=labels, kind=kind)
    found = pt.streaming.mean_scores(np.log(probs) if log_probs else probs, truth, RULES, log_probs=log_probs)
    expected = plain(RULES, probs, truth)
    assert (np.abs(found.means - expected) <= KINDS[kind] * np.maximum(np.abs(expected), 1)).all()
    assert found.rules == RULES


@pytest.mark.parametrize("kind", KINDS)
def test_power_means_and_counts(kind):
    probs, truth = table(kind=kind)
    powers = (1.0, 0.0, -2 / 3, 0.5, 1e-9)
    found = pt.streaming.mean_scores(probs, truth, (), powers, confusion=True)
    wide, weights = probs.astype(float), truth.astype(float) / len(truth)
    expected = [float(pt.generalized_mean(wide.ravel(), power, weights.ravel())) for power in powers]
    np.testing.assert_allclose(found.power_means, expected, rtol=1e-5)  # the twin works in float32
    np.testing.assert_allclose(found.counts, truth.astype(float).T @ wide, rtol=COUNTS)


@pytest.mark.parametrize("held", [1, 1 << 24])
def test_counts_of_many_labels_whatever_is_held_at_once(monkeypatch, held):
    """Six chunks of items, in one lot or in several."""
    monkeypatch.setattr(host, "COUNTED", held)
    probs, truth = table(items=2500, labels=600)
    found = pt.streaming.mean_scores(probs, truth, ("log",), confusion=True)
    np.testing.assert_allclose(found.counts, truth.T @ probs, rtol=1e-12)
    assert found.means[0] == pytest.approx(-(truth * np.log(probs)).sum(1).mean(), rel=1e-12)


def feeders(options):
    """The state of arrays by NumPy's shortcuts, and by the kernels of the rules under jit."""
    return options.of, jax.jit(options.of)


@pytest.mark.parametrize("feeder", [0, 1])
@pytest.mark.parametrize("log_probs", [False, True])
def test_zeros_are_right_on_the_host_and_on_a_device(feeder, log_probs):
    probs = np.array([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]], np.float32)
    truth = np.array([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]], np.float32)
    with np.errstate(divide="ignore"):
        forecast = np.log(probs) if log_probs else probs
    rules = ("log", "brier", "spherical", "zero-one")
    means = pt.streaming.RunningMeans(rules, (0.0, -1.0, 1.0), n_labels=3, parts=False, log_probs=log_probs)
    state = feeders(means)[feeder](forecast, truth)
    result = means.finalize(state)
    np.testing.assert_allclose(result.means, plain(rules, probs, truth), rtol=FLOAT32 * 10)
    centres = np.array([-3 * result.means[0], -4.0, -1.25])
    np.testing.assert_allclose(compensated.value(state.totals)[4:], centres, rtol=FLOAT32 * 10)
    np.testing.assert_allclose(result.counts, truth.T @ probs, rtol=FLOAT32 * 10)
    assert not result.n_infinite.any()
    truth[1] = [0.0, 0.5, 0.5]
    result = means.finalize(feeders(means)[feeder](forecast, truth))
    assert [*result.n_infinite, *result.n_impossible] == [1, 0, 0, 0, 1, 1, 0]


@pytest.mark.parametrize("zeros", [1, 500])
def test_impossible_labels_make_the_mean_infinite_and_are_counted(zeros):
    probs, truth = table(labels=3, kind="float32")
    probs[:zeros] = [0.0, 0.5, 0.5]
    found = pt.streaming.mean_scores(probs, truth, ("log", "brier"), (0.0, -1.0, 1.0))
    assert found.means[0] == np.inf
    assert found.n_infinite.tolist() == [zeros, 0]
    assert found.power_means[:2].tolist() == [0.0, 0.0]
    assert found.power_means[2] > 0


def test_a_subnormal_probability_has_a_finite_logarithm():
    probs, truth = np.array([[1e-40, 1.0]], np.float32), np.array([[1.0, 0.0]], np.float32)
    np.testing.assert_allclose(pt.streaming.mean_score(probs, truth), 40 * np.log(10), rtol=1e-5)  # 1e-40 has 17 bits


def test_unknown_stays_unknown():
    probs, truth = table(kind="float32")
    probs[7, 1] = np.nan
    assert np.isnan(pt.streaming.mean_scores(probs, truth, ("log", "brier", "spherical", "zero-one")).means[:3]).all()


def test_threads_and_layout_change_no_bit(monkeypatch):
    probs, truth = table(items=200_000, kind="float32")
    alone = pt.streaming.mean_scores(probs, truth, RULES, confusion=True)
    monkeypatch.setattr(host, "n_cores", lambda: 3)
    threads = pt.streaming.mean_scores(probs, truth, RULES, confusion=True)
    assert alone.means.tolist() == threads.means.tolist()
    assert alone.counts.tolist() == threads.counts.tolist()
    by_column = pt.streaming.mean_scores(np.asfortranarray(probs), jnp.asarray(truth), RULES)
    assert alone.means.tolist() == by_column.means.tolist()


def test_integers_are_taken_as_float64():
    assert pt.streaming.mean_score([[1, 0], [0, 1]], [[1, 0], [1, 0]], "brier") == 1.0


@pytest.mark.parametrize(
    ("kind", "log_probs"),
    [
        ("float32", True),
        ("float64", False),
        pytest.param("float32", False, marks=pytest.mark.long),
        pytest.param("float64", True, marks=pytest.mark.long),
    ],
)
def test_the_shortcuts_are_the_kernels(kind, log_probs):
    """A rule's formula stands once, plus one shortcut by NumPy: here they meet."""
    probs, truth = table(labels=5, kind=kind)
    forecast = np.log(probs) if log_probs else probs
    means = pt.streaming.RunningMeans(RULES, (0.5, 0.0), n_labels=5, parts=False, log_probs=log_probs)
    with jax.enable_x64(kind == "float64"):
        here, there = (means.finalize(feed(forecast, truth)) for feed in feeders(means))
    np.testing.assert_allclose(there.means, here.means, rtol=10 * KINDS[kind])
    np.testing.assert_allclose(there.power_means, here.power_means, rtol=10 * KINDS[kind])
    np.testing.assert_allclose(there.counts, here.counts, rtol=10 * KINDS[kind])


# Errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: pt.streaming.mean_score(np.ones((2, 2)), np.ones((3, 2))),
            r"shape \(2, 2\) and truth of shape \(3, 2\)",
        ),
        (lambda: pt.streaming.mean_score(np.ones(2), np.ones(2)), "two axes"),
        (lambda: pt.streaming.mean_score(np.ones((0, 2)), np.ones((0, 2))), "at least one item"),
        (lambda: pt.streaming.mean_score(np.ones((2, 2)), np.ones((2, 2)), "logg"), "Did you mean 'log'"),
        (lambda: pt.streaming.mean_score([["a", "b"]], [[1, 0]]), "not numbers"),
        (lambda: pt.streaming.mean_scores(np.ones((2, 2)), np.ones((2, 2)), (), (np.inf,)), "a finite number"),
        (lambda: jax.jit(pt.streaming.mean_score)(np.ones((2, 2)), np.ones((2, 2))), "being traced"),
    ],
)
def test_errors(call, message):
    with pytest.raises(pt.InputError, match=message):
        call()
