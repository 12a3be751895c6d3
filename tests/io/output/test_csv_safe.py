"""CSV that no spreadsheet evaluates, and that reads back as the same numbers."""

import math
from io import StringIO

import polars
import pytest

from probtruth.io.output.csv_safe import csv_text, safe


def safe_text(text: str) -> str:
    return str(safe(polars.DataFrame({"x": [text]}))["x"][0])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_get_an_apostrophe(text: str) -> None:
    frame = polars.DataFrame({"name": [text, "a=1"], text: [1.0, -2.0]})
    assert safe_text(text) == f"'{text}"
    assert polars.read_csv(StringIO(csv_text(frame)), infer_schema=False).rows() == [
        (f"'{text}", "1.0"),
        ("a=1", "-2.0"),
    ]
    assert csv_text(frame).splitlines()[0].startswith("name,")
    assert safe_text(text) in csv_text(frame).partition("\n")[0] or "\r" in text


@pytest.mark.parametrize(
    ("text", "shown"), [("\x1b[2J", "\\x1b[2J"), ("=\x07", "'=\\x07"), ("\x9bA\x7f", "\\x9bA\\x7f")]
)
def test_what_controls_a_terminal_is_written_as_its_escape(text: str, shown: str) -> None:
    assert csv_text(polars.DataFrame({text: [text, "a\tb"]})) == f"{shown}\n{shown}\na\tb\n"
    assert safe_text(text) == shown


@pytest.mark.parametrize("text", ["", "a", "1", "'=1", " =1", "é"])
def test_other_text_is_as_it_was(text: str) -> None:
    assert safe_text(text) == text


def test_numbers_read_back_and_unknown_ones_are_blank() -> None:
    numbers = [0.1, -1e-300, 1 / 3, math.inf, -math.inf, None, math.nan]
    frame = polars.DataFrame({"x": numbers, "n": range(7), "b": [True] * 7}, strict=False)
    rows = [line.split(",") for line in csv_text(frame).splitlines()[1:]]
    assert [row[0] for row in rows][-2:] == ["", ""]
    assert [float(row[0]) for row in rows[:5]] == numbers[:5]
    assert rows[3][0] == "inf"
    assert rows[6][1:] == ["6", "true"]
