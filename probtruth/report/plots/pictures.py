"""The figures of one result, with the words that stand for them where they cannot be seen."""

from collections.abc import Iterator

import polars
from matplotlib.axes import Axes

from probtruth.line.analysis.calibration import CalibrationAnalysis
from probtruth.line.result import Result
from probtruth.report.numbers import of_leaders, plain, probability, rank_chances
from probtruth.report.plots.annotators import best_and_worst, draw_annotators
from probtruth.report.plots.axes import small_square
from probtruth.report.plots.calibration import plot_reliability
from probtruth.report.plots.comparison import MOST_MODELS, best_pairs, plot_behind, plot_forest, plot_groups, plot_ranks
from probtruth.report.plots.differences import can_differ, plot_differences
from probtruth.report.plots.nelson import plot_nelson
from probtruth.report.plots.svg import Picture, picture, plain_style
from probtruth.scoring.nelson.profile import MARKS
from probtruth.types import Scores
from probtruth.types.comparison import leaders, leading_pair

MOST_SHOWN = 15  # Models in the first figure
MOST_PAIRS = 28  # Pairs that the forest plot shows: those among the best models


def pictures(result: Result) -> dict[str, Picture]:
    """Every figure of the report by name, in the order of the page; the tables hold the same numbers."""
    with plain_style():
        return {
            name: picture(ax, name, title, description, note) for name, ax, title, description, note in _figures(result)
        }


def _figures(result: Result) -> Iterator[tuple[str, Axes, str, str, str]]:
    """Name, axes, title, description and note of each."""
    comparison = result.comparison
    n_models = len(comparison.ranks)
    if n_models > 1:
        ranked = leaders(comparison.ranks)
        lead = plain(ranked[0]["model"])
        said = "; ".join(f"{plain(row['model'])} {probability(row['p_best'])}" for row in ranked[:MOST_SHOWN])
        title = f"How much worse each model is than {lead}"
        yield (
            "behind-leader",
            plot_behind(comparison, MOST_SHOWN),
            title,
            f"P(best): {said}.",
            _best(MOST_SHOWN, n_models),
        )
    if n_models > 2:
        shown = best_pairs(comparison, MOST_PAIRS)[1]
        ax = plot_forest(comparison, most=MOST_PAIRS)
        yield "differences", ax, "Differences of all pairs", "With 95% intervals.", _best(shown, n_models)
    chances = rank_chances(comparison)
    if len(chances) > 2:
        said = "; ".join(f"{plain(model)}: {', '.join(map(probability, of))}" for model, of in chances.items())
        note = (
            "Models of infinite mean score are not ranked." if len(chances) < n_models else _best(MOST_MODELS, n_models)
        )
        yield "ranks", plot_ranks(comparison), "Probability of each rank", f"From rank 1 on: {said}.", note
    calibrated = result.analysis.calibration
    if calibrated is not None:
        for number, model in enumerate(calibrated.models, 1):
            yield _reliability(calibrated, model, number)
            yield _source(calibrated, model, number)
    if of_leaders(comparison):
        a, b = map(plain, leading_pair(comparison.ranks))
        yield "by-group", plot_groups(comparison), f"{a} minus {b} in every group", "With 95% intervals.", ""
    rows = result.analysis.annotators.rows
    if len(rows) > 1:
        yield (
            "annotators",
            draw_annotators(best_and_worst(rows)),
            "Skill of each annotator",
            "Kappa, with 95% intervals.",
            "",
        )
    if n_models > 1 and isinstance(result.scores, Scores):
        a, b = sorted(leading_pair(comparison.ranks))
        if can_differ(result.scores, a, b):
            ax = plot_differences(result.scores, a, b)
            title = f"Differences of {plain(a)} and {plain(b)} on each item"
            yield "item-differences", ax, title, f"Histogram of {plain(a)} minus {plain(b)}, and a normal curve.", ""


def _reliability(analysis: CalibrationAnalysis, model: str, number: int) -> tuple[str, Axes, str, str, str]:
    curve = analysis.curve.filter(model=model)
    ax = plot_reliability(
        curve.with_columns(model=polars.lit("")), analysis.event, ax=small_square()
    )  # its name stands above
    rows = [row for row in curve.to_dicts() if analysis.event is None or row["label"] == analysis.event]
    said = ", ".join(
        f"{probability(row['forecast'])} {probability(row['observed'])}" for row in rows[:: max(1, len(rows) // 6)]
    )
    description = f"Observed frequency against forecast probability. Forecast and observed: {said}."
    return f"reliability-{number}", ax, f"Reliability of {plain(model)}", description, ""


def _source(analysis: CalibrationAnalysis, model: str, number: int) -> tuple[str, Axes, str, str, str]:
    risk = analysis.risk
    row = risk.models.index(model)
    marks = ((name, risk.powers.index(power)) for name, power in MARKS.items())
    said = "; ".join(
        f"{name}: model {probability(risk.model[row, at])}, source {probability(risk.source[row, at])}"
        for name, at in marks
    )
    title = f"Model against source probability of {plain(model)}"
    description = f"Bubbles are bins of forecasts, as large as their number of true events. {said}."
    return f"source-{number}", plot_nelson(risk, model, small_square()), title, description, ""


def _best(most: int, of: int) -> str:
    return f"The {most} best of {of} models." if most < of else ""
