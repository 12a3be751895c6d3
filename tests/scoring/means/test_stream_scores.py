import jax
import numpy as np
import pytest

import probtruth as pt
from probtruth.scoring.means.stream_scores import FIRST

RULES = ("log", "brier", "spherical")
FLOAT32 = 2e-7
"""Relative error of a mean of float32 losses, whose own roundings partly cancel."""
FLOAT64 = 1e-13
"""The same in float64."""
METRIC = pt.streaming.StreamScores(RULES)


def table(items=9000, labels=5, seed=0, kind="float32"):
    rng = np.random.default_rng(seed)
    probs, truth = (rng.dirichlet(np.full(labels, 0.3), items).astype(kind) for _ in range(2))
    probs[:20, 0], probs[:20, 1:] = 1, 0
    truth[:20] = probs[:20]
    return probs, truth


def same(one, other):
    return all(np.array_equal(*pair) for pair in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


def one_pass(metric, probs, truth):
    return metric.update(metric.init(), probs, truth)


# Reference


@pytest.mark.parametrize(("kind", "tolerance"), [("float32", FLOAT32), ("float64", FLOAT64)])
@pytest.mark.parametrize("log_probs", [False, True])
def test_means_are_those_of_the_losses(kind, tolerance, log_probs):
    probs, truth = table(kind=kind)
    with np.errstate(divide="ignore"):
        forecast = np.log(probs) if log_probs else probs
    metric = pt.streaming.StreamScores(RULES, log_probs=log_probs)
    found = metric.finalize(one_pass(metric, forecast, truth))
    with jax.enable_x64(True):
        wide = probs.astype(float), truth.astype(float)
        for place, name in enumerate(RULES):
            rule = pt.rules.get_rule(name)
            twins = rule.expected(*wide), rule.entropy(wide[1]), rule.divergence(*wide)
            parts = found.expected[place], found.entropy[place], found.divergence[place]
            np.testing.assert_allclose(parts, [float(np.asarray(twin).mean()) for twin in twins], rtol=tolerance)
    assert found.rules == RULES
    assert found.n_items == len(probs)
    assert not found.n_infinite.any()


# Properties


def test_any_batches_in_any_order_give_the_bits_of_one_pass():
    """Plain jit does not: what an item scores in float32 depends on the shape of its batch."""
    probs, truth = table()
    whole = one_pass(METRIC, probs, truth)
    order = np.random.default_rng(1).permutation(len(probs))
    state, first, step = METRIC.init(), 0, 0
    while first < len(order):
        rows = order[first : first + (4097, 1, 700)[step % 3]]
        if step % 2:
            state = METRIC.merge(one_pass(METRIC, probs[rows], truth[rows]), state)
        else:
            state = METRIC.update(state, probs[rows], truth[rows])
        first, step = first + len(rows), step + 1
    assert same(state, whole)


def test_per_item_losses_of_a_plain_jit_depend_on_the_batch():
    """The trap that blocks of one size avoid, on this machine's XLA; it may go away, then this test does too."""
    probs, truth = table()
    score = jax.jit(pt.brier_score)
    whole = np.asarray(score(probs, truth))
    parts = [np.asarray(score(probs[:size], truth[:size])) for size in (1, 7, 64, 100)]
    if all(np.array_equal(part, whole[: len(part)]) for part in parts):
        pytest.skip("XLA here gives the same bits for every shape")


def test_infinite_losses_are_counted_and_their_first_items_named():
    probs, truth = table()
    lost = np.arange(50, 8000, 100)
    probs[lost] = [1, 0, 0, 0, 0]
    truth[lost] = [0.5, 0.5, 0, 0, 0]
    found = METRIC.finalize(one_pass(METRIC, probs, truth))
    assert found.expected[0] == found.divergence[0] == np.inf
    assert np.isfinite(found.entropy).all()
    assert np.isfinite(found.expected[1:]).all()
    assert found.n_infinite.tolist() == [len(lost), 0, 0]
    assert found.infinite_items == (tuple(lost[:FIRST]), (), ())
    late = METRIC.update(METRIC.init(), probs[4500:], truth[4500:], start=4500)
    both = METRIC.merge(late, METRIC.update(METRIC.init(), probs[:4500], truth[:4500], start=0))
    assert same(both, one_pass(METRIC, probs, truth))
    counted_on = METRIC.update(METRIC.update(METRIC.init(), probs[:4500], truth[:4500]), probs[4500:], truth[4500:])
    assert same(both, counted_on)


def test_unknown_values_stay_unknown_and_no_items_have_no_mean():
    probs, truth = table()
    probs[3] = np.nan
    assert np.isnan(METRIC.finalize(one_pass(METRIC, probs, truth)).expected).all()
    assert np.isnan(METRIC.finalize(METRIC.init()).expected).all()
    empty = METRIC.update(METRIC.init(), np.zeros((0, 5)), np.zeros((0, 5)))
    assert same(empty, METRIC.init())


# Errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pt.streaming.StreamScores("logg"), "Did you mean 'log'"),
        (lambda: pt.streaming.StreamScores(("log", "log")), "rule 'log' more than once"),
        (lambda: METRIC.update(METRIC.init(), np.ones((2, 2)), np.ones((3, 2))), "same two axes"),
        (lambda: METRIC.update(METRIC.init(), np.ones(2), np.ones(2)), "same two axes"),
    ],
)
def test_errors(call, message):
    with pytest.raises(pt.InputError, match=message):
        call()


# Transforms


def test_jit_vmap_and_x64_give_the_same_bits():
    probs, truth = table()
    whole = one_pass(METRIC, probs, truth)
    models = np.stack([probs, truth])
    update = jax.jit(jax.vmap(METRIC.update, in_axes=(None, 0, None)))
    both = update(METRIC.init(), models, truth)
    assert same(jax.tree.map(lambda leaf: leaf[0], both), whole)
    assert same(jax.tree.map(lambda leaf: leaf[1], both), one_pass(METRIC, truth, truth))
    with jax.enable_x64(True):
        assert same(one_pass(METRIC, probs, truth), whole)
    assert {leaf.dtype.name for leaf in jax.tree.leaves(whole)} == {"int32"}


def test_float64_batches_give_the_same_bits_in_both_modes():
    probs, truth = table(kind="float64")
    metric = pt.streaming.StreamScores("brier")
    with jax.enable_x64(True):
        wide = one_pass(metric, probs, truth)
    assert same(one_pass(metric, probs, truth), wide)


def test_threads_change_no_bit(monkeypatch):
    from probtruth.scoring.means import folding

    probs, truth = table()
    alone = one_pass(METRIC, probs, truth)
    monkeypatch.setattr(folding, "BLOCKS_PER_CORE", 1)
    monkeypatch.setattr(folding, "n_cores", lambda: 3)
    assert same(one_pass(METRIC, probs, truth), alone)
