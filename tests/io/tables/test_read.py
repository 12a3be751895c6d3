"""Files as tables: text stays as written, and what is not one sound table is an error with its place."""

import errno
import os
import re
from io import BytesIO
from pathlib import Path

import polars
import pytest

from probtruth.errors import InputError
from probtruth.io.predictions import read_predictions
from probtruth.io.scores import read_scores
from probtruth.io.table import opened

FRAME = polars.DataFrame({"item": ["007", "x"], "n": [1, 2], "p": [0.25, 1e-300]})


def parquet_bytes(frame: polars.DataFrame) -> bytes:
    stream = BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


def write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


class TestValues:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("t.csv", "item,p\n007,0.50\n 7 ,NA\n"),
            ("t.CSV", "item,p\n007,0.50\n 7 ,NA"),
            ("t.csv", "\ufeffitem,p\r\n007,0.50\r\n 7 ,NA\r\n"),
            ("t.csv", '"item",p\n"007",0.50\n\n 7 ,"NA"\n\n'),
            ("t.tsv", "item\tp\n007\t0.50\n 7 \tNA\n"),
        ],
    )
    def test_text_stays_as_it_is_written(self, tmp_path: Path, name: str, content: str) -> None:
        frame, _ = opened(write(tmp_path, name, content)).whole
        assert frame.to_dict(as_series=False) == {"item": ["007", " 7 "], "p": ["0.50", "NA"]}

    @pytest.mark.parametrize("separator", list(",;\t|"))
    def test_quoted_cells(self, tmp_path: Path, separator: str) -> None:
        """A line end in a cell of the first row hid every separator but a comma."""
        text = 'item,"a ""b"" c"\n"line\none",2\n"x,y","1"\n"say ""hi""","\r\n"\n'.replace(",", separator)
        frame, source = opened(write(tmp_path, "t.csv", text)).whole
        assert frame.columns == ["item", 'a "b" c']
        assert frame.rows() == [("line\none", "2"), (f"x{separator}y", "1"), ('say "hi"', "\r\n")]
        assert [source.at(row) for row in range(3)] == [f"{tmp_path}/t.csv, line {line}" for line in (2, 4, 5)]

    @pytest.mark.parametrize(
        ("name", "text", "notes"),
        [
            ("t.csv", "item;p;n\na;0,5;1\nb;1;2\n", ("separated by semicolons", "'p' with decimal commas")),
            ("t.csv", '"item";"p";"n"\n"a";"0,5";"1"\n"b";1;2\n', ("semicolons", "'p' with decimal commas")),
            ("t.csv", "item;^p$;n\na;0,5;1\nb;1;2\n", ("separated by semicolons", "'^p$' with decimal commas")),
            ("t.csv", "item;p,q;n\na;0.5;1\nb;1;2\n", ("separated by semicolons",)),
            ("t.csv", "item\tp\tn\na\t0.5\t1\nb\t1\t2\n", ("separated by tabs",)),
            ("t.tsv", "item,p,n\na,0.5,1\nb,1,2\n", ("separated by commas",)),
        ],
    )
    def test_other_separators_and_decimal_commas(
        self, tmp_path: Path, name: str, text: str, notes: tuple[str, ...]
    ) -> None:
        frame, source = opened(write(tmp_path, name, text)).whole
        assert frame.rows() == [("a", "0.5", "1"), ("b", "1", "2")]
        assert len(source.notes) == len(notes)
        assert all(words in note for words, note in zip(notes, source.notes, strict=True))

    def test_a_row_below_that_disagrees_leaves_the_separator(self, tmp_path: Path) -> None:
        frame, source = opened(write(tmp_path, "t.csv", "a;b\n1\n")).whole
        assert (frame.columns, source.notes) == (["a;b"], ())

    def test_an_inch_mark_hides_no_separator(self, tmp_path: Path) -> None:
        frame, _ = opened(write(tmp_path, "t.csv", 'item;p\n5" pipe;1\n6 inch;2\n')).whole
        assert frame.rows() == [('5" pipe', "1"), ("6 inch", "2")]

    @pytest.mark.parametrize("blank", ["", '""'])
    def test_blank_cells_of_csv_are_unknown(self, tmp_path: Path, blank: str) -> None:
        frame, _ = opened(write(tmp_path, "t.csv", f"a,b\n1,{blank}\n")).whole
        assert frame["b"].to_list() in ([None], [""])

    def test_json_lines(self, tmp_path: Path) -> None:
        text = '{"item": "007", "p": 1, "n": 1, "b": true, "big": 18446744073709551616}\r\n\n' + (
            '{"p": 0.5, "item": null, "n": 2, "b": null, "big": 1}'
        )
        frame, source = opened(write(tmp_path, "t.jsonl", text)).whole
        assert frame.to_dict(as_series=False) == {
            "item": ["007", None],
            "p": ["1", "0.5"],
            "n": [1, 2],
            "b": [True, None],
            "big": ["18446744073709551616", "1"],
        }
        assert source.at(1, "p") == f"{tmp_path}/t.jsonl, line 3, column 'p'"


