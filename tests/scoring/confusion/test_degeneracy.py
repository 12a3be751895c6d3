import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from one_model import two

import probtruth as pt

ROUND_OFF = 1e-12  # Sums of a few dozen numbers near 1 in float64


def row(report, metric, label=None):
    chosen = report.filter(report["metric"] == metric)
    return chosen.row(0 if label is None else chosen["label"].to_list().index(label), named=True)


def test_the_blogs_item():
    """Carpenter (2010), y = .7: accuracy is best at response 1; recall is the response, precision the truth."""
    report = pt.confusion.degeneracy_report(pt.Truth.from_probs(two([0.7])))
    assert row(report, "accuracy")["best"] == pytest.approx(0.7, rel=ROUND_OFF)
    assert not row(report, "accuracy")["honest_is_best"]
    assert row(report, "recall", "1")["best_response"] == "always '1'"
    assert row(report, "specificity", "1")["best_response"] == "never '1'"
    assert row(report, "precision", "1")["honest_is_best"]
    assert row(report, "f", "1")["best"] == pytest.approx(1.4 / 1.7, rel=ROUND_OFF)
    assert row(report, "log")["honest"] == pytest.approx(0.6109, abs=5e-5)  # the blog's .61, four digits
    assert row(report, "log")["honest_is_best"]
    assert row(report, "brier")["honest"] == pytest.approx(0.42, rel=ROUND_OFF)


def test_accuracy_is_indifferent_at_one_half_and_not_at_zero():
    """The blog writes y = 0; at y = 0 the best response is 0 and only that."""
    half = row(pt.confusion.degeneracy_report(pt.Truth.from_probs(two([0.5]))), "accuracy")
    assert half["best_response"] == "any response"
    assert half["honest_is_best"]
    nought = row(pt.confusion.degeneracy_report(pt.Truth.from_probs(two([0.0]))), "accuracy")
    assert nought["best_response"] == "the most probable label of every item"


@settings(deadline=None, max_examples=25, derandomize=True)
@given(hnp.arrays(np.float64, 5, elements=st.floats(0.01, 0.99)), st.integers(0, 1000))
def test_no_response_beats_the_best(y, seed):
    report = pt.confusion.degeneracy_report(pt.Truth.from_probs(two(y)))
    rng = np.random.default_rng(seed)
    answers = [rng.uniform(size=5) for _ in range(20)] + [
        (np.arange(32)[:, None] >> np.arange(5) & 1)[k] for k in range(32)
    ]
    truth = pt.Truth.from_probs(two(y))
    found = pt.expected_confusion(pt.Predictions.from_probs({str(k): two(a) for k, a in enumerate(answers)}), truth)
    assert np.nanmax(found.accuracy) <= row(report, "accuracy")["best"] + ROUND_OFF
    for metric in ("precision", "recall", "specificity", "f"):
        reached = np.nanmax(found.metric(metric, label="1"))
        assert reached == pytest.approx(row(report, metric, "1")["best"], abs=ROUND_OFF)  # among the 32 hard responses


def test_the_best_f_is_twice_its_threshold():
    """Lipton et al. (2014): an item is worth taking where its probability is above half of the best F."""
    y = np.random.default_rng(0).uniform(size=50)
    found = row(pt.confusion.degeneracy_report(pt.Truth.from_probs(two(y))), "f", "1")
    assert f"the {int((y > found['best'] / 2).sum())} of 50 items" in found["best_response"]


def test_three_labels_and_a_label_that_never_happens():
    report = pt.confusion.degeneracy_report(pt.Truth.from_probs([[0.5, 0.5, 0], [0.2, 0.8, 0]]))
    assert report.height == 1 + 4 * 3 + 2
    assert np.isnan(row(report, "recall", "2")["best"])
    assert row(report, "f", "2")["best_response"] == "none: the label never happens"


def test_errors():
    with pytest.raises(pt.InputError, match="got list, expected a Truth"):
        pt.confusion.degeneracy_report([[1, 0]])
