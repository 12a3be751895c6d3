"""Predictions in a temporary file are those in memory, to the last bit, and what cannot be used is named as there."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from oracles import read_soft

import probtruth as pt
from probtruth.cli.options import Cells
from probtruth.cli.reading import Files, read
from probtruth.errors import InputError
from probtruth.io.formats import LabelReading
from probtruth.io.tables import binary
from probtruth.kernels.host import empty_array, lies_on_disk

N, LABELS = 500, ("cat", "dog, big", "owl")
RNG = np.random.default_rng(0)
ITEMS = [f'q"{number}' if number % 50 == 7 else f"q{number}" for number in range(N)]
PROBS = {name: RNG.dirichlet(np.ones(3), N) for name in ("ours", "theirs")}
WRITE: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "csv": pl.DataFrame.write_csv,
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "jsonl": pl.DataFrame.write_ndjson,
    "parquet": lambda frame, path: frame.write_parquet(path, row_group_size=64),
    "arrow": pl.DataFrame.write_ipc,
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "ROWS", 100)
    monkeypatch.setattr("probtruth.io.tables.read.CHUNK", 2000)
    monkeypatch.setattr("probtruth.io.tables.csv_text.CELLS", 1)


def frame(name: str, shuffled: bool = True) -> pl.DataFrame:
    """One model's table: rows and columns in an order of its own, and an item that no other has."""
    order = np.random.default_rng(len(name)).permutation(N) if shuffled else np.arange(N)
    columns = {label: PROBS[name][order, k] for k, label in enumerate(LABELS)}
    items = [ITEMS[row] for row in order]
    items[3] = f"only {name}"
    return pl.DataFrame({"item": items, **dict(reversed(columns.items()))})


def files(folder: Path, form: str) -> dict[str, Path]:
    made = {}
    for name in PROBS:
        if form == "folder":
            made[name] = folder / name
            made[name].mkdir()
            for part in range(3):
                frame(name)[part::3].write_parquet(made[name] / f"{part}.parquet")
        else:
            made[name] = folder / f"{name}.{form}"
            WRITE[form](frame(name), made[name])
    return made


@pytest.mark.parametrize("form", [*WRITE, "folder"])
def test_the_same_numbers_as_in_memory(form: str, tmp_path: Path) -> None:
    paths = files(tmp_path, form)
    index = pt.Truth.from_probs(PROBS["ours"][::-1], items=ITEMS[::-1], labels=LABELS).index
    for known in (None, index):
        held, there = (pt.read_predictions(paths, known, memory=memory) for memory in (None, 1.0))
        assert lies_on_disk(there.log_probs)
        assert not lies_on_disk(held.log_probs)
        np.testing.assert_array_equal(there.log_probs, held.log_probs)
        assert (there.models, there.index, there.audit) == (held.models, held.index, held.audit)
        assert len(there.index.items) == (N + 2 if known is None else N)  # NaN where a model lacks one


@pytest.mark.parametrize(
    "options",
    [
        {"rule": "brier"},
        pytest.param({"estimand": "class"}, marks=pytest.mark.long),
        pytest.param({"gold": dict.fromkeys(ITEMS[20:90], "cat")}, marks=pytest.mark.long),
    ],
)
def test_everything_that_evaluate_does(options: dict, tmp_path: Path) -> None:
    votes = RNG.multinomial(3, [0.5, 0.3, 0.2], N)
    rows = [(ITEMS[i], f"a{(i + k) % 7}", LABELS[k]) for i, k in zip(*np.nonzero(votes), strict=True)]
    long = dict(zip(("item", "annotator", "label"), zip(*rows, strict=True), strict=True))
    paths = files(tmp_path, "parquet")
    results = [pt.evaluate(long, paths, engine="exact", memory=memory, **options) for memory in (None, 1.0)]
    held, there = (result.to_dict() for result in results)
    assert there == held
    assert repr(results[1].decomposition) == repr(results[0].decomposition)
    assert results[1].analysis.listed.equals(results[0].analysis.listed)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "folder"])
