"""Tables in places where they do not belong, and indices without names: an `InputError`, never an odd answer."""

from pathlib import Path

import numpy
import pandas
import polars
import pytest

import probtruth as pt
from probtruth.errors import InputError, PosteriorError


class TestTablesInOddPlaces:
    FRAME = pandas.DataFrame({"no": [0.4, 0.3], "yes": [0.6, 0.7]}, index=["x", float("nan")])

    def test_no_name_in_an_index(self) -> None:
        for call in (
            lambda: pt.Predictions.from_probs({"m": self.FRAME}),
            lambda: pt.evaluate(self.FRAME, {"m": self.FRAME}),
            lambda: pt.Truth.from_probs(self.FRAME),
        ):
            with pytest.raises(InputError, match=r"no name \(NaN or None\) in the index, row 1"):
                call()

    @pytest.mark.parametrize("what", ["groups", "clusters"])
    def test_a_table_of_groups(self, what: str) -> None:
        table = polars.DataFrame({"item": ["x", "y"], what[:-1]: ["a", "b"]})
        probs = {"m": {"item": ["x", "y"], "no": [0.4, 0.3], "yes": [0.6, 0.7]}}
        votes = {"item": ["x", "y"], "annotator": ["a", "a"], "label": ["no", "yes"]}
        scores = pt.Scores.from_frame(
            {"item": ["x", "y"] * 2, "model": ["m", "m", "n", "n"], "score": [1.0, 2, 3, 5]}, higher_is_better=True
        )
        for call in (
            lambda: pt.evaluate(votes, probs, **{what: table}),
            lambda: pt.compare(scores, **{what: table}),
            lambda: pt.compare(scores, **{what: table.to_pandas()}),
        ):
            with pytest.raises(InputError, match=f"got a table as {what}, expected a list in the order of the items"):
                call()

    @pytest.mark.parametrize("header", ["item,annotator,label", "id,annotator,label", "item,label"])
    @pytest.mark.parametrize("models", [["m.csv"], "m.csv", None, 3])
    def test_models_without_names(self, models: object, header: str, tmp_path: Path) -> None:
        cells = "x,a,no" if "annotator" in header else "x,no"
        (tmp_path / "a.csv").write_text(f"{header}\n{cells}\n")
        with pytest.raises(InputError, match="expected a dict"):
            pt.evaluate(tmp_path / "a.csv", models)


EVENT = {"m": [0.3, 0.4, 0.8], "n": [0.5, 0.5, 0.5]}


class TestSoftOutcomes:
    """A vector of fractions against P(event): each item is the event with that probability."""

    @pytest.mark.parametrize("make", [list, pandas.Series, polars.Series, lambda outcomes: numpy.array(outcomes)])
    def test_fractions_are_soft_labels_of_the_event(self, make) -> None:
        outcomes = [0.2, 0.4, 0.9]
        both = [[1 - p, p] for p in outcomes]
        result = pt.evaluate(make(outcomes), EVENT, engine="exact")
        named = pt.evaluate(both, {name: [[1 - p, p] for p in row] for name, row in EVENT.items()}, engine="exact")
        numpy.testing.assert_array_equal(result.scores.values, named.scores.values)

    def test_fractions_beside_three_labels(self) -> None:
        with pytest.raises(InputError, match="got labels of type float64"):
            pt.evaluate([0.2, 0.4], {"m": [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]]})


def test_an_error_after_dropping_says_what_was_dropped() -> None:
    labels = {"item": [*"abc"], "label": ["no", "yes", "no"]}
    probs = {"item": [*"cd"], "no": [0.5, 0.25], "yes": [0.5, 0.75]}
    with pytest.raises(PosteriorError) as refused:
        pt.evaluate(labels, {"m": probs, "n": {**probs, "no": [0.25, 0.5], "yes": [0.75, 0.5]}})
    assert "got one item in all (left out for all models: 2 that some model lacks ('a', 'b')" in str(refused.value)


def test_a_board_of_one_item_in_common() -> None:
    table = {"item": [*"abc", *"cde"], "model": ["m"] * 3 + ["n"] * 3, "score": [1.0, 2, 3, 4, 5, 6]}
    (pair,) = pt.compare(pt.Scores.from_frame(table, higher_is_better=True)).pairs
    assert (pair["difference"], pair["p_a_better"], pair["low"]) == (-1.0, None, None)
