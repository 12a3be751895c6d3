"""Messages: bounded, on one line, with the place and the nearest option; checks of arrays."""

import inspect
import os
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import probtruth as pt
from probtruth import check, check_arrays
from probtruth.check import Source
from probtruth.errors import LONGEST_PART, InputError, MissingExtraError, PosteriorError
from probtruth.types.arguments import Engine


class TestPlaces:
    @pytest.mark.parametrize(
        ("source", "place"),
        [
            (Source(), "the table, row 3, column 'x'"),
            (Source("f.parquet"), "f.parquet, row 3, column 'x'"),
            (Source("f.parquet", before=40), "f.parquet, row 43, column 'x'"),
            (Source("*.csv", parts=[(Source("a.csv"), 2), (Source("b.csv"), 5)]), "b.csv, row 1, column 'x'"),
            (Source("f.parquet", columns={"x": "p_x"}), "f.parquet, row 3, column 'p_x'"),
            (Source("f.csv", lines=np.array([2, 5, 9])), "f.csv, line 9, column 'x'"),
        ],
    )
    def test_row_or_line(self, source: Source, place: str) -> None:
        assert source.at(2, "x") == place

    def test_parts(self) -> None:
        assert Source("f").at() == "f"
        assert Source("f").at(column="x") == "f, column 'x'"


class TestWords:
    def test_long_names_are_shortened(self) -> None:
        assert check.quote("x" * 10**7) == f"'{'x' * 60}'... (10000000 characters)"
        assert check.quote(7) == "'7'"
        assert check.quote("a\nb") == r"'a\nb'"

    def test_lists_are_shortened(self) -> None:
        assert check.shortlist("abc") == "'a', 'b', 'c'"
        assert check.shortlist(range(10)) == "'0', '1', '2', '3', '4', '5', '6', '7' and 2 more"

    def test_the_nearest_option_or_all(self) -> None:
        assert check.did_you_mean("vote_share", ["majority", "vote-share"]) == "Did you mean 'vote-share'?"
        assert check.did_you_mean("x", ["majority", "vote-share"]) == "The options are: 'majority', 'vote-share'."
        assert check.did_you_mean("x" * 10**7, ["y" * 10**7] * 3).startswith("The options are: 'yyy")


class TestNumbers:
    @pytest.mark.parametrize("value", [0, 0.5, np.float32(0.5), np.int64(0), np.array(0.25), Fraction(1, 2)])
    def test_whatever_is_one_number_is_taken(self, value: object) -> None:
        assert check.number(value, "x", least=0, below=1) == float(value)

    @pytest.mark.parametrize(
        "value", [True, np.True_, "0.5", b"1", None, 1j, [0.5], np.array([0.5]), float("nan"), float("inf"), 10**400]
    )
    def test_nothing_else_is(self, value: object) -> None:
        with pytest.raises(InputError, match="expected a finite number"):
            check.number(value, "x")

    @pytest.mark.parametrize(
        ("bounds", "inside", "outside", "words"),
        [
            ({"least": 0}, 0, -1e-9, "a number of at least 0"),
            ({"above": -1}, -0.5, -1, "a number above -1"),
            ({"least": 0, "below": 1}, 0, 1, "a number of at least 0 and below 1"),
            ({"above": 0, "most": 1}, 1, 0, "a number above 0 and of at most 1"),
        ],
    )
    def test_bounds_and_their_words(self, bounds: dict[str, float], inside: float, outside: float, words: str) -> None:
        assert check.number(inside, "x", **bounds) == inside
        with pytest.raises(InputError, match=f"got x {outside}, expected {words}. Hint: Check x."):
            check.number(outside, "x", **bounds)

    def test_a_literal_is_one_of_its_texts(self) -> None:
        assert check.literal("exact", Engine, "engine") == "exact"
        with pytest.raises(InputError, match="Did you mean 'exact'"):
            check.literal("exakt", Engine, "engine")


class TestErrors:
    def test_message(self) -> None:
        error = InputError("x", "y", "z.", "f.csv, line 2")
        assert str(error) == "f.csv, line 2: got x, expected y. Hint: z."
        assert str(InputError("x", "y", "z.")) == "got x, expected y. Hint: z."

    def test_one_line_of_bounded_length(self) -> None:
        error = InputError("x" * 10**7, "a\nb\r", "z" * 10**7, "w" * 10**7)
        assert len(str(error)) < 4 * (LONGEST_PART + 20)
        assert r"a\nb\r" in str(error)

    def test_it_comes_back_whole_from_other_processes(self) -> None:
        error = pickle.loads(pickle.dumps(InputError("x", "y", "z.", "f.csv")))
        assert (str(error), error.got, error.where) == ("f.csv: got x, expected y. Hint: z.", "x", "f.csv")


