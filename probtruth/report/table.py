"""A table is a frame of shown strings with its alignment; each format writes it in its own way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from probtruth.io.formats import Texts
from probtruth.report.numbers import UNKNOWN

NOTHING = {"", UNKNOWN}


@dataclass(frozen=True)
class Table:
    """Columns of shown strings by their heads, those in which nothing is known left out, under a caption, over a note.

    `left` are the heads set flush left, besides the first. `kind` is "items" for a list of which only the first rows
    stand open, "list" for facts without an order. `behind` are a text and an image (a data URI) behind the name of each
    row, where they are known.
    """

    caption: str
    columns: Mapping[str, Sequence[str]]
    note: str = ""
    left: Texts = ()
    kind: str = ""
    behind: Sequence[tuple[str | None, str | None]] = ()

    @cached_property
    def heads(self) -> Texts:
        return tuple(head for head, cells in self.columns.items() if set(cells) - NOTHING)

    @cached_property
    def rows(self) -> list[Texts]:
        shown = [self.columns[head] for head in self.heads]
        return list(zip(*shown, strict=True))

    @cached_property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column is set flush right: all but the first and those named."""
        flush_left = {self.heads[0], *self.left} if self.heads else set()
        return tuple(head not in flush_left for head in self.heads)


def of_rows(caption: str, rows: Sequence[Mapping[str, str]], note: str = "", left: Texts = ()) -> Table:
    """A table of rows that hold their cells by the heads of the columns."""
    heads = rows[0] if rows else {}
    columns = {head: [row[head] for row in rows] for head in heads}
    return Table(caption, columns, note, left)
