"""Results for a terminal: rich text and tables, with names as plain text (no markup, no control characters)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from probtruth.check import count
from probtruth.kernels.arrays import to_host
from probtruth.line.result import Result
from probtruth.report import tables
from probtruth.report.about import MOST_WARNINGS, alignment, facts, warnings
from probtruth.report.numbers import NAME, fixed, marked, plain, setting, short_names, unmarked
from probtruth.report.table import Table
from probtruth.report.verdict import verdict
from probtruth.types import Truth

MOST_ROWS = 20  # Rows of a table; the files have all
MOST_ANNOTATORS = 10  # Annotators whose confusion is printed; `--json` has all
LONGEST_NAME = 32
# Columns of a model's name, so that the tables fit 80 columns and names that end differently stay apart.
MODEL_NAME, PAIR_NAME = 18, 14
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
    said = verdict(result)
    parts: list[RenderableType] = [Text(unmarked(said.headline), COLOURS[said.level])]
    parts += [Text(f"  {line}", style="red") for line in said.failing]
    parts += [_text(f"{what}: {value}") for what, value in said.numbers]
    about = f"{', '.join(facts(result))}."
    parts += map(_text, (*said.accuracy, *said.details, *said.groups, about, alignment(result)))
    parts += [titled(tables.models(result), MODEL_NAME)]
    pairs = tables.pairs(result)
    parts += [] if pairs is None else [titled(pairs, PAIR_NAME)]
    lines, more = warnings(result), len(warnings(result)) - MOST_WARNINGS
    lines[MOST_WARNINGS:] = [f"{count(more, 'more warning')}: --out or --json shows them"] if more > 0 else []
    parts += [Text(f"! {line}", style="yellow") for line in lines]
    return (*parts, *([Text(plain(result.note), style="dim")] if result.note else []))


def titled(shown: Table, longest: int, most: int = MOST_ROWS) -> RenderableType:
    """A table under its caption, without its note: its first rows."""
    more = len(shown.rows) - most
    rest = [Text(f"and {more:,} more", style="dim")] if more > 0 else []
    return Padding(Group(Text(unmarked(shown.caption), "bold"), grid(shown, longest, most), *rest), (1, 0, 0, 0))


def grid(shown: Table, longest: int = LONGEST_NAME, most: int = MOST_ROWS) -> RichTable:
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


def truth_dict(truth: Truth, quality: pl.DataFrame | None = None) -> dict[str, Any]:
    """Method, estimand, marginals by label, quality (`with_others`) and confusion by annotator, for `--json`."""
    labels, annotators = truth.index.labels, truth.index.annotators
    shares = to_host(truth.probs).mean(0) if truth.marginals is None else truth.marginals

    def by_label(values: np.ndarray) -> dict[str, float]:
        return dict(zip(labels, values.tolist(), strict=True))

    known = confusion = None
    if quality is not None:
        known = {row.pop("annotator"): row for row in quality.fill_nan(None).iter_rows(named=True)}
    if truth.confusion is not None:
        rows = zip(annotators, truth.confusion, strict=True)
        confusion = {name: dict(zip(labels, map(by_label, of), strict=True)) for name, of in rows}
    return {
        "method": truth.method,
        "estimand": truth.estimand,
        "n_items": truth.n_items,
        "n_annotators": len(annotators) or None,
        "n_labels": len(labels),
        "marginals": by_label(shares),
        "annotators": known,
        "confusion": confusion,
        "diagnostics": dict(truth.diagnostics),
    }


def truth_summary(known: Mapping[str, Any]) -> tuple[RenderableType, ...]:
    """What `truth_dict` holds: class marginals, annotators' quality, and each one's confusion."""
    names, quality = marked(known["marginals"], LONGEST_NAME), known["annotators"]
    confusion = known["confusion"] or {}
    head = f"{known['method']}, estimand {known['estimand']}: {count(known['n_items'], 'item')}, "
    shares = {"label": [*names.values()], "probability": [fixed(share, 3) for share in known["marginals"].values()]}
    parts = [Table("class marginals", shares)]
    if quality is not None:
        worst = sorted(quality, key=lambda name: (quality[name]["agreement"] is None, quality[name]["agreement"]))
        columns = {
            "annotator": list(marked(worst, LONGEST_NAME).values()),
            "annotations": [str(quality[name]["n_annotations"]) for name in worst],
            "agreement": [fixed(quality[name]["agreement"], 3) for name in worst],
            "skill": [fixed(quality[name]["skill"], 3) for name in worst],
        }
        parts.append(Table("agreement with the others on the same items; skill is that beyond chance", columns))
    for name, rows in list(confusion.items())[:MOST_ANNOTATORS]:
        answers = {names[label]: [fixed(row[label], 3) for row in rows.values()] for label in names}
        title = f"annotator {short_names([name], LONGEST_NAME)[name]}: P(answer | truth)"
        parts.append(Table(title, {"truth": [*names.values()], **answers}))
    rest = len(confusion) - MOST_ANNOTATORS
    lines = [f"{rest} more annotators: --json has all"] if rest > 0 else []
    known_numbers = ((name, of) for name, of in known["diagnostics"].items() if isinstance(of, int | float | str))
    numbers = {name: round(value, 6) if isinstance(value, float) else value for name, value in known_numbers}
    lines += [unmarked(setting(numbers))] if numbers else []
    shown = (titled(part, LONGEST_NAME) for part in parts)
    return (Text(f"{head}{count(len(names), 'label')}", "bold"), *shown, *(Text(line, "dim") for line in lines))