class TestArrays:
    def test_single_precision_stays_and_all_else_is_double(self) -> None:
        for kind, expected in (
            (np.float32, np.float32),
            (np.float16, np.float64),
            (int, np.float64),
            (bool, np.float64),
        ):
            assert check_arrays.as_floats(np.zeros((1, 2), kind), "item label", "x").dtype == expected

    def test_the_tolerance_of_sums(self) -> None:
        inside, outside = 0.9 * check_arrays.SUM_TOLERANCE, 1.1 * check_arrays.SUM_TOLERANCE
        for sign in (1, -1):
            check_arrays.distributions(np.array([[0.5, 0.5 + sign * inside]]), str)
            with pytest.raises(InputError, match=r"2: got x that sum to .*does so for files of predictions when told"):
                check_arrays.distributions(np.array([[0.5, 0.5]] * 2 + [[0.5, 0.5 + sign * outside]]), str, "x")

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_what_was_rounded_to_four_decimals_passes(self, dtype: type) -> None:
        """1 - 0.9999 is 1.0000000000000286e-4: half of such rows were refused, as 0.9999 with a tolerance of 0.0001."""
        probs = np.random.default_rng(1).dirichlet(np.ones(3), 1000).round(4).astype(dtype)
        check_arrays.distributions(probs, str)
        with pytest.raises(InputError, match=r"sum to 0\.9998, expected a sum of 1 \(tolerance 0\.0001\)"):
            check_arrays.distributions(np.array([[0.5, 0.4998]], dtype), str)

    def test_ten_thousand_single_precision_labels_are_summed_in_double(self) -> None:
        check_arrays.distributions(np.full((1, 10_000), 1e-4, np.float32), str)


def test_an_object_of_another_class_is_refused_with_what_makes_one():
    truth = pt.Truth.from_labels([0], n_labels=2)
    assert check.instance(truth, pt.Truth, "infer_truth") is truth
    with pytest.raises(InputError, match=r"got Truth, expected Scores. Hint: Pass on what score returned."):
        check.instance(truth, pt.Scores, "score")
    with pytest.raises(InputError, match=r"got int, expected a Truth. Hint: Pass on what infer_truth returned."):
        check.instance(1, pt.Truth, "infer_truth")


@pytest.mark.parametrize(
    ("row", "sure"),
    [
        ([0.25, 0.75], True),
        ([1.0, 0.0], True),
        ([0.5, 0.5 + 0.4 * check_arrays.SUM_TOLERANCE], True),
        ([0.5, 0.5 + 0.6 * check_arrays.SUM_TOLERANCE], False),
        ([1.5, -0.5], False),
        ([np.nan, 1.0], False),
        ([np.inf, 0.0], False),
        ([0.0, 0.0], False),
    ],
)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_quick_look_is_sure_of_sound_rows_only(row, sure, kind):
    assert check_arrays.surely_simplex(np.array([[0.5, 0.5], row, [0.0, 1.0]], kind)) is sure
    assert not check_arrays.surely_simplex(np.zeros((0, 2), kind))


@pytest.mark.parametrize("kind", [PosteriorError, MissingExtraError, lambda text: InputError(text, text, text, text)])
def test_no_message_holds_what_controls_a_terminal(kind):
    hostile = "\x1b[31mred\x07 \x9b2J \r\n \u202e \u2028 \ud800"
    assert str(kind(hostile)).isprintable()
    assert "\\x1b[31mred" in str(kind(hostile))
    assert str(InputError("got", "want", check.choose("model", hostile, "--model"))).isprintable()


FORKED = """
import os, sys, warnings
warnings.simplefilter("ignore")
import probtruth as pt

votes = pt.Annotations.from_counts([[4, 1], [0, 5], [2, 3], [5, 0]])
if sys.argv[1] == "used":
    pt.log_score([0.5, 0.5], [1.0, 0.0])
number = os.fork()
if not number:
    try:
        print(pt.infer_truth(votes, "vote-share").method, flush=True)
    except pt.InputError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(number, 0)
"""


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("before", "says"), [("used", "got a process that was forked after JAX"), ("new", "vote-share")]
)
def test_a_child_of_a_process_that_used_jax_says_so_instead_of_hanging(before, says):
    words = [sys.executable, "-c", FORKED, before]
    assert subprocess.run(words, capture_output=True, text=True, check=True, timeout=300).stdout.startswith(says)


@pytest.mark.parametrize(
    "name",
    ["evaluate", "score", "compare", "infer_truth", "decompose", "plan", "validate", "monitor", "expected_confusion"],
)
def test_each_function_that_computes_looks_for_a_fork(name):
    assert "check.own_threads()" in inspect.getsource(inspect.unwrap(getattr(pt, name)))
