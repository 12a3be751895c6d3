"""The figures of one result, with the words that stand for them where they cannot be seen."""

from collections.abc import Mapping, Sequence
from typing import Any

from probtruth.line.analysis.calibration import CalibrationAnalysis
from probtruth.line.result import Result
from probtruth.report.plots.annotators import best_and_worst, draw_annotators
from probtruth.report.plots.axes import small_square
from probtruth.report.plots.calibration import plot_reliability
from probtruth.report.plots.comparison import (
    behind_leader,
    best_pairs,
    difference_title,
    draw_differences,
    forest,
    rank_probabilities,
)
from probtruth.report.plots.groups import MOST_GROUPS, plot_groups
from probtruth.report.plots.nelson import plot_nelson
from probtruth.report.plots.rules import loss_curve
from probtruth.report.plots.svg import Picture, picture, plain_style
from probtruth.report.tables.models import several_ranked
from probtruth.report.tables.pairs import of_leaders
from probtruth.report.words.numbers import (
    exact,
    favouring_a,
    fixed,
    interval,
    places_of,
    plain,
    probability,
    significant,
)
from probtruth.report.words.sentences import mean_of, mean_with_unit, unit
from probtruth.report.words.verdict import advantage
from probtruth.scoring.nelson.risk import MARKS
from probtruth.types.comparison import leaders, leading_pair

MOST_MODELS = 15
"""Models that a figure shows, the best first."""
MOST_PAIRS = 28
"""Pairs that the forest plot shows: those among the best models."""


def pictures(result: Result) -> dict[str, Picture]:
    """Every figure of the report by name, in the order of the page."""
    calibrated = result.analysis.calibration
    with plain_style():
        made = [_behind_leader(result), _forest(result), _ranks(result)]
        if calibrated is not None:
            for number, model in enumerate(calibrated.models, 1):
                made += [_reliability(calibrated, model, number), _source(calibrated, model, number)]
        made += [_by_group(result), _annotators(result), _item_differences(result)]
        made += [_loss_curve()] if result.truth is not None else []
    return {drawn.name: drawn for drawn in made if drawn is not None}


def _behind_leader(result: Result) -> Picture | None:
    comparison = result.comparison
    if len(comparison.ranks) < 2:
        return None
    ranked = leaders(comparison.ranks)
    lead = str(ranked[0]["model"])
    rows: list[dict[str, Any]] = [
        {"model": lead, "advantage": 0.0, "low": None, "high": None, "p_best": ranked[0]["p_best"]}
    ]
    for row in ranked[1:MOST_MODELS]:
        rows.append({"model": row["model"], "p_best": row["p_best"], **advantage(comparison, lead, str(row["model"]))})
    worse = "lower" if comparison.higher_is_better else "higher"
    units = f" ({unit(comparison.rule)})" if unit(comparison.rule) else ""
    title = f"{mean_of(comparison)}: how much {worse} than the leader's{units}"
    ax = behind_leader(rows, comparison.rope, title)
    words = [
        f"{plain(row['model'])}: {said}, P(best) {probability(row['p_best'])}"
        for row, said in zip(rows[1:], _said(rows[1:], "advantage"), strict=True)
    ]
    lead_words = f"{plain(lead)} leads with P(best) {probability(rows[0]['p_best'])}. "
    return picture(
        ax,
        "behind-leader",
        f"How much worse each model is than {plain(lead)}",
        f"Differences of {mean_with_unit(comparison)} with 95% intervals. {lead_words}{'; '.join(words)}.",
        _left_out(len(rows), len(ranked)),
    )


def _forest(result: Result) -> Picture | None:
    comparison = result.comparison
    if len(comparison.ranks) < 2:
        return None
    chosen, n_models = best_pairs(comparison, MOST_PAIRS)
    ax = forest(chosen, comparison.rope, difference_title(comparison), higher_is_better=comparison.higher_is_better)
    words = [
        f"{plain(row['a'])} minus {plain(row['b'])}: {said}" for row, said in zip(chosen, _said(chosen), strict=True)
    ]
    shaded = "" if comparison.rope is None else f" Differences up to {exact(comparison.rope)} are shaded as equivalent."
    return picture(
        ax,
        "differences",
        "Differences of all pairs",
        f"95% intervals; {favouring_a(comparison.higher_is_better)} favours the first.{shaded} {'; '.join(words)}.",
        _left_out(n_models, len(comparison.ranks)),
    )


def _by_group(result: Result) -> Picture | None:
    comparison = result.comparison
    rows = of_leaders(comparison)
    if not rows:
        return None
    ax = plot_groups(comparison)
    a, b = leading_pair(comparison.ranks)
    words = [f"{plain(row['group'])}: {said}" for row, said in zip(rows, _said(rows), strict=True)][:MOST_GROUPS]
    sign = favouring_a(comparison.higher_is_better)
    note = f"The first {MOST_GROUPS} of {len(rows)} groups." if len(rows) > MOST_GROUPS else ""
    return picture(
        ax,
        "by-group",
        f"{plain(a)} minus {plain(b)} in every group",
        f"95% intervals; {sign} favours the first. {'; '.join(words)}.",
        note,
    )


