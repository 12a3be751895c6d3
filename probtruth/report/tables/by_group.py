"""The difference of the two leading models in every group."""

from collections.abc import Callable

from probtruth.line.analysis.leading import leading_pair
from probtruth.line.result import Result
from probtruth.report.tables.cells import (
    LONGEST_NAME,
    Cell,
    Column,
    Row,
    Table,
    chance,
    filled,
    named,
    number,
    span,
    titled,
)
from probtruth.report.tables.models import names_of
from probtruth.report.words.numbers import as_float, decimals, shortened

MOST_GROUPS = 100
"""Groups that the page shows; `result.json` has all."""


def by_group(result: Result) -> tuple[Table, ...]:
    """One row for each group; nothing without groups."""
    leading = sorted(leading_pair(result.comparison))
    rows = [row for row in result.comparison.groups if [row["a"], row["b"]] == leading]
    if not rows:
        return ()
    groups = shortened([str(row["group"]) for row in rows], LONGEST_NAME)
    a, b = (names_of(result)[name] for name in leading)
    places = decimals(_width(row) for row in rows)
    columns: list[tuple[Column, Callable[[Row], Cell]]] = [
        (titled("Group", False), lambda row: named(groups[str(row["group"])])),
        (titled("Items"), lambda row: number(row["n_items"], 0)),
        (titled("Difference", short="a − b"), lambda row: number(row["difference"], places, sign=True)),
        (titled("95% interval"), lambda row: span(row["low"], row["high"], places)),
        (titled("P(a better)", short="P(a)"), lambda row: chance(row["p_a_better"])),
    ]
    more = f" The first {MOST_GROUPS} of {len(rows):,} groups." if len(rows) > MOST_GROUPS else ""
    note = (
        "Difference = ",
        a,
        " minus ",
        b,
        "; negative favours the first. Groups are pooled partially: one with few items is drawn towards the others."
        + more,
    )
    return (filled("The two leading models in every group", columns, rows[:MOST_GROUPS], note),)


def _width(row: Row) -> float:
    return (as_float(row["high"]) or 0.0) - (as_float(row["low"]) or 0.0)
