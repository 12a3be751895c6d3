"""Everything that a report says, made once, in the order in which the page and the Markdown say it."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from probtruth.check import count
from probtruth.line.result import Result
from probtruth.report.tables import annotators, checks, models, pairs
from probtruth.report.tables.cells import Table
from probtruth.report.words.sentences import MEASURES, Name, Sentence, bibtex, citation, measure, sources, unit
from probtruth.report.words.verdict import Verdict, verdict

LONGEST_LINE = 80
"""Columns of a command that stands on one line."""


TABLES: Mapping[str, Callable[[Result], Table | None]] = {
    "models": models.models,
    "other": models.other_estimand,
    "matrix": pairs.matrix,
    "pairs": pairs.pairs,
    "by_group": pairs.by_group,
    "group_matrix": pairs.group_matrix,
    "ranks": models.ranks,
    "calibration": models.calibration,
    "divided": pairs.divided,
    "disputed": annotators.disputed,
    "agreements": annotators.agreements,
    "quality": annotators.quality,
    "copies": annotators.copies,
    "diagnostics": checks.diagnostics,
    "sensitivity": checks.sensitivity,
    "predictive": checks.predictive,
    "companions": checks.companions,
    "audit": checks.audit,
    "settings": checks.settings,
}
"""Every table of a result by its name, in the order of the page; None where a result has nothing to say of it."""


@dataclass(frozen=True)
class Contents:
    """Sentences and tables of one result; what it has nothing to say of is None or empty."""

    verdict: Verdict
    facts: tuple[Sentence, ...]
    warnings: tuple[str, ...]
    tables: Mapping[str, Table | None]
    group_pairs: tuple[Table, ...]
    in_groups: Sentence | None
    best_set: Sentence | None
    alignment: str
    command: str | None
    citation: str
    bibtex: str
    sources: tuple[str, ...]


def contents(result: Result) -> Contents:
    """What the report says of a result."""
    return Contents(
        verdict=verdict(result),
        facts=tuple(facts(result)),
        warnings=warnings_shown(result),
        tables={name: make(result) for name, make in TABLES.items()},
        group_pairs=tuple(
            pairs.pairs(result, rows, f"Differences, {name}") for name, rows in result.comparison.group_results.items()
        ),
        in_groups=pairs.in_groups(result),
        best_set=models.best_set(result),
        alignment=checks.alignment(result),
        command=lines_of(result.command),
        citation=citation(result),
        bibtex=bibtex(result),
        sources=tuple(sources(result)),
    )


def facts(result: Result) -> list[Sentence]:
    """What was compared, in a few words each."""
    truth = result.to_dict().get("truth") or {}
    scores = result.scores
    sentences: list[Sentence] = [(count(len(scores.models), "model"),), (count(len(scores.items), "item"),)]
    for key, noun in (("n_labels", "label"), ("n_annotators", "annotator")):
        if isinstance(truth.get(key), int):
            sentences.append((count(truth[key], noun),))
    for key, noun in (("groups", "group"), ("clusters", "cluster")):
        number = result.comparison.settings.get(key)
        if isinstance(number, int):
            sentences.append((count(number, noun),))
    if result.truth is not None:
        sentences.append((f"truth: {result.truth.method}, estimand {result.truth.estimand}",))
    better = "higher" if result.comparison.higher_is_better else "lower"
    name = measure(scores.rule) if scores.rule in MEASURES else Name(scores.rule)
    sentences.append((name, f" in {unit(scores.rule)}" if unit(scores.rule) else "", f", {better} is better"))
    return sentences


def lines_of(command: str | None) -> str | None:
    """The command with one option on each line, as a shell reads it; as it was where it cannot be taken apart."""
    if command is None or len(command) <= LONGEST_LINE:
        return command
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    lines: list[list[str]] = [[]]
    for word in words:
        if word.startswith("--"):
            lines.append([])
        lines[-1].append(word)
    return " \\\n  ".join(map(shlex.join, lines))


def warnings_shown(result: Result) -> tuple[str, ...]:
    """The warnings, each once, without those on sampling, which stand with the failing diagnostics."""
    return tuple(dict.fromkeys(line for line in result.warnings if not line.startswith("sampling:")))
