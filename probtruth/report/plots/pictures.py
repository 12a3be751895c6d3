"""The figures of one result, with the words that stand for them where they cannot be seen."""

from collections.abc import Mapping
from typing import Any

from probtruth.report.interface import ResultLike
from probtruth.report.plots import axes as figures
from probtruth.report.plots.annotators import MOST as MOST_ANNOTATORS
from probtruth.report.plots.annotators import plot_annotators
from probtruth.report.plots.calibration import plot_reliability
from probtruth.report.plots.differences import plot_differences
from probtruth.report.plots.nelson import plot_nelson
from probtruth.report.plots.svg import Picture, picture, plain_style
from probtruth.report.signs import favouring_a, shown
from probtruth.report.tables import annotators, checks
from probtruth.report.tables.calibration import Calibration
from probtruth.report.tables.candidates import rank_table
from probtruth.report.words.numbers import as_float, decimals, exact, fixed, interval, plain, probability, significant
from probtruth.report.words.sentences import measure, unit, with_unit
from probtruth.report.words.verdict import advantage, leaders
from probtruth.scoring.nelson.risk import MARKS
from probtruth.types import Scores

MOST_MODELS = 15
"""Models that a figure shows, the best first."""
MOST_PAIRS = 28
"""Pairs that the forest plot shows: those among the best models."""


def pictures(result: ResultLike, found: Calibration | None = None) -> dict[str, Picture]:
    """Every figure of the report by name, in the order of the page.

    Arguments: `found` is what the result says of calibration, which has two figures for each model.
    """
    made = [_behind_leader(result), _forest(result), _ranks(result)]
    if found is not None:
        for place, model in enumerate(found.models):
            made += [_reliability(found, model, place + 1), _source(found, model, place + 1)]
    made += [_annotators(result), _item_differences(result)]
    made += [_loss_curve()] if result.truth is not None else []
    return {drawn.name: drawn for drawn in made if drawn is not None}


def _behind_leader(result: ResultLike) -> Picture:
    comparison = result.comparison
    ranked = leaders(comparison.ranks)
    lead = str(ranked[0]["model"])
    rows: list[dict[str, Any]] = [
        {"model": lead, "advantage": 0.0, "low": None, "high": None, "p_best": ranked[0]["p_best"]}
    ]
    for row in ranked[1:MOST_MODELS]:
        rows.append({"model": row["model"], "p_best": row["p_best"], **advantage(comparison, lead, str(row["model"]))})
    worse = "lower" if comparison.higher_is_better else "higher"
    title = f"mean {measure(comparison.rule)}: how much {worse} than {{}}'s"
    units = f" ({unit(comparison.rule)})" if unit(comparison.rule) else ""
    with plain_style():
        ax = figures.behind_leader(rows, comparison.rope, title.format("the leader") + units)
    places = decimals(map(_width, rows[1:]), ends=[row[end] for row in rows[1:] for end in ("low", "high")])
    said = [
        f"{plain(row['model'])}: {fixed(row['advantage'], places, sign=True)} "
        f"({interval(row['low'], row['high'], places)}), P(best) {probability(row['p_best'])}"
        for row in rows[1:]
    ]
    lead_said = f"{plain(lead)} leads with P(best) {probability(rows[0]['p_best'])}. "
    return picture(
        ax,
        "behind-leader",
        f"How much worse each model is than {plain(lead)}",
        f"Differences of mean {with_unit(comparison.rule)} with 95% intervals. {lead_said}{'; '.join(said)}.",
        _left_out(len(rows), len(ranked)),
    )


def _forest(result: ResultLike) -> Picture:
    comparison = result.comparison
    chosen = [shown(comparison, row) for row in comparison.pairs]
    best = [str(row["model"]) for row in leaders(comparison.ranks)]
    while len(chosen) > MOST_PAIRS:
        gone = best.pop()
        chosen = [row for row in chosen if gone not in (row["a"], row["b"])]
    upward = comparison.higher_is_better
    with plain_style():
        label = f"difference of mean {with_unit(comparison.rule)}"
        ax = figures.forest(chosen, comparison.rope, label, higher_is_better=upward)
    places = decimals(map(_width, chosen), ends=[row[end] for row in chosen for end in ("low", "high")])
    said = [
        f"{plain(row['a'])} minus {plain(row['b'])}: {fixed(row['difference'], places, sign=True)} "
        f"({interval(row['low'], row['high'], places)})"
        for row in chosen
    ]
    shaded = "" if comparison.rope is None else f" Differences up to {exact(comparison.rope)} are shaded as equivalent."
    return picture(
        ax,
        "differences",
        "Differences of all pairs",
        f"95% intervals; {favouring_a(upward)} favours the first.{shaded} {'; '.join(said)}.",
        _left_out(len(best), len(comparison.ranks)),
    )


