"""Soft labels as files: what is written is read back to the bit."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest
from oracles import read_soft

from probtruth.errors import InputError
from probtruth.io.tables import parquet_notes
from probtruth.io.truth import check_soft_out, write_soft
from probtruth.types import Truth

PROBS = [[0.25, 0.75], [1.0, 0.0], [1 / 3, 2 / 3]]


@pytest.fixture
def truth() -> Truth:
    given = Truth.from_probs(PROBS, ["10", "9", "007"], ["dog", "cat"])
    return replace(
        given,
        method="dirichlet",
        shares=np.array([[0.5, 0.5], [0.0, 1.0], [0.2, 0.8]]),
        n_votes=np.array([2, 3, 5]),
        marginals=np.array([0.3, 0.7]),
    )


def same(one: Truth, other: Truth) -> bool:
    arrays = ("probs", "shares", "n_votes", "marginals")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays) and (
        (one.index, one.method, one.estimand) == (other.index, other.method, other.estimand)
    )


class TestParquet:
    def test_everything_but_draws_comes_back(self, tmp_path: Path, truth: Truth) -> None:
        positional = Truth.from_labels(np.array([1, 0]), n_labels=3)
        parts = [replace(truth, **{part: None}) for part in ("shares", "n_votes", "marginals")]
        for one in (truth, positional, *parts):
            write_soft(one, tmp_path / "soft.parquet")
            assert same(read_soft(tmp_path / "soft.parquet"), one)

    def test_columns_are_the_item_and_one_for_each_label(self, tmp_path: Path, truth: Truth) -> None:
        write_soft(truth, tmp_path / "soft.parquet")
        frame = polars.read_parquet(tmp_path / "soft.parquet")
        assert frame.columns[:3] == ["item", "cat", "dog"]
        assert frame.columns[3:] == ["probtruth: arrays"]
        assert frame["item"].to_list() == ["007", "10", "9"]
        notes = json.loads(polars.read_parquet_metadata(tmp_path / "soft.parquet")["probtruth"])
        assert (notes["method"], notes["estimand"]) == ("dirichlet", "distribution")

    def test_an_earlier_file_of_ours_is_replaced_but_no_other(self, tmp_path: Path, truth: Truth) -> None:
        path = tmp_path / "soft.parquet"
        write_soft(replace(truth, method="majority"), path)
        write_soft(truth, path)
        assert read_soft(path).method == "dirichlet"
        polars.DataFrame({"mine": [1]}).write_parquet(path)
        for content in (path.read_bytes(), b"PAR1 mine PAR1"):
            path.write_bytes(content)
            for refuse in (lambda: write_soft(truth, path), lambda: check_soft_out(path)):
                with pytest.raises(InputError, match="a file that probtruth did not write"):
                    refuse()

    def test_other_extensions_and_a_label_called_item(self, tmp_path: Path, truth: Truth) -> None:
        with pytest.raises(InputError, match=re.escape("a path that ends in .parquet")):
            write_soft(truth, tmp_path / "soft.tsv")
        with pytest.raises(InputError, match="a label called 'item'"):
            write_soft(Truth.from_probs(PROBS, labels=["item", "x"]), tmp_path / "soft.parquet")
        assert list(tmp_path.iterdir()) == []


class TestOtherFiles:
    def test_csv(self, tmp_path: Path) -> None:
        path = tmp_path / "soft.csv"
        path.write_text("dog,id,cat\n.25,x,.75\n1,007,0\n")
        truth = read_soft(path, item="id", estimand="class")
        assert truth.index.items == ("007", "x")
        assert truth.probs.tolist() == [[0, 1], [0.75, 0.25]]
        assert (truth.method, truth.estimand, truth.shares) == ("given", "class", None)

    def test_parquet_of_others(self, tmp_path: Path) -> None:
        polars.DataFrame({"item": ["a"], "x": [1.0]}).write_parquet(tmp_path / "t.parquet")
        truth = read_soft(tmp_path / "t.parquet")
        assert (truth.method, truth.estimand) == ("given", "distribution")

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ("b,.5,.6", "line 3: got soft labels that sum to 1.1"),
            ("a,0,1", "line 3, column 'item': got item 'a' a second time"),
            ("b,2,3", "Hint: Whole numbers: if they count votes, read_annotations(path, format='counts') reads them."),
        ],
    )
    def test_errors(self, tmp_path: Path, row: str, message: str) -> None:
        path = tmp_path / "soft.csv"
        path.write_text(f"item,x,y\na,1,0\n{row}\n")
        with pytest.raises(InputError, match=re.escape(message)):
            read_soft(path)


def test_the_estimand_of_the_file_and_of_the_caller(tmp_path: Path, truth: Truth) -> None:
    write_soft(truth, tmp_path / "soft.parquet")
    assert read_soft(tmp_path / "soft.parquet", estimand="distribution").estimand == "distribution"
    with pytest.raises(InputError, match="the estimand 'class', expected 'distribution', as the file says"):
        read_soft(tmp_path / "soft.parquet", estimand="class")
    (tmp_path / "t.csv").write_text("item,x\na,1\n")
    with pytest.raises(InputError, match="estimand 'clas', expected one of"):
        read_soft(tmp_path / "t.csv", estimand="clas")


FRAME = polars.DataFrame({"item": ["a", "b"], "x": [0.5, 1.0], "y": [0.5, 0.0]})
NOTES = {
    "method": "m",
    "estimand": "class",
    "positional_items": False,
    "positional_labels": False,
    "evidence": [],
    "annotators": ["ann", "bob"],
    "diagnostics": {},
}
VOTES = {"n_votes": [1, 2], "shares": [[0.5, 0.5], [1.0, 0.0]]}
ANSWERS = {"item": [0, 1, 1], "annotator": [0, 0, 1], "label": [1, 0, 0]}


@pytest.mark.parametrize(
    ("metadata", "arrays", "message"),
    [
        ("{", {}, "metadata that cannot be used"),
        ("[" * 100_000, {}, "metadata that cannot be used"),
        ("{}", {}, None),
        ({"method": "m"}, {}, "metadata that cannot be used"),
        (NOTES | {"estimand": "opinion"}, {}, "estimand 'opinion', expected one of"),
        (NOTES | {"arrays": {"n_votes": [3]}}, VOTES, "metadata that cannot be used"),
        (NOTES | {"evidence": ["other"]}, VOTES, "metadata that cannot be used"),
        (NOTES, VOTES | {"marginals": [1.0]}, "metadata that cannot be used"),
        (NOTES, VOTES | {"n_votes": [-1, 2]}, "metadata that cannot be used"),
        (NOTES, VOTES | {"n_votes": [1]}, "metadata that cannot be used"),
        (NOTES, VOTES | {"shares": [[0.5, 0.5], [2.0, 0.0]]}, "metadata that cannot be used"),
        (NOTES, ANSWERS | {"item": [0, 1, 2]}, "metadata that cannot be used"),
        (NOTES, ANSWERS | {"label": [0, -1, 1]}, "metadata that cannot be used"),
        (NOTES, ANSWERS | {"annotator": [0, 1]}, "metadata that cannot be used"),
        (NOTES, VOTES | ANSWERS, None),
    ],
)
def test_damaged_metadata_is_an_error(
    tmp_path: Path, metadata: str | dict[str, object], arrays: dict[str, list], message: str | None
) -> None:
    path = tmp_path / "t.parquet"
    parquet_notes.write(FRAME, path, NOTES, arrays)
    notes = json.loads(polars.read_parquet_metadata(path)["probtruth"])
    shapes = {"arrays": notes["arrays"]} if arrays else {}
    text = metadata if isinstance(metadata, str) else json.dumps(shapes | metadata)
    polars.read_parquet(path).write_parquet(path, metadata={"probtruth": text})
    if message is None:
        assert read_soft(path).probs.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    else:
        with pytest.raises(InputError, match=re.escape(message)):
            read_soft(path)


def test_soft_labels_as_csv(tmp_path: Path) -> None:
    path, truth = tmp_path / "soft.csv", Truth.from_probs([[0.25, 0.75], [1 / 3, 2 / 3]], ["x", "007"], ["n", "y"])
    write_soft(truth, path)
    assert path.read_text().splitlines()[0] == "item,n,y"
    read = read_soft(path)
    assert (read.index.items, read.index.labels) == (truth.index.items, truth.index.labels)
    assert read.probs.tolist() == truth.probs.tolist()


def test_soft_labels_that_csv_does_not_take(tmp_path: Path) -> None:
    formula = Truth.from_probs([[0.25, 0.75]], ["=1+1"], ["n", "y"])
    with pytest.raises(InputError, match=r"names that a spreadsheet would take for formulas: '=1.1'.*Write Parquet"):
        write_soft(formula, tmp_path / "soft.csv")
    (tmp_path / "mine.csv").write_text("item,n,y\na,0,1\n")
    with pytest.raises(InputError, match=r"mine\.csv"):
        write_soft(Truth.from_probs([[0.25, 0.75]], ["a"], ["n", "y"]), tmp_path / "mine.csv")
    with pytest.raises(InputError, match=r"a path that ends in .parquet or .csv"):
        write_soft(formula, tmp_path / "soft.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["mine.csv"]
