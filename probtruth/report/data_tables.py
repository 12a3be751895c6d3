"""The tables of labels, items and annotators; None where there is nothing to say."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from probtruth.line.result import Result
from probtruth.report.about import measure, with_unit
from probtruth.report.names import mark, plain
from probtruth.report.numbers import decimals, fixed, interval, percent, probability, significant
from probtruth.report.tables import Table, of_rows
from probtruth.types.arguments import method_in_words

if TYPE_CHECKING:  # with JAX, which bare scores do without
    import polars

    from probtruth.line.analysis.calibration import CalibrationAnalysis

MOST_ANNOTATORS = 20  # The best, and as many of the worst
MOST_UNLIKE = 10  # Annotators who differ most from the rest
NO_CONTENT: Mapping[str, str] = {}


def calibration(result: Result) -> Table | None:
    analysis = result.analysis.calibration
    if analysis is None:
        return None
    risk = analysis.risk
    accuracy = risk.powers.index(0.0)  # the power of the geometric mean
    split = "miscalibration" in analysis.rows[0]
    places = decimals([row.get("miscalibration") for row in analysis.rows], at_most=4)
    rows = []
    for row in analysis.rows:
        model = risk.models.index(row["model"])
        cells = {
            "Model": mark(row["model"]),
            "Miscalibration": fixed(row.get("miscalibration"), places),
            "Discrimination": fixed(row.get("discrimination"), places),
            "Calibration error": fixed(row["error"], 3),
            "Error by chance alone": fixed(row["if_calibrated"], 3),
            "Typical probability": probability(risk.model[model, accuracy]),
            "The same, recalibrated": probability(risk.source[model, accuracy]),
            "Ratio of the two": probability(risk.divergence[model, accuracy]),
        }
        rows.append(cells)
    note = _note_on_calibration(analysis, with_unit(result.scores.rule) if split else None)
    return of_rows("Parts of the score, and errors of the probabilities", rows, note)


def _note_on_calibration(analysis: "CalibrationAnalysis", split: str | None) -> str:
    """`split` is the score that has parts, if there is one."""
    note = ""
    if split is not None:
        note += (
            f"Mean {split} = miscalibration − discrimination + a constant. Recalibration removes the miscalibration; "
            "discrimination is what the model knows. "
        )
    event = "the most probable label" if analysis.event is None else f"the label {plain(analysis.event)}"
    note += (
        f"Calibration error: mean distance of forecast and frequency in bins, for {event}, next to what chance alone "
        "gives a calibrated model. Typical probability: the geometric mean of what the model gave to what happened "
        "(Nelson's accuracy); recalibrated, each forecast is replaced by how often such forecasts come true (Nelson's "
        "source). Their ratio is 1 for a calibrated model."
    )
    if analysis.left_out:
        note += f" The {len(analysis.models)} best models."
    if analysis.n_items < analysis.n_all:
        note += f" From a random sample of {analysis.n_items:,} of the {analysis.n_all:,} items."
    return note


def items(
    result: Result, texts: Mapping[str, str] = NO_CONTENT, images: Mapping[str, str] = NO_CONTENT
) -> Table | None:
    """The items on which the two leading models differ most, with what the items are where that is known."""
    frame = result.analysis.listed
    if frame is None or not frame.height:
        return None
    models = [rank.model for rank in result.comparison.ranked[:2]]
    columns = {"Item": [mark(name) for name in frame["item"]]}
    note = f"The last columns are the {with_unit(result.comparison.rule)} of the item."
    labelled = "label" in frame.columns
    if labelled:
        columns |= _labels(result, frame)
        for model in models:
            columns[f"{mark(model)} says"] = _says(frame, model)
        score = measure(result.comparison.rule)
        note += (
            f" ✓ where a model's most probable label is that of the item; its {score} depends on all its probabilities."
        )
    left = tuple(columns.keys() - {"Entropy"})
    for model in models:
        columns[mark(model)] = [significant(value, 3) for value in frame[f"score_{model}"]]
    caption = "Items on which the two leading models differ most"
    if len(models) < 2:
        caption = "Items on which the labels disagree most" if labelled else "Items"
    n_items = len(result.scores.items)
    if frame.height < n_items:
        note += f" These are {frame.height} of {n_items:,} items; items.parquet has all."
    behind = [(texts.get(name), images.get(name)) for name in frame["item"]]
    return Table(caption, columns, note, left, "items", behind)


def _labels(result: Result, frame: "polars.DataFrame") -> dict[str, list[str]]:
    """The labels of each item with their shares, and their entropy."""
    shown = []
    for shares in result.analysis.named_shares(frame["index"].to_list()):
        parts = [f"{mark(label)} ({percent(share)})" for label, share in shares]
        shown.append(", ".join(parts))
    return {"Labels": shown, "Entropy": [fixed(abs(value), 3) for value in frame["entropy"]]}


def _says(frame: "polars.DataFrame", model: str) -> list[str]:
    """The most probable label of a model, its probability, and whether it is that of the item."""
    shown = []
    for label, p, true in zip(frame[f"label_{model}"], frame[f"p_{model}"], frame["label"], strict=True):
        said = "tie" if label is None else mark(label)
        sign = "✓" if label == true else "✗"
        if p is None:
            shown.append("")
        elif label is None or true is None:
            shown.append(f"{said} {probability(p)}")
        else:
            shown.append(f"{said} {probability(p)} {sign}")
    return shown


def annotators(result: Result) -> Table | None:
    truth, rows = result.analysis.annotators.truth, result.analysis.annotators.rows
    if truth is None:
        return None
    from probtruth.truth.annotators import NO_SKILL  # with JAX

    shown = list(rows)
    note = f"By {method_in_words(truth.method)}, which takes each item to have one true class. "
    if len(rows) > MOST_ANNOTATORS:
        shown = [*rows[:MOST_ANNOTATORS], *rows[MOST_ANNOTATORS:][-MOST_ANNOTATORS:]]
        note += f"{len(shown)} of {len(rows):,} annotators: the best and the worst. "
    cells = [
        {
            "Annotator": mark(row["annotator"]),
            "Annotations": fixed(row["n_annotations"], 0),
            "Accuracy": fixed(row["accuracy"], 2),
            "Skill (kappa)": fixed(row["skill"], 2),
            "95% interval": interval(row["skill_low"], row["skill_high"], 2),
            "Information (nats)": fixed(row["information"], 2),
            "Flag": row["flag"],
        }
        for row in shown
    ]
    note += (
        "Accuracy is the chance that an annotation names the item's class; skill is the same beyond chance (1 always "
        "right, 0 by chance, below 0 worse); information is what one annotation says of the class. Spammer: the 95% "
        f"interval of skill lies below {NO_SKILL}. Adversary: it lies below 0."
    )
    return of_rows("Annotators, best first", cells, note, left=("Flag",))


def voters(result: Result) -> Table | None:
    """The annotators of votes, the least attentive first."""
    rows = result.comparison.decisions.get("annotators")
    if not isinstance(rows, Sequence) or not rows:
        return None
    ordered = sorted(rows, key=lambda row: (row["attention"] is None, row["attention"], row["annotator"]))
    shown = ordered[: 2 * MOST_ANNOTATORS]
    cells = [
        {
            "Annotator": mark(row["annotator"]),
            "Votes": fixed(row["n_votes"], 0),
            "Attention": fixed(row["attention"], 2),
            "95% interval": interval(row["attention_low"], row["attention_high"], 2),
            "Ties": fixed(row["ties"], 2),
            "Left": fixed(row["left"], 2),
        }
        for row in shown
    ]
    note = "Attention: 1 where votes go with the strengths as those of all do, 0 at random. "
    note += "Left: the share of votes for the answer on the left, ties counted half."
    if len(cells) < len(rows):
        note += f" {len(cells)} of {len(rows):,} annotators."
    return of_rows("Annotators, the least attentive first", cells, note)


def unlike_the_rest(result: Result) -> Table | None:
    """The annotators who differ most from the rest."""
    found = result.analysis.unlike_the_rest
    if found is None or not found.apart.any():
        return None
    order = np.argsort(-np.abs(found.apart), kind="stable")[:MOST_UNLIKE]
    sd = found.sd[order].tolist()
    places = decimals(sd)
    rows = []
    for at, end in zip(order.tolist(), sd, strict=True):
        apart = float(found.apart[at])
        cells = {
            "Annotator": mark(found.names[at]),
            "Labels": fixed(int(found.n_labels[at]), 0),
            "From the rest": fixed(apart, places, sign=True),
            "95% interval": interval(apart - 1.96 * end, apart + 1.96 * end, places),
        }
        rows.append(cells)
    a, b = map(mark, found.models)
    note = (
        f"How far {a} minus {b} by this annotator's labels lies from that by the others' on the same items, drawn "
        f"towards 0 the more the fewer labels there are. {len(rows)} of {len(found.names):,} annotators."
    )
    return of_rows("Annotators who differ most from the rest", rows, note)
