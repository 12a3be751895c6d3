"""Results for a terminal: rich text and tables, with names as plain text (no markup, no control characters)."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from probtruth.check import count
from probtruth.kernels.arrays import to_host
from probtruth.line.result import Result
from probtruth.report import tables
from probtruth.report.about import facts
from probtruth.report.contents import MOST_WARNINGS, alignment
from probtruth.report.numbers import NAME, exact, fixed, marked, plain, short_names, unmarked
from probtruth.report.table import Table, table
from probtruth.report.verdict import verdict
from probtruth.types import Truth

MOST_ROWS = 20  # Rows of a table; the files have all
MOST_ANNOTATORS = 10  # Annotators whose confusion is printed; `--json` has all
LONGEST_NAME = 32
# Columns of a model's name, so that the tables fit 80 columns and names that end differently stay apart.
MODEL_NAME, PAIR_NAME = 22, 14
COLOURS = {
    "certain": "bold green",
    "likely": "bold",
    "equivalent": "bold",
    "alone": "bold",
    "open": "bold yellow",
    "invalid": "bold red",
}
SHORT = {
    "Difference": "a − b",
    "P(a better)": "P(a)",
    "P(equivalent)": "P(=)",
    "P(b better)": "P(b)",
    "Accuracy": "acc.",
    "Divergence": "diverg.",
    "Infinite on": "inf.",
    "Expected rank": "rank",
    "Regret": "regret",
}  # Heads that leave room on 80 columns


def summary(result: Result) -> tuple[RenderableType, ...]:
    """Verdict, models, pairs and warnings."""
    said = verdict(result)
    parts: list[RenderableType] = [Text(unmarked(said.headline), COLOURS[said.level])]
    parts += [Text(f"  {line}", style="red") for line in said.failing]
    parts += [_text(f"{what}: {value}") for what, value in said.numbers]
    about = f"{', '.join(facts(result))}."
    parts += map(_text, (*said.accuracy, *said.details, *said.groups, about, alignment(result)))
    parts += [titled(tables.models(result), MODEL_NAME)]
    pairs = tables.pairs(result)
    parts += [] if pairs is None else [titled(pairs, PAIR_NAME)]
    warnings = [*dict.fromkeys(result.warnings)]
    parts += [Text(f"! {plain(line)}", style="yellow") for line in warnings[:MOST_WARNINGS]]
    more = count(len(warnings) - MOST_WARNINGS, "more warning")
    parts += [Text(f"! {more}: --out or --json shows them", style="yellow")] if warnings[MOST_WARNINGS:] else []
    return (*parts, *([Text(plain(result.note), style="dim")] if result.note else []))


def titled(shown: Table, longest: int, most: int = MOST_ROWS) -> RenderableType:
    """A table under its caption, without its note: its first rows."""
    more = len(shown.rows) - most
    rest = [Text(f"and {more:,} more", style="dim")] if more > 0 else []
    return Padding(Group(Text(unmarked(shown.caption), "bold"), grid(shown, longest, most), *rest), (1, 0, 0, 0))


def grid(shown: Table, longest: int, most: int = MOST_ROWS) -> RichTable:
    """The first rows of a table; names have so many columns at most."""
    made = RichTable(box=None, pad_edge=False, header_style="dim")
    names = short_names(NAME.findall("".join(cell for row in shown.rows for cell in row)), longest)
    for head, numeric in zip(shown.heads, shown.numeric, strict=True):
        text = SHORT.get(head) or ("mean" if head.startswith("Mean ") else unmarked(head))
        made.add_column(Text(text), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row in shown.rows[:most]:
        made.add_row(*(Text(NAME.sub(lambda found: names[found[1]], cell)) for cell in row))
    return made


def _text(sentence: str) -> Text:
    pieces = enumerate(NAME.split(sentence))
    return Text.assemble(*((piece, "bold") if place % 2 else piece for place, piece in pieces))


def truth_summary(truth: Truth, quality: pl.DataFrame | None = None) -> tuple[RenderableType, ...]:
    """Method, class marginals, annotators' quality, and each one's confusion where the method has it."""
    labels, annotators = truth.index.labels, truth.index.annotators
    names = marked(labels, LONGEST_NAME)
    head = f"{truth.method}, estimand {truth.estimand}: {count(truth.n_items, 'item')}, {count(len(labels), 'label')}"
    shares = {"label": [names[label] for label in labels], "probability": _fixed(_label_shares(truth))}
    parts = [table("class marginals", shares)]
    if quality is not None:
        shown, worst = marked(annotators, LONGEST_NAME), quality.sort("agreement", maintain_order=True)
        columns = {
            "annotator": [shown[name] for name in worst["annotator"]],
            "annotations": [str(n) for n in worst["n_annotations"]],
            "agreement": _fixed(worst["agreement"]),
            "skill": _fixed(worst["skill"]),
        }
        parts.append(table("agreement with the others on the same items; skill is that beyond chance", columns))
    confusion = () if truth.confusion is None else truth.confusion[:MOST_ANNOTATORS]
    for name, rows in zip(annotators, confusion, strict=False):
        of_answer = {names[label]: _fixed(column) for label, column in zip(labels, rows.T, strict=True)}
        title = f"annotator {short_names([name], LONGEST_NAME)[name]}: P(answer | truth)"
        parts.append(table(title, {"truth": [names[label] for label in labels], **of_answer}))
    rest = []
    if truth.confusion is not None and len(annotators) > MOST_ANNOTATORS:
        rest.append(f"{len(annotators) - MOST_ANNOTATORS} more annotators: --json has all")
    numbers = {name: value for name, value in truth.diagnostics.items() if isinstance(value, (bool, int, float, str))}
    rest += [", ".join(f"{name} {_short(value)}" for name, value in numbers.items())] if numbers else []
    return (Text(head, "bold"), *(titled(part, LONGEST_NAME) for part in parts), *(Text(line, "dim") for line in rest))


def truth_dict(truth: Truth, quality: pl.DataFrame | None = None) -> dict[str, Any]:
    """The same for `--json`: method, estimand, marginals by label, quality and confusion by annotator."""
    labels, annotators = truth.index.labels, truth.index.annotators

    def by_label(values: np.ndarray) -> dict[str, float]:
        return dict(zip(labels, values.tolist(), strict=True))

    known = None
    if quality is not None:
        known = {row.pop("annotator"): row for row in quality.fill_nan(None).iter_rows(named=True)}
    confusion = None
    if truth.confusion is not None:
        confusion = {
            annotator: {true: by_label(row) for true, row in zip(labels, rows, strict=True)}
            for annotator, rows in zip(annotators, truth.confusion, strict=True)
        }
    return {
        "method": truth.method,
        "estimand": truth.estimand,
        "n_items": truth.n_items,
        "n_annotators": len(annotators) or None,
        "n_labels": len(labels),
        "marginals": by_label(_label_shares(truth)),
        "annotators": known,
        "confusion": confusion,
        "diagnostics": dict(truth.diagnostics),
    }


def _fixed(values: Iterable[float]) -> list[str]:
    return [fixed(float(value), 3) for value in values]


def _label_shares(truth: Truth) -> Float[np.ndarray, " label"]:
    """The label frequencies of the method's model, else the mean over items."""
    shares: np.ndarray = to_host(truth.probs).mean(0) if truth.marginals is None else truth.marginals
    return shares


def _short(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return exact(round(value, 6)) if isinstance(value, (int, float)) else plain(value)
