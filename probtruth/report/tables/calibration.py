"""How far the models' probabilities can be taken at their word: what the section on calibration shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probtruth.report.interface import ResultLike
from probtruth.report.tables.cells import Cell, Column, Table, chance, filled, named, number, titled
from probtruth.report.words.numbers import decimals, plain, shortened
from probtruth.report.words.sentences import Name, with_unit
from probtruth.scoring.align import align
from probtruth.scoring.calibration.corp import calibration_decomposition
from probtruth.scoring.calibration.expected_error import calibration_error
from probtruth.scoring.calibration.reliability import reliability_curve
from probtruth.scoring.nelson.profile import risk_profile
from probtruth.scoring.nelson.risk import MARKS, RiskProfile
from probtruth.scoring.rules import RULES, get_rule
from probtruth.scoring.sampled import sampled_items
from probtruth.types import Predictions, Truth
from probtruth.types.index import Index

if TYPE_CHECKING:
    import polars

MOST_MODELS = 6
"""Models whose calibration is shown, the best first."""
LONGEST_NAME = 40
BUBBLES = 12
"""Bubbles of one label (of all labels, where there are more than two)."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Calibration:
    """The models (best first) with their reliability curves, risk profile and rows of numbers.

    `event` is the label that is forecast, None where the event is that the most probable label is right; `n_items` of
    `n_all` items were looked at.
    """

    models: tuple[str, ...]
    left_out: int
    event: str | None
    curve: "polars.DataFrame"
    risk: RiskProfile
    rows: tuple[Row, ...]
    n_items: int
    n_all: int

    @property
    def names(self) -> tuple[Name, ...]:
        """The models' names, short enough to stand above a figure."""
        return tuple(shortened(self.models, LONGEST_NAME).values())


def calibration(result: ResultLike) -> Calibration | None:
    """What can be said of calibration; None for bare scores."""
    held = _held(result)
    if held is None:
        return None
    ranked = tuple(str(row["model"]) for row in result.comparison.ranks)
    models = ranked[:MOST_MODELS]
    places = [held[0].models.index(model) for model in models]
    predictions, truth = Predictions(held[0].log_probs[places], models, held[0].index), held[1]
    labels = truth.index.labels
    two = len(labels) == 2
    way = "label" if two else "top-label"
    curve = reliability_curve(predictions, truth, by=way, n_resamples=100)
    risk = risk_profile(predictions, truth, powers=list(MARKS.values()))
    return Calibration(
        models,
        len(ranked) - len(models),
        labels[-1] if two else None,
        curve,
        replace(risk, bins=tuple(_bubbles(risk))),
        tuple(_rows(result, predictions, truth, models, way)),
        len(truth.index.items),
        len(result.scores.items),
    )


def _held(result: ResultLike) -> tuple[Predictions, Truth] | None:
    """The items that are looked at: all or, where there are many, a random sample of them."""
    if result.predictions is None or result.truth is None:
        return result.sample
    aligned = align(result.predictions, result.truth)
    n_items, n_labels = aligned.truth.shape
    rows = sampled_items(n_items, n_labels)
    index = Index(tuple(aligned.items[row] for row in rows), aligned.labels)
    truth = Truth(aligned.truth[rows], index, aligned.estimand, "given")
    return Predictions(aligned.log_probs[:, rows], aligned.models, index), truth


def _rows(
    result: ResultLike, predictions: Predictions, truth: Truth, models: Sequence[str], way: str
) -> list[dict[str, Any]]:
    """Miscalibration and discrimination under the result's rule, where it has a name, and the calibration error."""
    errors = calibration_error(predictions, truth, by=way).to_dicts()
    found: dict[str, dict[str, Any]] = {model: {"model": model} for model in models}
    for row in errors:  # of two labels both have the same error
        found[row["model"]] |= {"error": row["error"], "if_calibrated": row["if_calibrated"]}
    if result.scores.rule in RULES:
        order: Any = result.comparison.settings.get("label_order")
        table = calibration_decomposition(
            predictions,
            truth,
            rule=get_rule(result.scores.rule, order),
            by="joint",
            floor=result.scores.known.floor,
        )
        for row in table.to_dicts():
            found[row["model"]] |= {key: row[key] for key in ("score", "miscalibration", "discrimination")}
    return list(found.values())


