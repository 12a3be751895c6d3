"""Everything that a report says, made once, in the order in which the page and the Markdown say it."""

import shlex
from dataclasses import dataclass

from probtruth.line.analysis.calibration import CalibrationAnalysis
from probtruth.line.result import Result
from probtruth.report.tables import annotators, candidates, checks, groups
from probtruth.report.tables import models as tables
from probtruth.report.tables.cells import LONGEST_NAME, Table
from probtruth.report.words.numbers import count, shortened
from probtruth.report.words.sentences import MEASURES, Name, Sentence, bibtex, citation, measure, sources, unit
from probtruth.report.words.verdict import Verdict, verdict

LONGEST_LINE = 80
"""Columns of a command that stands on one line."""


@dataclass(frozen=True)
class Contents:
    """Sentences and tables of one result; what it has nothing to say of is None or empty."""

    verdict: Verdict
    facts: tuple[Sentence, ...]
    note: str | None
    warnings: tuple[str, ...]
    models: Table
    other: Table | None
    matrix: Table
    pairs: Table
    group_pairs: tuple[Table, ...]
    by_group: Table | None
    group_matrix: Table | None
    in_groups: Sentence | None
    best_set: Sentence | None
    ranks: Table | None
    calibration: CalibrationAnalysis | None
    calibration_names: tuple[Name, ...]
    calibration_numbers: Table | None
    items: tuple[Table, ...]
    annotators: tuple[Table, ...]
    diagnostics: Table
    sensitivity: Table | None
    predictive: Table | None
    companions: Table | None
    audit: Table | None
    alignment: str
    command: str | None
    settings: Table
    citation: str
    bibtex: str
    sources: tuple[str, ...]


def contents(result: Result) -> Contents:
    """What the report says of a result."""
    calibrated = result.analysis.calibration
    of_items = (tables.divided(result), tables.disputed(result))
    of_annotators = (annotators.agreements(result), annotators.quality(result), annotators.copies(result))
    return Contents(
        verdict=verdict(result),
        facts=tuple(facts(result)),
        note=result.note,
        warnings=warnings_shown(result),
        models=tables.models(result),
        other=candidates.other_estimand(result),
        matrix=tables.matrix(result),
        pairs=tables.pairs(result),
        group_pairs=tuple(
            tables.pairs(result, rows, f"Differences, {name}") for name, rows in result.comparison.group_results.items()
        ),
        by_group=groups.by_group(result),
        group_matrix=groups.group_matrix(result),
        in_groups=groups.in_groups(result),
        best_set=candidates.best_set(result),
        ranks=candidates.ranks(result),
        calibration=calibrated,
        calibration_names=() if calibrated is None else tuple(shortened(calibrated.models, LONGEST_NAME).values()),
        calibration_numbers=None if calibrated is None else annotators.numbers(calibrated, result),
        items=tuple(table for table in of_items if table is not None),
        annotators=tuple(table for table in of_annotators if table is not None),
        diagnostics=checks.diagnostics(result),
        sensitivity=checks.sensitivity(result),
        predictive=checks.predictive(result),
        companions=checks.companions(result),
        audit=checks.audit(result),
        alignment=checks.alignment(result),
        command=lines_of(result.command),
        settings=tables.settings(result),
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
