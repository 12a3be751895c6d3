"""A name is told by its whole column: not by a part of the file, by one annotator's answers, or by one model's file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import probtruth as pt

RNG = np.random.default_rng(0)
N = 300
# Names that would be numbers, were it not for the last one.
ITEMS = [f"{n}.0" for n in range(N - 1)] + ["x"]
SPLIT = 3000  # bytes of a file that are read at once here


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probtruth.io.tables.read.CHUNK", SPLIT)


@pytest.mark.usefixtures("in_pieces")
def test_files_on_disk_have_the_names_of_those_in_memory(tmp_path: Path) -> None:
    """Every piece was told by itself: items 0.0, 1.0 were called 0, 1 up to the piece that holds x, and were lost."""
    models: dict[str, Any] = {}
    for name in ("a", "b"):
        p = RNG.uniform(0.1, 0.9, N).round(3)
        models[name] = tmp_path / f"{name}.csv"
        pd.DataFrame({"item": ITEMS, "no": 1 - p, "yes": p}).to_csv(models[name], index=False)
    counts = tmp_path / "counts.csv"
    pd.DataFrame({"item": ITEMS, "no": RNG.integers(0, 4, N), "yes": RNG.integers(1, 4, N)}).to_csv(counts, index=False)
    scores = tmp_path / "scores.csv"
    rows = {"item": ITEMS * 2, "model": ["a"] * N + ["b"] * N, "accuracy": RNG.random(2 * N)}
    pd.DataFrame(rows).to_csv(scores, index=False)
    results = [pt.evaluate(counts, models, engine="exact", memory=memory) for memory in (None, 1000.0)]
    assert results[0].scores.values.shape == (2, N)
    np.testing.assert_array_equal(results[0].scores.values, results[1].scores.values)
    boards = [pt.read_scores(scores, score="accuracy", memory=memory) for memory in (None, 1000.0)]
    assert boards[0].items == boards[1].items
    np.testing.assert_array_equal(boards[0].values, boards[1].values)


@pytest.mark.usefixtures("in_pieces")
def test_a_type_that_appears_late(tmp_path: Path) -> None:
    """Items that were numbers in the first piece of JSON lines, and text in the last, were refused: 'write all files
    alike'; a column of no use too, and a folder of files that pandas wrote, one with a blank.
    """
    answers = pl.DataFrame({"label": RNG.choice(["no", "yes"], N), "more": [[n] for n in range(N)]}).to_dicts()
    lines = [json.dumps({"item": n, **answer}) for n, answer in enumerate(answers[:-1])]
    lines.append(json.dumps({"item": "x", **answers[-1], "more": "none"}))
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(lines))
    folder = tmp_path / "labels"
    folder.mkdir()
    parts = pd.DataFrame([*map(json.loads, lines)])[["item", "label"]]
    parts[:-1].astype({"item": float}).to_parquet(folder / "a.parquet")
    parts[-1:].to_parquet(folder / "b.parquet")
    p = RNG.uniform(0.1, 0.9, N)
    models = {"m": pd.DataFrame({"item": [*map(str, range(N - 1)), "x"], "no": 1 - p, "yes": p})}
    results = [
        pt.evaluate(path, models, engine="exact", memory=memory).scores
        for path, memory in ((labels, None), (labels, 1000.0), (folder, None))
    ]
    for scores in results:
        assert scores.items == results[0].items
        np.testing.assert_array_equal(scores.values, results[0].values)


def test_a_file_for_each_model_as_one_table(tmp_path: Path) -> None:
    """A file whose items were all numbers had other names than the next one, and no item was shared."""
    tables = {"a": ["1.0", "2.0", "3.0"], "b": ["1.0", "2.0", "3.0", "x"], "4.0": ["3.0", "x", "1.0"]}
    parts = []
    files: dict[str, Any] = {}
    for model, items in tables.items():
        part = pd.DataFrame({"item": items, "accuracy": RNG.random(len(items))})
        files[model] = tmp_path / f"{model}.csv"
        part.to_csv(files[model], index=False)
        parts.append(part.assign(model=model))
    long = pd.concat(parts)
    wide = long.pivot(index="item", columns="model", values="accuracy")
    read = [
        pt.read_scores(long, score="accuracy"),
        pt.read_scores(files, score="accuracy"),
        pt.read_scores(
            {name: pd.read_csv(path, dtype={"item": str}) for name, path in files.items()}, score="accuracy"
        ),
        pt.read_scores(wide, models=[], score="accuracy"),
    ]
    wanted = wide.T
    for one in read:
        assert (set(one.models), one.items) == ({"a", "b", "4.0"}, ("1.0", "2.0", "3.0", "x"))
        found = pd.DataFrame(one.values, one.models, one.items).loc[wanted.index, wanted.columns]
        np.testing.assert_array_equal(found, wanted)


def test_answers_of_one_annotator_are_those_of_all(tmp_path: Path) -> None:
    """They are named together, once what is missing is left out."""
    path = tmp_path / "wide.csv"
    path.write_text("item,ann,bob\np,1.0,1\nq,0.0,skip\nr,skip,0\n")
    made = pt.read_annotations(path, format="wide", missing=["skip"])
    assert made.index.labels == ("0", "1")
    assert made.counts().tolist() == [[0, 2], [1, 0], [1, 0]]


def test_models_of_votes_are_told_on_both_sides() -> None:
    """4.0 was 4 on the left, where all were numbers, and 4.0 on the right."""
    votes = {"model_a": ["4.0", "5.0", "4.0"], "model_b": ["gpt", "4.0", "5.0"], "winner": ["a", "b", "tie"]}
    assert pt.read_votes(votes).models == ("4.0", "5.0", "gpt")


def test_a_winner_that_is_the_number_of_a_model() -> None:
    """Pandas writes 2 as 2.0 beside a blank, and the winner 2.0 was the right side, not the model 2."""
    rows = {"model_a": [1, 2, 2], "model_b": [2, 3, 1], "winner": [1, 2, None]}
    assert pt.read_votes(pd.DataFrame(rows)).outcome.tolist() == [1, 1]


def test_groups_of_annotators_by_names_that_are_decimals() -> None:
    rows = [(item, model, who) for item in "pqrstu" for model in "ab" for who in ("1.0", "2.0", "3.0", "4.0")]
    table = pd.DataFrame(rows, columns=["item", "model", "annotator"]).assign(loss=RNG.random(48))
    scores = pt.read_scores(table, score="loss", annotator="annotator")
    people = {"1.0": "x", "2.0": "x", "3.0": "y", "4.0": "y"}
    for groups in (people, {float(name): group for name, group in people.items()}, pd.Series(people)):
        found = pt.compare(scores, annotator_groups=groups, engine="exact")
        assert found.decisions["group_annotators"] == {"x": 2, "y": 2}


def test_groups_by_names_that_are_decimals() -> None:
    """As a Series they were found, as a dict they were missing."""
    items = ["1.0", "1.1", "2.0", "2.1"]
    scores = pt.Scores.from_frame(
        {"item": items * 2, "model": [*"aaaabbbb"], "loss": RNG.random(8)}, score="loss", higher_is_better=False
    )
    groups = dict(zip(items, ["x", "x", "y", "y"], strict=True))
    found = [pt.compare(scores, groups=one, engine="exact").pairs[0]["low"] for one in (groups, pd.Series(groups))]
    assert found[0] == found[1]


def test_periods_are_names() -> None:
    """They ended in an error of another library."""
    months = pd.period_range("2024-01", periods=3, freq="M")
    table = pd.DataFrame({"item": months, "annotator": "a", "label": ["x", "y", "x"]})
    assert pt.read_annotations(table).index.items == ("2024-01", "2024-02", "2024-03")
    assert pt.read_annotations(table.set_index("item")).index.items == ("2024-01", "2024-02", "2024-03")


def test_labels_that_are_one_number_are_warned_of() -> None:
    votes = {"item": [*"pqr"], "annotator": ["a"] * 3, "label": ["1", "1.0", "other"]}
    models = {"m": pd.DataFrame(np.full((3, 3), 1 / 3), [*"pqr"], ["1", "1.0", "other"])}
    result = pt.evaluate(pt.read_annotations(votes), pt.Predictions.from_probs(models), engine="exact")
    assert any("'1', '1.0'" in line for line in result.warnings)


def test_labels_that_are_times() -> None:
    """Those of the columns were named as they are written, and then looked for by value: a traceback."""
    labels = ["2024-01-01T00:00:00", "2024-01-01 00:00:01", "2024-01-02"]
    answers = {"item": [*"pqr"], "label": labels}
    probs = RNG.dirichlet(np.ones(3), 3)
    models = {"m": {"item": [*"pqr"], **{name: probs[:, at] for at, name in enumerate(labels)}}}
    scores = pt.evaluate(answers, models, engine="exact").scores
    np.testing.assert_allclose(scores.values[0], -np.log(np.diag(probs)))


def test_columns_of_a_dict_are_aligned_by_their_index() -> None:
    """Each was read by position, whatever its index said."""
    items = [*"pqrstu"]
    votes = pd.DataFrame({"x": [4, 1, 2, 2, 4, 1], "y": [0, 3, 0, 1, 1, 1]}, items)
    columns = {"x": votes["x"], "y": votes["y"].sample(frac=1, random_state=1)}
    for made in (pt.Annotations.from_counts(columns), pt.read_annotations(columns, format="counts")):
        assert (made.index.items, made.counts().tolist()) == (tuple(items), votes.to_numpy().tolist())
    scores = pt.read_scores(columns, models=["x", "y"], higher_is_better=True)
    np.testing.assert_array_equal(scores.values, votes.T)
    with pytest.raises(pt.InputError, match=r"other indexes beside lists.*pandas\.DataFrame"):
        pt.read_scores({"item": items, **columns}, models=["x", "y"], higher_is_better=True)
    probs = votes.div(votes.sum(axis=1), axis=0)
    shares = {"x": probs["x"], "y": probs["y"].sample(frac=1, random_state=1)}
    for models in ({"m": shares}, pt.Predictions.from_probs({"m": shares})):
        made = pt.evaluate(pt.Truth.from_probs(probs), models, engine="exact")
        np.testing.assert_allclose(made.scores.values, pt.evaluate(probs, {"m": probs}, engine="exact").scores.values)


def test_a_dataset_of_xarray_is_a_table() -> None:
    """It ended in an IndexError."""
    items = [*"pqrs"]
    p = RNG.uniform(0.1, 0.9, 4)
    dataset = xr.Dataset({"yes": ("item", p), "no": ("item", 1 - p)}, coords={"item": items})
    frame = pd.DataFrame({"yes": p, "no": 1 - p}, items)
    answers = dict(zip(items, ["yes", "no", "no", "yes"], strict=True))
    found = [pt.evaluate(answers, {"m": one}, engine="exact").scores.values for one in (dataset, frame)]
    np.testing.assert_array_equal(found[0], found[1])


def test_an_index_without_a_name_in_a_file_of_a_model(tmp_path: Path) -> None:
    """It was found beside labels, and refused beside probabilities."""
    answers = pd.DataFrame({"item": [*"pqr"], "annotator": "a", "label": ["x", "y", "x"]})
    probs = pd.DataFrame({"x": [0.5, 0.25, 0.75], "y": [0.5, 0.75, 0.25]}, [*"rqp"])
    probs.to_csv(tmp_path / "m.csv")
    found = [pt.evaluate(answers, {"m": one}, engine="exact").scores.values for one in (probs, tmp_path / "m.csv")]
    np.testing.assert_array_equal(found[0], found[1])


def test_names_that_look_alike_are_said(tmp_path: Path, run: Any) -> None:
    """A model whose name has a space at its end in half of the rows became two models, written alike on every page."""
    scores = {"item": [1, 2, 1, 2], "model": ["a", "a ", "b", "b"], "score": [1.0, 2.0, 2.0, 3.0]}
    said = (
        "models that differ only in spaces, case, Unicode form or the decimals of a number are counted apart: 'a', 'a '"
    )
    assert said in pt.read_scores(scores, higher_is_better=True).notes
    pd.DataFrame(scores).to_csv(tmp_path / "scores.csv", index=False)
    assert said in " ".join(run(f"check {tmp_path / 'scores.csv'}").text.split())
    labels = {"item": [1, 2, 3], "annotator": ["Ann", "bob", "ann"], "label": ["yes", "no", "yes"]}
    assert any("annotators that differ only" in note for note in pt.read_annotations(labels).notes)
    votes = {"prompt": [1, 2], "model_a": ["x", "X"], "model_b": ["y", "y"], "winner": ["a", "b"]}
    assert any("models that differ only" in note for note in pt.read_votes(votes).notes)
    assert not pt.read_votes({**votes, "model_a": ["x", "x"]}).notes[1:]
