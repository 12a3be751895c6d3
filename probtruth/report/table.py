"""A table is a frame of shown strings with its alignment; each format writes it in its own way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

LONGEST = 15  # Rows of a table that stands open; longer ones are folded


@dataclass(frozen=True)
class Table:
    """Columns of shown strings by their heads, under a caption, over a note; `left` are the heads set flush left.

    `kind` is "items" for the list that the page's script continues, "list" for facts without an order.
    """

    caption: str
    columns: Mapping[str, Sequence[str]]
    note: str = ""
    left: tuple[str, ...] = ()
    kind: str = ""
    rows: tuple[tuple[str, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        """The rows, which every format reads."""
        object.__setattr__(self, "rows", tuple(zip(*self.columns.values(), strict=True)))

    @property
    def heads(self) -> tuple[str, ...]:
        """The titles of the columns."""
        return tuple(self.columns)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column is set flush right: all but the first and those named."""
        return tuple([place > 0 and head not in self.left for place, head in enumerate(self.columns)])


def table(
    caption: str,
    columns: Mapping[str, Sequence[str] | None],
    note: str = "",
    left: tuple[str, ...] = (),
    kind: str = "",
) -> Table:
    """The table of the columns that are there: those that are None are left out."""
    return Table(caption, {head: cells for head, cells in columns.items() if cells is not None}, note, left, kind)
