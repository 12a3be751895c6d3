import jax.numpy as jnp
import numpy as np
import pytest
from one_model import one_model
from sklearn import metrics as skm

import probtruth as pt

ROUND_OFF = 1e-12  # A few thousand additions of numbers near 1 in float64


def test_one_item_of_the_blog():
    """Carpenter (2010): y = .7, response .6: recall is the response, precision the truth, F = 2 y r / (y + r)."""
    confusion = pt.expected_confusion(*one_model([0.6], [0.7]))
    np.testing.assert_allclose(confusion.counts[0], [[0.3 * 0.4, 0.3 * 0.6], [0.7 * 0.4, 0.7 * 0.6]], rtol=ROUND_OFF)
    expected = {"accuracy": 0.54, "recall": 0.6, "precision": 0.7, "specificity": 0.4, "f": 0.84 / 1.3}
    assert confusion.accuracy[0] == pytest.approx(expected.pop("accuracy"), rel=ROUND_OFF)
    for metric, value in expected.items():
        assert confusion.metric(metric, label="1")[0] == pytest.approx(value, rel=ROUND_OFF)


@pytest.mark.parametrize("n_labels", [2, 4])
def test_hard_labels_and_argmax_are_scikit_learn(n_labels):
    rng = np.random.default_rng(0)
    labels, probs = rng.integers(n_labels, size=200), rng.dirichlet(np.ones(n_labels), size=200)
    truth = pt.Truth.from_labels(labels, n_labels)
    confusion = pt.expected_confusion(pt.Predictions.from_probs({"a": probs}), truth, response="argmax")
    answers = probs.argmax(1)
    np.testing.assert_array_equal(confusion.counts[0], skm.confusion_matrix(labels, answers))
    assert confusion.accuracy[0] == pytest.approx(skm.accuracy_score(labels, answers), rel=ROUND_OFF)
    for metric, score in {"precision": skm.precision_score, "recall": skm.recall_score, "f": skm.f1_score}.items():
        per_label = confusion.values[0, [confusion.column(metric, label=k) for k in range(n_labels)]]
        np.testing.assert_allclose(per_label, score(labels, answers, average=None), rtol=ROUND_OFF)
        for average in ("macro", "micro", "weighted"):
            value = confusion.metric(metric, average=average)[0]
            assert value == pytest.approx(score(labels, answers, average=average), rel=ROUND_OFF)
    for k in range(n_labels):
        specificity = skm.recall_score(labels != k, answers != k)
        assert confusion.specificity[0, k] == pytest.approx(specificity, rel=ROUND_OFF)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("asarray", [np.asarray, jnp.asarray], ids=["host", "devices"])
def test_a_forecast_of_exactly_the_threshold_reaches_it(kind, asarray):
    """0.35 comes back from its logarithm as 0.3499...; an answer counts from the threshold on, as written."""
    written = np.arange(1, 100)  # hundredths
    probs = asarray(np.stack([100 - written, written], 1).astype(kind) / kind(100))
    predictions, truth = pt.Predictions.from_probs({"a": probs}), pt.Truth.from_labels(np.zeros(99, int), 2)
    for limit in range(1, 100):
        counts = pt.expected_confusion(predictions, truth, "threshold", threshold=limit / 100).counts
        assert counts[0, 0, 1] == (written >= limit).sum(), limit


def test_macro_f_against_the_people_and_against_their_majority(chaosnli):
    """Natural-language inference with 100 labels an item, roberta-base seed 0: the majority flatters the model."""
    predictions, people = chaosnli
    majority = pt.Truth.from_labels(people.shares.argmax(1), 3, items=people.index.items, classes=people.index.labels)
    for truth, expected in ((majority, 0.726), (people, 0.646)):
        found = pt.expected_confusion(predictions, truth, response="argmax")
        assert round(float(found.metric("f", average="macro")[2]), 3) == expected


def test_ties_share_the_answer():
    confusion = pt.expected_confusion(*one_model([0.5], [1.0]), response="argmax")
    np.testing.assert_array_equal(confusion.counts[0], [[0, 0], [0.5, 0.5]])


def test_undefined_is_nan_and_counted():
    truth = pt.Truth.from_probs([[0.5, 0.5, 0], [1, 0, 0]])
    confusion = pt.expected_confusion(pt.Predictions.from_probs({"a": [[1, 0, 0], [1, 0, 0]]}), truth)
    np.testing.assert_array_equal(np.isnan(confusion.precision[0]), [False, True, True])
    np.testing.assert_array_equal(np.isnan(confusion.recall[0]), [False, False, True])
    np.testing.assert_array_equal(np.isnan(confusion.f[0]), [False, False, True])
    table = confusion.table()
    row = table.filter((table["metric"] == "precision") & (table["average"] == "macro"))
    assert row["value"].item() == 0.75
    assert row["undefined"].item() == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"response": "smaple"}, "Did you mean 'sample'"),
        ({"method": "exakt"}, "Did you mean|The options are"),
        ({"response": "threshold"}, "got threshold None, expected a number above 0"),
        ({"response": "threshold", "threshold": 0}, "threshold 0, expected a number above 0"),
        ({"response": "threshold", "threshold": [0.5, 0.2]}, "expected a number above 0"),
        ({"threshold": 0.5}, "only with response 'threshold'"),
        ({"method": "draws", "draws": 1}, "expected an integer of at least 2"),
        ({"method": "draws", "seed": -1}, "seed"),
    ],
)
def test_errors(options, message):
    with pytest.raises(pt.InputError, match=message):
        pt.expected_confusion(*one_model([0.6], [0.7]), **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "recal", "label": "1"}, "Did you mean 'recall'"),
        ({"metric": "recall"}, "expected a label or an average"),
        ({"metric": "recall", "label": "1", "average": "macro"}, "expected a label or an average"),
        ({"metric": "recall", "label": "2"}, "label '2', expected one of '0', '1'"),
        ({"metric": "recall", "average": "mean"}, "average 'mean', expected one of"),
    ],
)
def test_asking_for_a_metric(arguments, message):
    with pytest.raises(pt.InputError, match=message):
        pt.expected_confusion(*one_model([0.6], [0.7])).metric(**arguments)
