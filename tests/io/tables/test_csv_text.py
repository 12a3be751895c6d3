"""The structure of CSV against Python's own parser as the slow twin."""

import csv
from io import StringIO

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from probtruth.errors import InputError
from probtruth.io.tables.csv_text import dissect

SMALL = st.text(alphabet='ab,";\n\r\t é', max_size=6)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(st.lists(SMALL, min_size=2, max_size=2), min_size=1, max_size=5),
    st.sampled_from([",", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_what_python_writes_is_dissected_as_python_reads_it(
    rows: list[list[str]], separator: str, end: str, quoting: int
) -> None:
    returns = "\r" in "".join(map("".join, rows))
    assume(quoting == csv.QUOTE_ALL or not returns)  # Python leaves carriage returns without quotes
    stream = StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator, lineterminator=end, quoting=quoting)  # type: ignore[arg-type]
    writer.writerows([["x", "y"], *rows])
    written = stream.getvalue()
    text = dissect(written.encode(), separator, "t")
    assert text.header == ("x", "y")
    assert list(csv.reader(StringIO(text.rows.decode(), newline=""), delimiter=separator)) == rows
    twin = csv.reader(StringIO(written, newline=""), delimiter=separator)
    ends = [twin.line_num for _ in twin]
    if not returns:  # Python counts a lone one as a line end
        assert (text.lines == np.array(ends[:-1]) + 1).all()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(alphabet='a,"\n\r', max_size=30))
def test_any_text_is_dissected_as_python_reads_it_or_refused(written: str) -> None:
    try:
        text = dissect(written.encode(), ",", "t")
    except InputError:
        return
    expected = [row for row in csv.reader(StringIO(written, newline=""), strict=True) if row]
    assert list(text.header) == expected[0]
    assert list(csv.reader(StringIO(text.rows.decode(), newline=""), strict=True)) == expected[1:]
    assert len(text.lines) == len(expected) - 1


@pytest.mark.parametrize("mark", [" ", "a", "\t"])
def test_a_quote_after_anything_but_a_separator_is_refused(mark: str) -> None:
    with pytest.raises(InputError, match="line 3: got a quotation mark in the middle of a cell"):
        dissect(f'x,y\n1,2\n1,{mark}"2"\n'.encode(), ",", "t")


def test_more_quotes_than_a_byte_counts() -> None:
    """The running parity is kept in one byte."""
    cells = "".join('"a","b\n"\n' for _ in range(300))
    text = dissect(f"x,y\n{cells}".encode(), ",", "t")
    assert text.lines.tolist() == list(range(2, 602, 2))
