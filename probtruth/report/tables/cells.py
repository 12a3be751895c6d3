"""Cells, columns and tables as plain data, before any form is chosen."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from probtruth.check import as_float
from probtruth.report.words.numbers import fixed, interval, percent, probability, significant
from probtruth.report.words.sentences import Name, Sentence, sentence
from probtruth.types.comparison import Row

LONGEST_NAME = 40
"""Columns of a name in a cell; the table of models shows names whole."""
LONGEST = 15
"""Rows of a table that stands open; longer ones open at a click."""


@dataclass(frozen=True)
class Column:
    """A column's title, whether it holds numbers (set flush right), a short title, and what the title means."""

    title: Sentence
    numeric: bool = True
    short: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Cell:
    """What a cell shows, what it is sorted by (None: always last), and its step of colour."""

    text: Sentence
    sort: float | str | None
    shade: int | None = None


@dataclass(frozen=True)
class Table:
    """A table with a caption (what the reader sees in it) and a note below (what the columns mean).

    `order` is the position of the column by which the rows are sorted, and whether they descend.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: Sentence = ()
    sortable: bool = True
    kind: str = "plain"
    order: tuple[int, bool] | None = None


type Columns = list[tuple[Column, Callable[[Row], Cell]]]
"""Each column with the function that makes its cell of a row."""


def named(name: str) -> Cell:
    """A cell with a name."""
    return Cell((name if isinstance(name, Name) else Name(name),), str(name))


def words(*pieces: str) -> Cell:
    """A cell with text."""
    return Cell(sentence(*pieces), "".join(pieces))


def number(value: object, places: int, sign: bool = False) -> Cell:
    """A cell with a number of fixed decimals."""
    return Cell((fixed(value, places, sign),), as_float(value))


def loose(value: object, digits: int = 4) -> Cell:
    """A cell with a number of significant digits."""
    return Cell((significant(value, digits),), as_float(value))


def share(value: float) -> Cell:
    """A cell with a share in per cent."""
    return Cell((percent(value),), value)


def chance(value: object) -> Cell:
    """A cell with a probability."""
    return Cell((probability(value),), as_float(value))


def span(low: object, high: object, places: int) -> Cell:
    """A cell with an interval, sorted by its lower end."""
    return Cell((interval(low, high, places),), as_float(low))


def titled(title: str, numeric: bool = True, short: str = "", meaning: str = "") -> Column:
    """A column whose title holds no name."""
    return Column((title,), numeric, short, meaning)


def filled(
    caption: str,
    columns: Columns,
    rows: Iterable[Row],
    note: Sentence,
    order: tuple[int, bool] | None = None,
) -> Table:
    """A table of rows."""
    made = tuple(tuple(cell(row) for _, cell in columns) for row in rows)
    return Table(caption, tuple(column for column, _ in columns), made, note, order=order)


def shares(shares: Iterable[tuple[str, float]]) -> Sentence:
    """Labels with their shares: `cat (70%), dog (30%)`."""
    pieces: list[str] = []
    for label, share in shares:
        pieces += [", " if pieces else "", Name(label), f" ({percent(share)})"]
    return tuple(piece for piece in pieces if piece)
