"""Metrics as functions of weights, against scikit-learn with the same weights as `sample_weight`."""

from typing import get_args

import numpy as np
import pytest
from one_model import two
from sklearn import metrics as reference

import probtruth as pt
from probtruth.scoring.align import align
from probtruth.scoring.metrics import weighted_metric
from probtruth.types.arguments import MetricName

N, RNG = 40, np.random.default_rng(7)
LABEL = RNG.integers(0, 2, N)
PROBS = np.round(1 / (1 + np.exp(-(1.5 * LABEL - 0.75 + RNG.normal(size=(2, N))))), 1)
"""With ties, and none at one half."""
PROBS[PROBS == 0.5] = 0.4
WEIGHTS = RNG.standard_exponential((3, N))
ROUND_OFF = 1e-12


def aligned(probs=PROBS, truth=LABEL):
    models = {name: two(row) for name, row in zip("ab", probs, strict=True)}
    known = pt.Truth.from_labels(truth, 2) if truth.ndim == 1 else pt.Truth.from_probs(truth, estimand="class")
    return align(pt.Predictions.from_probs(models), known).on_host()


def values(metric, weights=WEIGHTS, data=None, **options):
    return weighted_metric(aligned() if data is None else data, np.arange(N), metric, **options).values(weights)


ANSWERS = {
    "accuracy": reference.accuracy_score,
    "precision": reference.precision_score,
    "recall": reference.recall_score,
    "f1": reference.f1_score,
    "macro-f1": lambda *pair, sample_weight: reference.f1_score(*pair, average="macro", sample_weight=sample_weight),
    "kappa": reference.cohen_kappa_score,
}
AREAS = {"roc-auc": reference.roc_auc_score, "average-precision": reference.average_precision_score}


@pytest.mark.parametrize("metric", ANSWERS)
def test_answers_with_weights_are_those_of_scikit_learn(metric):
    for threshold in (None, 0.3):
        found = values(metric, threshold=threshold)
        answers = (0.5 if threshold is None else threshold) <= PROBS
        for row, weights in zip(found, WEIGHTS, strict=True):
            wanted = [ANSWERS[metric](LABEL, answer.astype(int), sample_weight=weights) for answer in answers]
            assert row == pytest.approx(wanted, rel=ROUND_OFF)


@pytest.mark.parametrize("metric", AREAS)
def test_areas_with_weights_and_ties_are_those_of_scikit_learn(metric):
    for row, weights in zip(values(metric), WEIGHTS, strict=True):
        wanted = [AREAS[metric](LABEL, probs, sample_weight=weights) for probs in PROBS]
        assert row == pytest.approx(wanted, rel=ROUND_OFF)


def test_soft_labels_are_items_twice_with_their_shares_as_weights():
    soft = RNG.random(N)
    found = values("roc-auc", np.ones((1, N)), aligned(truth=two(soft)))[0]
    twice, shares = np.repeat([1, 0], N), np.concatenate([soft, 1 - soft])
    wanted = [reference.roc_auc_score(twice, np.tile(probs, 2), sample_weight=shares) for probs in PROBS]
    assert found == pytest.approx(wanted, rel=ROUND_OFF)


def test_the_calibration_error_without_weights_is_that_of_calibration():
    models = {name: two(p) for name, p in zip("ab", PROBS, strict=True)}
    sides = pt.Predictions.from_probs(models), pt.Truth.from_labels(LABEL, 2)
    errors = pt.calibration.calibration_error(*sides, n_resamples=0)["error"].to_list()
    assert values("ece", np.ones((1, N)))[0] == pytest.approx(errors, rel=ROUND_OFF)


def test_units_weigh_as_all_of_their_items():
    unit, weights = np.arange(N) // 4, WEIGHTS[:, :10]
    for metric in get_args(MetricName.__value__):
        found = weighted_metric(aligned(), unit, metric).values(weights)
        assert found == pytest.approx(values(metric, weights[:, unit]), rel=1e-9)


def test_an_item_without_weight_is_as_if_it_were_not_there():
    weights = np.ones((1, N))
    weights[0, np.argmax(PROBS[0])] = 0.0  # the first of the ranking, where precision would be 0/0
    rest = weights[0] > 0
    for metric in get_args(MetricName.__value__):
        alone = weighted_metric(aligned(PROBS[:, rest], LABEL[rest]), np.arange(N - 1), metric).values(
            np.ones((1, N - 1))
        )
        assert values(metric, weights) == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize("metric", get_args(MetricName.__value__))
def test_to_first_order_an_item_adds_what_the_metric_gains_by_a_little_of_it(metric):
    soft = RNG.dirichlet([0.5, 0.5], N)
    data = aligned(truth=soft)
    chosen = weighted_metric(data, np.arange(N), metric)
    (whole,) = chosen.values(np.ones((1, N)))
    assert (chosen.linear * soft).sum(-1).mean(-1) == pytest.approx(whole, abs=1e-8)
    little = 1e-5
    weights = np.append(np.ones(N), [0.0])
    for item, label in ((0, 0), (0, 1), (17, 1)):
        longer = aligned(np.column_stack([PROBS, PROBS[:, item]]), np.vstack([soft, np.eye(2)[label]]))
        values_of = weighted_metric(longer, np.arange(N + 1), metric).values
        without, more = values_of(np.stack([weights, weights + np.append(np.zeros(N), [little])]))
        wanted = whole + N * (more - without) / little
        assert chosen.linear[:, item, label] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("metric", get_args(MetricName.__value__))
def test_last_digits_of_forecasts_are_no_order(metric):
    """Forecasts that tie but for a last digit had a most probable label, and an order."""
    quarters = np.clip(np.round(PROBS * 4) / 4, 0.25, 0.75)
    noise = 1 + 2.3e-16 * RNG.choice([-1, 0, 1], size=quarters.shape)
    assert values(metric, data=aligned(quarters * noise)) == pytest.approx(values(metric, data=aligned(quarters)))


def test_undefined_is_unknown_and_never_0():
    never, nobody = aligned(truth=np.zeros(N, int)), np.full((2, N), 0.1)
    ones = np.ones((1, N))
    for metric in ("recall", "roc-auc", "average-precision"):
        assert np.isnan(values(metric, ones, never)).all()
    assert np.isnan(values("precision", ones, aligned(nobody))).all()
    assert np.isnan(values("kappa", ones, aligned(nobody, np.zeros(N, int)))).all()
    assert values("f1", ones, aligned(nobody)).tolist() == [[0.0, 0.0]]  # there are positive items: F1 is 0


THREE = align(pt.Predictions.from_probs({"a": np.full((2, 3), 1 / 3)}), pt.Truth.from_labels([0, 1], 3)).on_host()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "f2"}, "metric"),
        ({"metric": "kappa", "label": "1"}, "no label"),
        ({"metric": "ece", "threshold": 0.5}, "no threshold"),
        ({"metric": "f1", "label": "7"}, "label"),
        ({"metric": "f1", "data": THREE}, "without a label, with 3 labels.*--metric f1:0"),
        ({"metric": "brier"}, r"the rule 'brier' as a metric.*rule='brier'\) \(command line: --rule brier"),
    ],
)
def test_errors(options, message):
    with pytest.raises(pt.InputError, match=message):
        values(**options)
