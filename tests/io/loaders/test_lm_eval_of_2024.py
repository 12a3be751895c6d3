"""What the harness wrote in 2024: another extension, lists in place of lines, rows without filters, other names.

Made by hand after `lm_eval/__main__.py` of versions 0.4.0 to 0.4.3 and pull request #1930.
"""

import json
from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io.formats import ScoreReading
from probtruth.io.loaders import read_lm_eval_choices, read_lm_eval_samples
from probtruth.io.tools import tool_of
from probtruth.io.votes import scores_in_files

DATE = "2024-06-10T22-34-27.647570"
MARKS = {"small": (0.0, 1.0, 0.0), "big": (0.0, 1.0, 1.0)}


def rows(marks: tuple[float, ...]) -> list[dict[str, object]]:
    answers = [["-0.2", "True"], ["-1.7", "False"]]
    return [
        {"doc_id": n, "target": "0", "resps": [[one] for one in answers], "filtered_resps": answers, "acc": mark}
        for n, mark in enumerate(marks)
    ]


def lines(samples: list[dict[str, object]]) -> str:
    return "\n".join(map(json.dumps, samples))


def listed(samples: list[dict[str, object]]) -> str:
    return json.dumps(samples, indent=2)


@pytest.mark.parametrize("extension", ["json", "jsonl"])
@pytest.mark.parametrize("form", [lines, listed])
def test_lines_and_lists_under_either_extension(tmp_path: Path, extension: str, form) -> None:
    for model, marks in MARKS.items():
        (tmp_path / model).mkdir()
        (tmp_path / model / f"samples_quiz_{DATE}.{extension}").write_text(form(rows(marks)))
    assert tool_of(tmp_path) == tool_of(next((tmp_path / "big").iterdir())) == "lm-eval"
    scores = scores_in_files(tmp_path, ScoreReading())
    assert (scores.models, scores.items) == (("big", "small"), ("quiz/0", "quiz/1", "quiz/2"))
    assert scores.values.tolist() == [[*MARKS["big"]], [*MARKS["small"]]]
    assert read_lm_eval_choices(tmp_path)[0].models == ("big", "small")


def test_rows_that_do_not_name_their_filter(tmp_path: Path) -> None:
    """Each filter writes all documents again, with the same answers (`resps`); the first filter counts."""
    for model, marks in MARKS.items():
        strict = [{**row, "resps": f"answer {n}"} for n, row in enumerate(rows(marks))]
        flexible = [{**row, "acc": 1.0} for row in strict]
        (tmp_path / model).mkdir()
        (tmp_path / model / f"samples_gsm8k_{DATE}.jsonl").write_text(lines([*strict, *flexible]))
    assert read_lm_eval_samples(tmp_path).values.tolist() == [[*MARKS["big"]], [*MARKS["small"]]]
    assert read_lm_eval_samples(tmp_path, filter="filter 2").values.tolist() == [[1.0] * 3] * 2


def test_a_document_answered_twice_is_no_filter(tmp_path: Path) -> None:
    again = [{**row, "resps": "other"} for row in rows(MARKS["small"])]
    path = tmp_path / f"samples_quiz_{DATE}.jsonl"
    path.write_text(lines([*rows(MARKS["small"]), *again]))
    with pytest.raises(InputError, match="item 'quiz/0' of model 'm' again"):
        read_lm_eval_samples({"m": path})


@pytest.mark.parametrize("with_results", [True, False])
def test_names_before_version_0_4_1(tmp_path: Path, with_results: bool) -> None:
    """`MODEL_ARGS_TASK.jsonl` beside `results.json`, which names the tasks and the arguments of the model."""
    for model, marks in MARKS.items():
        folder = tmp_path / model
        folder.mkdir()
        for task in ("arc_easy", "quiz"):
            (folder / f"pretrained__org__{model},dtype__float_{task}.jsonl").write_text(listed(rows(marks)))
        if with_results:
            config = {"model": "hf", "model_args": f"pretrained=org/{model},dtype=float"}
            (folder / "results.json").write_text(
                json.dumps({"results": {"arc_easy": {}, "quiz": {}}, "config": config})
            )
    if with_results:
        assert tool_of(tmp_path) == "lm-eval"
        scores = read_lm_eval_samples(tmp_path, tasks="arc_easy")
        assert (scores.models, scores.items[0]) == (("org/big", "org/small"), "arc_easy/0")
    else:
        files = {model: next((tmp_path / model).glob("*_quiz.jsonl")) for model in MARKS}
        assert read_lm_eval_samples(files).values.tolist() == [[*MARKS["small"]], [*MARKS["big"]]]


class TestOtherQuestionsUnderTheSameId:
    """`--samples` with ids that do not fit the questions (lm-evaluation-harness #4089)."""

    @staticmethod
    def logs(folder: Path, hashes: dict[str, list[str]]) -> Path:
        for model, listed in hashes.items():
            samples = [{**row, "doc_hash": key} for row, key in zip(rows((1.0, 0.0, 1.0, 0.0)), listed, strict=True)]
            (folder / model).mkdir()
            (folder / model / f"samples_quiz_{DATE}.jsonl").write_text(lines(samples))
        return folder

    def test_an_error_says_what_was_left_out_and_why(self, tmp_path: Path) -> None:
        self.logs(tmp_path, {"a": ["h0", "h1", "h2", "h3"], "b": ["h0", "h2", "h3", "h1"]})
        with pytest.raises(InputError) as refused:
            read_lm_eval_samples(tmp_path)
        assert "3 items left out ('quiz/1', 'quiz/2', 'quiz/3')" in str(refused.value)
        assert "models have different questions" in str(refused.value)

    def test_a_note_where_enough_is_left(self, tmp_path: Path) -> None:
        self.logs(tmp_path, {"a": ["h0", "h1", "h2", "h3"], "b": ["h0", "h1", "h2", "x"]})
        scores = read_lm_eval_samples(tmp_path)
        assert scores.notes == ("1 item left out ('quiz/3'): under the same id, models have different questions",)
