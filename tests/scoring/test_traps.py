"""Traps of soft labels and scores: the naive way fails in each, ours does not."""

import numpy as np
from sklearn.metrics import log_loss

import probtruth as pt

ROUNDING = 1e-12


def softmax(logits):
    powered = np.exp(logits - logits.max(-1, keepdims=True))
    return powered / powered.sum(-1, keepdims=True)


def test_infinite_loss_stays_infinite_where_clipping_gives_a_number_for_each_dtype():
    labels, probs = np.array([0, 0]), np.array([[0.0, 1.0], [0.5, 0.5]])
    clipped = {dtype: log_loss(labels, probs.astype(dtype), labels=[0, 1]) for dtype in (np.float64, np.float32)}
    assert clipped[np.float64] > clipped[np.float32] + 5, "scikit-learn clips at the dtype's rounding"
    scores = pt.score(pt.Predictions.from_probs({"a": probs}), pt.Truth.from_labels(labels, n_labels=2))
    assert scores.values.mean() == np.inf
    assert scores.n_infinite.tolist() == [1]


def test_totals_over_many_items_are_in_float64():
    items = 1_000_000
    probs = np.full((items, 2), 0.5, np.float32)
    probs[:, 0], probs[:, 1] = 0.1, 0.9
    scores = pt.score(pt.Predictions.from_probs({"a": probs}), pt.Truth.from_labels(np.zeros(items, int), n_labels=2))
    running = np.add.accumulate(np.full(items, -np.log(np.float32(0.1)), np.float32))[-1] / items
    assert abs(running / np.log(10) - 1) > 1e-4
    np.testing.assert_allclose(scores.values.mean(), np.log(10), rtol=1e-7)  # .1 itself is rounded to float32


def test_smoothed_votes_put_the_oracle_behind_a_real_model(chaosnli):
    # +1 smoothing of five votes, zeros of the oracle clipped at 1e-12: 2.18; roberta_0 with halved logits 1.20
    predictions, truth = chaosnli
    rng = np.random.default_rng(0)
    counts = np.array([rng.multinomial(5, row) for row in truth.shares])
    names = {"items": truth.index.items, "labels": truth.index.labels}
    oracle = pt.Predictions.from_probs({"oracle": truth.shares}, **names)
    model = pt.Predictions.from_logits({"roberta_0": predictions.log_probs[2] / 2}, **names)
    means = [
        float(pt.score(forecasts, pt.Truth.from_probs(labels, **names), floor=1e-12).values.mean())
        for labels in ((counts + 1) / 8, counts / 5)
        for forecasts in (oracle, model)
    ]
    np.testing.assert_allclose(means[:2], [2.18, 1.20], rtol=0.02)  # one draw of the votes
    assert means[2] < means[3], "the unsmoothed shares keep the oracle first"


def test_the_majority_reverses_calibrated_against_sharpened():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(20_000, 3)) * 0.8
    opinions = softmax(logits)
    models = {"calibrated": opinions, "sharpened": softmax(2.0 * logits)}
    counts = np.array([rng.multinomial(5, row) for row in opinions])
    predictions = pt.Predictions.from_probs(models)

    def difference(truth):
        return float(np.diff(pt.score(predictions, truth).values.mean(1)[::-1])[0])

    soft = difference(pt.Truth.from_probs(counts / 5))
    exact = difference(pt.Truth.from_probs(opinions))
    ties = counts + rng.random(counts.shape) * 0.5
    majority = difference(pt.Truth.from_labels(ties.argmax(1), n_labels=3))
    assert exact < 0 < majority
    assert abs(soft - exact) < 0.01
    single = difference(pt.Truth.from_labels((rng.random((20_000, 1)) > opinions.cumsum(1)).sum(1), n_labels=3))
    assert abs(single - exact) < 0.03
