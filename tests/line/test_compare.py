import os
import signal
import subprocess
import sys

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.io.scores import read_scores
from probtruth.io.tables.batches import BigTable

N_ITEMS = 2600

KILLED = """
import os, signal, sys
import probtruth as pt

def kill(done, total):
    if done == 3:
        os.kill(os.getpid(), signal.SIGKILL)

path, scratch = sys.argv[1:]
pt.Result.of_scores(path, scratch=scratch, memory=1, engine="exact", on_progress=kill, higher_is_better=False)
"""


def table(kind="plain", seed=0):
    """Scores of three models, long form, shuffled; the third lacks two items."""
    rng = np.random.default_rng(seed)
    names = [f"q{item}" for item in range(N_ITEMS)] if kind != "numbers" else list(range(N_ITEMS))
    frames = []
    for model, shift in (("m2", 0.0), ("m1", 0.05), ("m10", 0.1)):
        columns = {
            "item": names,
            "model": [model] * N_ITEMS,
            "score": rng.gamma(2.0, 1.0, N_ITEMS) + shift,
            "task": [f"t{item % 3}" for item in range(N_ITEMS)],
            "passage": [item // 6 * 3 + item % 3 for item in range(N_ITEMS)],
        }
        frame = polars.DataFrame(columns)
        frames.append(frame[2:] if model == "m10" else frame)
    whole = polars.concat(frames)
    return whole if kind == "sorted" else whole.sample(fraction=1.0, shuffle=True, seed=seed)


PARTS = ("pairs", "ranks", "companions", "group_results", "uncertainty", "warnings", "estimand", "settings")


def same(streamed, held):
    for part in PARTS:
        assert repr(getattr(streamed.comparison, part)) == repr(getattr(held, part)), part


@pytest.mark.parametrize("kind", ["plain", "sorted", "numbers"])
def test_a_table_in_batches_concludes_what_memory_does(tmp_path, kind):
    frame = table(kind)
    frame.write_parquet(tmp_path / "scores.parquet", row_group_size=700)
    scores = read_scores(tmp_path / "scores.parquet", higher_is_better=False)
    held = compare(scores, engine="exact", rope=0.01)
    found = pt.Result.of_scores(
        tmp_path / "scores.parquet", memory=1, engine="exact", rope=0.01, higher_is_better=False
    )
    same(found, held)
    assert found.audit == scores.audit
    assert found.to_dict() == pt.Result.of_scores(scores, engine="exact", rope=0.01).to_dict()


@pytest.mark.parametrize(
    "names",
    [
        pytest.param({"group": "task"}, marks=pytest.mark.long),
        pytest.param({"cluster": "passage"}, marks=pytest.mark.long),
        {"group": "task", "cluster": "passage"},
    ],
    ids=str,
)
def test_a_folder_with_groups_and_clusters(tmp_path, names):
    frame = table()
    frame.write_parquet(tmp_path / "scores.parquet")
    (tmp_path / "parts").mkdir()
    for place in range(3):
        frame[place::3].write_ipc(tmp_path / "parts" / f"{place}.arrow")
    held = compare(read_scores(tmp_path / "scores.parquet", **names, higher_is_better=True), engine="exact")
    same(pt.Result.of_scores(tmp_path / "parts", memory=1, engine="exact", higher_is_better=True, **names), held)


def test_scores_that_were_streamed_are_compared_as_such(tmp_path):
    rng = np.random.default_rng(1)
    names = [f"q{item}" for item in range(3000)]
    for model in "ab":
        yes = rng.beta(2, 1, 3000)
        polars.DataFrame({"item": names, "yes": yes, "no": 1 - yes}).write_parquet(tmp_path / f"{model}.parquet")
    truth = pt.Truth.from_probs(rng.dirichlet([2, 1], 3000), items=names, labels=["yes", "no"])
    files = {model: tmp_path / f"{model}.parquet" for model in "ab"}
    written = pt.score(files, truth, "brier", out=tmp_path / "scores.parquet", memory=1)
    found = pt.Result.of_scores(tmp_path / "scores.parquet", memory=1, engine="exact", higher_is_better=False)
    held = compare(read_scores(tmp_path / "scores.parquet", higher_is_better=False), engine="exact")
    same(found, held)
    assert found.scores.rule == "brier"
    assert found.scores.known.proper
    assert {row["model"]: row["score"] for row in found.comparison.ranks} == written.means


@pytest.mark.process
def test_a_killed_process_is_gone_on_with(tmp_path, monkeypatch):
    path, scratch = tmp_path / "scores.parquet", tmp_path / "scratch"
    table().write_parquet(path)
    done = subprocess.run([sys.executable, "-c", KILLED, path, scratch], env=os.environ, check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    assert len((scratch / "scores" / "finished.jsonl").read_text().splitlines()) == 3
    from probtruth.streaming.journal import Journal

    finished, finish = [], Journal.finish
    monkeypatch.setattr(Journal, "finish", lambda self, *batch: finished.append(batch) or finish(self, *batch))
    again = pt.Result.of_scores(path, scratch=scratch, memory=1, engine="exact", higher_is_better=False)
    assert len(finished) == -(-table().height // 1024) - 3
    same(again, compare(read_scores(path, higher_is_better=False), engine="exact"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"item": polars.lit("q1")}, "item 'q1', model 'm1' twice"),
        ({"model": polars.lit("m1")}, "one model only"),
        ({"score": polars.lit(float("nan"))}, "row 1, column 'score': got NaN"),
        ({"score": polars.lit("much")}, "'much'"),
        ({"item": polars.lit("")}, "blank"),
        ({"item": polars.concat_str("model", "item")}, "no item in common"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, change, words):
    frame = table("sorted").filter(polars.col("model") != "m2").with_columns(**change)
    frame.write_parquet(tmp_path / "scores.parquet")
    with pytest.raises(pt.InputError) as caught:
        pt.Result.of_scores(tmp_path / "scores.parquet", memory=1, engine="exact", higher_is_better=False)
    assert words in str(caught.value)


def test_an_item_in_two_groups_is_named_across_batches(tmp_path):
    frame = table("sorted").with_columns(
        task=polars.when(polars.col("model") == "m1").then(polars.lit("other")).otherwise("task")
    )
    frame.write_parquet(tmp_path / "scores.parquet")
    with pytest.raises(pt.InputError, match="in two groups"):
        pt.Result.of_scores(tmp_path / "scores.parquet", memory=1, group="task", higher_is_better=False)


def test_only_what_is_asked_for_is_read(tmp_path, monkeypatch):
    asked, stream = set(), BigTable.decoded
    monkeypatch.setattr(
        BigTable, "decoded", lambda self, cut, columns: asked.update(columns) or stream(self, cut, columns)
    )
    table().write_parquet(tmp_path / "scores.parquet")
    pt.Result.of_scores(tmp_path / "scores.parquet", memory=1, engine="exact", higher_is_better=False)
    assert asked == {"item", "model", "score"}
