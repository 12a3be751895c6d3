"""The tables of models: means, who could be best, the other estimand, calibration."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from probtruth.check import as_float
from probtruth.line.analysis.calibration import CalibrationAnalysis
from probtruth.line.result import Result
from probtruth.report.tables.cells import (
    LONGEST_NAME,
    Cell,
    Column,
    Columns,
    Table,
    chance,
    filled,
    loose,
    named,
    number,
    span,
    titled,
)
from probtruth.report.words.numbers import UNKNOWN, decimals, fixed, interval_width, plain, shortened
from probtruth.report.words.sentences import Name, Sentence, joined, sentence, with_unit
from probtruth.scoring.nelson.risk import MARKS
from probtruth.types import Comparison
from probtruth.types.arguments import QUESTIONS
from probtruth.types.comparison import Row, leaders

ACCURACY = "How often the model's most probable label is right, expected under the labels of each item"
DIVERGENCE = "What the model's score has above the entropy of the labels, which no model can avoid"
BEST = "Probability that this model is the best of all"
RANK = "The mean of the ranks that the model may have; 1 is best"
REGRET = "How much worse than the best model you must expect to be if you choose this one"
SURE = 0.95
"""Probability that the set of models named contains the best."""
MOST_NAMED = 8
"""Models that a sentence names."""
MISCALIBRATION = "The part of the score that recalibrating the forecasts would remove"
DISCRIMINATION = "How much recalibrated forecasts improve on always saying the labels' frequencies"
ERROR = "Mean distance between what was forecast and how often it came true, over bins"
BY_CHANCE = "The calibration error that a perfectly calibrated model would show on so many items"
MODEL = "Geometric mean of the probabilities that the model gave to what happened: Nelson's accuracy"
SOURCE = "The same if each forecast were replaced by how often such forecasts come true: Nelson's source probability"
RATIO = "Typical probability given, over the recalibrated one: Nelson's divergence probability; 1 is calibrated"


def names_of(result: Result) -> Mapping[str, Name]:
    """The models' names, short enough for a cell."""
    return shortened(result.scores.models, LONGEST_NAME)


def models(result: Result) -> Table:
    """One row for each model, best mean score first."""
    comparison = result.comparison
    ranks = comparison.ranks
    places = decimals(interval_width(row) for row in ranks)
    infinite = dict(zip(result.scores.models, map(int, result.scores.n_infinite), strict=True))
    optional: Columns = []
    accuracy = result.analysis.accuracy
    if accuracy is not None:
        shown = titled("Accuracy (expected)", short="acc.", meaning=ACCURACY)
        optional.append((shown, lambda row: number(accuracy[str(row["model"])], 3)))
    if any(as_float(row["divergence"]) is not None for row in ranks):
        divergence = titled("Divergence", short="diverg.", meaning=DIVERGENCE)
        optional.append((divergence, lambda row: number(row["divergence"], places)))
    if any(infinite.values()):
        optional.append((titled("Infinite on"), lambda row: number(infinite[str(row["model"])], 0)))
    columns: Columns = [
        (titled("Model", False), lambda row: named(str(row["model"]))),
        (_scores(comparison), lambda row: number(row["score"], places)),
        (titled("95% interval"), lambda row: span(row["low"], row["high"], places)),
        *optional,
    ]
    order = 1, comparison.higher_is_better
    if len(ranks) == 1:
        return filled("The model", columns, ranks, _models_note(result, places), order)
    columns += [
        (titled("P(best)", meaning=BEST), lambda row: chance(row["p_best"])),
        (titled("Expected rank", short="rank", meaning=RANK), lambda row: number(row["expected_rank"], 2)),
        (titled("Expected regret", short="regret", meaning=REGRET), lambda row: loose(row["expected_regret"], 3)),
    ]
    what = "metric" if comparison.settings.get("metric") else "mean score"
    return filled(f"Models, best {what} first", columns, ranks, _models_note(result, places), order)


def _scores(comparison: Comparison) -> Column:
    """The column of what is compared."""
    if comparison.settings.get("metric"):
        return titled(with_unit(comparison.rule).capitalize(), short="score")
    return titled(f"Mean {with_unit(comparison.rule)}", short="mean")


def _models_note(result: Result, places: int) -> Sentence:
    comparison = result.comparison
    better = "higher" if comparison.higher_is_better else "lower"
    what = "metric of all items together" if comparison.settings.get("metric") else "plain mean over items"
    note = f"The score is the {what}; {better} is better. "
    entropy = next((as_float(row["entropy"]) for row in comparison.ranks if row["entropy"] is not None), None)
    if entropy is not None:
        note += (
            f"Mean score = entropy + divergence: the entropy of the labels, {fixed(entropy, places)}, is what the best "
            "possible forecast would score, and the divergence is what the model adds to it. "
        )
    if len(comparison.ranks) == 1:
        return (note.strip(),)
    note += (
        "The intervals of single models share the same items: whether two models differ is read from the differences, "
        "not from the overlap of these. Expected regret is the mean loss of choosing this model instead of the best."
    )
    return (note,)