def _ranks(result: Result) -> Picture | None:
    ranked = several_ranked(result.comparison)
    if ranked is None:
        return None
    models, table = ranked[0][:MOST_MODELS], ranked[1][:MOST_MODELS]
    ax = rank_probabilities(models, table)
    words = [
        f"{plain(model)}: " + ", ".join(f"rank {rank + 1} {probability(p)}" for rank, p in enumerate(row) if p >= 0.005)
        for model, row in zip(models, table, strict=True)
    ]
    unranked = len(ranked[0]) < len(result.comparison.ranks)
    note = "Models of infinite mean score have no place here." if unranked else _left_out(len(models), len(ranked[0]))
    return picture(ax, "ranks", "Probability of each rank", f"{'; '.join(words)}.", note)


def _reliability(analysis: CalibrationAnalysis, model: str, number: int) -> Picture:
    ax = plot_reliability(_unnamed(analysis.curve, model), analysis.event, ax=small_square())
    rows = analysis.curve.filter(model=model).to_dicts()
    rows = [row for row in rows if analysis.event is None or row["label"] == analysis.event]
    few = rows[:: max(1, len(rows) // 6)]
    words = ", ".join(f"{probability(row['forecast'])} {probability(row['observed'])}" for row in few)
    event = "the most probable label" if analysis.event is None else f"the label {plain(analysis.event)}"
    return picture(
        ax,
        f"reliability-{number}",
        f"Reliability of {plain(model)}",
        f"Observed frequency of {event} against its forecast probability, with a 90% band of what chance gives a "
        f"calibrated model. Forecast and observed: {words}.",
    )


def _source(analysis: CalibrationAnalysis, model: str, number: int) -> Picture:
    ax = plot_nelson(analysis.risk, model, ax=small_square())
    risk, at = analysis.risk, analysis.risk.models.index(model)
    words = "; ".join(
        f"{name}: model {probability(risk.model[at, power])}, source {probability(risk.source[at, power])}"
        for name, power in ((name, risk.powers.index(value)) for name, value in MARKS.items())
    )
    return picture(
        ax,
        f"source-{number}",
        f"Model against source probability of {plain(model)}",
        f"Bubbles are bins of forecasts, as large as their number of true events. {words}.",
    )


def _annotators(result: Result) -> Picture | None:
    truth, rows = result.analysis.annotators.truth, result.analysis.annotators.rows
    if truth is None or truth.confusion is None or len(rows) < 2:
        return None
    shown = best_and_worst(rows)
    ax = draw_annotators(shown)
    words = [
        f"{plain(row['annotator'])} {fixed(row['skill'], 2)} ({interval(row['skill_low'], row['skill_high'], 2)})"
        for row in shown
    ]
    note = f"The best and the worst {len(shown) // 2} of {len(rows):,}." if len(shown) < len(rows) else ""
    return picture(
        ax,
        "annotators",
        "Skill of each annotator",
        f"Kappa with the class, with 95% intervals: {'; '.join(words)}.",
        note,
    )


def _item_differences(result: Result) -> Picture | None:
    pair = result.analysis.replicates
    if pair is None or not pair.rows:
        return None
    a, b, differences = pair.a, pair.b, pair.differences
    ax = draw_differences(pair, result.scores.rule)
    return picture(
        ax,
        "item-differences",
        f"Differences of {plain(a)} and {plain(b)} on each item",
        f"Histogram of {plain(a)} minus {plain(b)} on {len(differences):,} items, mean "
        f"{significant(float(differences.mean()), 3)}, standard deviation "
        f"{significant(float(differences.std()), 3)}; a line shows normal differences replicated from the posterior.",
    )


def _unnamed(curve: Any, model: str) -> Any:
    """The curve of one model without its name, which stands above the figure."""
    mine = curve.filter(model=model)
    return mine.with_columns(model=mine["model"].replace(model, ""))


def _loss_curve() -> Picture:
    ax = loss_curve()
    return picture(
        ax,
        "loss-curve",
        "Expected loss of a response to an uncertain label",
        "Of an item that is yes with probability 0.7: the expected log loss falls to its least, "
        "0.611 nats, at the response 0.7, and rises to infinity at 1; the expected Brier score is least, 0.420, at the "
        "same response. A dashed line marks 0.7.",
    )


def _said(rows: Sequence[Mapping[str, Any]], key: str = "difference") -> list[str]:
    """The difference and the interval of each row."""
    places = places_of(rows)
    return [f"{fixed(row[key], places, sign=True)} ({interval(row['low'], row['high'], places)})" for row in rows]


def _left_out(shown: int, of: int) -> str:
    return f"The {shown} best of {of} models." if shown < of else ""
