"""Scores in a temporary file are those in memory, and what cannot be used is named with its row."""

import numpy as np
import polars as pl
import pytest

import probtruth as pt
from probtruth.io.tables import binary
from probtruth.kernels.host import lies_on_disk

N = 700


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(binary, "ROWS", 100)
    monkeypatch.setattr("probtruth.io.tables.read.CHUNK", 2000)


def table(kind="shuffled", seed=0):
    """Scores of three models, the third of which lacks two items."""
    rng = np.random.default_rng(seed)
    frames = []
    for model, shift in (("m2", 0.0), ("m1", 0.05), ("m10", 0.1)):
        columns = {
            "item": list(range(N)) if kind == "numbers" else [f"q{item}" for item in range(N)],
            "model": [model] * N,
            "score": rng.gamma(2.0, 1.0, N) + shift,
            "task": [f"t{item % 3}" for item in range(N)],
            "passage": [item // 6 * 3 + item % 3 for item in range(N)],
        }
        frames.append(pl.DataFrame(columns)[2:] if model == "m10" else pl.DataFrame(columns))
    whole = pl.concat(frames)
    if kind == "by item":
        return whole.sort("passage", "item", "model")
    return whole if kind == "by model" else whole.sample(fraction=1.0, shuffle=True, seed=seed)


@pytest.mark.parametrize(
    "kind", ["shuffled", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("by model", "by item", "numbers"))]
)
@pytest.mark.parametrize("form", ["parquet", "csv", "folder"])
def test_the_same_scores_as_in_memory(kind, form, tmp_path):
    frame, path = table(kind), tmp_path / f"scores.{form}"
    if form == "folder":
        path.mkdir()
        for part in range(3):
            frame[part * 800 : part * 800 + 800].write_ipc(path / f"{part}.arrow")
    else:
        getattr(frame, f"write_{form}")(path)
    columns = {"group": "task", "cluster": "passage", "higher_is_better": False}
    held, there = (pt.read_scores(path, **columns, memory=memory) for memory in (None, 1.0))
    assert lies_on_disk(there.values)
    np.testing.assert_array_equal(there.values, held.values)
    for name in ("models", "items", "audit", "item_order", "rule", "higher_is_better"):
        assert getattr(there, name) == getattr(held, name), name
    for one, other in ((there.groups, held.groups), (there.clusters, held.clusters)):
        assert (one.names, one.codes.tolist()) == (other.names, other.codes.tolist())
    if held.item_order:
        assert there.item_rows.tolist() == held.item_rows.tolist()
    assert pt.compare(there, engine="exact").pairs == pt.compare(held, engine="exact").pairs


CHANGES = {
    "an item twice": (pl.lit("q1").alias("item"), "row 500: got item 'q1', model 'm2' twice"),
    "blank": (pl.lit("").alias("item"), "row 500, column 'item': got a blank"),
    "two groups": (pl.lit("elsewhere").alias("task"), "in two groups"),
}


@pytest.mark.parametrize(("change", "words"), CHANGES.values(), ids=CHANGES)
def test_what_cannot_be_used_is_named(change, words, tmp_path):
    frame, name = table("by model"), change.meta.output_name()
    changed = pl.when(pl.int_range(pl.len()) == 499).then(change).otherwise(name).alias(name)
    frame.with_columns(changed).write_parquet(tmp_path / "scores.parquet")
    with pytest.raises(pt.InputError) as caught:
        pt.read_scores(tmp_path / "scores.parquet", group="task", higher_is_better=False, memory=1.0)
    assert words in str(caught.value)
