import numpy as np
import pytest

import probtruth as pt
from probtruth.scoring.align import align

HELD_AS_LOG = 3e-15  # relative: what a probability of 0.1 loses as a logarithm and back, 4 roundings of log 0.1 = -2.3


def test_items_and_labels_meet_by_name_and_unused_labels_are_kept():
    truth = pt.Truth.from_probs([[0.2, 0.8], [0.5, 0.5], [1, 0]], items=["x", "y", "z"], labels=["yes", "no"])
    table = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]]
    predictions = pt.Predictions.from_probs({"a": table}, items=["z", "w", "x"], labels=["no", "maybe", "yes"])
    aligned = align(predictions, truth)
    assert aligned.items == ("x", "z")
    assert aligned.labels == ("maybe", "no", "yes")
    np.testing.assert_array_equal(aligned.truth, [[0, 0.8, 0.2], [0, 0, 1]])
    np.testing.assert_allclose(np.exp(aligned.log_probs[0]), [[0.2, 0.6, 0.2], [0.2, 0.1, 0.7]], rtol=HELD_AS_LOG)
    assert aligned.audit.missing == ("y",)
    assert aligned.audit.extra == ("w",)
    assert aligned.audit.by_model == (("a", 1, 1),)


def test_items_missing_at_reading_are_not_counted_twice():
    truth = pt.Truth.from_probs([[0.2, 0.8], [0.5, 0.5]], items=["x", "y"])
    index = pt.Truth.from_probs([[1, 0]], items=["x"]).index
    audit = type(pt.Predictions.from_probs({"a": [[1, 0]]}).audit)(("y",), (), (("a", 1, 0),))
    predictions = pt.Predictions(np.log(np.array([[[0.5, 0.5]]])), ("a",), index, audit)
    assert align(predictions, truth).audit == audit


@pytest.mark.parametrize(
    ("predictions", "truth", "message"),
    [
        ([[0.5, 0.5]], pt.Truth.from_probs([[0.5, 0.5]]), "got list, expected Predictions"),
        (pt.Predictions.from_probs({"a": [[0.5, 0.5]]}), [[1, 0]], "got list, expected a Truth"),
        (
            pt.Predictions.from_probs({"a": [[0.5, 0.5]]}, items=["x"]),
            pt.Truth.from_probs([[0.5, 0.5]], items=["y"]),
            "no item in common",
        ),
        (
            pt.Predictions.from_probs({"a": [[0.5, 0.5]]}, labels=["no", "yes"]),
            pt.Truth.from_probs([[0.5, 0.5]], labels=["no", "yess"]),
            "Did you mean 'yes'",
        ),
    ],
)
def test_errors(predictions, truth, message):
    with pytest.raises(pt.InputError, match=message):
        align(predictions, truth)