ERRORS = {
    "empty": ("t.csv", "", "an empty file"),
    "blank lines only": ("t.csv", "\n\r\n\n", "an empty file"),
    "header only": ("t.csv", "item,p\n", "a header without rows"),
    "repeated header": ("t.csv", "item,p,p\na,1,2\n", "header: got column 'p' more than once"),
    "short row": ("t.csv", 'item,p\n"a\nb",1\nc\n', "line 4: got 1 cells, expected 2"),
    "long row": ("t.csv", "item,p\na,1\n\nb,1,2\n", "line 4: got 3 cells, expected 2"),
    "NUL": ("t.csv", b"item,p\na,\x001\n", "line 2: got a NUL byte"),
    "UTF-16": ("t.csv", "item,p\na,1\n".encode("utf-16"), "UTF-16"),
    "Latin-1": ("t.csv", "item,p\na,1\né,1\n".encode("latin-1"), "line 3: got the byte 0xe9, which is not UTF-8"),
    "text after a quote": ("t.csv", 'item,p\n"a"b,1\n', "line 2: got text after a closing quotation mark"),
    "millions of columns": ("t.csv", "," * 300_000 + "\n", "header: got column '' more than once"),
    "open quote": ("t.csv", 'item,p\na,1\n"b,1\n', "line 3: got a quotation mark that is never closed"),
    "Parquet called csv": ("t.csv", parquet_bytes(FRAME), "name it .parquet"),
    "unknown extension": ("t.xlsx", "x", "the extension '.xlsx', expected one of .csv, .tsv"),
    "no extension": ("table", "x", "a file without an extension"),
    "empty jsonl": ("t.jsonl", "\n", "an empty file"),
    "not JSON": ("t.jsonl", '{"a": 1}\n{"a": }\n', "line 2: got text that is not JSON"),
    "array": ("t.jsonl", "[]\n", "line 1: got a list"),
    "empty object": ("t.jsonl", "{}\n", "an empty object"),
    "missing key": ("t.jsonl", '{"a": 1, "b": 2}\n{"a": 1, "c": 2}', "line 2: got an object with other keys ('b'"),
    "repeated key": ("t.jsonl", '{"a": 1, "a": 2}\n', "line 1: got an object with a repeated key"),
    "surrogate": ("t.jsonl", '{"a": "\\ud800"}\n', "line 1, column 'a': got half of a surrogate"),
    "surrogate in a list": ("t.jsonl", '{"a": ["b", "\\ud800"]}\n', "line 1, column 'a': got half of a surrogate"),
    "deep": ("t.jsonl", "[" * 100_000, "line 1: got text that is not JSON"),
    "long number": ("t.jsonl", '{"a": ' + "9" * 5000 + "}", "line 1: got text that is not JSON"),
    "not Parquet": ("t.parquet", "item,p\na,1\n", "not sound Parquet"),
    "cut Parquet": ("t.parquet", parquet_bytes(FRAME)[:-3], "not sound Parquet"),
    "Parquet without rows": ("t.parquet", parquet_bytes(FRAME.head(0)), "a table without rows"),
    "not Arrow": ("t.arrow", "item,p\na,1\n", "not sound Arrow"),
    "cut Arrow": ("t.feather", b"ARROW1\x00\x00", "not sound Arrow"),
    "old Feather": ("t.feather", b"FEA1....", "not sound Arrow"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), ERRORS.values(), ids=ERRORS)
def test_what_is_no_table_is_an_error_with_its_place(
    tmp_path: Path, name: str, content: bytes | str, message: str
) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        _ = opened(path).whole
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert "Hint: " in str(caught.value)


def test_paths_without_a_file(tmp_path: Path) -> None:
    write(tmp_path, "t", "x")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    cases = {
        "none.csv": "no such file",
        "none": "no such file",
        "folder": "a folder",
        "folder.csv": "a folder",
        "pipe.csv": "a device or pipe",
        "t/t.csv": "not a directory",
        "a\nb.csv": "no such file",
        "*.json": "a pattern that matches no file",
        "x\0/t.csv": "null",
        "a" * 5000 + ".csv": "too long",
    }
    for name, message in cases.items():
        with pytest.raises(InputError, match=message) as caught:
            _ = opened(tmp_path / name).whole
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("number", "message"), [(errno.EACCES, "permission denied"), (errno.EIO, "error")])
def test_what_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, message: str) -> None:
    def refuse(path: Path) -> bytes:
        raise OSError(number, "x")

    path = write(tmp_path, "t.csv", "a,b\n1,2\n")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match=rf"t\.csv: got .*{message}.*permissions"):
        _ = opened(path).whole


def test_a_key_without_a_name_stays_one(tmp_path: Path) -> None:
    """As in CSV; polars calls a column of no name `column_1`, which then was a label."""
    write(tmp_path, "t.jsonl", '{"item": "a", "": 0.5, "y": 0.5}\n')
    write(tmp_path, "t.csv", "item,,y\na,0.5,0.5\n")
    for name in ("t.jsonl", "t.csv"):
        assert opened(tmp_path / name).whole[0].columns == ["item", "", "y"]
        with pytest.raises(InputError, match="a column without a name"):
            read_predictions({"a": tmp_path / name})
        with pytest.raises(InputError, match=r"a column without a name, expected one named column for each model"):
            read_scores(tmp_path / name, models=[])
