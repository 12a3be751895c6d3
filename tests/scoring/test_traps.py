"""Traps of soft labels and scores: the naive way fails in each, ours does not."""

import jax
import numpy as np
import pytest
from sklearn.metrics import log_loss

import probtruth as pt

ROUNDING = 1e-12


def softmax(logits):
    powered = np.exp(logits - logits.max(-1, keepdims=True))
    return powered / powered.sum(-1, keepdims=True)


def test_expected_score_is_not_the_plug_in_score():
    truth, probs = np.array([0.7, 0.3]), np.array([0.6, 0.4])
    plug_in = ((probs - truth) ** 2).sum()
    with jax.enable_x64(True):
        assert abs(float(pt.brier_score(probs, truth)) - plug_in) > 0.4
        np.testing.assert_allclose(pt.brier_score(probs, truth), plug_in + 1 - (truth**2).sum(), rtol=ROUNDING)


def test_infinite_loss_stays_infinite_where_clipping_gives_a_number_for_each_dtype():
    labels, probs = np.array([0, 0]), np.array([[0.0, 1.0], [0.5, 0.5]])
    clipped = {dtype: log_loss(labels, probs.astype(dtype), labels=[0, 1]) for dtype in (np.float64, np.float32)}
    assert clipped[np.float64] > clipped[np.float32] + 5, "scikit-learn clips at the dtype's rounding"
    scores = pt.score(pt.Predictions.from_probs({"a": probs}), pt.Truth.from_labels(labels, n_labels=2))
    assert scores.values.mean() == np.inf
    assert scores.n_infinite.tolist() == [1]


def test_subnormal_probabilities_are_not_flushed_to_zero():
    probs = np.array([1e-38, 1.0], np.float32)
    truth = np.array([1.0, 0.0], np.float32)
    assert float(-(jax.numpy.log(probs) * truth).sum()) != pytest.approx(87.498, abs=1e-3), "XLA on CPU flushes"
    assert float(pt.log_score(probs, truth)) == pytest.approx(87.49824, abs=1e-4)


def test_naive_gradient_at_zero_is_nan():
    truth = np.array([0.0, 1.0], np.float32)

    def naive(probs):
        return -jax.numpy.where(truth > 0, truth * jax.numpy.log(probs), 0).sum()

    probs = np.array([0.0, 1.0], np.float32)
    assert np.isnan(jax.jit(jax.grad(naive))(probs)[0])
    assert jax.jit(jax.grad(pt.log_score))(probs, truth)[0] == 0


def test_small_divergence_in_float32():
    # KL of (.5, .5) from (.5 + d, .5 - d) is 2 d^2 to second order
    shift = np.float32(2.0**-13)
    truth, probs = np.float32([0.5, 0.5]), np.float32([0.5, 0.5]) + np.float32([shift, -shift])
    naive = float(pt.log_score(probs, truth)) - float(pt.entropy(truth))
    exact = 2 * float(shift) ** 2
    assert abs(naive / exact - 1) > 0.1
    assert float(pt.kl_divergence(probs, truth)) == pytest.approx(exact, rel=1e-5)
    assert float((truth * np.log(truth / (probs + np.float32(1e-8)))).sum(dtype=np.float32)) != pytest.approx(exact)


def test_totals_over_many_items_are_in_float64():
    items = 1_000_000
    probs = np.full((items, 2), 0.5, np.float32)
    probs[:, 0], probs[:, 1] = 0.1, 0.9
    scores = pt.score(pt.Predictions.from_probs({"a": probs}), pt.Truth.from_labels(np.zeros(items, int), n_labels=2))
    running = np.add.accumulate(np.full(items, -np.log(np.float32(0.1)), np.float32))[-1] / items
    assert abs(running / np.log(10) - 1) > 1e-4
    np.testing.assert_allclose(scores.values.mean(), np.log(10), rtol=1e-7)  # .1 itself is rounded to float32


@pytest.mark.parametrize("side", ["forecast", "truth"])
@pytest.mark.parametrize("total", [0.99, 1.01])
def test_rows_that_do_not_sum_to_one_are_named_on_both_sides(side, total):
    table = [[0.5, 0.5], [0.5, total - 0.5]]
    with pytest.raises(pt.InputError, match=rf"(?s)1.*sum to {total}"):
        _ = pt.Predictions.from_probs({"a": table}) if side == "forecast" else pt.Truth.from_probs(table)


def test_oracle_against_five_votes(chaosnli):
    # the perfect forecaster looks imperfect to distances, and never loses to a real model in expected log loss
    _, truth = chaosnli
    rng = np.random.default_rng(0)
    shares = truth.shares
    counts = np.rint(shares * 100).astype(int)
    votes = np.array([rng.multivariate_hypergeometric(row, 5) for row in counts]) / 5  # five of the hundred
    distance = np.abs(votes - shares).sum(1).mean() / 2
    first = votes == votes.max(1, keepdims=True)  # ties share
    accuracy = np.mean(first[np.arange(len(votes)), shares.argmax(1)] / first.sum(1))
    np.testing.assert_allclose([distance, accuracy], [0.152, 0.865], atol=0.012)  # one draw of 1,514 items
    squared = ((votes - shares) ** 2).sum(1)
    debiased = squared - (votes * (1 - votes)).sum(1) / 4
    assert squared.mean() > 0.05
    assert abs(debiased.mean()) < 0.005


def test_corrected_divergence_of_the_brier_score_is_the_debiased_squared_distance():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(5, [0.5, 0.3, 0.2], 50)
    truth = pt.infer_truth(pt.Annotations.from_counts(counts), method="vote-share")
    probs = rng.dirichlet(np.ones(3), 50)
    row = pt.decompose(pt.Predictions.from_probs({"a": probs}), truth, rule="brier").row(0, named=True)
    shares = truth.shares
    debiased = ((probs - shares) ** 2).sum(1) - (shares * (1 - shares)).sum(1) / 4
    np.testing.assert_allclose(row["divergence_corrected"], debiased.mean(), rtol=1e-9)


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
