"""Results of promptfoo, AlpacaEval and Every Eval Ever: small examples, made by hand in the form that each documents.

promptfoo: `EvaluateSummaryV3` of its reference of types. AlpacaEval: `annotations.json` of its results folder. Every
Eval Ever: `instance_level_eval.schema.json`.
"""

import json
from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io.formats import ScoreReading
from probtruth.io.loaders import read_alpaca_eval, read_every_eval_ever, read_promptfoo
from probtruth.io.loaders.readers import READERS
from probtruth.io.scores import scores_in_files
from probtruth.io.tools import tool_of


def written(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".jsonl":
        assert isinstance(value, list)
        path.write_text("\n".join(map(json.dumps, value)))
    else:
        path.write_text(json.dumps(value))
    return path


def result(model: str, test: int, score: float, **more: object) -> dict[str, object]:
    return {
        "promptIdx": 0,
        "testIdx": test,
        "testCase": {"vars": {"q": f"question {test}"}, "assert": [{"type": "contains", "value": "x"}]},
        "provider": {"id": f"openai:{model}", "label": model},
        "prompt": {"raw": f"Answer question {test}", "label": "Answer {{q}}"},
        "vars": {"q": f"question {test}"},
        "success": score > 0.5,
        "score": score,
        "namedScores": {"polite": 1 - score},
        "failureReason": 0,
        **more,
    }


PROMPTFOO = [result("small", 0, 0.0), result("large", 0, 1.0), result("small", 1, 0.75), result("large", 1, 0.25)]


class TestPromptfoo:
    @pytest.mark.parametrize("name", ["results.json", "results.jsonl", "summary.json"])
    def test_models_are_providers(self, tmp_path: Path, name: str) -> None:
        summary = {"version": 3, "timestamp": "2026-01-01", "results": PROMPTFOO, "prompts": [], "stats": {}}
        forms = {"results.json": {"evalId": "e", "results": summary, "config": {}}, "summary.json": summary}
        path = written(tmp_path / name, forms.get(name, PROMPTFOO))
        assert tool_of(path) == "promptfoo"
        scores = scores_in_files(path, ScoreReading())
        assert (scores.models, scores.items, scores.rule) == (("small", "large"), ("0", "1"), "score")
        assert scores.values.tolist() == [[0.0, 0.75], [1.0, 0.25]]
        assert scores.higher_is_better
        assert read_promptfoo(path, "polite").values.tolist() == [[1.0, 0.25], [0.0, 0.75]]
        assert read_promptfoo(path, "success").values.tolist() == [[0, 1], [1, 0]]
        names = {name for one in READERS["promptfoo"].samples(path) for name in one.values}
        assert names == {"polite", "score", "success"}

    def test_repeats_are_replicates_and_no_items(self, tmp_path: Path) -> None:
        again = [{**one, "testIdx": one["testIdx"] + 2, "score": 0.5} for one in PROMPTFOO]  # type: ignore[operator]
        scores = read_promptfoo(written(tmp_path / "r.jsonl", [*PROMPTFOO, *again]))
        assert (scores.items, scores.n_replicates) == (("0", "1"), 2)
        assert scores.values.tolist() == [[0.25, 0.625], [0.75, 0.375]]

    def test_several_prompts_are_several_models(self, tmp_path: Path) -> None:
        other = [{**one, "promptIdx": 1, "prompt": {"raw": "r", "label": "B"}, "score": 0.5} for one in PROMPTFOO]
        scores = read_promptfoo(written(tmp_path / "r.jsonl", [*PROMPTFOO, *other]))
        assert scores.models == ("small, Answer {{q}}", "large, Answer {{q}}", "small, B", "large, B")

    def test_a_call_that_failed_is_missing(self, tmp_path: Path) -> None:
        rows = [*PROMPTFOO[:3], result("large", 1, 0.0, failureReason=2)]
        scores = read_promptfoo(written(tmp_path / "r.jsonl", rows))
        assert scores.items == ("0", "1")
        assert scores.audit.by_model == (("small", 0, 0), ("large", 1, 0))


def battle(model: str, instruction: str, preference: float | None, **more: object) -> dict[str, object]:
    return {
        "instruction": instruction,
        "dataset": "helpful_base",
        "output_1": "a",
        "generator_1": "base",
        "output_2": "b",
        "generator_2": model,
        "annotator": "judge",
        "preference": preference,
        **more,
    }


class TestAlpacaEval:
    def test_models_against_one_reference(self, tmp_path: Path) -> None:
        for model, marks in (("x", (2.0, 1.25, 1.0)), ("y", (1.0, 1.5, None))):
            rows = [battle(model, f"Sing {n}.", mark) for n, mark in enumerate(marks)]
            written(tmp_path / model / "annotations.json", rows)
        assert tool_of(tmp_path) == tool_of(tmp_path / "x" / "annotations.json") == "alpaca-eval"
        scores = scores_in_files(tmp_path, ScoreReading())
        assert (scores.models, scores.rule, scores.higher_is_better) == (("x", "y"), "win_rate", True)
        assert sorted(zip(*scores.common().values.tolist(), strict=True)) == [(0.25, 0.5), (1.0, 0.0)]
        assert scores.audit.by_model == (("x", 0, 0), ("y", 1, 0))
        assert {name for one in READERS["alpaca-eval"].samples(tmp_path) for name in one.values} == {"win_rate"}

    def test_one_model_against_the_reference(self, tmp_path: Path) -> None:
        rows = [battle("x", "Sing.", 2), battle("x", "Say.", 0)]  # 0 was a tie in the first version
        scores = read_alpaca_eval(written(tmp_path / "annotations.json", rows))
        assert scores.models == ("x", "base")
        assert sorted(scores.values[0].tolist()) == [0.5, 1.0]
        assert (scores.values[0] + scores.values[1]).tolist() == [1.0, 1.0]

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([battle("x", "a", 2), battle("y", "a", 2, generator_1="other")], "several reference models"),
            ([battle("x", "a", 3)], "the preference 3, expected a number from 1 to 2"),
            ([battle("x", "a", 2), battle("x", "a", 1)], "again"),
        ],
    )
    def test_what_is_not_read(self, tmp_path: Path, rows: object, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read_alpaca_eval(written(tmp_path / "annotations.json", rows))


def instance(model: str, sample: str, score: float, **more: object) -> dict[str, object]:
    return {
        "schema_version": "0.2.2",
        "evaluation_id": f"quiz/{model}/1",
        "model_id": f"lab/{model}",
        "evaluation_name": "quiz",
        "sample_id": sample,
        "sample_hash": f"hash of {sample}",
        "interaction_type": "single_turn",
        "input": {"raw": "1+1", "reference": ["2"]},
        "output": {"raw": ["2"]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score == 1},
        **more,
    }


class TestEveryEvalEver:
    def test_samples(self, tmp_path: Path) -> None:
        for model, marks in (("a", (1.0, 0.0)), ("b", (1.0, 1.0))):
            rows = [instance(model, f"q{n}", mark) for n, mark in enumerate(marks)]
            written(tmp_path / "data" / model / f"{model}_samples.jsonl", rows)
            written(tmp_path / "data" / model / f"{model}.json", {"evaluation_id": "e", "evaluation_results": []})
        assert tool_of(tmp_path) == "every-eval-ever"
        scores = scores_in_files(tmp_path, ScoreReading())
        assert (scores.models, scores.items) == (("lab/a", "lab/b"), ("quiz/q0", "quiz/q1"))
        assert scores.values.tolist() == [[1.0, 0.0], [1.0, 1.0]]
        assert scores.higher_is_better

    def test_the_direction_of_other_scores_is_asked_for(self, tmp_path: Path) -> None:
        path = written(tmp_path / "s.jsonl", [instance("a", "q0", 0.5), instance("b", "q0", 0.25)])
        with pytest.raises(InputError, match="whether more of it is better"):
            read_every_eval_ever(path)
        assert read_every_eval_ever(path, higher_is_better=False).values.tolist() == [[0.5], [0.25]]
        assert read_every_eval_ever(path, "is_correct").values.tolist() == [[0.0], [0.0]]

    def test_errors_are_missing_and_other_questions_left_out(self, tmp_path: Path) -> None:
        rows = [instance(model, f"q{n}", 1.0) for model in "ab" for n in range(5)]
        rows[0]["error"] = "timeout"
        rows[1]["sample_hash"] = "another"
        scores = read_every_eval_ever(written(tmp_path / "s.jsonl", rows))
        assert scores.items == ("quiz/q0", "quiz/q2", "quiz/q3", "quiz/q4")
        assert (scores.audit.by_model, scores.audit.different) == ((("lab/a", 1, 0), ("lab/b", 0, 0)), ("quiz/q1",))

    def test_several_results_of_a_sample_are_metrics(self, tmp_path: Path) -> None:
        """The aggregate names them, and says which way each counts."""
        for model, marks in (("a", (1.0, 4.0)), ("b", (0.0, 2.0))):
            results = zip(("r1", "r2"), marks, strict=True)
            rows = [instance(model, "q0", mark, evaluation_result_id=name) for name, mark in results]
            path = written(tmp_path / model / f"{model}_samples.jsonl", rows)
            with pytest.raises(InputError, match="several metrics: 'r1', 'r2'"):
                read_every_eval_ever(path)
            about = {"r1": ("accuracy", False), "r2": ("edits", True)}
            of_metrics = [
                {
                    "evaluation_name": "quiz",
                    "evaluation_result_id": name,
                    "metric_config": {"metric_name": metric, "lower_is_better": lower},
                }
                for name, (metric, lower) in about.items()
            ]
            written(path.with_name(f"{model}.json"), {"evaluation_id": "e", "evaluation_results": of_metrics})
        scores = read_every_eval_ever(tmp_path, "edits")
        assert (scores.values.tolist(), scores.higher_is_better) == ([[4.0], [2.0]], False)
        assert read_every_eval_ever(tmp_path, "accuracy").higher_is_better

    def test_a_result_that_stands_twice(self, tmp_path: Path) -> None:
        rows = [instance("a", "q0", 1.0, evaluation_result_id="r1")] * 2
        with pytest.raises(InputError, match="again"):
            read_every_eval_ever(written(tmp_path / "s.jsonl", rows), "r1", True)

    def test_the_aggregate_says_which_way_a_score_counts(self, tmp_path: Path) -> None:
        path = written(tmp_path / "s_samples.jsonl", [instance("a", "q0", 0.5), instance("b", "q0", 0.25)])
        result = {"evaluation_name": "quiz", "metric_config": {"lower_is_better": True}}
        written(tmp_path / "s.json", {"evaluation_id": "e", "evaluation_results": [result]})
        assert not read_every_eval_ever(path).higher_is_better

    def test_the_aggregate_alone_is_said_to_hold_no_samples(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.json", {"evaluation_id": "e", "evaluation_results": []})
        with pytest.raises(InputError, match="the results of a whole evaluation"):
            scores_in_files(path, ScoreReading())
