"""The result for a terminal: rich renderables, with names as plain text (no markup, no control characters)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from probtruth.check import count
from probtruth.kernels.arrays import to_host
from probtruth.line.result import Result
from probtruth.report.tables import checks, models, pairs
from probtruth.report.tables.cells import Table
from probtruth.report.words.numbers import exact, fixed, in_text, plain, shortened
from probtruth.report.words.sentences import Name, Sentence
from probtruth.report.words.verdict import verdict
from probtruth.types import Truth

MOST_ROWS = 20
"""Rows of a table; the files have all."""
MOST_ANNOTATORS = 10
"""Annotators whose confusion is printed; `--json` has all."""
LONGEST_NAME = 32
MODEL_NAME, PAIR_NAME = 22, 14
"""Columns of a model's name, so that the tables fit 80 columns and names that end differently stay apart."""
COLOURS = {
    "certain": "bold green",
    "likely": "bold",
    "equivalent": "bold",
    "alone": "bold",
    "open": "bold yellow",
    "invalid": "bold red",
}


def summary(result: Result) -> tuple[RenderableType, ...]:
    """Verdict, models, pairs and warnings."""
    decided = verdict(result)
    parts: list[RenderableType] = [Text(in_text(decided.headline), COLOURS[decided.level])]
    parts += [Text(f"  {line}", style="red") for line in decided.failing]
    parts += [_text(line) for line in decided.details]
    by_group = pairs.in_groups(result)
    parts += [] if by_group is None else [_text(by_group)]
    parts.append(Text(checks.alignment(result)))
    parts.append(table(models.models(result), MODEL_NAME))
    parts += [table(pairs.pairs(result), PAIR_NAME)] if result.comparison.pairs else []
    parts += [Text(f"! {plain(line)}", style="yellow") for line in dict.fromkeys(result.warnings)]
    return (*parts, *([Text(plain(result.note), style="dim")] if result.note else []))


Quality = Mapping[str, np.ndarray]
"""For each annotator `n_annotations`, `agreement` with the others on the same items, and `skill` beyond chance."""


def truth_summary(truth: Truth, quality: Quality | None = None) -> tuple[RenderableType, ...]:
    """Method, class marginals, annotators' quality, and each one's confusion where the method has it."""
    labels = list(shortened(truth.index.labels, LONGEST_NAME).values())
    head = Text(
        f"{truth.method}, estimand {truth.estimand}: {count(truth.n_items, 'item')}, {count(len(labels), 'label')}",
        "bold",
    )
    parts: list[RenderableType] = [head, _marginals(truth, labels)]
    if quality is not None:
        parts.append(_quality(truth.index.annotators, quality))
    if truth.confusion is not None:
        parts += [
            _confusion(name, rows, labels)
            for name, rows in zip(truth.index.annotators[:MOST_ANNOTATORS], truth.confusion, strict=False)
        ]
        more = len(truth.index.annotators) - MOST_ANNOTATORS
        if more > 0:
            parts.append(Text(f"{more} more annotators: --json has all", style="dim"))
    numbers = {name: value for name, value in truth.diagnostics.items() if isinstance(value, (bool, int, float, str))}
    if numbers:
        parts.append(Text(", ".join(f"{name} {_short(value)}" for name, value in numbers.items()), style="dim"))
    return tuple(parts)


def truth_dict(truth: Truth, quality: Quality | None = None) -> dict[str, Any]:
    """The same for `--json`: method, estimand, marginals by label, quality and confusion by annotator."""
    labels, shares = truth.index.labels, _label_shares(truth)
    confusion = None
    if truth.confusion is not None:
        confusion = {
            annotator: {
                true: dict(zip(labels, map(float, row), strict=True)) for true, row in zip(labels, rows, strict=True)
            }
            for annotator, rows in zip(truth.index.annotators, truth.confusion, strict=True)
        }
    return {
        "method": truth.method,
        "estimand": truth.estimand,
        "n_items": truth.n_items,
        "n_annotators": len(truth.index.annotators) or None,
        "n_labels": len(labels),
        "marginals": dict(zip(labels, map(float, shares), strict=True)),
        "annotators": None if quality is None else _by_annotator(truth.index.annotators, quality),
        "confusion": confusion,
        "diagnostics": dict(truth.diagnostics),
    }


