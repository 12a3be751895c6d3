"""Votes from tables: columns by their names, winners as different tools write them, errors with their row."""

import re
from pathlib import Path

import polars
import pytest

import probtruth as pt
from probtruth.errors import InputError

ROWS = {
    "question_id": [1, 1, 2, 2],
    "model_a": ["x", "y", "x", "z"],
    "model_b": ["y", "z", "z", "y"],
    "winner": ["model_a", "tie", "model_b", "tie (bothbad)"],
    "judge": ["u", "v", "u", "v"],
}


def test_an_arenas_columns_are_found_and_both_bad_is_a_tie() -> None:
    votes = pt.read_votes(ROWS)
    assert votes.models == ("x", "y", "z")
    assert votes.outcome.tolist() == [1, 0, -1, 0]
    assert votes.items == ("1", "2")
    assert votes.annotators == ("u", "v")
    assert any("both are bad" in note for note in votes.notes)
    assert repr(votes) == "Votes: 4 votes on 3 models, 2 prompts, 2 annotators, 50% ties"


@pytest.mark.parametrize(
    ("columns", "outcome"),
    [
        ({"left": ["x", "x"], "right": ["y", "y"], "preference": ["left", "RIGHT"]}, [1, -1]),
        ({"generator_1": ["x", "x", "x"], "generator_2": ["y"] * 3, "preference": [1, 2.0, 1.5]}, [1, -1, 0]),
        ({"chosen_model": ["x", "y"], "rejected_model": ["y", "x"]}, [1, 1]),
        ({"model_a": ["x", "x"], "model_b": ["y", "y"], "winner": ["x", "y"]}, [1, -1]),
        ({"model_1": ["x"], "model_2": ["y"], "winner": ["A"]}, [1]),
    ],
)
def test_winners_as_tools_write_them(columns: dict[str, list[object]], outcome: list[int]) -> None:
    votes = pt.read_votes(polars.DataFrame(columns, strict=False))
    assert votes.outcome.tolist() == outcome
    assert not votes.prompts_named


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_files_and_frames_are_one(tmp_path: Path, form: str) -> None:
    frame = polars.DataFrame(ROWS)
    path = tmp_path / f"battles.{form}"
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[form](path)
    named = frame.rename({"question_id": "q", "model_a": "one", "model_b": "two", "winner": "best", "judge": "who"})
    columns = {"item": "q", "left": "one", "right": "two", "winner": "best", "annotator": "who"}
    found = pt.compare(pt.read_votes(path)).pairs
    assert pt.compare(path).pairs == found
    assert pt.compare(pt.read_votes(frame)).pairs == found
    assert pt.compare(pt.read_votes(named, **columns)).pairs == found
    assert pt.compare(pt.read_votes(frame.to_pandas())).pairs == found


ERRORS = {
    "itself": ({**ROWS, "model_b": ["y", "y", "z", "y"]}, "row 2, column 'model_b': got a vote on 'y' against itself"),
    "winner": (
        {**ROWS, "winner": ["model_a", "maybe", "tie", "tie"]},
        "row 2, column 'winner': got the winner 'maybe'",
    ),
    "blank": ({**ROWS, "winner": ["model_a", None, "tie", "tie"]}, "row 2, column 'winner': got a blank"),
    "no winner": ({name: ROWS[name] for name in ("model_a", "model_b")}, "got no votes"),
    "scores": ({"item": [1], "model": ["m"], "score": [1.0]}, "got no votes"),
}


@pytest.mark.parametrize(("rows", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_name_the_row(rows: dict[str, list[object]], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        pt.read_votes(rows)


def test_votes_are_no_scores() -> None:
    with pytest.raises(InputError, match="read_votes"):
        pt.read_scores(ROWS)
