"""Names that came with the data: on one line, short, distinct, and marked where sentences hold them.

A marked name stands between two control characters, which `plain` takes out of all names: each format shows what stands
there as it is, never as markup.
"""

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, chop_cells

from probtruth.redaction import CONTROLS, NO_TEXT

LONGEST = 20  # Columns of a name in a figure
MARKED = re.compile("\x02([^\x03]*)\x03")  # `MARKED.split` has the names at odd positions
NOT_SHOWN = dict.fromkeys(CONTROLS | NO_TEXT, "�")


def plain(name: object) -> str:
    """A name on one line, without characters that control the terminal or the direction of the text around it."""
    text = str(name)
    if text.isascii() and text.isprintable():
        return text
    return text.translate(NOT_SHOWN)


def mark(name: object) -> str:
    return f"\x02{plain(name)}\x03"


def unmarked(text: str) -> str:
    return MARKED.sub(r"\1", text)


def joined(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def short_names(names: Iterable[str], longest: int = LONGEST) -> dict[str, str]:
    """Each name for a figure, without its middle where it is long; those that then look alike have numbers."""
    shown: dict[str, str] = {}
    for name in dict.fromkeys(names):
        text = shortened(plain(name), longest)
        number = 1
        while text in shown.values():
            number += 1
            suffix = f" ({number})"
            text = shortened(plain(name), longest - len(suffix)) + suffix
        shown[name] = text
    return shown


def shortened(text: str, longest: int) -> str:
    """Its beginning and its end, in so many columns of a terminal: East Asian and emoji characters take two."""
    if cell_len(text) <= longest:
        return text
    end = (longest - 1) // 2
    beginning = chop_cells(text, longest - 1 - end)[0]
    return f"{beginning}…{chop_cells(text[::-1], end)[0][::-1]}"
