"""Votes from tables: columns by their names, winners as different tools write them, errors with their row."""

import re
from pathlib import Path

import polars
import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.scores import read_scores_or_votes

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


# as in the arena's file on Kaggle
FLAGS: dict[str, list[object]] = {"winner_model_a": [1, 0, 0], "winner_model_b": [0, 1, 0], "winner_tie": [0, 0, 1]}


@pytest.mark.parametrize(
    ("columns", "outcome"),
    [
        ({"left": ["x", "x"], "right": ["y", "y"], "preference": ["left", "RIGHT"]}, [1, -1]),
        ({"generator_1": ["x", "x", "x"], "generator_2": ["y"] * 3, "preference": [1, 2.0, 1.5]}, [1, -1, 0]),
        ({"chosen_model": ["x", "y"], "rejected_model": ["y", "x"]}, [1, 1]),
        ({"model_a": ["x", "x"], "model_b": ["y", "y"], "winner": ["x", "y"]}, [1, -1]),
        ({"model_1": ["x"], "model_2": ["y"], "winner": ["A"]}, [1]),
        ({"model_a": ["x"] * 4, "model_b": ["y"] * 4, "winner": ["A>B", "[[B>>A]]", "A=B", "b>a"]}, [1, -1, 0, -1]),
        ({"model_a": ["x"] * 3, "model_b": ["y"] * 3, **FLAGS}, [1, -1, 0]),
    ],
)
def test_winners_as_tools_write_them(columns: dict[str, list[object]], outcome: list[int]) -> None:
    votes = pt.read_votes(polars.DataFrame(columns, strict=False))
    assert votes.outcome.tolist() == outcome
    assert not votes.prompts_named


def test_judgements_of_two_games_are_two_votes_with_sides_exchanged() -> None:
    # the form of MT-bench's pair judgements by a model, made by hand
    rows = {
        "question_id": [81, 81, 82],
        "model_1": ["a", "a", "b"],
        "model_2": ["b", "c", "c"],
        "g1_winner": ["model_1", "model_2", "tie"],
        "g2_winner": ["model_1", "tie", "error"],
        "judge": [["gpt-4", "pair-v2"]] * 3,
        "turn": [1, 2, 1],
    }
    votes = pt.read_votes(polars.DataFrame(rows))
    assert votes.annotators == ("gpt-4 pair-v2",)
    assert votes.outcome.tolist() == [1, -1, 0, -1, 0]
    assert votes.left.tolist() == [0, 0, 1, 1, 2]
    assert votes.right.tolist() == [1, 2, 2, 0, 0]
    assert [votes.items[at] for at in votes.item] == ["81", "81", "82", "81", "81"]
    assert any("1 judgement marked as an error left out" in note for note in votes.notes)


def test_pair_annotations_of_alpaca_eval_and_pairs_of_reward_models_are_read_as_they_come() -> None:
    annotations = {
        "instruction": ["Sing.", "Add.", "Run."],
        "output_1": ["la", "4", "no"],
        "generator_1": ["base"] * 3,
        "output_2": ["lala", "5", "ok"],
        "generator_2": ["ours"] * 3,
        "annotator": ["judge"] * 3,
        "preference": [2.0, 1.0, 1.5],
    }
    votes = pt.read_votes(annotations)
    assert votes.models == ("base", "ours")
    assert votes.outcome.tolist() == [-1, 1, 0]
    assert votes.annotators == ("judge",)
    pairs = {"prompt": ["p", "q"], "chosen": ["x", "y"], "rejected": ["z", "w"]}
    pairs |= {"chosen_model": ["m", "n"], "rejected_model": ["n", "o"]}
    reward = pt.read_votes(pairs)
    assert reward.outcome.tolist() == [1, 1]
    assert not reward.placed


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


TWO_WINNERS = {**FLAGS, "winner_tie": [0, 1, 1], "model_a": ["x"] * 3, "model_b": ["y"] * 3}
ERRORS = [
    ({**ROWS, "model_b": ["y", "y", "z", "y"]}, "row 2, column 'model_b': got a vote on 'y' against itself"),
    ({**ROWS, "winner": ["model_a", "maybe", "tie", "tie"]}, "row 2, column 'winner': got the winner 'maybe'"),
    ({**ROWS, "winner": ["x", "x", "z", "z"]}, "row 2, column 'winner': got the winner 'x' of a vote on 'y' and 'z'"),
    (TWO_WINNERS, "row 2, column 'winner_model_a': got the winner '0/1/1' of a vote on 'x' and 'y'"),
    ({**ROWS, "winner": [0, 1, 1, 0]}, "got the winner 0"),
    ({**ROWS, "winner": ["", None, " ", None]}, "got no vote with a winner"),
    ({**ROWS, "winner": ["error"] * 4}, "got no vote with a winner"),
    ({name: ROWS[name] for name in ("model_a", "model_b")}, "got no votes"),
    ({"item": [1], "model": ["m"], "score": [1.0]}, "got no votes"),
]


