"""Compact letters: models that share a letter are not told apart.

Source: Piepho (2004), "An algorithm for a letter-based representation of all-pairwise comparisons",
doi:10.1198/1061860043515
"""

from collections.abc import Sequence
from string import ascii_letters

from probtruth.types import Comparison
from probtruth.types.pairs import Pair

type Column = frozenset[str]  # Models that share a letter


def letters_of(comparison: Comparison) -> dict[str, str]:
    """The letters of each model, the leading one's first; empty where there are fewer than three, or no letters left.

    Two models are told apart where the 95% interval of their difference does not hold 0.
    """
    models = [rank.model for rank in comparison.ranked]
    if len(models) < 3:
        return {}
    apart = [pair for pair in comparison.ordered_pairs if told_apart(pair)]
    columns = [frozenset(models)]
    for pair in apart:
        columns = _split(columns, pair)
        if len(columns) > len(ascii_letters):
            return {}
    place = {model: at for at, model in enumerate(models)}
    columns.sort(key=lambda column: sorted(place[model] for model in column))
    named = [*zip(ascii_letters, columns, strict=False)]
    return {model: "".join(letter for letter, column in named if model in column) for model in models}


def told_apart(pair: Pair) -> bool:
    if pair.difference is None or pair.low is None or pair.high is None:
        return False
    return pair.low > 0 or pair.high < 0


def _split(columns: Sequence[Column], pair: Pair) -> list[Column]:
    """Columns without both models of the pair in one, and none that another one holds."""
    parts: set[Column] = set()
    for column in columns:
        if pair.a in column and pair.b in column:
            parts |= {column - {pair.a}, column - {pair.b}}
        else:
            parts.add(column)
    return [part for part in parts if not any(part < other for other in parts)]