def rank_table(comparison: Comparison) -> tuple[list[str], Float[np.ndarray, "model rank"]] | None:
    """Models and their probabilities of each rank, in the order of the ranking; None where nothing was ranked."""
    if any(row.get("reason") for row in comparison.pairs):
        return None
    tree = comparison.datatree
    if "ranking" not in tree.children or "rank_probability" not in tree["ranking"].data_vars:
        return None
    probability: Any = tree["ranking"]["rank_probability"]
    known = [str(name) for name in probability.coords["model"].values]
    if len(known) < 2:
        return None
    order = [str(row["model"]) for row in leaders(comparison.ranks) if str(row["model"]) in known]
    values = np.asarray(probability.transpose("model", "rank").values, np.float64)
    return order, values[[known.index(name) for name in order]]


def best_set(result: Result) -> Sentence | None:
    """The smallest set of models that holds the best with probability 0.95 or more; None for two models."""
    ranked = leaders(result.comparison.ranks)
    chances = [as_float(row["p_best"]) for row in ranked]
    if len(ranked) < 3 or any(p is None for p in chances):
        return None
    total, size = 0.0, 0
    while total < SURE and size < len(ranked):
        total += chances[size] or 0.0
        size += 1
    names = shortened((str(row["model"]) for row in ranked), LONGEST_NAME)
    shown: list[Name] = [names[str(row["model"])] for row in ranked[:size]]
    if size == 1:
        return sentence("With probability 0.95 or more, the best is ", shown[0], ".")
    if size > MOST_NAMED:
        return sentence(f"It takes {size} of the {len(ranked)} models to hold the best with probability 0.95.")
    return sentence("With probability 0.95 or more, the best is one of ", *joined(shown), ".")


def several_ranked(comparison: Comparison) -> tuple[list[str], Float[np.ndarray, "model rank"]] | None:
    """`rank_table` of three models or more; None of two, of which P(better) says the same."""
    return rank_table(comparison) if len(comparison.ranks) > 2 else None


def ranks(result: Result) -> Table | None:
    """One row for each model: P(best) and the ranks that are possible; None as `several_ranked`."""
    ranked = several_ranked(result.comparison)
    if ranked is None:
        return None
    intervals = {model: _interval(row) for model, row in zip(*ranked, strict=True)}
    names = names_of(result)

    def possible(row: Row) -> Cell:
        at = intervals.get(str(row["model"]))
        if at is None:
            return Cell((UNKNOWN,), None)
        return Cell((str(at[0]) if at[0] == at[1] else f"{at[0]} to {at[1]}",), float(at[0]))

    columns: Columns = [
        (titled("Model", False), lambda row: named(names[str(row["model"])])),
        (titled("P(best)"), lambda row: chance(row["p_best"])),
        (titled("Ranks, 95%"), possible),
        (titled("Expected rank"), lambda row: number(row["expected_rank"], 2)),
    ]
    note = "Rank 1 is best; below and above the ranks given lie at most 2.5% each."
    return filled("Who could be best", columns, leaders(result.comparison.ranks), (note,))


def _interval(row: Float[np.ndarray, " rank"]) -> tuple[int, int]:
    """The ranks between which 95 per cent lie, at most 2.5 per cent on either side."""
    below = np.cumsum(row) / row.sum()
    low = int(np.argmax(below > 0.025 + 1e-12))
    high = int(np.argmax(below >= 0.975 - 1e-12))
    return low + 1, max(low, high) + 1


def other_estimand(result: Result) -> Table | None:
    """Means and P(best) as asked and under the other estimand; None where there is none."""
    other, truth = result.other, result.truth
    if other is None or truth is None:
        return None
    names, several = names_of(result), len(result.scores.models) > 1
    theirs: dict[str, Row] = {str(row["model"]): row for row in other.comparison.ranks}
    places = decimals(interval_width(row) for row in result.comparison.ranks)
    columns: Columns = [
        (titled("Model", False), lambda row: named(names[str(row["model"])])),
        (titled(f"Mean, {truth.estimand}"), lambda row: number(row["score"], places)),
        (titled("P(best)"), lambda row: chance(row["p_best"])),
        (titled(f"Mean, {other.truth.estimand}"), lambda row: number(theirs[str(row["model"])]["score"], places)),
        (titled("P(best)"), lambda row: chance(theirs[str(row["model"])]["p_best"])),
    ]
    if not several:
        columns = [column for column in columns if column[0].title != ("P(best)",)]
    note = (
        f"Means of {with_unit(result.comparison.rule)}. {truth.estimand.capitalize()} (asked for; {truth.method}): "
        f"{QUESTIONS[truth.estimand]}. {other.truth.estimand.capitalize()} ({other.truth.method}): "
        f"{QUESTIONS[other.truth.estimand]}. "
        f"{'Compare the orders under the two, not the means.' if several else 'Do not compare the two means.'}"
    )
    return filled("The same models under the other estimand", columns, result.comparison.ranks, (note,))


def calibration(result: Result) -> Table | None:
    """Miscalibration and discrimination in the rule's units, Nelson's means, and the calibration error."""
    analysis = result.analysis.calibration
    if analysis is None:
        return None
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
    return filled("Calibration", columns, analysis.rows, (_calibration_note(analysis, result),))


def _calibration_note(analysis: CalibrationAnalysis, result: Result) -> str:
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
        "forecasts come true (Nelson's source). The ratio of the two is 1 for a calibrated model."
    )
    note += f" The {len(analysis.models)} best models." if analysis.left_out else ""
    if analysis.n_items < analysis.n_all:
        note += f" From a random sample of {analysis.n_items:,} of the {analysis.n_all:,} items."
    return note
