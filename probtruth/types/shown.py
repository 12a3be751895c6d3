"""How objects show themselves: a short `repr`, and for results HTML and a figure from the report.

The types know nothing of the report: `Reported` loads it when it is shown.
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

MOST_LINES, MOST_COLUMNS = 10, 100  # The largest `repr`
MOST_NAMES = 3  # Names of a field that a `repr` lists


class Brief:
    """A dataclass whose `repr` gives the size of what it holds instead of all of it."""

    def __repr__(self) -> str:
        """The fields, each in a few words; ten lines at most."""
        words = {field.name: _words(getattr(self, field.name)) for field in fields(self) if field.repr}  # type: ignore[arg-type]
        lines = [f"{type(self).__name__}("]
        parts = [f"{name}={word}" for name, word in words.items() if word]
        for position, part in enumerate(parts):
            text = part + (", " if position < len(parts) - 1 else "")
            if position and len(lines[-1]) + len(text) > MOST_COLUMNS:
                lines.append("    ")
            lines[-1] += text
        return within("\n".join(line.rstrip() for line in lines) + ")")


class Reported(Brief):
    """A result of a comparison: shown by its verdict, with a figure and a report."""

    def __repr__(self) -> str:
        """The verdict and the ranking; ten lines at most."""
        return within(import_module("probtruth.report.objects").first_lines(self))

    def _repr_html_(self) -> str:
        text: str = import_module("probtruth.report.objects").in_notebook(self)
        return text

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The differences of all pairs with their intervals; of one model with labels its reliability.

        Arguments: `ax` are the axes to draw on; new ones belong to a figure of their own, `ax.figure`.

        Errors: `InputError` for one model without labels.
        """
        drawn: Axes = import_module("probtruth.report.objects").plot(self, ax)
        return drawn

    def report(self, out: "StrPath") -> None:
        """Writes the report into the folder `out`, as `write_report` does."""
        import_module("probtruth.report.write").write_report(self, out)


def within(text: str) -> str:
    """The first ten lines; an ellipsis stands for the rest."""
    lines = text.split("\n")
    return text if len(lines) <= MOST_LINES else "\n".join([*lines[: MOST_LINES - 1], "..."])


def _words(value: Any) -> str:
    """A value in a few words; empty where there is nothing to say."""
    if value is None or callable(value) or (isinstance(value, (tuple, list, Mapping, Set)) and not value):
        return ""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, str):
        return check.quote(value)
    if is_dataclass(value):
        return f"{type(value).__name__}(...)"
    if not isinstance(value, (Mapping, Sequence)):
        return check.quote(repr(value)).strip("'\"")
    first = [one for one, _ in zip(value, range(MOST_NAMES + 1), strict=False)]
    if not all(isinstance(each, (str, int, float)) for each in first):
        return f"({len(value):,} entries)"
    shown = ", ".join(check.quote(each) if isinstance(each, str) else repr(each) for each in first[:MOST_NAMES])
    return f"({shown}{f' and {len(value) - MOST_NAMES:,} more' if len(value) > MOST_NAMES else ''})"
