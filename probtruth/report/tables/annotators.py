"""The tables on annotators: how far they agree, how good each is, and which answer like copies of each other."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from probtruth.errors import InputError
from probtruth.report.interface import ResultLike
from probtruth.report.tables.cells import Cell, Column, Row, Table, chance, filled, named, number, span, titled, words
from probtruth.report.words.numbers import as_float, count, percent, shortened
from probtruth.truth.annotators.agreement import Agreement, agreement
from probtruth.truth.annotators.pairs import annotator_pairs
from probtruth.truth.annotators.quality import NO_SKILL, skill_columns
from probtruth.truth.options import AgreementMeasure
from probtruth.types import Annotations, Truth

MOST = 20
"""Annotators that are shown: the best and the worst half of them, and all that are flagged, up to so many again."""
MOST_COPIES = 10
LONGEST_NAME = 40
RESAMPLES = 500
"""Bootstrap resamples of the interval of the agreement."""
MEASURES: Mapping[AgreementMeasure, str] = {
    "krippendorff": "Krippendorff's alpha",
    "percentage": "Two annotations of an item say the same",
}


def agreements(result: ResultLike) -> Table | None:
    """How far annotators agree; None where no item has two annotations."""
    found = [one for name in MEASURES if (one := _agreement(result.annotations, name)) is not None]
    if not found:
        return None

    def value(row: Row) -> Cell:
        return Cell((percent(row["value"]),), row["value"]) if _share(row) else number(row["value"], 3)

    def interval(row: Row) -> Cell:
        if _share(row):
            return Cell((f"{percent(row['low'])} to {percent(row['high'])}",), row["low"])
        return span(row["low"], row["high"], 3)

    columns: list[tuple[Column, Callable[[Row], Cell]]] = [
        (titled("Agreement", False), lambda row: words(MEASURES[row["measure"]])),
        (titled("Value"), value),
        (titled("95% interval"), interval),
    ]
    note = (
        f"Over {count(found[0].n_items, 'item')} with two or more annotations, {found[0].n_annotations:,} annotations "
        "in all. Alpha (nominal) is 1 where all agree and 0 where they agree as by chance; the intervals are from "
        "resampled items."
    )
    return filled("How far annotators agree", columns, [vars(row) for row in found], (note,))


def quality(result: ResultLike) -> Table | None:
    """The best and the worst annotators, and those with a flag; None where nothing is known of annotators."""
    truth = judged(result)
    if truth is None:
        return None
    rows = sorted(annotator_rows(truth), key=worst_last)
    chosen = _chosen(rows)
    names = shortened((str(row["annotator"]) for row in chosen), LONGEST_NAME)
    columns: list[tuple[Column, Callable[[Row], Cell]]] = [
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


def annotator_rows(truth: Truth) -> list[Row]:
    """The rows of `truth.annotators()`, with skill and flag also where the method does not have them."""
    table = truth.annotators().to_dict(as_series=False)
    unknown = {name: [None] * len(table["annotator"]) for name in ("skill", "skill_low", "skill_high")}
    skill = {name: values.tolist() for name, values in skill_columns(truth).items()}
    columns = {**unknown, "flag": [""] * len(table["annotator"]), **table, **skill}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def copies(result: ResultLike) -> Table | None:
    """Pairs of annotators that agree more than their skill explains; None where there are none."""
    truth = judged(result)
    if truth is None or truth.confusion is None or result.annotations is None:
        return None
    try:
        pairs = annotator_pairs(result.annotations, truth)
    except InputError:  # the truth is of other items or annotators: nothing can be said of pairs
        return None
    rows = pairs.filter("copies").head(MOST_COPIES).to_dicts()
    if not rows:
        return None
    names = shortened((str(row[side]) for row in rows for side in ("a", "b")), LONGEST_NAME)
    columns: list[tuple[Column, Callable[[Row], Cell]]] = [
        (titled("a", False), lambda row: named(names[str(row["a"])])),
        (titled("b", False), lambda row: named(names[str(row["b"])])),
        (titled("Items in common"), lambda row: number(row["n_common"], 0)),
        (titled("Agree on"), lambda row: Cell((percent(row["agreement"]),), row["agreement"])),
        (titled("Expected"), lambda row: Cell((percent(row["expected"]),), row["expected"])),
        (titled("Holm p"), lambda row: chance(row["p"])),
    ]
    note = (
        "These agree with each other more often than the skill of both explains. Copies count as two opinions where "
        "they are one: judge whether to drop one of them."
    )
    return filled("Annotators who answer like copies of each other", columns, rows, (note,))


def _agreement(annotations: Annotations | None, measure: AgreementMeasure) -> Agreement | None:
    if annotations is None or int(annotations.counts().sum(1).max(initial=0)) < 2:
        return None
    return agreement(annotations, measure, bootstrap=RESAMPLES)


def judged(result: ResultLike) -> Truth | None:
    """The truth whose method says something of annotators: the one that was asked for, else the other estimand's."""
    known = [result.truth, result.other.truth if result.other is not None else None]
    return next((truth for truth in known if truth is not None and truth.annotator_results), None)


def _chosen(rows: Sequence[Row]) -> list[Row]:
    """The first and the last half, and between them those with a flag."""
    if len(rows) <= MOST:
        return list(rows)
    half = MOST // 2
    flagged = [row for row in rows[half:-half] if row.get("flag")][:MOST]
    return [*rows[:half], *flagged, *rows[-half:]]


def _quality_note(truth: Truth, shown: int, of: int, flagged: bool) -> str:
    said = f"By the method {truth.method}, which takes each item to have one true class. "
    if shown < of:
        said += f"{shown} of {of:,} annotators: the best, the worst and those with a flag. "
    said += (
        "Accuracy is the chance that an annotation says the item's class; skill is the same beyond chance (1 always "
        "right, 0 by chance, below 0 worse); information is what one answer tells of the class. "
    )
    if not flagged:
        return said + f"Nobody is flagged: no skill is surely below {NO_SKILL}."
    return said + f"Spammer: skill is surely below {NO_SKILL}. Adversary: it is surely below 0."


def _share(row: Row) -> bool:
    return str(row["measure"]) == "percentage"


def worst_last(row: Row) -> float:
    """What annotators are sorted by: the most skilled first, those of unknown skill last."""
    skill = as_float(row["skill"])
    return np.inf if skill is None else -skill
