"""Results for a terminal: rich text and tables, with names as plain text (no markup, no control characters)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from probtruth.check import count
from probtruth.line.result import Result
from probtruth.report import tables
from probtruth.report.about import MOST_WARNINGS, alignment, facts, warnings
from probtruth.report.data_tables import voters
from probtruth.report.names import MARKED, mark, plain, unmarked
from probtruth.report.numbers import fixed, setting, significant
from probtruth.report.tables import Table, of_rows
from probtruth.report.verdict import verdict
from probtruth.types.arguments import method_in_words

MOST_ROWS = 20  # Rows of a table; the files have all
MOST_ANNOTATORS = 10  # Annotators whose confusion is printed; `--json` has all
COLOURS = {
    "certain": "bold green",
    "likely": "bold",
    "equivalent": "bold",
    "one-model": "bold",
    "inconclusive": "bold yellow",
    "invalid": "bold red",
}
SHORT = {
    "Difference": "a − b",
    "P(a better)": "P(a)",
    "P(equivalent)": "P(=)",
    "Letters": "",
    "Accuracy": "acc.",
    "Divergence": "diverg.",
    "Infinite on": "inf.",
    "Expected rank": "rank",
    "95% interval of the cost": "95% interval",
    "P(on the frontier)": "P(frontier)",
    "P(within the ROPE)": "P(ok)",
    "Regret": "regret",
}  # Heads that leave room on 80 columns
ON_PAGES = ("P(a not worse)", "P(b better)")  # Heads of columns for which these have none


def summary(result: Result) -> tuple[RenderableType, ...]:
    said = verdict(result)
    parts: list[RenderableType] = [Text(unmarked(said.headline), COLOURS[said.level])]
    parts += [Text(f"  {line}", style="red") for line in said.failing]
    sentences = [f"{what}: {value}" for what, value in said.numbers]
    sentences += [*said.accuracy, *said.details, *said.groups, f"{', '.join(facts(result))}.", alignment(result)]
    if result.frontier is not None:
        sentences.append(tables.frontier_sentence(result.frontier, result))
    parts += map(_text, sentences)
    shown = [tables.labels(result), tables.models(result), tables.pairs(result), tables.proper_rule(result)]
    shown += [tables.by_group(result, people=True), tables.frontier(result), voters(result)]
    parts += [titled(table) for table in shown if table]
    lines = warnings(result)
    more = len(lines) - MOST_WARNINGS
    lines = lines[:MOST_WARNINGS]
    if more > 0:
        lines.append(f"{count(more, 'more warning')}: --out or --json shows them")
    parts += marked_warnings(lines)
    if result.note:
        parts.append(Text(plain(result.note), style="dim"))
    return tuple(parts)


def marked_warnings(lines: Iterable[str]) -> list[Text]:
    return [Text(f"! {line}", style="yellow") for line in lines]


def titled(shown: Table) -> RenderableType:
    """A table under its caption, without its note: its first rows."""
    more = len(shown.rows) - MOST_ROWS
    rest = [Text(f"and {more:,} more", style="dim")] if more > 0 else []
    parts = Group(Text(unmarked(shown.caption), "bold"), grid(shown), *rest)
    return Padding(parts, (1, 0, 0, 0))


def grid(shown: Table, most: int = MOST_ROWS) -> RichTable:
    """A table for a terminal, whose names have what the other columns leave, on several lines if need be."""
    columns = {head: cells for head, cells in shown.columns.items() if head not in ON_PAGES}
    shown = replace(shown, columns=columns)
    made = RichTable(box=None, pad_edge=False, header_style="dim")
    for head, numeric in zip(shown.heads, shown.numeric, strict=True):
        name = "mean" if head.startswith("Mean ") else SHORT.get(head, unmarked(head))
        made.add_column(Text(name), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row in shown.rows[:most]:
        made.add_row(*[Text(unmarked(cell)) for cell in row])
    return made


def _text(sentence: str) -> Text:
    """A sentence with its names in bold."""
    text = Text()
    for place, piece in enumerate(MARKED.split(sentence)):
        text.append(piece, "bold" if place % 2 else None)
    return text


def truth_summary(known: Mapping[str, Any]) -> tuple[RenderableType, ...]:
    """What `as_dict` of a truth holds: class marginals, annotators' quality, and each one's confusion."""
    head = f"{method_in_words(known['method'])}, estimand {known['estimand']}: {count(known['n_items'], 'item')}, "
    lines = []
    more = len(known["confusion"] or {}) - MOST_ANNOTATORS
    if more > 0:
        lines.append(f"{more} more annotators: --json has all")
    numbers: dict[str, Any] = {}
    for name, value in known["diagnostics"].items():
        if isinstance(value, bool | str):
            numbers[name] = value
        elif isinstance(value, int | float) and value:  # without draws that nobody asked for
            numbers[name] = significant(value, 4) if isinstance(value, float) else value
    if numbers:
        lines.append(unmarked(setting(numbers)))
    shown = [titled(table) for table in truth_tables(known)]
    title = Text(head + count(len(known["marginals"]), "label"), "bold")
    return (title, *shown, *[Text(line, "dim") for line in lines])


def truth_tables(known: Mapping[str, Any]) -> list[Table]:
    """Class marginals, annotators' quality, and the confusion of the first of them."""
    labels = list(map(mark, known["marginals"]))
    shares = [fixed(share, 3) for share in known["marginals"].values()]
    tables = [Table("class marginals", {"label": labels, "probability": shares})]
    if known["annotators"] is not None:
        tables.append(_quality(known["annotators"]))
    confusion = known["confusion"] or {}
    for name in list(confusion)[:MOST_ANNOTATORS]:
        tables.append(_answers(name, confusion[name]))
    return tables


def _quality(quality: Mapping[str, Mapping[str, Any]]) -> Table:
    """Agreement and skill, the least agreement first."""
    known = {name: row["agreement"] for name, row in quality.items()}
    rows = [
        {
            "annotator": mark(name),
            "annotations": str(quality[name]["n_annotations"]),
            "agreement": fixed(known[name], 3),
            "skill": fixed(quality[name]["skill"], 3),
        }
        for name in sorted(quality, key=lambda name: (known[name] is None, known[name] or 0.0))
    ]
    return of_rows("agreement with the others on the same items; skill is that beyond chance", rows)


def _answers(annotator: str, rows: Mapping[str, Mapping[str, float]]) -> Table:
    columns = {"truth": list(map(mark, rows))}
    for label in rows:
        columns[mark(label)] = [fixed(row[label], 3) for row in rows.values()]
    return Table(f"annotator {mark(annotator)}: P(answer | truth)", columns)
