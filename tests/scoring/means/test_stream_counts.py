import jax
import numpy as np
import pytest

import probtruth as pt

FIXED = 2.0**-24
"""A product of two probabilities, each rounded to a multiple of 2^-24, is off by less than this."""


def table(items=9000, labels=4, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(rng.dirichlet(np.full(labels, 0.4), items).astype(np.float32) for _ in range(2))


def one_pass(metric, probs, truth):
    return metric.update(metric.init(), probs, truth)


def same(one, other):
    return all(np.array_equal(*pair) for pair in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


@pytest.mark.parametrize(("response", "threshold"), [("sample", None), ("argmax", None), ("threshold", (0.5,) * 4)])
@pytest.mark.parametrize("log_probs", [False, True])
def test_counts_and_metrics_are_those_of_expected_confusion(response, threshold, log_probs):
    probs, truth = (values[:500] for values in table())
    metric = pt.streaming.StreamCounts(n_labels=4, response=response, threshold=threshold, log_probs=log_probs)
    found = metric.finalize(one_pass(metric, np.log(probs) if log_probs else probs, truth))
    predictions = pt.Predictions.from_probs({"a": probs})
    expected = pt.expected_confusion(predictions, pt.Truth.from_probs(truth), response, threshold=threshold)
    np.testing.assert_allclose(found.counts, expected.counts[0], rtol=0, atol=FIXED * 500)
    np.testing.assert_allclose(found.values, expected.values[0], rtol=1e-6)  # float32 against float64 input
    assert [(one.metric, one.label) for one in found.measures] == [(one.metric, one.label) for one in expected.measures]


def test_one_threshold_for_two_labels():
    probs = np.array([[0.7, 0.3], [0.6, 0.4], [0.59, 0.41]], np.float32)
    metric = pt.streaming.StreamCounts(n_labels=2, response="threshold", threshold=(0.4,))
    found = metric.finalize(one_pass(metric, probs, np.eye(2, dtype=np.float32)[[0, 0, 1]]))
    assert found.counts.tolist() == [[1, 1], [0, 1]]


def test_hard_labels_and_responses_are_counted_in_integers():
    rng = np.random.default_rng(0)
    labels, answers = rng.integers(0, 3, (2, 20_000))
    metric = pt.streaming.StreamCounts(n_labels=3)
    found = metric.finalize(one_pass(metric, np.eye(3)[answers], np.eye(3)[labels]))
    assert (found.counts == np.bincount(labels * 3 + answers, minlength=9).reshape(3, 3)).all()


def test_any_batches_and_order_give_the_same_bits():
    probs, truth = table()
    metric = pt.streaming.StreamCounts(n_labels=4)
    whole = one_pass(metric, probs, truth)
    order = np.random.default_rng(1).permutation(len(probs))
    first, second = order[:1234], order[1234:]
    assert same(metric.update(one_pass(metric, probs[first], truth[first]), probs[second], truth[second]), whole)
    assert same(metric.merge(*(one_pass(metric, probs[part], truth[part]) for part in (second, first))), whole)
    assert same(jax.jit(metric.update)(metric.init(), probs, truth), whole)


def test_no_items_have_no_metrics():
    metric = pt.streaming.StreamCounts(n_labels=2)
    found = metric.finalize(metric.init())
    assert found.counts.tolist() == [[0, 0], [0, 0]]
    assert np.isnan(found.values).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"response": "argmx"}, "Did you mean 'argmax'"),
        ({"response": "threshold"}, "threshold None with response 'threshold'"),
        ({"threshold": (0.5,)}, "with response 'sample'"),
        ({"response": "threshold", "threshold": (0.5,)}, "a tuple of 3 numbers"),
        ({"response": "threshold", "threshold": (0.5, 0, 1)}, "above 0"),
    ],
)
def test_errors(options, message):
    with pytest.raises(pt.InputError, match=message):
        pt.streaming.StreamCounts(n_labels=3, **options)
