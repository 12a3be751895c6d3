"""Names that came with the data: on one line, short, distinct, and marked where sentences hold them.

A marked name stands between two control characters, which `plain` takes out of all names: each format shows what stands
there as it is, never as markup.
"""

import re
from collections.abc import Iterable, Sequence
from os.path import commonprefix

from rich.cells import cell_len, chop_cells

from probtruth.redaction import CONTROLS, NO_TEXT

LONGEST = 20  # Columns of a name in a figure
LONGEST_IN_CELL = 40  # The table of models shows names in full
MARKED = re.compile("\x02([^\x03]*)\x03")  # `MARKED.split` has the names at odd positions
Names = dict[str, str]  # As they are shown, by name
NOT_SHOWN = dict.fromkeys(CONTROLS | NO_TEXT, "�")


def plain(name: object) -> str:
    """A name on one line, without characters that control the terminal or the direction of the text around it."""
    text = str(name)
    if text.isascii() and text.isprintable():
        return text
    return text.translate(NOT_SHOWN)


def mark(name: object) -> str:
    return f"\x02{plain(name)}\x03"


def marked(names: Iterable[object], longest: int = LONGEST_IN_CELL) -> Names:
    """Each name, shortened where it is long, between the marks of a name; different names stay different."""
    short = short_names(map(str, names), longest)
    return {name: f"\x02{text}\x03" for name, text in short.items()}


def unmarked(text: str) -> str:
    return MARKED.sub(r"\1", text)


def joined(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def short_names(names: Iterable[str], longest: int = LONGEST) -> Names:
    """Each name, shortened where it is long; different names stay different, and show where they differ."""
    full = list(dict.fromkeys(names))
    texts = _distinct({name: _shorten(plain(name), longest) for name in full}, longest)
    shown: Names = {}
    used: set[str] = set()
    for name, text in texts.items():
        shown[name] = _unused(plain(name), text, used, longest)
        used.add(shown[name])
    return shown


def _distinct(texts: Names, longest: int) -> Names:
    """The texts; names of one text without what they have in common, but for the words before it that fit."""
    alike: dict[str, list[str]] = {}
    for name, text in texts.items():
        alike.setdefault(text, []).append(name)
    found = dict(texts)
    for group in alike.values():
        if len(group) == 1:
            continue
        plain_names = {name: plain(name) for name in group}
        shortest = min(map(len, plain_names.values()))
        common = commonprefix([*plain_names.values()])[: shortest - 1]  # noqa: RUF071 (of characters)
        fits = min(len(common), max(map(cell_len, plain_names.values())) + 1 - longest)
        words = [word.start() for word in re.finditer(r"(?<=[\W_])", common)]
        # the first word from which on all fits, else the last one, else within a word
        for start in (*[word for word in words if word >= fits][:1], *words[-1:], fits):
            cut = {name: _shorten(f"…{text[start:]}", longest) for name, text in plain_names.items()}
            if start > 1 and len(set(cut.values())) > 1:  # the mark of what is left out takes a column itself
                found |= _distinct(cut, longest)
                break
    return found


def _unused(name: str, text: str, used: set[str], longest: int) -> str:
    """The text, or the name with the first number that nothing else has."""
    number = 1
    while text in used:
        number += 1
        suffix = f" ({number})"
        text = _shorten(name, longest - len(suffix)) + suffix
    return text


def _shorten(text: str, longest: int) -> str:
    """Its beginning, in so many columns of a terminal: East Asian and emoji characters take two."""
    if cell_len(text) <= longest:
        return text
    return f"{chop_cells(text, longest - 1)[0].rstrip()}…"
