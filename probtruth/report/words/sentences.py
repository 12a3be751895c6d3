"""Sentences that keep names of models and items apart from the text around them, so that each form can mark them."""

from collections.abc import Mapping, Sequence

MEASURES: Mapping[str, tuple[str, str]] = {
    "log": ("log loss", "nats"),
    "brier": ("Brier score", ""),
    "quadratic": ("quadratic score", ""),
    "spherical": ("spherical score", ""),
    "ranked-probability": ("ranked probability score", ""),
    "zero-one": ("zero-one loss", ""),
    "linear": ("linear score", ""),
}
"""What each rule's score is called, and its unit."""


class Name(str):
    """A name that came with the data: shown as it is, never as markup, and apart from the direction of the text.

    `whole` is the full name where the text is a shortened one.
    """

    whole: str

    def __new__(cls, text: object, whole: str | None = None) -> "Name":
        """The name, or a short form of the whole one."""
        made = super().__new__(cls, text)
        made.whole = str(text) if whole is None else whole
        return made


Sentence = tuple[str, ...]
"""Pieces of text; those of type `Name` are names."""


def sentence(*pieces: str) -> Sentence:
    """The pieces as one sentence."""
    return pieces


def joined(names: Sequence[Name]) -> Sentence:
    """`a`, `a and b`, `a, b and c`, with the names marked."""
    pieces: list[str] = []
    for position, name in enumerate(names):
        if position:
            pieces.append(" and " if position == len(names) - 1 else ", ")
        pieces.append(name)
    return tuple(pieces)


def measure(rule: str) -> str:
    """What the rule's score is called; a metric of the user's own keeps its name."""
    return MEASURES[rule][0] if rule in MEASURES else rule


def unit(rule: str) -> str:
    """The unit of the score; empty where it has none."""
    return MEASURES[rule][1] if rule in MEASURES else ""


def with_unit(rule: str) -> str:
    """The measure with its unit, for the title of an axis or a column: `log loss (nats)`."""
    return f"{measure(rule)} ({unit(rule)})" if unit(rule) else measure(rule)
