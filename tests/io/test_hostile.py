"""Whatever a file holds, only an `InputError` leaves a reader, and soon."""

import random
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import disagreement, read_soft, unfit

from probtruth.errors import InputError
from probtruth.io.annotations import read_annotations
from probtruth.io.item_columns import read_groups
from probtruth.io.predictions import read_predictions
from probtruth.io.scores import read_scores

READERS: dict[str, Callable[[Path], object]] = {
    "annotations": read_annotations,
    "counts": lambda path: read_annotations(path, item="name"),
    "predictions": lambda path: read_predictions({"m": path, "n": path}),
    "logits": lambda path: read_predictions({"m": path}, kind="logits"),
    "soft": read_soft,
    "scores": lambda path: read_scores(path, group="label", replicate="p", higher_is_better=False),
    "groups": lambda path: read_groups(f"{path}:label", ["a"]),
}

TABLES = {
    "long": polars.DataFrame(
        {"item": ["a", "b", "007"], "annotator": [1, 2, 2], "label": ["x", 'é,"\n', "x"], "p": [0.25, 0.5, 1e-3]}
    ),
    "wide": polars.DataFrame({"item": ["a", "b", "7"], "x": [0.25, 1.0, 0.5], "y": [0.75, 0.0, 0.5]}),
    "counts": polars.DataFrame({"name": [1, 2, 3], "x": [0, 3, 2], "y": [5, 2, 1]}),
    "scores": polars.DataFrame(
        {"item": ["a", "a", "b", "b"], "model": ["m", "n"] * 2, "score": [0.5, -1.0, 2.0, 0.0], "p": [1, 1, 1, 2]}
    ),
}


def encoded(frame: polars.DataFrame, form: str) -> bytes:
    stream = BytesIO()
    if form in ("csv", "tsv"):
        frame.write_csv(stream, separator="," if form == "csv" else "\t")
    elif form == "jsonl":
        frame.write_ndjson(stream)
    elif form == "parquet":
        frame.write_parquet(stream, metadata={"probtruth": '{"estimand": "class", "method": "m"}'})
    elif form == "arrow":
        frame.write_ipc(stream)
    else:
        frame.write_ipc_stream(stream)
    return stream.getvalue()


FORMS = ("csv", "tsv", "jsonl", "parquet", "arrow", "feather")
VALID = {(name, form): encoded(frame, form) for name, frame in TABLES.items() for form in FORMS}
TOKENS = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b",", b"\t", b"nan", b"-inf", b"1e999", b"-", b"9" * 30, b"{}",
    b"[", b"\\ud800", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\0\0\0\x80", b"PAR1", b"item", b"null", b"\\u0000",
)  # fmt: skip


def mutated(data: bytes, seed: int) -> bytes:
    """The bytes after one to eight edits; most hit the structures at the ends."""
    draw = random.Random(seed)
    edited = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        if not edited:
            break
        low, high = draw.choice(
            ((0, len(edited)), (max(0, len(edited) - 300), len(edited)), (0, min(100, len(edited))))
        )
        at, size = draw.randrange(low, high), draw.choice((1, 2, 4, 16))
        edit = draw.randrange(6)
        if edit == 5:
            del edited[at:]
        elif edit == 0:
            edited[at] = draw.randrange(256)
        elif edit == 1:
            edited[at] ^= 1 << draw.randrange(8)
        elif edit == 2:
            del edited[at : at + size]
        elif edit == 3:
            edited[at:at] = draw.choice(TOKENS)
        else:
            edited[at:at] = edited[at : at + 8 * size]
    return bytes(edited)


def attempt(reader: str, path: Path) -> None:
    try:
        READERS[reader](path)
    except InputError as error:
        wrong = unfit(str(error))
    else:
        wrong = disagreement(path)
    assert wrong is None


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(table=st.sampled_from(list(TABLES)), reader=st.sampled_from(list(READERS)), seed=st.integers(0, 2**32))
def test_mutated_files(tmp_path_factory: pytest.TempPathFactory, form: str, table: str, reader: str, seed: int) -> None:
    path = tmp_path_factory.getbasetemp() / f"mutated.{form}"
    path.write_bytes(mutated(VALID[table, form], seed))
    attempt(reader, path)


SECONDS = 100  # Each takes a few on a slow, busy machine under run-time type checks; what is quadratic, hours
LARGE = {
    "label": ("csv", "item,annotator,label,p\na,CELL,x,1\na,CELL,x,1\n"),
    "header": ("csv", "item,CELL\na,x\n"),
    "number": ("csv", "item,x,y\nCELL,1,CELL\n"),
    "open quote": ("csv", 'item,x\n"CELL,1\n'),
    "one line": ("csv", "CELL"),
    "commas": ("csv", "COMMAS"),
    "quotes": ("csv", "QUOTES"),
    "lines": ("csv", "LINES"),
    "cell": ("jsonl", '{"item": "CELL", "annotator": 1, "label": "CELL"}\n{"item": 1, "annotator": 1, "label": 1}'),
    "key": ("jsonl", '{"CELL": 1}\n{"item": 2}'),
    "nested": ("jsonl", "NESTED"),
}


@pytest.mark.long
@pytest.mark.parametrize(("form", "template"), LARGE.values(), ids=LARGE)
def test_ten_megabytes_in_a_cell(tmp_path: Path, form: str, template: str) -> None:
    """They take seconds, and the error shows little of them."""
    size = 10_000_000
    parts = {"CELL": "x" * size, "COMMAS": "," * (size // 10), "QUOTES": '"' * (size - 1), "LINES": "\n" * size}
    content = template.replace("NESTED", '{"item":' * (size // 8))
    for word, part in parts.items():
        content = content.replace(word, part)
    path = tmp_path / f"t.{form}"
    path.write_text(content)
    for reader in ("annotations", "predictions", "scores"):
        start = time.process_time()
        attempt(reader, path)
        assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(("form", "n_columns"), [pytest.param("csv", 30_000, marks=pytest.mark.long), ("jsonl", 5_000)])
def test_many_columns(tmp_path: Path, form: str, n_columns: int) -> None:
    frame = polars.DataFrame({"item": ["a"], "c0": [1]} | {f"c{number}": [0] for number in range(1, n_columns)})
    path = tmp_path / f"t.{form}"
    path.write_bytes(encoded(frame, form))
    start = time.process_time()
    assert read_annotations(path, format="counts").n_labels == n_columns
    assert read_predictions({"m": path}).index.labels[0] == "c0"
    attempt("scores", path)
    assert time.process_time() - start < SECONDS
