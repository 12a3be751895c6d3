"""Experts' answers on a few items, and the probabilities with which these were chosen."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from polars import DataFrame

from probtruth import check, frame_numbers, frames
from probtruth.check import Source, quote
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.io.addresses import with_column
from probtruth.io.formats import MaybeText, Texts
from probtruth.io.item_columns import one_each
from probtruth.io.table import Part, Table, opened
from probtruth.types.arguments import ExpertLabels

# The columns, where a table has them, of the experts' names and of the probability with which an item was chosen.
EXPERT, PROBABILITY = "annotator", "probability"
# Other names of that column, without blanks and the like; of any other name nothing is thought.
OTHER_NAMES = frozenset({"prob", "probs", "probabilities", "inclusionprob", "inclusionprobability", "samplingprob"})
LABEL = "label"


@dataclass(frozen=True, eq=False)
class ExpertAnswers:
    """The share of an item's experts that gave each label, for each item with an answer; `n_answers` in all."""

    items: Texts
    shares: tuple[Mapping[str, float], ...]
    probability: Float[np.ndarray, " answered"] | None
    n_answers: int


def gold_file(spec: str) -> tuple[str, MaybeText]:
    """The path and the column of probabilities of `FILE` or `FILE:COLUMN`; what exists is a file."""
    path, column = with_column(spec)
    return path, column or None


def gold_table(
    table: ExpertLabels | Table, probability: MaybeText = None, item: MaybeText = None, model: MaybeText = None
) -> Part:
    """A file or dataframe of answers, with its columns of probabilities, items and models under their plain names."""
    opened_table = opened(table, "gold").with_own_items(item)
    frame, source = opened_table.whole
    check.need_columns(frame.columns, {"probability": probability}, source.name, "Write FILE:COLUMN.")
    for name, plain in ((probability, PROBABILITY), (item, "item"), (model, "model")):
        if name is not None and name != plain and name in frame.columns:
            frame = frame.drop(plain, strict=False).rename({name: plain})
    others = [name for name in frame.columns if re.sub("[ _.-]", "", name.lower()) in OTHER_NAMES]
    if others and PROBABILITY not in frame.columns:  # without the probabilities an answer would differ
        raise InputError(
            f"the column {quote(others[0])}, which may say with which probability an item was chosen",
            f"that in a column {PROBABILITY!r}, or in none",
            "Rename it 'probability' (command line: --gold FILE:COLUMN), or drop it if it says something else.",
            source.name,
        )
    return frame, source


def expert_answers(gold: ExpertLabels, item: MaybeText = None, probability: MaybeText = None) -> ExpertAnswers:
    """The answers of a mapping or a Series {item: label}, or of a table with the columns `item` and `label`."""
    if isinstance(gold, Mapping) and all(map(frames.is_one_value, gold.values())):
        gold = frames.as_polars({"item": [*map(name_text, gold)], LABEL: [*gold.values()]})
        item = None
    made = opened(gold, "gold")
    table, source = gold_table(made, probability, item)
    if made.single and LABEL not in table.columns:
        table = table.rename({table.columns[-1]: LABEL})
    hint = "Rename them; item= (command line: --item) names the column of items."
    check.need_columns(table.columns, {"item": "item", LABEL: LABEL}, source.name, hint)
    unlabelled = frames.blank(table[LABEL]).arg_true()
    if len(unlabelled):
        raise InputError(
            f"no label yet for {check.count(len(unlabelled), 'item')}",
            "an expert's label in every row",
            "Fill them in. If you remove rows that an expert found hard, the others no longer stand for all items.",
            source.at(unlabelled[0], LABEL),
        )
    columns = [frames.names(table, role, source, role) for role in ("item", LABEL, EXPERT) if role in table.columns]
    answers: dict[Texts, str] = {}
    for row, (name, label, *expert) in enumerate(zip(*columns, strict=True)):
        if answers.setdefault((name, *expert), label) != label:
            raise InputError(
                f"two labels for item {quote(name)}",
                "one answer of an expert for each item",
                "Remove one of them, or name the experts in a column 'annotator' if there are several.",
                source.at(row, "label"),
            )
    counts: dict[str, Counter[str]] = {}
    for (name, *_), label in answers.items():
        counts.setdefault(name, Counter())[label] += 1
    shares = tuple({label: count / own.total() for label, count in own.items()} for own in counts.values())
    chances = probabilities(table, source)
    chosen = None if chances is None else np.array([chances[name] for name in counts])
    return ExpertAnswers(tuple(counts), shares, chosen, len(answers))


def probabilities(table: DataFrame, source: Source) -> Mapping[str, float] | None:
    """The probability with which each item was chosen; None where no column says it."""
    if PROBABILITY not in table.columns:
        return None
    values = frame_numbers.numbers(table, PROBABILITY, source, PROBABILITY)
    if (bad := ~((values > 0) & (values <= 1))).any():
        row = int(bad.argmax())
        raise InputError(
            f"the inclusion probability {values[row]:g}",
            "a probability above 0 and at most 1",
            "An item that could not have been chosen stands for no other.",
            source.at(row, PROBABILITY),
        )
    return one_each(table, "item", PROBABILITY, values.tolist(), source, "inclusion probability")