@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"cat": -0.5}, "got probabilities -0.5 for label 'cat'"),
        ({"cat": 0.9}, "sum"),
        ({"cat": float("nan")}, "NaN|nan|blank"),
        ({"item": ITEMS[399]}, "a second time"),
    ],
)
def test_bad_rows_are_named(form: str, row: dict, words: str, tmp_path: Path) -> None:
    table = frame("ours", shuffled=False).with_columns(
        pl.lit(0.25).alias("cat"), pl.lit(0.25).alias("dog, big"), pl.lit(0.5).alias("owl")
    )
    at = pl.int_range(pl.len()) == 432
    table = table.with_columns(pl.when(at).then(pl.lit(own)).otherwise(name).alias(name) for name, own in row.items())
    path = tmp_path / f"ours.{form}"
    if form == "folder":
        path.mkdir()
        table[:300].write_parquet(path / "1.parquet")
        table[300:].write_parquet(path / "2.parquet")
    else:
        WRITE[form](table, path)
    said = []
    for memory in (None, 1.0):
        with pytest.raises(InputError, match=words) as caught:
            pt.read_predictions({"ours": path}, memory=memory)
        said.append(str(caught.value))
    place = {"csv": "line 434", "jsonl": "line 433", "parquet": "row 433", "folder": r"2\.parquet, row 133"}[form]
    assert re.search(rf"{place}\b", said[1]), said[1]
    assert said[0].split(": got")[0] == said[1].split(": got")[0]


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "folder"])
def test_damaged_files(form: str, tmp_path: Path) -> None:
    path = files(tmp_path, form)["ours"]
    if form == "csv":
        lines = path.read_text().splitlines(keepends=True)
        lines[400] = "q,0.5\n"
        path.write_text("".join(lines))
    elif form == "folder":
        frame("ours")[::3].rename({"owl": "bat"}).write_parquet(path / "2.parquet")
    else:
        path.write_bytes(path.read_bytes()[:-50])
    said = {"csv": r"ours\.csv, line 401", "folder": r"2\.parquet: got the columns"}
    with pytest.raises(InputError, match=said.get(form, f"not sound {form.capitalize()}")):
        pt.read_predictions({"ours": path}, memory=1.0)


def test_a_disk_without_space(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(InputError, match=r"no space for 0\.008 GB of numbers \(no space left on device\)"):
        empty_array((1000, 1000), on_disk=True)


@pytest.mark.parametrize("memory", [0, -1.0, "2GB", True])
def test_memory_is_a_number_of_bytes(memory: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a positive number of bytes"):
        pt.read_predictions(files(tmp_path, "csv"), memory=memory)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", [*WRITE, "folder"])
def test_soft_labels_go_the_same_way(form: str, tmp_path: Path) -> None:
    path = files(tmp_path, form)["theirs"]
    held, there = (read_soft(path, memory=memory) for memory in (None, 1.0))
    assert lies_on_disk(there.probs)
    assert not lies_on_disk(held.probs)
    assert there.index == held.index
    assert there.probs.tolist() == held.probs.tolist()


def test_memory_reaches_the_counts(tmp_path: Path) -> None:
    """In Python and on the command line."""
    votes = frame("ours").with_columns((pl.col(*LABELS) * 100).round().cast(pl.Int64))
    votes.write_parquet(tmp_path / "votes.parquet", row_group_size=64)
    held = pt.read_annotations(tmp_path / "votes.parquet", format="counts")
    models = [f"{name}={path}" for name, path in files(tmp_path, "parquet").items()]
    given = Files(LabelReading(), Cells(), models, str(tmp_path / "votes.parquet"))
    for there in (
        pt.read_annotations(tmp_path / "votes.parquet", format="counts", memory=1.0),
        read(given, memory="1KB")[0],
    ):
        assert lies_on_disk(there.counts())
        assert there.index == held.index
        assert there.counts().tolist() == held.counts().tolist()


def test_a_file_that_is_cut_short_later(tmp_path: Path) -> None:
    """Names from a stream of Arrow are no view of the file, which would end the process."""
    path = tmp_path / "stream.arrow"
    pl.DataFrame({"item": [f"q{row:06}" for row in range(200_000)], "x": 0.5, "y": 0.5}).write_ipc_stream(path)
    truth = read_soft(path)
    path.write_bytes(b"")
    assert truth.index.items[199_999] == "q199999"
