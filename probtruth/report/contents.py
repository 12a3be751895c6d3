"""Everything that a report says and draws, once, in the order in which the page and the Markdown say it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from matplotlib.axes import Axes

from probtruth.check import count
from probtruth.line.result import Result
from probtruth.report import tables, words
from probtruth.report.about import MOST_WARNINGS, alignment, facts, warnings
from probtruth.report.numbers import (
    LONGEST_NAME,
    best_pairs,
    decimals,
    fixed,
    marked,
    of_leaders,
    plain,
    probability,
    rank_chances,
)
from probtruth.report.plots.annotators import plot_annotators
from probtruth.report.plots.calibration import plot_reliability
from probtruth.report.plots.comparison import MOST_MODELS, plot_behind, plot_forest, plot_groups, plot_ranks
from probtruth.report.plots.differences import can_differ, plot_differences
from probtruth.report.plots.nelson import plot_nelson
from probtruth.report.plots.svg import inline, plain_style
from probtruth.report.table import Table
from probtruth.report.verdict import Verdict, verdict
from probtruth.scoring.nelson.profile import MARKS
from probtruth.types.comparison import leaders, leading_pair

LONGEST_TABLE = 15  # Rows of a table that stands open; longer ones are folded
LONGEST_LINE = 80  # Columns of a command that stands on one line
MOST_SHOWN = 15  # Models in the first figure
MOST_PAIRS = 28  # Pairs that the forest plot shows: those among the best models


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure with a name that is unique in the report, and words that are read aloud; drawn when it is looked at."""

    name: str
    words: str
    draw: Callable[[], Axes]
    caption: str = ""

    @cached_property
    def svg(self) -> str:
        with plain_style():
            return inline(self.draw(), self.name, self.words)


@dataclass(frozen=True)
class Panels:
    """Figures side by side over one caption, each under its own."""

    figures: tuple[Figure, ...]
    caption: str


@dataclass(frozen=True)
class Fold:
    """Blocks that open at a click, or the blocks of a section."""

    title: str
    blocks: tuple["Block", ...]


@dataclass(frozen=True)
class Code:
    text: str
    language: str


Lines = tuple[str, ...]  # A list of sentences
Block = str | Table | Figure | Panels | Fold | Code | Lines


@dataclass(frozen=True)
class Contents:
    """The verdict with what stands next to it, the warnings (those after the third folded), and the sections."""

    facts: Lines
    verdict: Verdict
    note: str | None
    figure: Figure | None
    warnings: tuple[Block, ...]
    sections: tuple[Fold, ...]

    @property
    def figures(self) -> Iterator[Figure]:
        yield from () if self.figure is None else (self.figure,)
        for block in (block for section in self.sections for block in section.blocks):
            if isinstance(block, Figure | Panels):
                yield from (block,) if isinstance(block, Figure) else block.figures


def contents(result: Result) -> Contents:
    said = verdict(result)
    parts = {
        "Models": _models(result, said),
        "Pairs": _pairs(result),
        "By group": _groups(result, said),
        "Calibration": _calibration(result),
        "Items": iter([tables.items(result)]),
        "Annotators": _annotators(result),
        "Checks": _checks(result),
        "How this was made": _made(result),
    }
    sections = (
        (title, tuple(_folded(block) for block in blocks if block is not None)) for title, blocks in parts.items()
    )
    note = None if result.note is None else plain(result.note)
    lines = warnings(result)
    said_first, rest = tuple(lines[:MOST_WARNINGS]), tuple(lines[MOST_WARNINGS:])
    alert = tuple(block for block in (said_first, rest and Fold(f"{len(rest)} more", (rest,))) if block)
    shown = tuple(Fold(title, blocks) for title, blocks in sections if blocks)
    return Contents(tuple(facts(result)), said, note, _behind(result), alert, shown)


def _folded(block: Block) -> Block:
    if isinstance(block, Table) and block.kind != "items" and len(block.rows) > LONGEST_TABLE:
        return Fold(f"{block.caption} ({count(len(block.rows), 'row')})", (block,))
    return block


def _best(most: int, of: int) -> str:
    return f" The {most} best of {of} models." if most < of else ""


def _behind(result: Result) -> Figure | None:
    ranked = leaders(result.comparison.ranks)[:MOST_SHOWN]
    if len(ranked) < 2:
        return None
    chances = "; ".join(f"{plain(row['model'])} {probability(row['p_best'])}" for row in ranked)
    said = f"How much worse each model is than {plain(ranked[0]['model'])}. P(best): {chances}."
    draw = partial(plot_behind, result.comparison, MOST_SHOWN)
    return Figure("behind-leader", said, draw, _best(MOST_SHOWN, len(result.comparison.ranks)).strip())