def _ranks(result: ResultLike) -> Picture | None:
    found = rank_table(result.comparison)
    if found is None:
        return None
    models, table = found[0][:MOST_MODELS], found[1][:MOST_MODELS]
    with plain_style():
        ax = figures.rank_probabilities(models, table)
    said = [
        f"{plain(model)}: " + ", ".join(f"rank {rank + 1} {probability(p)}" for rank, p in enumerate(row) if p >= 0.005)
        for model, row in zip(models, table, strict=True)
    ]
    unranked = len(found[0]) < len(result.comparison.ranks)
    note = "Models of infinite mean score have no place here." if unranked else _left_out(len(models), len(found[0]))
    return picture(ax, "ranks", "Probability of each rank", f"{'; '.join(said)}.", note)


def _reliability(found: Calibration, model: str, place: int) -> Picture:
    with plain_style():
        ax = plot_reliability(_unnamed(found.curve, model), found.event, ax=figures.small_square())
    rows = found.curve.filter(model=model).to_dicts()
    rows = [row for row in rows if found.event is None or row["label"] == found.event]
    few = rows[:: max(1, len(rows) // 6)]
    said = ", ".join(f"{probability(row['forecast'])} {probability(row['observed'])}" for row in few)
    event = "the most probable label" if found.event is None else f"the label {plain(found.event)}"
    return picture(
        ax,
        f"reliability-{place}",
        f"Reliability of {plain(model)}",
        f"Observed frequency of {event} against its forecast probability, with a 90% band of what chance gives a "
        f"calibrated model. Forecast and observed: {said}.",
    )


def _source(found: Calibration, model: str, place: int) -> Picture:
    with plain_style():
        ax = plot_nelson(found.risk, model, ax=figures.small_square())
    at = found.risk.models.index(model)
    said = "; ".join(
        f"{name}: model {probability(found.risk.model[at, power])}, source {probability(found.risk.source[at, power])}"
        for name, power in ((name, found.risk.powers.index(value)) for name, value in MARKS.items())
    )
    return picture(
        ax,
        f"source-{place}",
        f"Model against source probability of {plain(model)}",
        f"Bubbles are bins of forecasts, as large as their number of true events. {said}.",
    )


def _annotators(result: ResultLike) -> Picture | None:
    truth = annotators.judged(result)
    if truth is None or truth.confusion is None or len(truth.index.annotators) < 2:
        return None
    with plain_style():
        ax = plot_annotators(truth)
    rows = sorted(annotators.annotator_rows(truth), key=annotators.worst_last)
    most = MOST_ANNOTATORS
    said = [
        f"{plain(row['annotator'])} {fixed(row['skill'], 2)} ({interval(row['skill_low'], row['skill_high'], 2)})"
        for row in (rows if len(rows) <= most else [*rows[: most // 2], *rows[-most // 2 :]])
    ]
    note = f"The best and the worst {most // 2} of {len(rows):,}." if len(rows) > most else ""
    return picture(
        ax,
        "annotators",
        "Skill of each annotator",
        f"Kappa with the class, with 95% intervals: {'; '.join(said)}.",
        note,
    )


def _item_differences(result: ResultLike) -> Picture | None:
    known = checks.leading_differences(result)
    if known is None or not isinstance(result.scores, Scores) or not checks.replicable(known[1]):
        return None
    (a, b), found = known
    with plain_style():
        ax = plot_differences(result.scores, a, b, seed=result.comparison.seed)
    return picture(
        ax,
        "item-differences",
        f"Differences of {plain(a)} and {plain(b)} on each item",
        f"Histogram of {plain(a)} minus {plain(b)} on {len(found):,} items, mean "
        f"{significant(float(found.mean()), 3)}, standard deviation {significant(float(found.std()), 3)}; a line shows "
        "normal differences replicated from the posterior.",
    )


def _unnamed(curve: Any, model: str) -> Any:
    """The curve of one model without its name, which stands above the figure."""
    mine = curve.filter(model=model)
    return mine.with_columns(model=mine["model"].replace(model, ""))


def _loss_curve() -> Picture:
    with plain_style():
        ax = figures.loss_curve()
    return picture(
        ax,
        "loss-curve",
        "Expected loss of a response to an uncertain label",
        "Of an item that is yes with probability .7: the expected log loss falls to its least, "
        ".611 nats, at the response .7, and rises to infinity at 1; the expected Brier score is least, .420, at the "
        "same response. A dashed line marks .7.",
    )


def _left_out(shown: int, of: int) -> str:
    return f"The {shown} best of {of} models." if shown < of else ""


def _width(row: Mapping[str, Any]) -> float | None:
    low, high = as_float(row["low"]), as_float(row["high"])
    return None if low is None or high is None else high - low
