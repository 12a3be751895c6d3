"""Everything that a report says, once, in the order in which the page and the Markdown say it."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from probtruth.check import count
from probtruth.line.result import Result
from probtruth.report import tables, words
from probtruth.report.about import facts
from probtruth.report.numbers import decimals, fixed, marked, plain
from probtruth.report.table import LONGEST, Table
from probtruth.report.verdict import Verdict, verdict

LONGEST_LINE = 80  # Columns of a command that stands on one line
MOST_WARNINGS = 3  # Warnings that stand open, the first in the order of the result; the others are folded


@dataclass(frozen=True)
class Figure:
    """The figure of that name with a caption; several stand side by side, each under the name of its model."""

    names: tuple[str, ...]
    caption: str
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fold:
    """Blocks that open at a click."""

    title: str
    blocks: tuple["Block", ...]


@dataclass(frozen=True)
class Code:
    """Text as a machine reads it."""

    text: str
    language: Literal["sh", "bibtex"]


@dataclass(frozen=True)
class Lines:
    """A list of sentences."""

    lines: tuple[str, ...]


Block = str | Table | Figure | Fold | Code | Lines


@dataclass(frozen=True)
class Section:
    """A title, the anchor of the section, and what it says."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Contents:
    """The verdict with what stands next to it, the warnings, and the sections."""

    facts: tuple[str, ...]
    verdict: Verdict
    note: str | None
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]


def contents(result: Result) -> Contents:
    """What the report says of a result."""
    said = verdict(result)
    parts = (
        ("models", "Models", tuple(_models(result, said))),
        ("pairs", "Pairs", tuple(_pairs(result))),
        ("groups", "By group", (*said.groups, *_groups(result))),
        ("calibration", "Calibration", tuple(_calibration(result))),
        ("items", "Items", (tables.items(result),)),
        ("annotators", "Annotators", tuple(_annotators(result))),
        ("checks", "Checks", tuple(_checks(result))),
        ("made", "How this was made", tuple(_made(result))),
    )
    sections = []
    for anchor, title, blocks in parts:
        known = tuple(_folded(block) for block in blocks if block is not None)
        if known:
            sections.append(Section(anchor, title, known))
    return Contents(
        tuple(facts(result)),
        said,
        None if result.note is None else plain(result.note),
        tuple(dict.fromkeys(plain(line) for line in result.warnings)),
        tuple(sections),
    )


def _folded(block: Block) -> Block:
    """A long table opens at a click."""
    if isinstance(block, Table) and len(block.rows) > LONGEST:
        return Fold(f"{block.caption} ({count(len(block.rows), 'row')})", (block,))
    return block


def _models(result: Result, said: Verdict) -> Iterator[Block | None]:
    yield tables.models(result)
    yield from said.accuracy
    yield Figure(("ranks",), "Posterior probability that a model has each rank, from joint draws of all means.")
    yield tables.other_estimand(result)


def _pairs(result: Result) -> Iterator[Block | None]:
    known = tables.pairs(result)
    if known is None:
        return
    if len(result.scores.models) > 2:
        yield Figure(
            ("differences",),
            "Differences with 95% intervals. An interval on one side of 0 favours the model named on that side; a "
            "hollow point is that of an interval that holds 0.",
        )
    yield known
    for name, rows in result.comparison.group_results.items():
        if (of_groups := tables.pairs(result, rows, f"Differences, {name}")) is not None:
            yield Fold(of_groups.caption, (of_groups,))


def _groups(result: Result) -> Iterator[Block | None]:
    known = tables.by_group(result)
    if known is not None:
        yield Figure(("by-group",), "The two leading models in every group, with 95% intervals, partially pooled.")
        yield known


