"""The table on calibration, and what the section on it looked at."""

from collections.abc import Callable

import numpy as np

from probtruth.line.analysis.calibration import CalibrationAnalysis
from probtruth.line.result import Result
from probtruth.report.tables.cells import LONGEST_NAME, Cell, Column, Row, Table, chance, filled, named, number, titled
from probtruth.report.words.numbers import decimals, plain, shortened
from probtruth.report.words.sentences import with_unit
from probtruth.scoring.nelson.risk import MARKS


def numbers(analysis: CalibrationAnalysis, result: Result) -> Table:
    """Miscalibration and discrimination in the rule's units, Nelson's means, and the calibration error."""
    names = shortened(analysis.models, LONGEST_NAME)
    at = {model: place for place, model in enumerate(analysis.risk.models)}
    mean = {name: analysis.risk.powers.index(power) for name, power in MARKS.items()}
    ratio = analysis.risk.divergence
    columns: list[tuple[Column, Callable[[Row], Cell]]] = [
        (titled("Model", False), lambda row: named(names[row["model"]])),
    ]
    if "score" in analysis.rows[0]:
        places = decimals(
            [abs(row["miscalibration"]) * 3 for row in analysis.rows if np.isfinite(row["miscalibration"])], at_most=4
        )
        columns += [
            (titled("Miscalibration"), lambda row: number(row["miscalibration"], places)),
            (titled("Discrimination"), lambda row: number(row["discrimination"], places)),
        ]
    columns += [
        (titled("Calibration error"), lambda row: number(row["error"], 3)),
        (titled("By chance"), lambda row: number(row["if_calibrated"], 3)),
        (titled("Geometric mean"), lambda row: chance(analysis.risk.model[at[row["model"]], mean["accuracy"]])),
        (titled("Of its source"), lambda row: chance(analysis.risk.source[at[row["model"]], mean["accuracy"]])),
        (titled("Ratio"), lambda row: chance(ratio[at[row["model"]], mean["accuracy"]])),
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
        "gives a calibrated model. The geometric mean (Nelson's accuracy) is that of the probability given to what "
        "happened; of its source, of the frequencies behind the forecasts; their ratio is what miscalibration costs."
    )
    return note + sample_note(analysis)


def sample_note(analysis: CalibrationAnalysis) -> str:
    """Which models and items the section looked at, where these are not all."""
    note = f" The {len(analysis.models)} best models." if analysis.left_out else ""
    if analysis.n_items < analysis.n_all:
        note += f" From a random sample of {analysis.n_items:,} of the {analysis.n_all:,} items."
    return note
