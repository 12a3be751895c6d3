"""How objects show themselves to a reader: a short `repr`, and a summary, HTML and a figure from the report.

The types know nothing of the report. `Shown` reaches it by name when a reader first asks, as the top level reaches its
modules; `probtruth.report.objects` says what each class shows. That is the one hook between the two.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from probtruth import check

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from probtruth.types.arguments import StrPath

ROOM = "probtruth.report.objects"
"""Where what a reader sees is made."""
MOST_LINES, MOST_COLUMNS = 10, 100
"""The largest `repr`."""
MOST_NAMES = 3
"""Names of a field that a `repr` lists."""


class Brief:
    """A dataclass whose `repr` gives the size of what it holds instead of all of it."""

    def __repr__(self) -> str:
        """The fields, each in a few words; ten lines at most."""
        return within(brief(self))


class Shown(Brief):
    """A public object: besides its `repr` it has a summary, a form for notebooks and a figure."""

    def summary(self) -> str:
        """What it says, as text of at most 100 columns."""
        text: str = import_module(ROOM).summary(self)
        return text

    def _repr_html_(self) -> str:
        text: str = import_module(ROOM).html(self)
        return text

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The figure to look at first.

        Arguments: `ax` are the axes to draw on; new ones belong to a figure of their own, `ax.figure`.

        Errors: `InputError` where nothing can be drawn of it.
        """
        drawn: Axes = import_module(ROOM).plot(self, ax)
        return drawn


class Reported(Shown):
    """A result of a comparison: shown by its verdict, and with a report."""

    def __repr__(self) -> str:
        """The verdict and the ranking; ten lines at most."""
        text: str = import_module(ROOM).first_lines(self)
        return within(text)

    def report(self, out: "StrPath") -> None:
        """Writes the report into the folder `out`, as `write_report` does."""
        import_module(ROOM).report(self, out)


def within(text: str) -> str:
    """The first ten lines; an ellipsis stands for the rest."""
    lines = text.split("\n")
    return text if len(lines) <= MOST_LINES else "\n".join([*lines[: MOST_LINES - 1], "..."])


def brief(shown: Any) -> str:
    """The name of the class and its fields with the sizes of what they hold; fields that hold nothing are left out."""
    words_of = {field.name: _words(getattr(shown, field.name)) for field in fields(shown) if field.repr}
    parts = [f"{name}={words}" for name, words in words_of.items() if words]
    lines = [f"{type(shown).__name__}("]
    for position, part in enumerate(parts):
        text = part + (", " if position < len(parts) - 1 else ")")
        if position and len(lines[-1]) + len(text) > MOST_COLUMNS:
            lines.append("    ")
        lines[-1] += text
    return "\n".join(line.rstrip() for line in lines) + ("" if parts else ")")


def _words(value: Any) -> str:
    """A value in a few words; empty where there is nothing to say."""
    if value is None or (isinstance(value, (tuple, list, Mapping, Set)) and not value):
        return ""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, str):
        return check.quote(value)
    if is_dataclass(value):
        return f"{type(value).__name__}(...)"
    if isinstance(value, Mapping):
        return f"{{{_listed(list(value)[: MOST_NAMES + 1], len(value))}}}"
    if isinstance(value, Sequence):
        return f"({_listed([value[position] for position in range(min(len(value), MOST_NAMES + 1))], len(value))})"
    return "" if callable(value) else check.quote(repr(value)).strip("'\"")


def _listed(first: list[Any], size: int) -> str:
    """The first of so many, if they are names or numbers; how many there are."""
    if not all(isinstance(each, (str, int, float)) for each in first):
        return f"{size:,} entries"
    shown = ", ".join(check.quote(each) if isinstance(each, str) else repr(each) for each in first[:MOST_NAMES])
    return shown + (f" and {size - MOST_NAMES:,} more" if size > MOST_NAMES else "")
