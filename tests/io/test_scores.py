"""Scores as files: in the orientation in which they were given."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest

from probtruth.errors import InputError
from probtruth.io.scores import read_scores, write_scores
from probtruth.line.score import score
from probtruth.truth.infer import infer_truth
from probtruth.types import Annotations, Predictions, RuleFacts, Scores

FRAME = {
    "item": ["10", "9", "9", "10", "8"],
    "model": ["b", "a", "b", "a", "a"],
    "score": [1.5, -np.inf, 0.1, 0.25, 1],
    "topic": ["x", "y", "y", "x", "x"],
}


@pytest.fixture(params=[False, True], ids=["loss", "gain"])
def scores(request: pytest.FixtureRequest) -> Scores:
    made = Scores.from_frame(FRAME, group="topic", cluster="item", higher_is_better=request.param)
    return replace(made, rule="log", known=RuleFacts(floor=0.01, proper=False, entropy=np.inf))


def test_what_is_written_comes_back(tmp_path: Path, scores: Scores) -> None:
    write_scores(scores, tmp_path / "s.parquet")
    back = read_scores(tmp_path / "s.parquet")
    np.testing.assert_array_equal(back.values, scores.values)
    for was, now in ((scores.groups, back.groups), (scores.clusters, back.clusters)):
        assert now.names == was.names
        assert (now.codes == was.codes).all()
    for name in ("models", "items", "rule", "higher_is_better", "known"):
        assert getattr(back, name) == getattr(scores, name), name


def test_the_file_holds_scores_as_they_were_given(tmp_path: Path, scores: Scores) -> None:
    write_scores(scores, tmp_path / "s.parquet")
    frame = polars.read_parquet(tmp_path / "s.parquet")
    assert frame.columns == ["item", "model", "score", "group", "cluster"]
    given = {("10", "b"): 1.5, ("9", "a"): -np.inf, ("9", "b"): 0.1, ("10", "a"): 0.25, ("8", "a"): 1.0}
    assert {(item, model): score for item, model, score, _, _ in frame.rows()} == given


def test_orientation_conflicts_with_the_file(tmp_path: Path, scores: Scores) -> None:
    write_scores(scores, tmp_path / "s.parquet")
    with pytest.raises(InputError, match="as the file says"):
        read_scores(tmp_path / "s.parquet", higher_is_better=not scores.higher_is_better)
    assert read_scores(tmp_path / "s.parquet", higher_is_better=scores.higher_is_better).rule == "log"


@pytest.mark.parametrize("form", ["csv", "jsonl", "arrow"])
def test_files_of_others(tmp_path: Path, form: str) -> None:
    frame = polars.DataFrame(FRAME, strict=False).with_columns(polars.col("score").replace(-np.inf, -7.5))
    path = tmp_path / f"s.{form}"
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "arrow": frame.write_ipc}[form](path)
    made = read_scores(path, group="topic", higher_is_better=True)
    assert made.models == ("b", "a")
    assert made.items == ("8", "9", "10")
    np.testing.assert_array_equal(made.values, [[np.nan, 0.1, 1.5], [1.0, -7.5, 0.25]])
    assert (made.rule, made.higher_is_better) == ("score", True)
    assert made.audit.by_model == (("b", 1, 0), ("a", 0, 0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,model,score\na,m,x\n", "line 2, column 'score': got 'x', expected a number"),
        ("item,model,score\na,m,\nb,n,\n", "no rows"),
        ("id,model,score\na,m,1\n", "no column 'item'"),
        ("q,model_a,model_b,winner\n1,x,y,tie\n", "got votes on pairs of models (model_a, model_b, winner)"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(InputError, match=re.escape(message)):
        read_scores(tmp_path / "s.csv", higher_is_better=False)


def test_all_columns_that_are_absent_are_named_at_once() -> None:
    """A table of ratings took four rounds to be compared."""
    table = {"question_id": ["q1", "q2"] * 2, "model": ["a", "a", "b", "b"], "rating": [5, 6, 7, 9]}
    with pytest.raises(InputError, match=r"'item' and no column 'score'.*item='question_id' .* score='rating'"):
        read_scores(table)
    scores = read_scores(table, item="question_id", score="rating", higher_is_better=True)
    assert scores.values.tolist() == [[5, 6], [7, 9]]


def test_a_table_for_each_model_lacks_a_column() -> None:
    """The message listed a column that no table has."""
    good = {"item": ["p", "q"], "score": [1.0, 2.0]}
    with pytest.raises(InputError, match=r"model 'b': got no column 'score' \(columns: 'item', 'scor'\)"):
        read_scores({"a": good, "b": {"item": ["p", "q"], "scor": [1.0, 2.0]}}, higher_is_better=True)


def test_damaged_metadata(tmp_path: Path) -> None:
    frame = polars.DataFrame({"item": ["a"], "model": ["m"], "score": [1.0]})
    for notes in ('{"rule": "log"}', '{"rule": "log", "floor": "x", "entropy": null, "proper": null}'):
        frame.write_parquet(tmp_path / "s.parquet", metadata={"probtruth": notes})
        with pytest.raises(InputError, match="metadata that cannot be used"):
            read_scores(tmp_path / "s.parquet")


@pytest.mark.parametrize("change", ["a row", "the notes", "the labels", "nothing"])
def test_labels_behind_scores_that_another_program_took_out(tmp_path: Path, change: str) -> None:
    rows = {"item": ["a", "a", "b", "b"], "annotator": ["x", "y"] * 2, "label": ["p", "q", "p", "p"]}
    models = {name: [[0.5, 0.5], [low, 1 - low]] for name, low in (("m", 0.4), ("n", 0.2))}
    predictions = Predictions.from_probs(models, items=["a", "b"], labels=["p", "q"])
    path = tmp_path / "s.parquet"
    write_scores(score(predictions, infer_truth(Annotations.from_long(rows))), path)
    frame, notes = polars.read_parquet(path), polars.read_parquet_metadata(path)["probtruth"]
    left = {"a row": frame[:-1], "the labels": frame.drop("probtruth: arrays")}.get(change, frame)
    left.write_parquet(path, metadata={} if change == "the notes" else {"probtruth": notes})
    read = read_scores(path, higher_is_better=False)
    assert (read.labels is None) == (change != "nothing")
    assert any("lacks the labels behind its scores" in line for line in read.cautions) == (change != "nothing")


def test_gpqa_diamond(data: Path) -> None:
    """198 questions, five repeats: published mean accuracy of the nano model .675758, of the difference .058586."""
    scores = read_scores(
        data / "gpqa_diamond" / "gpqa_diamond_scores.csv",
        item="item_id",
        model="model_id",
        replicate="epoch",
        higher_is_better=True,
    )
    means = dict(zip(scores.models, scores.values.mean(1), strict=True))
    six_decimals = 5e-7
    assert scores.n_replicates == 5
    assert means["openai/gpt-5-nano-2025-08-07"] == pytest.approx(0.675758, abs=six_decimals)
    assert abs(np.subtract(*means.values())) == pytest.approx(0.058586, abs=six_decimals)
