"""Predictions: checked once, never repaired."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from probtruth.errors import InputError
from probtruth.types import Index, Predictions

PROBS = [[0.25, 0.75], [1.0, 0.0]]

ROUND_OFF = 1e-15  # One exp after one log in double precision, on numbers up to 1


class TestValues:
    def test_logs_of_probabilities(self) -> None:
        pred = Predictions.from_probs({"a": PROBS, "b": np.array(PROBS, np.float32)})
        assert pred.models == ("a", "b")
        assert pred.log_probs[0, 1].tolist() == [0, -np.inf]
        np.testing.assert_allclose(pred.probs[0], PROBS, rtol=ROUND_OFF)

    def test_a_single_precision_model_alone_stays_single(self) -> None:
        assert Predictions.from_probs({"a": np.array(PROBS, np.float32)}).log_probs.dtype == np.float32

    def test_log_probabilities_are_not_touched(self) -> None:
        logs = [[-1e-300, -np.inf], [-1e5, 0.0]]
        assert Predictions.from_log_probs({"a": logs}).log_probs.tolist() == [logs]

    @settings(max_examples=50, deadline=None, derandomize=True)
    @given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=4), st.floats(-100, 100))
    def test_logits_are_normalised_and_their_level_is_free(self, row: list[float], shift: float) -> None:
        found = Predictions.from_logits({"a": [row]}).log_probs[0, 0]
        assert (found == log_softmax(np.array(row))).all()
        assert abs(np.exp(found).sum() - 1) <= len(row) * np.finfo(float).eps


class TestNames:
    def test_names_bring_their_rows_along(self) -> None:
        pred = Predictions.from_probs({"a": PROBS}, items=np.array([10, 9]), labels=["y", "x"])
        assert (pred.index.items, pred.index.labels) == (("9", "10"), ("x", "y"))
        assert pred.probs[0, 0].tolist() == [0, 1]

    def test_names_of_an_index(self) -> None:
        index, _, _ = Index.of_array((2, 2), ["p", "q"], ["x", "y"])
        assert Predictions.from_probs({"a": PROBS}, index=index).index == index
        renamed = Predictions.from_probs({"a": PROBS}, items=["r", "s"], index=index).index
        assert (renamed.items, renamed.labels) == (("r", "s"), ("x", "y"))
        with pytest.raises(InputError, match="1 items, expected 2"):
            Predictions.from_probs({"a": PROBS[:1]}, index=index)

    def test_without_names_they_are_positions(self) -> None:
        index = Predictions.from_probs({7: PROBS}).index
        assert (index.positional_items, index.positional_labels) == (True, True)

    def test_no_items_is_not_the_same_as_none_given(self) -> None:
        with pytest.raises(InputError, match="2 items, expected 0"):
            Predictions.from_probs({"a": PROBS}, items=[], labels=["x", "y"])


MAKE = {
    "probs": Predictions.from_probs,
    "log_probs": Predictions.from_log_probs,
    "logits": Predictions.from_logits,
    "labels": lambda tables: Predictions.from_labels(tables, n_labels=2),
}


@pytest.mark.parametrize(
    ("kind", "tables", "message"),
    [
        ("probs", {"a": [[0.5, 0.5], [0.5, np.nan]]}, "model 'a', item '1': got probabilities nan for label '1'"),
        ("probs", {"a": [[0.5, 0.5], [np.inf, 0]]}, "model 'a', item '1': got probabilities inf"),
        ("probs", {"a": [[1.5, -0.5]]}, "got probabilities -0.5 for label '1', expected a probability between 0 and 1"),
        ("probs", {"a": PROBS, "b": [[0.5, 0.49], [1, 0]]}, "model 'b', item '0': got probabilities that sum to 0.99"),
        ("probs", {"a": [[0.5, 0.51]]}, "probabilities that sum to 1.01"),
        ("probs", {"a": [[]]}, "an empty table of probabilities"),
        ("probs", {"a": [0.5, 1.5]}, "model 'a', item '1': got probabilities -0.5 for label '0'"),
        ("probs", {"a": [["x", "y"]]}, "probabilities of model 'a' that are not numbers"),
        ("probs", {"a": [[0.5 + 0j, 0.5]]}, "probabilities of model 'a' that are not numbers"),
        ("probs", {"a": np.array([["2020-01-01"]], "datetime64[D]")}, "that are not numbers"),
        ("probs", {"a": PROBS, "b": PROBS[:1]}, "model 'b' with shape (1, 2), expected (2, 2) as model 'a'"),
        ("probs", {1: PROBS, "1": PROBS}, "model '1' more than once"),
        ("probs", {}, "got an empty dict, expected a dict {model name: array}"),
        ("probs", PROBS, "got list, expected a dict {model name: array}"),
        ("labels", [0, 1], "got list, expected a dict {model name: array}"),
        ("log_probs", {"a": [[0.5, 0.5]]}, "exponentials of log-probabilities that sum to 3.29744"),
        ("log_probs", {"a": [[1e4, 0]]}, "exponentials of log-probabilities inf"),
        ("log_probs", {"a": [[np.nan, 0]]}, "exponentials of log-probabilities nan"),
        ("logits", {"a": [[1, 2], [np.nan, 0]]}, "model 'a', item '1': got logits [nan, 0.0]"),
        ("logits", {"a": [[np.inf, 0]]}, "got logits [inf, 0.0], expected finite numbers"),
        ("logits", {"a": [[-np.inf, -np.inf]]}, "got logits [-inf, -inf]"),
        ("labels", {"a": [0, 2]}, "labels of model 'a', item 1: got label 2, expected an integer from 0 to 1"),
        ("labels", {"a": [0, -1]}, "got label -1"),
        ("labels", {"a": [0.0, 1.5]}, "of type float64 and shape (2,)"),
        ("labels", {"a": [[1], [1, 2]]}, "labels of model 'a' in rows of several lengths"),
        ("logits", {"a": [[1.0], [1.0, 2.0]]}, "predictions in rows of several lengths"),
    ],
)
def test_errors(kind: str, tables: dict[str, object], message: str) -> None:
    make: Callable[[dict[str, object]], object] = MAKE[kind]
    with pytest.raises(InputError, match=re.escape(message)):
        make(tables)