def _calibration(result: Result) -> Iterator[Block | None]:
    analysis = result.analysis.calibration
    if analysis is None:
        return
    names = tuple(marked(analysis.models, tables.LONGEST_NAME).values())
    event = "the most probable label is right" if analysis.event is None else f"{plain(analysis.event)} occurs"
    places = range(1, len(names) + 1)
    yield tables.calibration(result)
    yield Figure(
        tuple(f"reliability-{place}" for place in places),
        f"Reliability: how often {event} where it is forecast with a given probability. Below the dashed line a model "
        "says more than happens. The band, of 90%, is where the curve of a calibrated model would be by chance.",
        names,
    )
    yield Figure(
        tuple(f"source-{place}" for place in places),
        "Model against source (Nelson): each bubble holds forecasts of about the same probability. Its height is that "
        "probability; its place from left to right is how often such forecasts come true. Marks are averages over all "
        "forecasts: accuracy (geometric mean), decisiveness (arithmetic), robustness (power −2/3). A line through them "
        "that is steeper than 45° is that of a model that says more than it knows.",
        names,
    )


def _annotators(result: Result) -> Iterator[Block | None]:
    known = result.analysis.annotators
    if known.agreement is not None:
        low, high = known.agreement.low, known.agreement.high
        places = decimals([high - low])
        said = (
            f"Krippendorff's alpha is {fixed(known.agreement.value, places)} (95% interval {fixed(low, places)} to "
            f"{fixed(high, places)}) over {count(known.agreement.n_items, 'item')} with two or more annotations: 1 "
            "where all agree, 0 where they agree as by chance."
        )
        if known.replicated is not None:
            low, high, seen = known.replicated
            said += (
                f" Of pairs of annotations {fixed(seen, 3)} agree; in annotations replicated from the inferred truth "
                f"{fixed(low, 3)} to {fixed(high, 3)} (95%) would."
            )
        yield said
    table = tables.annotators(result)
    if table is not None:
        yield Figure(
            ("annotators",),
            "Skill of each annotator: agreement with the class beyond chance, with its 95% interval. Left of the "
            "dashed line, an annotation says almost nothing of the class.",
        )
        yield table


def _checks(result: Result) -> Iterator[Block | None]:
    yield alignment(result)
    yield tables.diagnostics(result)
    yield Figure(
        ("item-differences",), "Differences of the two leading models on each item, next to a normal population."
    )
    yield tables.tests(result)


def _made(result: Result) -> Iterator[Block | None]:
    command = lines_of(result.command)
    if command is not None:
        yield Code("\n".join(map(plain, command.split("\n"))), "sh")
    settings = tables.settings(result)
    yield Fold(settings.caption, (settings,))
    cited = Lines(tuple(words.sources(result)))
    rest = ("Methods that this result used:", cited) if cited.lines else ()
    yield Fold("How to cite", (words.citation(), Code(words.bibtex(), "bibtex"), *rest))
    yield (
        "Intervals hold 95% of the posterior, equal tails. P(a better) is the posterior probability that the mean of "
        "a is better than that of b (a difference of 0 counts half), over the population named in the estimand."
    )


def alignment(result: Result) -> str:
    """The items that were compared, and what became of the others, in one line."""
    audit = result.audit
    kinds = ((audit.missing, "missing from some model"), (audit.extra, "extra"), (audit.different, "another question"))
    gone = ", ".join(f"{len(names):,} {what}" for names, what in kinds if names)
    said = f"left out for all models: {audit.dropped:,} ({gone})" if gone else "none missing, extra or twice"
    names = marked((model for model, _, _ in audit.by_model), tables.LONGEST_NAME)
    lacks = ", ".join(f"{names[model]} lacks {missing:,}" for model, missing, _ in audit.by_model if missing)
    said += f"; {lacks}" if lacks else ""
    said += f"; asked in other words of some models, and kept: {len(audit.prompts):,}" if audit.prompts else ""
    return f"Items compared: {len(result.scores.items):,}; {said}."


def lines_of(command: str | None) -> str | None:
    """The command with one option on each line, as a shell reads it; as it was where it cannot be taken apart."""
    if command is None or len(command) <= LONGEST_LINE:
        return command
    try:
        words_of = shlex.split(command)
    except ValueError:
        return command
    lines: list[list[str]] = [[]]
    for word in words_of:
        if word.startswith("--"):
            lines.append([])
        lines[-1].append(word)
    return " \\\n  ".join(map(shlex.join, lines))