def _bubbles(risk: RiskProfile) -> list[dict[str, object]]:
    """Fewer bins, neighbours taken together: of each label where there are two, of all labels at once elsewhere."""
    two = len(risk.labels) <= 2
    found: list[dict[str, object]] = []
    for model in risk.models:
        for label in risk.labels if two else risk.labels[:1]:
            mine = [row for row in risk.bins if row["model"] == model and (row["label"] == label or not two)]
            found += [{"model": model, "label": label, **part} for part in _merged(mine)]
    return found


def _merged(rows: Sequence[Row]) -> list[dict[str, float]]:
    """Bins of equal width, without those of no true events; reported is the geometric mean over true events."""
    n, true, place = (np.array([float(row[key]) for row in rows]) for key in ("n", "n_true", "reported_all"))
    happened = true > 0
    logs = np.zeros(len(rows))
    with np.errstate(divide="ignore"):
        logs[happened] = np.log([float(row["reported"]) for row in rows if row["n_true"] > 0])
    step = np.minimum(place * BUBBLES, BUBBLES - 1).astype(int)
    parts = []
    for here in np.unique(step[happened]):
        inside = step == here
        total = float(true[inside].sum())
        reported = float(np.exp((true * logs)[inside & happened].sum() / total))
        parts.append({"n_true": total, "source": total / float(n[inside].sum()), "reported": reported})
    return parts


def numbers(found: Calibration, result: ResultLike) -> Table:
    """Miscalibration and discrimination in the rule's units, Nelson's means, and the calibration error."""
    names = shortened(found.models, LONGEST_NAME)
    at = {model: place for place, model in enumerate(found.risk.models)}
    mean = {name: found.risk.powers.index(power) for name, power in MARKS.items()}
    ratio = found.risk.divergence
    columns: list[tuple[Column, Callable[[Row], Cell]]] = [
        (titled("Model", False), lambda row: named(names[row["model"]])),
    ]
    if "score" in found.rows[0]:
        places = decimals(
            [abs(row["miscalibration"]) * 3 for row in found.rows if np.isfinite(row["miscalibration"])], at_most=4
        )
        columns += [
            (titled("Miscalibration"), lambda row: number(row["miscalibration"], places)),
            (titled("Discrimination"), lambda row: number(row["discrimination"], places)),
        ]
    columns += [
        (titled("Calibration error"), lambda row: number(row["error"], 3)),
        (titled("By chance"), lambda row: number(row["if_calibrated"], 3)),
        (titled("Geometric mean"), lambda row: chance(found.risk.model[at[row["model"]], mean["accuracy"]])),
        (titled("Of its source"), lambda row: chance(found.risk.source[at[row["model"]], mean["accuracy"]])),
        (titled("Ratio"), lambda row: chance(ratio[at[row["model"]], mean["accuracy"]])),
    ]
    return filled("Calibration", columns, found.rows, (_note(found, result),))


def _note(found: Calibration, result: ResultLike) -> str:
    said = ""
    if "score" in found.rows[0]:
        said += (
            f"Mean {with_unit(result.scores.rule)} = miscalibration − discrimination + a constant. Recalibration mends "
            "the miscalibration; discrimination is what the model knows. "
        )
    event = "the most probable label" if found.event is None else f"the label {plain(found.event)}"
    said += (
        f"Calibration error: mean distance of forecast and frequency in bins, for {event}, beside what chance alone "
        "gives a calibrated model. The geometric mean (Nelson's accuracy) is that of the probability given to what "
        "happened; of its source, of the frequencies behind the forecasts; their ratio is what miscalibration costs."
    )
    return said + sample_note(found)


def sample_note(found: Calibration) -> str:
    """Which models and items the section looked at, where these are not all."""
    said = f" The {len(found.models)} best models." if found.left_out else ""
    if found.n_items < found.n_all:
        said += f" From a random sample of {found.n_items:,} of the {found.n_all:,} items."
    return said
