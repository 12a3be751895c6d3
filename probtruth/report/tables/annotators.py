"""The tables on annotators: agreement, the quality of each, who answers like a copy, and where they disagree."""

from collections.abc import Sequence

from probtruth.check import count
from probtruth.line.result import Result
from probtruth.report.tables.cells import (
    LONGEST_NAME,
    Cell,
    Columns,
    Table,
    chance,
    filled,
    named,
    number,
    share,
    shares,
    span,
    titled,
    words,
)
from probtruth.report.words.numbers import percent, shortened
from probtruth.truth.annotators.quality import NO_SKILL
from probtruth.types import Truth
from probtruth.types.comparison import Row

MOST = 20
"""Annotators that are shown: the best and the worst half of them, and all that are flagged, up to so many again."""
MOST_COPIES = 10
MEASURES = {
    "krippendorff": "Krippendorff's alpha",
    "percentage": "Two annotations of an item say the same",
}


def agreements(result: Result) -> Table | None:
    """How far annotators agree; None where no item has two annotations."""
    agreement = result.analysis.annotators.agreement
    if not agreement:
        return None

    def value(row: Row) -> Cell:
        return share(row["value"]) if row["measure"] == "percentage" else number(row["value"], 3)

    def interval(row: Row) -> Cell:
        if row["measure"] == "percentage":
            return Cell((f"{percent(row['low'])} to {percent(row['high'])}",), row["low"])
        return span(row["low"], row["high"], 3)

    columns: Columns = [
        (titled("Agreement", False), lambda row: words(MEASURES[row["measure"]])),
        (titled("Value"), value),
        (titled("95% interval"), interval),
    ]
    first = agreement[0]
    note = (
        f"Over {count(first.n_items, 'item')} with two or more annotations, {first.n_annotations:,} annotations in "
        "all. Alpha (nominal) is 1 where all agree and 0 where they agree as by chance; the intervals are from "
        "resampled items."
    )
    return filled("How far annotators agree", columns, [vars(row) for row in agreement], (note,))


def quality(result: Result) -> Table | None:
    """The best and the worst annotators, and those with a flag; None where nothing is known of annotators."""
    truth, rows = result.analysis.annotators.truth, result.analysis.annotators.rows
    if truth is None:
        return None
    chosen = _chosen(rows)
    names = shortened((str(row["annotator"]) for row in chosen), LONGEST_NAME)
    columns: Columns = [
        (titled("Annotator", False), lambda row: named(names[str(row["annotator"])])),
        (titled("Annotations"), lambda row: number(row["n_annotations"], 0)),
        (titled("Accuracy"), lambda row: number(row["accuracy"], 2)),
        (titled("Skill (kappa)"), lambda row: number(row["skill"], 2)),
        (titled("95% interval"), lambda row: span(row["skill_low"], row["skill_high"], 2)),
        (titled("Information (nats)"), lambda row: number(row["information"], 2)),
    ]
    if flagged := any(row["flag"] for row in rows):
        columns.append((titled("Flag", False), lambda row: words(str(row["flag"]))))
    note = _quality_note(truth, len(chosen), len(rows), flagged)
    return filled("Annotators, best first", columns, chosen, (note,))


def copies(result: Result) -> Table | None:
    """Pairs of annotators that agree more than their skill explains; None where there are none."""
    rows = result.analysis.annotators.copies[:MOST_COPIES]
    if not rows:
        return None
    names = shortened((str(row[side]) for row in rows for side in ("a", "b")), LONGEST_NAME)
    columns: Columns = [
        (titled("a", False), lambda row: named(names[str(row["a"])])),
        (titled("b", False), lambda row: named(names[str(row["b"])])),
        (titled("Items in common"), lambda row: number(row["n_common"], 0)),
        (titled("Agree on"), lambda row: share(row["agreement"])),
        (titled("Expected"), lambda row: share(row["expected"])),
        (titled("Holm p"), lambda row: chance(row["p"])),
    ]
    note = (
        "These agree with each other more often than the skill of both explains. Copies count as two opinions where "
        "they are one: judge whether to drop one of them."
    )
    return filled("Annotators who answer like copies of each other", columns, rows, (note,))


def _chosen(rows: Sequence[Row]) -> list[Row]:
    """The first and the last half, and between them those with a flag."""
    if len(rows) <= MOST:
        return list(rows)
    half = MOST // 2
    flagged = [row for row in rows[half:-half] if row.get("flag")][:MOST]
    return [*rows[:half], *flagged, *rows[-half:]]


def _quality_note(truth: Truth, shown: int, of: int, flagged: bool) -> str:
    note = f"By the method {truth.method}, which takes each item to have one true class. "
    if shown < of:
        note += f"{shown} of {of:,} annotators: the best, the worst and those with a flag. "
    note += (
        "Accuracy is the chance that an annotation says the item's class; skill is the same beyond chance (1 always "
        "right, 0 by chance, below 0 worse); information is what one answer tells of the class. "
    )
    if not flagged:
        return note + f"Nobody is flagged: no skill is surely below {NO_SKILL}."
    return note + f"Spammer: skill is surely below {NO_SKILL}. Adversary: it is surely below 0."


def disputed(result: Result) -> Table | None:
    """The items on which annotators disagree most; None without labels or disagreement."""
    disputed_items = result.analysis.disputed
    if not disputed_items:
        return None
    names = shortened((entry.item for entry in disputed_items), LONGEST_NAME)
    rows = tuple(
        (
            named(names[entry.item]),
            words(*shares(entry.shares)),
            number(entry.votes, 0),
            number(entry.entropy, 3),
        )
        for entry in disputed_items
    )
    columns = (titled("Item", False), titled("Labels", False), titled("Votes"), titled("Entropy (nats)"))
    return Table("Items on which the labels disagree most", columns, rows)