@pytest.mark.parametrize(("rows", "message"), ERRORS)
def test_errors_name_the_row(rows: dict[str, list[object]], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        pt.read_votes(rows)


def test_votes_without_a_winner_are_left_out_and_those_with_no_other_do_not_count() -> None:
    votes = pt.read_votes({**ROWS, "winner": ["model_a", None, " ", "tie"]})
    assert votes.outcome.tolist() == [1, 0]
    assert any("2 votes without a winner left out" in note for note in votes.notes)
    pair = {"model_a": ["x"] * 2, "model_b": ["y"] * 2}
    votes = pt.read_votes({"prompt": ["p", "q"], "judge": ["u", "v"], **pair, "winner": ["error", "a"]})
    assert (votes.items, votes.annotators, votes.item.tolist()) == (("q",), ("v",), [0])


def test_groups_of_prompts_and_covariates_are_read_and_turn_with_the_sides() -> None:
    rows = {
        "question_id": [2, 1, 1],
        "model_1": ["a", "a", "b"],
        "model_2": ["b", "b", "a"],
        "g1_winner": ["model_1", "tie", "model_2"],
        "g2_winner": ["model_1", "error", "tie"],
        "category": ["math", "code", "code"],
        "length": [3.0, -1.0, 2.0],
    }
    votes = pt.read_votes(rows, group="category", covariates=["length"])
    assert votes.items == ("1", "2")
    assert [votes.groups.names[code] for code in votes.groups.codes] == ["code", "math"]
    assert votes.covariates["length"].tolist() == [3.0, -1.0, 2.0, -3.0, -2.0]
    assert votes.left.tolist() == [0, 0, 1, 1, 0]
    with pytest.raises(InputError, match="item '1' in two groups"):
        pt.read_votes({**rows, "category": ["math", "code", "math"]}, group="category")


def test_votes_are_no_scores_and_a_dict_of_texts_is_no_files_of_models() -> None:
    with pytest.raises(InputError, match="read_votes"):
        pt.read_scores(ROWS)
    columns = {"prompt": ["p", "q"], "model_a": ["x", "y"], "model_b": ["y", "x"], "winner": ["a", "tie"]}
    votes = read_scores_or_votes(columns)
    assert isinstance(votes, pt.Votes)
    assert (votes.models, votes.outcome.tolist()) == (("x", "y"), [1, 0])


@pytest.mark.parametrize("names", [("a", "b"), ("A", "B"), ("1", "2")])
def test_two_models_that_are_called_as_sides(names: tuple[str, str]) -> None:
    """The winner a was the model a, also where it said that the first answer won: the verdict was reversed."""
    first, second = names
    rows = {"model_a": [first, second], "model_b": [second, first], "winner": [first, first]}
    with pytest.raises(InputError, match=f"row 2, column 'winner'.*the winner '{first}', which may be the model or"):
        pt.read_votes(rows)
    assert pt.read_votes({**rows, "winner": ["model_a", "model_a"]}).outcome.tolist() == [1, 1]
    of_three = {**rows, "model_a": [first, "c"], "model_b": [second, first], "winner": [first, first]}
    assert pt.read_votes(of_three).outcome.tolist() == [1, -1]


def test_a_version_ends_in_point_zero():
    """v2.0, which won, was read as v2, whose votes these became."""
    pairs = {"model_a": ["v2", "v2.0"] * 4, "model_b": ["v2.0", "v2"] * 4}
    votes = pt.read_votes({"prompt": list("abcdefgh"), **pairs, "winner": ["v2.0"] * 7 + ["v2"]})
    sides = zip(votes.left, votes.right, votes.outcome, strict=True)
    assert [votes.models[left if won == 1 else right] for left, right, won in sides] == ["v2.0"] * 7 + ["v2"]
