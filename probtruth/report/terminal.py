"""Results for a terminal: rich text and tables, with names as plain text (no markup, no control characters)."""

from collections.abc import Mapping
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
from probtruth.report.names import MARKED, marked, plain, short_names, unmarked
from probtruth.report.numbers import fixed, setting
from probtruth.report.table import Table, of_rows
from probtruth.report.verdict import verdict
from probtruth.types.arguments import method_in_words

MOST_ROWS = 20  # Rows of a table; the files have all
MOST_ANNOTATORS = 10  # Annotators whose confusion is printed; `--json` has all
LONGEST_NAME = 32
# Columns of a model's name, so that the tables fit 80 columns and names that end differently stay apart.
MODEL_NAME, PAIR_NAME = 17, 14
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
    "P(b better)": "P(b)",
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
ON_PAGES = "P(a not worse)"  # The head of a column for which these have none


def summary(result: Result) -> tuple[RenderableType, ...]:
    said = verdict(result)
    parts: list[RenderableType] = [Text(unmarked(said.headline), COLOURS[said.level])]
    parts += [Text(f"  {line}", style="red") for line in said.failing]
    parts += [_text(f"{what}: {value}") for what, value in said.numbers]
    sentences = [*said.accuracy, *said.details, *said.groups]
    sentences += [f"{', '.join(facts(result))}.", alignment(result)]
    parts += map(_text, sentences)
    labels = tables.labels(result)
    if labels is not None:
        parts.append(titled(labels, PAIR_NAME))
    parts.append(titled(tables.models(result), MODEL_NAME))
    pairs = tables.pairs(result)
    if pairs is not None:
        parts.append(titled(pairs, PAIR_NAME))
    more_tables = [tables.proper_rule(result), tables.by_group(result, people=True)]
    more_tables += [tables.frontier(result), voters(result)]
    for table in more_tables:
        if table is not None:
            parts.append(titled(table, PAIR_NAME))
    if result.frontier is not None:
        parts.append(_text(tables.frontier_sentence(result.frontier, result)))
    lines = warnings(result)
    parts += [Text(f"! {line}", style="yellow") for line in lines[:MOST_WARNINGS]]
    more = len(lines) - MOST_WARNINGS
    if more > 0:
        parts.append(Text(f"! {count(more, 'more warning')}: --out or --json shows them", style="yellow"))
    if result.note:
        parts.append(Text(plain(result.note), style="dim"))
    return tuple(parts)


def titled(shown: Table, longest: int, most: int = MOST_ROWS) -> RenderableType:
    """A table under its caption, without its note: its first rows."""
    parts: list[RenderableType] = [Text(unmarked(shown.caption), "bold"), grid(shown, longest, most)]
    more = len(shown.rows) - most
    if more > 0:
        parts.append(Text(f"and {more:,} more", style="dim"))
    return Padding(Group(*parts), (1, 0, 0, 0))


def grid(shown: Table, longest: int = LONGEST_NAME, most: int = MOST_ROWS) -> RichTable:
    columns = {head: cells for head, cells in shown.columns.items() if head != ON_PAGES}
    shown = replace(shown, columns=columns)
    made = RichTable(box=None, pad_edge=False, header_style="dim")
    for head, numeric in zip(shown.heads, shown.numeric, strict=True):
        made.add_column(Text(_head(head)), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    every_name: list[str] = []
    for row in shown.rows:
        every_name += MARKED.findall("".join(row))
    names = short_names(every_name, longest)
    for row in shown.rows[:most]:
        texts = [MARKED.sub(lambda found: names[found[1]], cell) for cell in row]
        made.add_row(*map(Text, texts))
    return made


def _head(head: str) -> str:
    if head in SHORT:
        return SHORT[head]
    return "mean" if head.startswith("Mean ") else unmarked(head)


def _text(sentence: str) -> Text:
    """A sentence with its names in bold."""
    text = Text()
    for place, piece in enumerate(MARKED.split(sentence)):
        text.append(piece, "bold" if place % 2 else None)
    return text


def truth_summary(known: Mapping[str, Any]) -> tuple[RenderableType, ...]:
    """What `as_dict` of a truth holds: class marginals, annotators' quality, and each one's confusion."""
    n_labels = len(known["marginals"])
    head = f"{method_in_words(known['method'])}, estimand {known['estimand']}: {count(known['n_items'], 'item')}, "
    lines = []
    more = len(known["confusion"] or {}) - MOST_ANNOTATORS
    if more > 0:
        lines.append(f"{more} more annotators: --json has all")
    numbers = {}
    for name, value in known["diagnostics"].items():
        if isinstance(value, int | float | str):
            numbers[name] = round(value, 6) if isinstance(value, float) else value
    if numbers:
        lines.append(unmarked(setting(numbers)))
    shown = [titled(table, LONGEST_NAME) for table in truth_tables(known)]
    return (Text(f"{head}{count(n_labels, 'label')}", "bold"), *shown, *[Text(line, "dim") for line in lines])


def truth_tables(known: Mapping[str, Any]) -> list[Table]:
    """Class marginals, annotators' quality, and the confusion of the first of them."""
    names = marked(known["marginals"])
    shares = [fixed(share, 3) for share in known["marginals"].values()]
    tables = [Table("class marginals", {"label": [*names.values()], "probability": shares})]
    if known["annotators"] is not None:
        tables.append(_quality(known["annotators"]))
    confusion = known["confusion"] or {}
    for name in list(confusion)[:MOST_ANNOTATORS]:
        tables.append(_answers(name, confusion[name], names))
    return tables


def _quality(quality: Mapping[str, Mapping[str, Any]]) -> Table:
    """Agreement and skill, the least agreement first."""
    names = marked(quality)
    rows = []
    for name in sorted(quality, key=lambda name: _agreement(quality[name])):
        row = quality[name]
        cells = {
            "annotator": names[name],
            "annotations": str(row["n_annotations"]),
            "agreement": fixed(row["agreement"], 3),
            "skill": fixed(row["skill"], 3),
        }
        rows.append(cells)
    return of_rows("agreement with the others on the same items; skill is that beyond chance", rows)


def _agreement(row: Mapping[str, Any]) -> tuple[bool, float]:
    """What annotators are sorted by: those of unknown agreement come last."""
    agreement = row["agreement"]
    return (agreement is None, 0.0 if agreement is None else agreement)


def _answers(annotator: str, rows: Mapping[str, Mapping[str, float]], names: Mapping[str, str]) -> Table:
    columns = {"truth": [*names.values()]}
    for label, name in names.items():
        columns[name] = [fixed(row[label], 3) for row in rows.values()]
    short = short_names([annotator], LONGEST_NAME)[annotator]
    return Table(f"annotator {short}: P(answer | truth)", columns)