def _models(result: Result, said: Verdict) -> Iterator[Block | None]:
    yield tables.models(result)
    yield from said.accuracy
    chances, n_models = rank_chances(result.comparison), len(result.comparison.ranks)
    if len(chances) > 2:
        ranks = "; ".join(f"{plain(model)}: {', '.join(map(probability, of))}" for model, of in chances.items())
        caption = "Posterior probability that a model has each rank, from joint draws of all means."
        infinite = " Models of infinite mean score are not ranked." if len(chances) < n_models else ""
        caption += infinite or _best(MOST_MODELS, n_models)
        draw = partial(plot_ranks, result.comparison)
        yield Figure("ranks", f"Probability of each rank, from rank 1 on: {ranks}.", draw, caption)
    yield tables.other_estimand(result)


def _pairs(result: Result) -> Iterator[Block | None]:
    comparison = result.comparison
    if len(comparison.ranks) > 2:
        caption = (
            "Differences with 95% intervals. An interval on one side of 0 favours the model named on that side; a "
            "hollow point is that of an interval that holds 0."
        ) + _best(best_pairs(comparison, MOST_PAIRS)[1], len(comparison.ranks))
        draw = partial(plot_forest, comparison, most=MOST_PAIRS)
        yield Figure("differences", "Differences of all pairs with 95% intervals.", draw, caption)
    yield tables.pairs(result)
    for name, rows in comparison.group_results.items():
        if (of_groups := tables.pairs(result, rows, f"Differences, {name}")) is not None:
            yield Fold(of_groups.caption, (of_groups,))


def _groups(result: Result, said: Verdict) -> Iterator[Block | None]:
    yield from said.groups
    if of_leaders(result.comparison):
        a, b = map(plain, leading_pair(result.comparison.ranks))
        caption = "The two leading models in every group, with 95% intervals, partially pooled."
        draw = partial(plot_groups, result.comparison)
        yield Figure("by-group", f"{a} minus {b} in every group with 95% intervals.", draw, caption)
        yield tables.by_group(result)


def _calibration(result: Result) -> Iterator[Block | None]:
    analysis = result.analysis.calibration
    if analysis is None:
        return
    names, risk, reliability, source = marked(analysis.models, LONGEST_NAME), analysis.risk, [], []
    for place, model in enumerate(analysis.models, 1):
        said = f"Reliability of {plain(model)}: observed frequency against forecast probability."
        draw = partial(plot_reliability, analysis.curve.filter(model=model), analysis.event)
        reliability.append(Figure(f"reliability-{place}", said, draw, names[model]))
        row = risk.models.index(model)
        means = ", ".join(
            f"{name} {probability(risk.model[row, at])} against {probability(risk.source[row, at])}"
            for name, at in ((name, risk.powers.index(power)) for name, power in MARKS.items())
        )
        said = f"Model against source probability of {plain(model)}: {means}."
        source.append(Figure(f"source-{place}", said, partial(plot_nelson, risk, model), names[model]))
    event = "the most probable label is right" if analysis.event is None else f"{plain(analysis.event)} occurs"
    yield tables.calibration(result)
    yield Panels(
        tuple(reliability),
        f"Reliability: how often {event} where it is forecast with a given probability. Below the dashed line a model "
        "says more than happens. The band, of 90%, is where the curve of a calibrated model would be by chance.",
    )
    yield Panels(
        tuple(source),
        "Model against source (Nelson): each bubble holds forecasts of about the same probability. Its height is that "
        "probability; its place from left to right is how often such forecasts come true. Marks are averages over all "
        "forecasts: accuracy (geometric mean), decisiveness (arithmetic), robustness (power −2/3). A line through them "
        "that is steeper than 45° is that of a model that says more than it knows.",
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
    if known.truth is not None and len(known.rows) > 1:
        caption = (
            "Skill of each annotator: agreement with the class beyond chance, with its 95% interval. Left of the "
            "dashed line, an annotation says almost nothing of the class."
        )
        draw = partial(plot_annotators, known.truth)
        yield Figure("annotators", "Skill of each annotator (kappa) with 95% intervals.", draw, caption)
    yield tables.annotators(result)


def _checks(result: Result) -> Iterator[Block | None]:
    yield alignment(result)
    yield tables.diagnostics(result)
    if len(result.comparison.ranks) > 1 and result.scores.values.size:
        a, b = sorted(leading_pair(result.comparison.ranks))
        if can_differ(result.scores, a, b):
            said = f"Histogram of the differences of {plain(a)} and {plain(b)} on each item, and a normal curve."
            caption = "Differences of the two leading models on each item, next to a normal population."
            yield Figure("item-differences", said, partial(plot_differences, result.scores, a, b), caption)
    yield tables.tests(result)


def _made(result: Result) -> Iterator[Block | None]:
    if result.command is not None:
        command = plain(result.command)
        long = len(command) > LONGEST_LINE
        yield Code(re.sub(" (?=--[a-z])", " \\\\\n  ", command) if long else command, "sh")
    settings = tables.settings(result)
    yield Fold(settings.caption, (settings,))
    cited = tuple(words.sources(result))
    rest = ("Methods that this result used:", cited) if cited else ()
    yield Fold("How to cite", (Code(words.bibtex(), "bibtex"), *rest))
    yield (
        "Intervals hold 95% of the posterior, equal tails. P(a better) is the posterior probability that the mean of "
        "a is better than that of b (a difference of 0 counts half), over the population named in the estimand."
    )
