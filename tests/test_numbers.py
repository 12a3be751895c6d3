"""Numbers that a float64 does not hold are refused with their place, never rounded or infinite in silence."""

import numpy as np
import polars
import pytest

import probtruth as pt


@pytest.mark.parametrize("cell", ["1e400", "-1e400", "9007199254740993", "9" * 400, "9" * 4000])
def test_scores_past_float64_in_a_file(tmp_path, cell):
    path = tmp_path / "s.csv"
    path.write_text(f"item,model,score\nx,a,0.5\ny,a,{cell}\n")
    from probtruth.io.scores import read_scores

    with pytest.raises(pt.InputError, match="line 3, column 'score'"):
        read_scores(path, higher_is_better=True)


def test_integers_past_2_to_the_53_in_a_frame():
    """By hand: 2^53 + 1 is no float64, 2^53 - 1 is."""
    frame = {"item": ["x", "y"], "model": ["a", "a"], "score": [2**53 - 1, 2**53 + 1]}
    with pytest.raises(pt.InputError, match="row 2, column 'score'"):
        pt.Scores.from_frame(polars.DataFrame(frame), higher_is_better=True)
    frame["score"] = [0, 2**53 - 1]
    assert pt.Scores.from_frame(frame, higher_is_better=False).values.tolist() == [[0, 2.0**53 - 1]]


def test_infinite_scores_in_words_are_what_they_say():
    frame = {"item": ["x", "y"], "model": ["a", "a"], "score": ["inf", "0.5"]}
    assert pt.Scores.from_frame(frame, higher_is_better=False).values.tolist() == [[np.inf, 0.5]]


MASK = np.ma.masked


@pytest.mark.parametrize(
    "column",
    [
        ["x", MASK],
        ("x", MASK),
        [1, MASK],
        [0.5, MASK],
        np.array(["x", MASK], dtype=object),
        np.ma.masked_array(["x", "y"], [False, True]),
        np.ma.masked_array([1, 2], [False, True]),
    ],
)
def test_masked_entries_of_a_column(column):
    """A masked entry is neither the text '--', which `str` makes of it, nor the number below the mask."""
    with pytest.raises(pt.InputError, match="row 2, column 'label': got a masked entry"):
        pt.Annotations.from_long({"item": ["i", "j"], "annotator": ["a", "a"], "label": column})
    with pytest.raises(pt.InputError, match="row 2, column 'loss': got a masked entry"):
        pt.Scores.from_frame(
            {"item": ["i", "j"], "model": ["a", "a"], "loss": column}, score="loss", higher_is_better=None
        )


def test_masked_entries_in_tables_and_labels():
    masked = np.ma.masked_array([[0.5, 0.5], [0.9, 0.1]], [[False, False], [True, False]])
    for read in (pt.Truth.from_probs, lambda values: pt.Predictions.from_probs({"m": values})):
        for table in (masked, list(masked), [list(row) for row in masked]):
            with pytest.raises(pt.InputError, match=r"a masked entry at \(1, 0\)"):
                read(table)
    with pytest.raises(pt.InputError, match=r"a masked entry at \(1,\)"):
        pt.Truth.from_labels(np.ma.masked_array([0, 1], [False, True]), 2)


def test_counts_whose_sum_wraps():
    with pytest.raises(pt.InputError, match="counts that sum to"):
        pt.Annotations.from_counts([[2**52, 2**52], [2**52, 2**52]])