def _by_annotator(names: Sequence[str], quality: Quality) -> dict[str, dict[str, float | None]]:
    """The quality of each annotator as plain values; None where it is not known."""
    columns = {what: [None if np.isnan(one) else one for one in values.tolist()] for what, values in quality.items()}
    return {name: {what: values[row] for what, values in columns.items()} for row, name in enumerate(names)}


def _quality(names: Sequence[str], quality: Quality) -> RenderableType:
    """The annotators who agree least with the others first."""
    table = _bare("annotator", "annotations", "agreement", "skill")
    shown = shortened(names, LONGEST_NAME)
    lowest = np.argsort(quality["agreement"], kind="stable")[:MOST_ROWS].tolist()
    for row in lowest:
        ends = (fixed(float(quality[what][row]), 3) for what in ("agreement", "skill"))
        table.add_row(Text(shown[names[row]]), str(quality["n_annotations"][row]), *ends)
    more = len(names) - len(lowest)
    rest = [Text(f"{more} more annotators agree better: --json has all", style="dim")] if more > 0 else []
    return _titled(Text("agreement with the others on the same items; skill is that beyond chance"), table, *rest)


def _label_shares(truth: Truth) -> Float[np.ndarray, " label"]:
    """The label frequencies of the method's model, else the mean over items."""
    shares: np.ndarray = to_host(truth.probs).mean(0) if truth.marginals is None else truth.marginals
    return shares


def _marginals(truth: Truth, labels: list[Name]) -> RenderableType:
    table = _bare("label", "probability")
    for label, share in zip(labels, _label_shares(truth), strict=True):
        table.add_row(Text(label), fixed(float(share), 3))
    return _titled(Text("class marginals"), table)


def _confusion(name: str, rows: Float[np.ndarray, "label answer"], labels: list[Name]) -> RenderableType:
    title = Text.assemble("annotator ", shortened([name], LONGEST_NAME)[name], ": P(answer | truth)")
    table = _bare("truth", *map(Text, labels))
    for label, row in zip(labels, rows, strict=True):
        table.add_row(Text(label), *(fixed(float(value), 3) for value in row))
    return _titled(title, table)


def _short(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return exact(round(value, 6)) if isinstance(value, (int, float)) else plain(value)


def table(shown: Table, longest: int) -> RenderableType:
    """A table without its note, its first rows."""
    more = len(shown.rows) - MOST_ROWS
    rest = [Text(f"and {more:,} more", style="dim")] if more > 0 else []
    return _titled(Text(shown.caption), grid(shown, longest, MOST_ROWS), *rest)


def grid(shown: Table, longest: int, most: int) -> RichTable:
    """The first rows of a table, without its caption; names have so many columns at most."""
    made = _bare()
    pieces = (piece for row in shown.rows for cell in row for piece in cell.text)
    names = shortened((piece.whole for piece in pieces if isinstance(piece, Name)), longest)
    for column in shown.columns:
        made.add_column(
            Text(column.short) if column.short else _text(column.title),
            justify="right" if column.numeric else "left",
            no_wrap=column.numeric,
            overflow="fold",
        )
    for row in shown.rows[:most]:
        words = (
            in_text(names[piece.whole] if isinstance(piece, Name) else piece for piece in cell.text) for cell in row
        )
        made.add_row(*map(Text, words))
    return made


def _bare(*heads: str | Text) -> RichTable:
    """An empty table; of its columns the first is flush left, all others are flush right."""
    made = RichTable(box=None, pad_edge=False, header_style="dim")
    for position, head in enumerate(heads):
        made.add_column(head, justify="right" if position else "left")
    return made


def _titled(title: Text, *body: RenderableType) -> RenderableType:
    title.stylize("bold")
    return Padding(Group(title, *body), (1, 0, 0, 0))


def _text(sentence: Sentence) -> Text:
    return Text.assemble(*((plain(piece), "bold") if isinstance(piece, Name) else piece for piece in sentence))
