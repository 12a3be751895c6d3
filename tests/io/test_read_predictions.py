"""Predictions from files: aligned by name, nothing guessed."""

import re
from pathlib import Path

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.predictions import model_files, read_predictions
from probtruth.types import Annotations, Index

A = "item,cat,dog\nx,0.25,0.75\ny,0.5,0.5\nz,1,0\n"
B = "dog,item,cat\n0.125,z,0.875\n1,w,0\n0.25,x,0.75\n"

DECIMALS = 1e-5  # Of logarithms that a file writes with six digits
EXP_ROUND_OFF = 1e-15  # A log and an exp in double precision, on probabilities of order one


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    for name, text in (("a", A), ("b", B)):
        (tmp_path / f"{name}.csv").write_text(text)
    return {"a": tmp_path / "a.csv", "b": tmp_path / "b.csv"}


def write(folder: Path, text: str, name: str = "m.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


class TestAlignment:
    def test_without_an_index_items_in_some_file(self, files: dict[str, Path]) -> None:
        pred = pt.read_predictions(files)
        assert pred.models == ("a", "b")
        assert pred.index == Index(("w", "x", "y", "z"), ("cat", "dog"))
        both = pred.probs[:, [1, 3]]
        np.testing.assert_allclose(both, [[[0.25, 0.75], [1, 0]], [[0.75, 0.25], [0.875, 0.125]]], rtol=EXP_ROUND_OFF)
        np.testing.assert_array_equal(
            np.isnan(pred.probs).all(2), [[True, False, False, False], [False, False, True, False]]
        )
        assert pred.audit.by_model == (("a", 1, 0), ("b", 1, 0))
        assert pred.audit.dropped == 0

    def test_with_an_index_the_reference_counts(self, files: dict[str, Path]) -> None:
        pred = read_predictions(files, Index(("x", "y", "z", "u"), ("cat",)))
        assert pred.index.items == ("x", "y", "z")
        assert (pred.audit.missing, pred.audit.extra) == (("u",), ("w",))
        assert pred.audit.by_model == (("a", 1, 0), ("b", 2, 1))

    def test_other_references(self, tmp_path: Path, files: dict[str, Path]) -> None:
        """One that is not sorted does not order the items; labels that nobody used stay; positions match any names."""
        path = write(tmp_path, "item,cat,dog\nz,0.25,0.75\nx,0.5,0.5\n")
        pred = read_predictions({"m": path}, Index(("z", "x"), ("dog",)))
        assert (pred.index.items, pred.index.labels) == (("x", "z"), ("cat", "dog"))
        np.testing.assert_allclose(pred.probs[0, 1], [0.25, 0.75], rtol=EXP_ROUND_OFF)
        index = Annotations.from_counts([[1, 0], [0, 1], [1, 1]]).index
        assert read_predictions({"a": files["a"]}, index).index.items == ("x", "y", "z")

    def test_order_of_rows_columns_and_formats_is_free(self, tmp_path: Path, files: dict[str, Path]) -> None:
        frame = polars.DataFrame({"dog": [0.0, 0.75, 0.5], "item": ["z", "x", "y"], "cat": [1.0, 0.25, 0.5]})
        frame.write_parquet(tmp_path / "p.parquet")
        frame.write_ndjson(tmp_path / "j.jsonl")
        pred = read_predictions({"a": files["a"], "p": tmp_path / "p.parquet", "j": tmp_path / "j.jsonl"})
        assert (pred.log_probs == pred.log_probs[0]).all()


KINDS = {
    "log-probs keep what probs cannot hold": ("log_probs", "x,-1e5,0\ny,-inf,0", [[-1e5, 0], [-np.inf, 0]]),
    "logits": ("logits", "x,1000,1000", [[-np.log(2), -np.log(2)]]),
    "per cent": ("percent", "x,25,75", [[np.log(0.25), np.log(0.75)]]),
    "zero is minus infinity": ("probs", "x,1,0", [[0, -np.inf]]),
}


@pytest.mark.parametrize(("kind", "rows", "logs"), KINDS.values(), ids=KINDS)
def test_kinds(tmp_path: Path, kind: str, rows: str, logs: list[list[float]]) -> None:
    assert read_predictions({"m": write(tmp_path, f"item,a,b\n{rows}\n")}, kind=kind).log_probs.tolist() == [logs]


def test_logits_that_are_plainly_probabilities_are_warned_of(tmp_path: Path, files: dict[str, Path]) -> None:
    logits = write(tmp_path, "item,cat,dog\nx,0.25,0.75\ny,0.5,0.25\nz,0,1\n")  # the second row sums to .75
    (warning,) = read_predictions({"a": files["a"], "m": logits}, kind="logits").warnings
    assert warning.startswith("the logits of 'a' look like probabilities")
    assert "--kind probs" in warning
    assert read_predictions({"a": files["a"]}).warnings == ()


CELLS = {
    "text": ("item,a,b\nx,1,0\ny,o.5,.5\n", "probs", "line 3, column 'a': got 'o.5', expected a number"),
    "blank": ("item,a,b\nx,0,1\ny,1,\n", "probs", "line 3, column 'b': got a blank cell"),
    "NaN": ("item,a,b\nx,1,nan\n", "probs", "line 2: got probabilities nan for label 'b', expected a finite"),
    "negative": ("item,a,b\nx,1.1,-.1\n", "probs", "line 2: got probabilities -0.1 for label 'b', expected a prob"),
    "infinite": ("item,a,b\nx,inf,0\n", "probs", "line 2: got probabilities inf for label 'a', expected a finite"),
    "below 1": ("item,a,b\nx,1,0\ny,.9,.09\n", "probs", "line 3: got probabilities that sum to 0.99, expected a"),
    "per cent": ("item,a,b\nx,90,10\n", "probs", "line 2: got probabilities that sum to 100"),
    "numeric column": ("item,a,b,gold\nx,1,0,0\ny,1,0,1\n", "probs", "Every column but 'item' is read as a label"),
    "numbers without a name": (",item,a\n5,x,1\n", "probs", "got a column without a name"),
    "item twice": ("item,a\nx,1\ny,1\nx,1\n", "probs", "line 4, column 'item': got item 'x' a second time"),
    "no item column": ("id,a,b\nx,1,0\n", "probs", "no column 'item' (columns: 'id', 'a', 'b')"),
    "log of NaN": ("item,a,b\nx,nan,0\n", "log_probs", "exponentials of log-probabilities nan for label 'a'"),
    "logs that are probs": ("item,a,b\nx,.5,.5\n", "log_probs", "of log-probabilities that sum to 3.29744"),
    "logit of inf": ("item,a,b\nx,inf,0\n", "logits", "line 2: got logits [inf, 0.0], expected finite numbers"),
    "unknown kind": ("item,a,b\nx,1,0\n", "prob", "kind 'prob', expected one of"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "message"), CELLS.values(), ids=CELLS)
def test_unusable_cells_are_errors_with_their_place(tmp_path: Path, text: str, kind: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_predictions({"m": write(tmp_path, text)}, kind=kind)


def positional(counts: list[list[int]]) -> Index:
    return Annotations.from_counts(counts).index


OTHERS = {
    "other labels": (
        "item,cat,dgo\nx,1,0\n",
        None,
        "m.csv (model 'm'): got labels that one of two models has: 'dgo', 'dog'",
    ),
    "no item of the other model": (
        "item,cat,dog\nq,1,0\n",
        None,
        "'q' in the other models, 'x', 'y', 'z' in model 'a'",
    ),
    "no label of the reference": (A, Index(("x",), ("cta", "dog")), "label 'cta' in the reference"),
    "no item of the reference": (A, Index(("01", "02"), ("cat",)), "no item in common: '01', '02' in the reference"),
    "positional labels": (A, positional([[1, 0, 0], [0, 1, 0], [1, 1, 0]]), "expected 3"),
    "positional items": (A, positional([[1, 0], [0, 1]]), "expected 2"),
}


@pytest.mark.parametrize(("text", "index", "message"), OTHERS.values(), ids=OTHERS)
def test_files_that_do_not_go_together(
    tmp_path: Path, files: dict[str, Path], text: str, index: Index | None, message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_predictions({"a": files["a"], "m": write(tmp_path, text)}, index)


def test_models(files: dict[str, Path]) -> None:
    assert model_files(["a=b=c.csv", "x=../y"]) == {"a=b": "c.csv", "x": "../y"}
    for options, message in (
        (["a=x.csv", "a=y.csv"], "model 'a' more than once"),
        *((([option]), "expected NAME=FILE") for option in ("a.csv", "=a.csv", "a=")),
    ):
        with pytest.raises(InputError, match=message):
            model_files(options)
    for given, message in (({}, "an empty dict"), (files["a"], "a dict "), ({" ": files["a"]}, "a blank model name")):
        with pytest.raises(InputError, match=message):
            read_predictions(given)  # type: ignore[arg-type]


def test_chaosnli(data: Path) -> None:
    """Expected log losses against 100 labels an item: direct sums from the released files."""
    ann = pt.read_annotations(data / "chaosnli_snli" / "label_counts.csv", format="counts")
    folder = data / "chaosnli_snli" / "predictions"
    names = [f"bert-base-uncased_{seed}" for seed in (0, 1)] + [f"roberta-base_{seed}" for seed in (0, 1, 2)]
    pred = read_predictions({name: folder / f"{name}.csv" for name in names}, ann.index)
    assert pred.audit.dropped == 0
    expected = [1.216433, 1.021755, 1.170444, 1.056448, 1.143483]
    six_decimals = 5e-7
    found = -(ann.counts() / 100 * pred.log_probs).sum(-1).mean(-1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=six_decimals)


LOOKS = {
    "percentages": ("item,a,b\nx,25,75\n", "probs", "these look like percentages; pass --kind percent", "percent"),
    "log-probabilities": ("item,a,b\nx,-0.6931,-0.6931\n", "probs", "look like log-probabilities", "log-probs"),
    "logits": ("item,a,b\nx,-3.5,2.25\ny,0.5,1\n", "probs", "these look like logits", "logits"),
    "probabilities": ("item,a,b\nx,0.25,0.75\n", "percent", "these look like probabilities", "probs"),
    "probabilities, not logs": ("item,a,b\nx,0.25,0.75\n", "log-probs", "these look like probabilities", "probs"),
    "logits, not logs": ("item,a,b\nx,-3.5,-2.25\n", "log-probs", "these look like logits", "logits"),
}


@pytest.mark.parametrize(("text", "kind", "message", "like"), LOOKS.values(), ids=LOOKS)
def test_errors_say_what_the_numbers_look_like(tmp_path: Path, text: str, kind: str, message: str, like: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=message) as caught:
        read_predictions({"m": path}, kind=kind)
    assert f"--kind {like} (Python: kind='{like}')" in str(caught.value)
    assert read_predictions({"m": path}, kind=like).index.labels == ("a", "b")


@pytest.mark.parametrize(
    ("kind", "cells", "flat"),
    [
        ("probs", ("0.33,0.66", "0.5,0.5"), (1 / 3, 2 / 3)),
        ("percent", ("33,66", "50,50"), (1 / 3, 2 / 3)),
        ("log-probs", ("-1.10866,-0.415515", "-0.693147,-0.693147"), (1 / 3, 2 / 3)),
    ],
)
def test_rows_are_renormalised_by_choice_only(tmp_path: Path, kind: str, cells: tuple[str, str], flat) -> None:
    """A row that sums to 0.99 (33:66 is 1:2); one that sums to 1 stays as it is."""
    path = write(tmp_path, f"item,a,b\nx,{cells[0]}\ny,{cells[1]}\n")
    with pytest.raises(InputError, match=r"look like rounded .*; pass --renormalise"):
        read_predictions({"m": path}, kind=kind)
    read = read_predictions({"m": path}, kind=kind, renormalise=True)
    np.testing.assert_allclose(read.probs[0, 0], flat, rtol=DECIMALS)
    ((model, rows, low, high),) = read.audit.renormalised
    assert (model, rows, round(low, 4), round(high, 4)) == ("m", 1, 0.99, 0.99)


def test_renormalising_mends_no_cell(tmp_path: Path) -> None:
    for row in ("-0.1,1.2", "nan,1", "0,0"):
        with pytest.raises(InputError):
            read_predictions({"m": write(tmp_path, f"item,a,b\nx,{row}\n")}, renormalise=True)
