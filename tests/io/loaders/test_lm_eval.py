"""The files in `files/lm_eval` were written by lm_eval 0.4.13 (`--model dummy --log_samples`) on a task of our own.

What the harness wrote in 2024: another extension, lists in place of lines, rows without filters, other names.

Made by hand after `lm_eval/__main__.py` of versions 0.4.0 to 0.4.3 and pull request #1930.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.formats import ScoreReading
from probtruth.io.loaders import read_lm_eval_choices, read_lm_eval_samples
from probtruth.io.scores import scores_in_files
from probtruth.io.tools import tool_of

ROUND_OFF = 1e-12  # Of a softmax in float64


def logged(folder: Path, task: str) -> list[dict[str, object]]:
    (path,) = folder.glob(f"samples_{task}_2*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def samples(path: Path, rows: list[dict[str, object]]) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def quiz(**changes: object) -> list[dict[str, object]]:
    """Three samples of a task, with keys of the first replaced."""
    rows = [
        {"doc_id": n, "target": "1", "filtered_resps": [["-1", "False"], ["-2", "True"]], "acc": float(n % 2)}
        | {"doc_hash": f"d{n}", "prompt_hash": f"p{n}"}
        for n in range(3)
    ]
    rows[0] |= changes
    return rows


def test_metrics_are_the_harnesss_own(files: Path) -> None:
    scores = read_lm_eval_samples(
        {name: next((files / "lm_eval" / name).glob("samples_quiz_2*")) for name in ("first", "second")}, "acc"
    )
    assert (scores.models, scores.rule, scores.higher_is_better) == (("first", "second"), "acc", True)
    assert scores.items == tuple(f"quiz/{n}" for n in range(6))
    assert scores.groups is None
    for row, name in enumerate(scores.models):
        assert scores.values[row].tolist() == [one["acc"] for one in logged(files / "lm_eval" / name, "quiz")]


HARNESS = {
    "arc_easy": (("none",), ("acc", "acc_norm")),
    "hellaswag": (("none",), ("acc", "acc_norm")),
    "gsm8k": (("strict-match", "flexible-extract"), ("exact_match",)),
}  # Tasks with their filters and metrics, both in the harness's order
DATE = "2025-07-01T09-30-12.345678"


@pytest.fixture
def harness(tmp_path: Path) -> Path:
    """An output folder as lm_eval 0.4.9 writes it: MODEL__NAME/{results_DATE.json, samples_TASK_DATE.jsonl}.

    The layout is that of `lm_eval/loggers/evaluation_tracker.py`; the values follow from the positions: a metric is 1
    where document + model + position of the metric + position of the filter is even.
    """
    for number, model in enumerate(("meta-llama/Llama-3.1-8B", "Qwen/Qwen3-8B")):
        folder = tmp_path / "out" / model.replace("/", "__")
        for task, (filters, metrics) in HARNESS.items():
            rows = []
            for place, filter in enumerate(filters):
                for doc in range(6):
                    marks = {name: float((doc + number + rank + place) % 2 == 0) for rank, name in enumerate(metrics)}
                    answers = ["18"] if task == "gsm8k" else [["-1.5", "False"], ["-0.5", "True"]]
                    arguments = {f"gen_args_{at}": {"arg_0": "Q", "arg_1": f" {at}"} for at in range(2)}
                    rows.append(
                        {"doc_id": doc, "doc": {"q": doc}, "target": "1", "arguments": arguments, "resps": [[["x"]]]}
                        | {"filtered_resps": answers, "filter": filter, "metrics": list(metrics)}
                        | {"doc_hash": f"{task}{doc}", "prompt_hash": f"p{doc}", "target_hash": "t"}
                        | marks
                    )
            samples(folder / f"samples_{task}_{DATE}.jsonl", rows)
        results = {
            "higher_is_better": {task: dict.fromkeys(metrics, True) for task, (_, metrics) in HARNESS.items()},
            "model_name": model,
        }
        (folder / f"results_{DATE}.json").write_text(json.dumps(results))
    return tmp_path / "out"


def test_a_folder_of_several_tasks_compares_at_once(harness: Path) -> None:
    scores = read_lm_eval_samples(harness)
    assert scores.models == ("Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B")
    assert scores.groups is not None
    assert scores.groups.names == ("arc_easy", "gsm8k", "hellaswag")
    assert len(scores.items) == 18
    assert scores.rule == "score (arc_easy, hellaswag by acc; gsm8k by exact_match,strict-match)"
    of_item = dict(zip(scores.items, scores.values[1].tolist(), strict=True))
    assert (of_item["arc_easy/0"], of_item["arc_easy/1"], of_item["gsm8k/0"]) == (1.0, 0.0, 1.0)


def test_tasks_metrics_and_filters_by_name(harness: Path) -> None:
    scores = read_lm_eval_samples(
        harness,
        {"arc_easy": "acc_norm", "hellaswag": "acc_norm", "gsm8k": "exact_match"},
        {"gsm8k": "flexible-extract"},
    )
    assert scores.rule == "score (arc_easy, hellaswag by acc_norm; gsm8k by exact_match,flexible-extract)"
    of_item = dict(zip(scores.items, scores.values[1].tolist(), strict=True))
    assert (of_item["arc_easy/0"], of_item["gsm8k/0"], of_item["gsm8k/1"]) == (0.0, 0.0, 1.0)
    assert read_lm_eval_samples(harness, filter="flexible-extract").rule.endswith(
        "; gsm8k by exact_match,flexible-extract)"
    )
    one = read_lm_eval_samples(harness, "acc", tasks=["arc_easy"])
    assert (one.rule, len(one.items), one.groups) == ("acc", 6, None)
    predictions, _ = read_lm_eval_choices(harness, tasks=["arc_easy", "hellaswag"])
    assert len(predictions.index.items) == 12
    for options, message in (
        (
            {"metric": "acc"},
            r"no metric 'acc' of the task 'gsm8k', expected one of 'exact_match'.*--metric gsm8k=exact_m",
        ),
        ({"metric": {"gsm": "acc"}}, "task 'gsm'.*Did you mean 'gsm8k'"),
        ({"filter": {"gsm8k": "strict"}}, r"no filter 'strict' of the task 'gsm8k'.*Did you mean 'strict-match'"),
        ({"tasks": "gsm9k"}, "Did you mean 'gsm8k'"),
    ):
        with pytest.raises(InputError, match=message):
            read_lm_eval_samples(harness, **options)
    with pytest.raises(InputError, match=r"samples_gsm8k.*got '18', expected a log-likelihood.*tasks=\[...\]"):
        read_lm_eval_choices(harness)


def test_names_of_models_and_orientation_are_those_of_the_run(harness: Path) -> None:
    for path in harness.rglob("samples_arc_easy*"):
        path.write_text(path.read_text().replace("acc", "novel"))
    for path in harness.rglob("results_*.json"):
        path.write_text(path.read_text().replace('"arc_easy": {"acc": true', '"arc_easy": {"novel": true'))
    assert read_lm_eval_samples(harness).higher_is_better is True
    for path in harness.rglob("results_*.json"):
        path.write_text(path.read_text().replace('"novel": true', '"novel": false'))
    with pytest.raises(InputError, match=r"'acc' of 'hellaswag', of which more is better, and 'novel' of 'arc_easy'"):
        read_lm_eval_samples(harness)
    for path in harness.rglob("results_*.json"):
        path.write_text("{}")
    with pytest.raises(InputError, match="the score 'novel', expected to know"):
        read_lm_eval_samples(harness)
    assert read_lm_eval_samples(harness, tasks="gsm8k").models == ("Qwen__Qwen3-8B", "meta-llama__Llama-3.1-8B")


@pytest.mark.parametrize(("normalise", "metric"), [("none", "acc"), ("characters", "acc_norm")])
def test_choices_rank_as_the_harness_does(files: Path, normalise: str, metric: str) -> None:
    """The choice of highest probability is right where the harness says 1."""
    predictions, truth = read_lm_eval_choices(
        {name: next((files / "lm_eval" / name).glob("samples_quiz_2*")) for name in ("first", "second")}, normalise
    )
    assert predictions.probs.shape == (2, 6, 4)
    for row, name in enumerate(predictions.models):
        right = predictions.log_probs[row].argmax(1) == truth.probs.argmax(1)
        assert right.astype(float).tolist() == [one[metric] for one in logged(files / "lm_eval" / name, "quiz")]


def test_choices_by_hand(files: Path) -> None:
    path = next((files / "lm_eval" / "first").glob("samples_quiz_2*"))
    predictions, truth = read_lm_eval_choices({"m": path})
    first = logged(path.parent, "quiz")[0]["filtered_resps"]
    assert isinstance(first, list)
    weights = np.exp([float(pair[0]) for pair in first])
    np.testing.assert_allclose(predictions.probs[0, 0], [*weights / weights.sum(), 0], rtol=ROUND_OFF)
    assert truth.probs[0].tolist() == [0, 1, 0, 0]
    assert (truth.estimand, predictions.index.labels) == ("class", ("0", "1", "2", "3"))


def test_unconditional_requests_of_mutual_information_are_left_out(files: Path) -> None:
    folder = files / "lm_eval" / "first"
    predictions, truth = read_lm_eval_choices(next(folder.glob("samples_quiz_mi*")))
    right = predictions.log_probs[0].argmax(1) == truth.probs.argmax(1)
    assert right.astype(float).tolist() == [one["acc"] for one in logged(folder, "quiz_mi")]


def test_audit(tmp_path: Path) -> None:
    first = samples(tmp_path / "samples_t.jsonl", [*quiz(), {**quiz()[0], "doc_id": 3}])
    other = [*quiz(doc_hash="else"), {**quiz()[0], "doc_id": 9}]
    other[1]["prompt_hash"] = "other words"
    second = samples(tmp_path / "b" / "samples_t.jsonl", other)
    scores = read_lm_eval_samples({"a": first, "b": second})
    choices = read_lm_eval_choices({"a": first, "b": second})[0].audit
    for audit in (scores.audit, choices):
        assert audit.different == ("t/0",)
        assert audit.prompts == ("t/1",)
        assert audit.by_model == (("a", 1, 0), ("b", 1, 0))
        assert audit.dropped == 1
    comparison = pt.compare(read_lm_eval_samples({"a": first, "b": second}), engine="exact")
    assert any("1 that are another question for some model ('t/0')" in warning for warning in comparison.warnings)
    assert any("in other words of some models ('t/1')" in warning for warning in comparison.warnings)


def test_text_targets_and_files_of_other_names(tmp_path: Path) -> None:
    requests = {"gen_args_0": {"arg_0": "q", "arg_1": " yes"}, "gen_args_1": {"arg_0": "q", "arg_1": " no"}}
    rows = [{**row, "target": "no", "arguments": requests} for row in quiz()]
    predictions, truth = read_lm_eval_choices({"m": samples(tmp_path / "any.jsonl", rows)})
    assert predictions.index.items == ("0", "1", "2")
    assert truth.probs.tolist() == [[0, 1]] * 3


CHOICE_ERRORS = {
    "text": ({"filtered_resps": ["lol"]}, "Only multiple-choice tasks"),
    "one": ({"filtered_resps": [["-1", "False"]]}, "1 choices"),
    "nan": ({"filtered_resps": [["nan", "False"], ["-2", "True"]]}, "got a list of 2, expected a log-likelihood"),
    "impossible": ({"filtered_resps": [["-inf", "False"], ["-inf", "True"]]}, "no choice that is possible"),
    "target": ({"target": "[0, 1]"}, "several right choices"),
    "position": ({"target": "2"}, "one of the 2 choices"),
    "no target": ({"target": None}, "'target': got null"),
    "requests": ({"arguments": {"gen_args_0": {"arg_0": "", "arg_1": "x"}}}, "1 requests for 2 answers"),
}


@pytest.mark.parametrize(("changes", "message"), CHOICE_ERRORS.values(), ids=CHOICE_ERRORS)
def test_choice_errors(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_lm_eval_choices({"m": samples(tmp_path / "samples_t.jsonl", quiz(**changes))})
    assert "samples_t.jsonl, line 1" in str(caught.value)


SCORE_ERRORS = {
    "absent": ({}, {"metric": "ac"}, "no metric 'ac' of the task 't'.*Did you mean 'acc'"),
    "text": ({"acc": "1"}, {"metric": "acc"}, "no metric of the task 't' that is one number"),
    "pair": ({"acc": [1, 0]}, {"metric": "acc"}, "no metric of the task 't' that is one number"),
    "nan": ({"acc": float("nan")}, {}, "line 1, 'acc': got NaN"),
    "no number": ({"acc": "x"}, {}, "no metric of the task 't' that is one number"),
    "unknown": ({"fun": 0.5}, {"metric": "fun"}, "whether more of it is better|no metric|keys"),
    "twice": ({"doc_id": 1}, {}, "item 't/1' of model 'm' again .first: .*line 1"),
    "boolean": ({"doc_id": True}, {}, "'doc_id': got true"),
    "surrogate": ({"doc_id": "\ud800"}, {}, "half of a surrogate pair"),
}


@pytest.mark.parametrize(("changes", "options", "message"), SCORE_ERRORS.values(), ids=SCORE_ERRORS)
def test_score_errors(tmp_path: Path, changes: dict[str, object], options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_lm_eval_samples({"m": samples(tmp_path / "samples_t.jsonl", quiz(**changes))}, **options)


def test_errors_of_files(tmp_path: Path) -> None:
    whole = samples(tmp_path / "a" / "samples_t.jsonl", quiz())
    same = samples(tmp_path / "c" / "samples_t.jsonl", [{**row, "doc_hash": "x"} for row in quiz()])
    (tmp_path / "empty").mkdir()
    (tmp_path / "samples_e.jsonl").write_text("")
    for files, message in [
        ({"a": whole, "c": same}, "different questions under the same names"),
        (tmp_path / "empty", "a folder without such files"),
        (tmp_path / "none", "no such file"),
        (tmp_path / "samples_e.jsonl", "empty files"),
        ([], "no file"),
        ({}, "no file"),
        (3, "expected the path of a file"),
        ([3], "expected the path of a file"),
        ({" ": whole}, "a blank name"),
        ({"a": [whole, whole]}, "file .* more than once"),
    ]:
        with pytest.raises(InputError, match=message):
            read_lm_eval_samples(files)
    with pytest.raises(InputError, match="'none', 'characters'"):
        read_lm_eval_choices(whole, "bytes")


DATE_LM_EVAL_OF_2024 = "2024-06-10T22-34-27.647570"
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
        (tmp_path / model / f"samples_quiz_{DATE_LM_EVAL_OF_2024}.{extension}").write_text(form(rows(marks)))
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
        (tmp_path / model / f"samples_gsm8k_{DATE_LM_EVAL_OF_2024}.jsonl").write_text(lines([*strict, *flexible]))
    assert read_lm_eval_samples(tmp_path).values.tolist() == [[*MARKS["big"]], [*MARKS["small"]]]
    assert read_lm_eval_samples(tmp_path, filter="filter 2").values.tolist() == [[1.0] * 3] * 2


def test_a_document_answered_twice_is_no_filter(tmp_path: Path) -> None:
    again = [{**row, "resps": "other"} for row in rows(MARKS["small"])]
    path = tmp_path / f"samples_quiz_{DATE_LM_EVAL_OF_2024}.jsonl"
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
            (folder / model / f"samples_quiz_{DATE_LM_EVAL_OF_2024}.jsonl").write_text(lines(samples))
        return folder

    def test_an_error_says_what_was_left_out_and_why(self, tmp_path: Path) -> None:
        self.logs(tmp_path, {"a": ["h0", "h1", "h2", "h3"], "b": ["h0", "h2", "h3", "h1"]})
        with pytest.raises(InputError) as refused:
            read_lm_eval_samples(tmp_path)
        assert "3 items left out ('quiz/1', 'quiz/2', 'quiz/3')" in str(refused.value)
        assert "models have different questions, some of which stand under other ids" in str(refused.value)

    def test_a_note_where_enough_is_left(self, tmp_path: Path) -> None:
        self.logs(tmp_path, {"a": ["h0", "h1", "h2", "h3"], "b": ["h0", "h1", "h2", "x"]})
        scores = read_lm_eval_samples(tmp_path)
        assert scores.notes == ("1 item left out ('quiz/3'): under the same id, models have different questions",)
