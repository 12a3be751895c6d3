"""Experts' answers on a few items, and the probabilities with which these were chosen."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars
from jaxtyping import Float

from probtruth import check, frame_numbers, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import with_column
from probtruth.io.output.csv_safe import check_free, write_new_csv
from probtruth.io.tables.read import read_table
from probtruth.types.arguments import ExpertLabels

# The columns, where a table has them, of the experts' names and of the probability with which an item was chosen.
EXPERT, PROBABILITY = "annotator", "probability"


@dataclass(frozen=True, eq=False)
class ExpertAnswers:
    """The share of an item's experts that gave each label, for each item with an answer; `n_answers` in all."""

    items: tuple[str, ...]
    shares: tuple[Mapping[str, float], ...]
    probability: Float[np.ndarray, " answered"] | None
    n_answers: int


def gold_file(spec: str) -> tuple[str, str | None]:
    """The path and the column of probabilities of `FILE` or `FILE:COLUMN`; what exists is a file."""
    path, column = with_column(spec)
    return (spec, None) if not column or Path(spec).exists() else (path, column)


def gold_table(table: ExpertLabels, probability: str | None = None) -> tuple[polars.DataFrame, Source]:
    """A file or dataframe of answers, its column of probabilities under the name `probability`."""
    frame, source = read_table(table, "gold")
    if probability is not None and probability != PROBABILITY:
        frames.need_columns(frame.columns, {"gold": probability}, source.name)
        frame = frame.drop(PROBABILITY, strict=False).rename({probability: PROBABILITY})
    return frame, source


def write_gold(table: polars.DataFrame, path: str | Path) -> None:
    """Writes chosen items as CSV, for an expert to fill in; never over a file that is there."""
    check_gold_out(path)
    hint = "Rename these items: an apostrophe before them would be another name."
    write_new_csv(table, path, table["item"].to_list(), hint)


def check_gold_out(path: str | Path) -> None:
    if Path(path).suffix.lower() != ".csv":
        raise InputError(f"the path {str(path)!r}", "a path that ends in .csv", "Name the output so.")
    check_free(path)


def expert_answers(gold: ExpertLabels, item: str = "item", probability: str | None = None) -> ExpertAnswers:
    """The answers of a mapping {item: label}, or of a table with the columns `item` and `label`."""
    if isinstance(gold, Mapping) and all(map(np.isscalar, gold.values())):
        gold = polars.DataFrame(
            {item: [*map(frames.name_text, gold)], "label": [*map(frames.name_text, gold.values())]}
        )
    table, source = gold_table(gold, probability)
    frames.need_columns(table.columns, {"item": item, "label": "label"}, source.name)
    _answered(table, source)
    items, names = frames.encode(table, item, source, "item")
    labels, label_names = frames.encode(table, "label", source, "label")
    experts = frames.encode(table, EXPERT, source, EXPERT)[0] if EXPERT in table.columns else np.zeros_like(items)
    answers: dict[tuple[int, int], int] = {}
    for row, (one, expert, label) in enumerate(zip(items.tolist(), experts.tolist(), labels.tolist(), strict=True)):
        if answers.setdefault((one, expert), label) != label:
            raise InputError(
                f"two labels for item {check.quote(names[one])}",
                "one answer of an expert for each item",
                "Remove one of them, or name the experts in a column 'annotator' if there are several.",
                source.at(row, "label"),
            )
    counts: list[dict[str, float]] = [{} for _ in names]
    for (one, _), label in answers.items():
        counts[one][label_names[label]] = counts[one].get(label_names[label], 0.0) + 1.0
    shares = tuple({label: count / sum(of.values()) for label, count in of.items()} for of in counts)
    chances = probabilities(table, item, source)
    chosen = None if chances is None else np.array([chances[name] for name in names])
    return ExpertAnswers(tuple(names), shares, chosen, len(answers))


def _answered(table: polars.DataFrame, source: Source) -> None:
    blank = [row for row, label in enumerate(table["label"].to_list()) if label is None or not str(label).strip()]
    if blank:
        raise InputError(
            f"no label yet for {check.count(len(blank), 'item')}",
            "an expert's label in every row",
            "Fill them in. If you remove rows that an expert found hard, the others no longer stand for all items.",
            source.at(blank[0], "label"),
        )


def probabilities(table: polars.DataFrame, item: str, source: Source) -> Mapping[str, float] | None:
    """The probability with which each item was chosen; None where no column says it."""
    if PROBABILITY not in table.columns:
        return None
    items, names = frames.encode(table, item, source, "item")
    values = frame_numbers.numbers(table, PROBABILITY, source, PROBABILITY)
    known: dict[str, float] = {}
    for row, (one, value) in enumerate(zip(items.tolist(), values.tolist(), strict=True)):
        where = source.at(row, PROBABILITY)
        if not 0 < value <= 1:
            raise InputError(
                f"the inclusion probability {value:g}",
                "a probability above 0 and at most 1",
                "An item that could not have been chosen stands for no other.",
                where,
            )
        if known.setdefault(names[one], value) != value:
            raise InputError(
                f"two inclusion probabilities for item {check.quote(names[one])}", "one", "Make its rows agree.", where
            )
    return known
