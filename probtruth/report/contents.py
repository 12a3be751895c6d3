"""Everything that a report says and draws, once, in the order in which the page and the Markdown say it."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from probtruth.check import count
from probtruth.io.formats import Texts
from probtruth.line.result import Result
from probtruth.report import cite, data_tables, latex, tables
from probtruth.report.about import MOST_WARNINGS, alignment, facts, population, warnings
from probtruth.report.names import mark, plain, unmarked
from probtruth.report.numbers import decimals, fixed
from probtruth.report.plots.calibration import plot_reliability
from probtruth.report.plots.comparison import (
    MOST_MODELS,
    best_pairs,
    plot_behind,
    plot_forest,
    plot_frontier,
    plot_groups,
    plot_ranks,
)
from probtruth.report.plots.nelson import plot_nelson
from probtruth.report.plots.svg import inline, pdf, plain_style
from probtruth.report.tables import Table
from probtruth.report.verdict import Verdict, verdict

if TYPE_CHECKING:  # with JAX
    pass

LONGEST_TABLE = 15  # Rows of a table that stands open; longer ones are folded
LONGEST_LINE = 80  # Columns of a command that stands on one line
MOST_SHOWN = 15  # Models in the first figure
MOST_PAIRS = 28  # Pairs that the forest plot shows: those among the best models


@dataclass(frozen=True)
class Extras:
    """What a page shows besides the result: the command that made it, and what its items are, by name.

    `images` are data URIs.
    """

    command: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure with a name that is unique in the report; drawn when it is looked at. Its caption is read aloud."""

    name: str
    draw: Callable[[], Axes]
    caption: str

    @cached_property
    def axes(self) -> Axes:
        with plain_style():
            return self.draw()

    @cached_property
    def svg(self) -> str:
        return inline(self.axes, self.name, unmarked(self.caption))

    @property
    def pdf(self) -> bytes:
        return pdf(self.axes)


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


Block = str | Table | Figure | Panels | Fold | Code | Texts  # Texts: a list of sentences
Blocks = Iterator[Block | None]  # None: nothing to say


@dataclass(frozen=True)
class Contents:
    """The verdict with what stands next to it, the warnings (those after the third folded), and the sections."""

    facts: Texts
    verdict: Verdict
    note: str | None
    figure: Figure | None
    warnings: tuple[Block, ...]
    sections: tuple[Fold, ...]

    @property
    def figures(self) -> Iterator[Figure]:
        if self.figure is not None:
            yield self.figure
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Figure):
                    yield block
                elif isinstance(block, Panels):
                    yield from block.figures


def contents(result: Result, extras: Extras | None = None) -> Contents:
    extras = Extras() if extras is None else extras
    said = verdict(result)
    parts = {
        "Labels": iter([tables.labels(result)]),
        "Models": _models(result, said),
        "Pairs": _pairs(result),
        "Costs": _costs(result),
        "By group": _groups(result, said),
        "Calibration": _calibration(result),
        "Items": iter([data_tables.items(result, extras.texts, extras.images)]),
        "Annotators": _annotators(result),
        "Checks": iter([alignment(result), tables.diagnostics(result), tables.tests(result)]),
        "How this was made": _made(result, extras.command),
    }
    sections = []
    for title, blocks in parts.items():
        shown = tuple(_folded(block) for block in blocks if block is not None)
        if shown:
            sections.append(Fold(title, shown))
    note = None if result.note is None else plain(result.note)
    first = (*facts(result), population(result))
    return Contents(first, said, note, _behind(result), _warnings(result), tuple(sections))


def _warnings(result: Result) -> tuple[Block, ...]:
    lines = tuple(warnings(result))
    rest = lines[MOST_WARNINGS:]
    if not rest:
        return (lines,) if lines else ()
    return (lines[:MOST_WARNINGS], Fold(f"{len(rest)} more", (rest,)))


def _folded(block: Block) -> Block:
    """A long table behind its caption."""
    if not isinstance(block, Table) or block.kind == "items" or len(block.rows) <= LONGEST_TABLE:
        return block
    return Fold(f"{block.caption} ({count(len(block.rows), 'row')})", (block,))


def _best(most: int, n_models: int) -> str:
    return f" The {most} best of {n_models} models." if most < n_models else ""


def _behind(result: Result) -> Figure | None:
    ranks = result.comparison.ranked
    if len(ranks) < 2:
        return None
    caption = f"{mark(ranks[0].model)} minus each other model, with 95% intervals, and P(best)."
    draw = partial(plot_behind, result.comparison, MOST_SHOWN)
    return Figure("behind-leader", draw, caption + _best(MOST_SHOWN, len(ranks)))


