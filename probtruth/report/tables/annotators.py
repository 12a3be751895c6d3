"""The tables on annotators: how far they agree, how good each is, and which answer like copies of each other.

The table on calibration.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from probtruth.line.analysis.calibration import CalibrationAnalysis
from probtruth.line.result import Result
from probtruth.report.tables.cells import (
    LONGEST_NAME,
    Cell,
    Columns,
    Row,
    Table,
    chance,
    filled,
    named,
    number,
    share,
    span,
    titled,
    words,
)
from probtruth.report.words.numbers import count, decimals, percent, plain, shortened
from probtruth.report.words.sentences import with_unit
from probtruth.scoring.nelson.risk import MARKS
from probtruth.truth.annotators.quality import NO_SKILL
from probtruth.types import Truth

MOST = 20
"""Annotators that are shown: the best and the worst half of them, and all that are flagged, up to so many again."""
MOST_COPIES = 10
MEASURES = {
    "krippendorff": "Krippendorff's alpha",
    "percentage": "Two annotations of an item say the same",
}


MISCALIBRATION = "The part of the score that recalibrating the forecasts would remove"
DISCRIMINATION = "How much recalibrated forecasts improve on always saying the labels' frequencies"
ERROR = "Mean distance between what was forecast and how often it came true, over bins"
BY_CHANCE = "The calibration error that a perfectly calibrated model would show on so many items"
MODEL = "Geometric mean of the probabilities that the model gave to what happened: Nelson's accuracy"
SOURCE = "The same if each forecast were replaced by how often such forecasts come true: Nelson's source probability"
RATIO = "Typical probability given, over the recalibrated one: Nelson's divergence probability; 1 is calibrated"


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


def numbers(analysis: CalibrationAnalysis, result: Result) -> Table:
    """Miscalibration and discrimination in the rule's units, Nelson's means, and the calibration error."""
    names = shortened(analysis.models, LONGEST_NAME)
    risk, accuracy = analysis.risk, analysis.risk.powers.index(MARKS["accuracy"])

    def typical(means: Float[np.ndarray, "model power"]) -> Callable[[Row], Cell]:
        return lambda row: chance(means[risk.models.index(row["model"]), accuracy])

    columns: Columns = [
        (titled("Model", False), lambda row: named(names[row["model"]])),
    ]
    if "score" in analysis.rows[0]:
        places = decimals(
            [abs(row["miscalibration"]) for row in analysis.rows if np.isfinite(row["miscalibration"])], at_most=4
        )
        columns += [
            (titled("Miscalibration", meaning=MISCALIBRATION), lambda row: number(row["miscalibration"], places)),
            (titled("Discrimination", meaning=DISCRIMINATION), lambda row: number(row["discrimination"], places)),
        ]
    columns += [
        (titled("Calibration error", meaning=ERROR), lambda row: number(row["error"], 3)),
        (titled("Error by chance alone", meaning=BY_CHANCE), lambda row: number(row["if_calibrated"], 3)),
        (titled("Typical probability given", meaning=MODEL), typical(risk.model)),
        (titled("The same, recalibrated", meaning=SOURCE), typical(risk.source)),
        (titled("Ratio of the two", meaning=RATIO), typical(risk.divergence)),
    ]
    return filled("Calibration", columns, analysis.rows, (_note(analysis, result),))


def _note(analysis: CalibrationAnalysis, result: Result) -> str:
    note = ""
    if "score" in analysis.rows[0]:
        note += (
            f"Mean {with_unit(result.scores.rule)} = miscalibration − discrimination + a constant. Recalibration mends "
            "the miscalibration; discrimination is what the model knows. "
        )
    event = "the most probable label" if analysis.event is None else f"the label {plain(analysis.event)}"
    note += (
        f"Calibration error: mean distance of forecast and frequency in bins, for {event}, beside what chance alone "
        "gives a calibrated model. The typical probability is the geometric mean of those that the model gave to what "
        "then happened (Nelson's accuracy). Recalibrated: the same if each forecast were replaced by how often such "
        "forecasts come true (Nelson's source). The ratio of the two is 1 for a "
        "calibrated model."
    )
    note += f" The {len(analysis.models)} best models." if analysis.left_out else ""
    if analysis.n_items < analysis.n_all:
        note += f" From a random sample of {analysis.n_items:,} of the {analysis.n_all:,} items."
    return note
