"""The structure of CSV against Python's own parser as the slow twin."""

import csv
from io import StringIO

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.tables.csv_text import parse, separator_of


def parsed(text: str, usual: str = ",") -> tuple[polars.DataFrame, Source]:
    return next(parse([text.encode()], usual, "t", whole=True))


def rows_of(frame: polars.DataFrame) -> list[list[str]]:
    return [["" if cell is None else cell for cell in row] for row in frame.rows()]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(alphabet='a,"\n\r\té', max_size=30), st.sampled_from([",", "\t"]))
def test_any_text_is_read_as_python_reads_it_or_refused(written: str, separator: str) -> None:
    separator = separator_of(written.encode(), separator)
    try:
        frame, source = parsed(written, separator)
    except InputError:
        return
    expected = [row for row in csv.reader(StringIO(written, newline=""), delimiter=separator, strict=True) if row]
    assert source.lines is not None
    assert len(source.lines) == len(expected) - 1
    assert frame.columns == expected[0]
    assert rows_of(frame) == expected[1:]


@pytest.mark.parametrize("text", ["x,y\n\n1,2\n\n\n3,4\n", 'x,y\r\n\r\n"1",2\r\n"\r\n",4\r\n'])
def test_the_line_of_each_row(text: str) -> None:
    _, source = parsed(text)
    assert [source.at(row) for row in (0, 1)] == ["t, line 3", f"t, line {6 if '\r' not in text else 4}"]


def test_a_header_of_several_lines() -> None:
    """Found by fuzzing: Python's own error left the reader."""
    with pytest.raises(InputError, match="line 3: got 2 cells, expected 1"):
        parsed('"é1""\n11"\n,a""é')