def _models(result: Result, said: Verdict) -> Blocks:
    yield tables.models(result)
    yield from said.accuracy
    chances = result.comparison.rank_chances
    if len(chances) > 2:
        n_models = len(result.comparison.ranks)
        caption = "Posterior probability that a model has each rank, from joint draws of all means."
        if len(chances) < n_models:
            caption += " Models of infinite mean score are not ranked."
        else:
            caption += _best(MOST_MODELS, n_models)
        yield Figure("ranks", partial(plot_ranks, result.comparison), caption)
    yield tables.proper_rule(result)
    yield tables.other_estimand(result)


def _pairs(result: Result) -> Blocks:
    comparison = result.comparison
    n_models = len(comparison.ranks)
    if n_models > 2:
        _, shown = best_pairs(comparison, MOST_PAIRS)
        caption = (
            "Differences with 95% intervals. An interval on one side of 0 favours the model named on that side; a "
            "hollow point is that of an interval that holds 0."
        )
        draw = partial(plot_forest, comparison, most=MOST_PAIRS)
        yield Figure("differences", draw, caption + _best(shown, n_models))
    yield tables.pairs(result)
    for name, rows in comparison.group_results.items():
        of_groups = tables.pairs(result, rows, f"Differences, {name}")
        if of_groups is not None:
            yield Fold(of_groups.caption, (of_groups,))


def _costs(result: Result) -> Blocks:
    found = result.frontier
    if found is None:
        return
    yield tables.frontier_sentence(found, result)
    caption = "Mean score against cost, with 95% intervals; filled: probably on the frontier."
    yield Figure("frontier", partial(plot_frontier, result.comparison, found), caption)
    yield tables.frontier(result)


def _groups(result: Result, said: Verdict) -> Blocks:
    yield from said.groups
    for people, name in ((False, "by-group"), (True, "by-annotator-group")):
        table = tables.by_group(result, people)
        if table is not None:
            caption = f"{table.caption}, with 95% intervals."
            yield Figure(name, partial(plot_groups, result.comparison, people=people), caption)
            yield table


def _calibration(result: Result) -> Blocks:
    analysis = result.analysis.calibration
    if analysis is None:
        return
    event = "the most probable label is right" if analysis.event is None else f"{plain(analysis.event)} occurs"
    yield data_tables.calibration(result)
    curves = []
    sources = []
    for place, model in enumerate(analysis.models, 1):
        draw = partial(plot_reliability, analysis.curve.filter(model=model), analysis.event)
        curves.append(Figure(f"reliability-{place}", draw, mark(model)))
        sources.append(Figure(f"source-{place}", partial(plot_nelson, analysis.risk, model), mark(model)))
    yield Panels(
        tuple(curves),
        f"Reliability: how often {event} where it is forecast with a given probability. A model whose curve lies below "
        "the dashed line is overconfident. The band, of 90%, is where the curve of a calibrated model would be by "
        "chance.",
    )
    yield Panels(
        tuple(sources),
        "Model against source (Nelson): each bubble holds forecasts of about the same probability. Its height is that "
        "probability; its place from left to right is how often such forecasts come true. Marks are averages over all "
        "forecasts: accuracy (geometric mean), decisiveness (arithmetic), robustness (power −2/3). A line through them "
        "that is steeper than 45° is that of an overconfident model.",
    )


def _annotators(result: Result) -> Blocks:
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
    yield data_tables.annotators(result)
    yield data_tables.voters(result)
    yield data_tables.unlike_the_rest(result)


def _made(result: Result, command: str | None) -> Blocks:
    if command is not None:
        shown = plain(command)
        if len(shown) > LONGEST_LINE:  # with an option on each line
            shown = re.sub(" (?=--[a-z])", " \\\\\n  ", shown)
        yield Code(shown, "sh")
    quote = cite.paragraph(result)
    yield Fold("To quote", (unmarked(quote), "The same in LaTeX:", Code(latex.shown(quote), "latex")))
    settings = tables.settings(result)
    yield Fold(settings.caption, (settings,))
    yield Fold("How to cite", (Code(cite.bibtex(), "bibtex"),))
    yield (
        "Intervals hold 95% of the posterior, equal tails. P(a better) is the posterior probability that the mean of "
        "a is better than that of b (a difference of 0 counts half), over the population named in the estimand."
    )
