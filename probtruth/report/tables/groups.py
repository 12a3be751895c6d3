"""By group: the two leading models in every group, every model against the leading one, and a line for the terminal."""

from collections.abc import Mapping, Sequence

from probtruth.check import as_float
from probtruth.line.result import Result
from probtruth.report.tables.cells import (
    LONGEST_NAME,
    Cell,
    Column,
    Columns,
    Table,
    chance,
    filled,
    named,
    number,
    span,
    titled,
)
from probtruth.report.tables.models import MOST_NAMED, SHADES, names_of
from probtruth.report.words.numbers import decimals, equals, favouring_a, interval_width, minus, shortened, shown
from probtruth.report.words.sentences import Name, Sentence, joined, sentence
from probtruth.types import Comparison
from probtruth.types.comparison import Row, leaders, leading_pair

MOST_GROUPS = 100
"""Groups that the page shows; `result.json` has all."""
MOST_MODELS = 20
"""Models of the matrix, the best first."""
SURE = 0.95
"""From which probability on a group is counted as decided."""


def of_leaders(comparison: Comparison) -> list[Row]:
    """The leading model (a) minus the next one (b) in every group, as the scores were given; none without groups."""
    if not comparison.groups:
        return []
    first, second = leading_pair(comparison.ranks)
    both = (row for row in comparison.groups if {row["a"], row["b"]} == {first, second})
    return [shown(comparison, minus(row, first)) for row in both]


def by_group(result: Result) -> Table | None:
    """One row for each group: the difference of the two leading models; None without groups."""
    rows = of_leaders(result.comparison)
    if not rows:
        return None
    groups = shortened([str(row["group"]) for row in rows], LONGEST_NAME)
    a, b = (names_of(result)[name] for name in leading_pair(result.comparison.ranks))
    places = decimals(map(interval_width, rows))
    columns: Columns = [
        (titled("Group", False), lambda row: named(groups[str(row["group"])])),
        (titled("Items"), lambda row: number(row["n_items"], 0)),
        (titled("Difference", short="a − b"), lambda row: number(row["difference"], places, sign=True)),
        (titled("95% interval"), lambda row: span(row["low"], row["high"], places)),
        (Column(("P(", a, " better)"), short="P(a)"), lambda row: chance(row["p_a_better"])),
    ]
    more = f" The first {MOST_GROUPS} of {len(rows):,} groups." if len(rows) > MOST_GROUPS else ""
    note = sentence(
        "Difference = ",
        a,
        " minus ",
        b,
        f"; {favouring_a(result.comparison.higher_is_better)} favours the first. Groups are pooled partially: one with "
        f"few items is drawn towards the others.{more}",
    )
    return filled("The two leading models in every group", columns, rows[:MOST_GROUPS], note)


def against_leader(comparison: Comparison) -> Mapping[tuple[str, str], tuple[float, float]]:
    """By group and model: the difference, the model minus the leading one as the scores were given, and P(better)."""
    lead = str(leaders(comparison.ranks)[0]["model"])
    cells = {}
    for row in comparison.groups:
        if lead not in (row["a"], row["b"]):
            continue
        row = shown(comparison, minus(row, row["b"] if row["a"] == lead else row["a"]))
        gap, better = as_float(row["difference"]), as_float(row["p_a_better"])
        if gap is not None and better is not None:
            cells[str(row["group"]), str(row["a"])] = (gap, better)
    return cells


def group_matrix(result: Result) -> Table | None:
    """Every model against the leading one in every group: the difference, coloured by P(better); None without groups,
    and for two models, of whom the other table has all."""
    comparison = result.comparison
    cells = against_leader(comparison)
    others = [str(row["model"]) for row in leaders(comparison.ranks)[1 : MOST_MODELS + 1]]
    groups = list(dict.fromkeys(group for group, _ in cells))[:MOST_GROUPS]
    if len(others) < 2 or not groups:
        return None
    lead = names_of(result)[str(leaders(comparison.ranks)[0]["model"])]
    spread = [abs(gap) for gap, _ in cells.values()]
    places = decimals([max(spread) / 4])

    def cell(group: str, model: str) -> Cell:
        if (group, model) not in cells:
            return Cell(("–",), None)
        gap, p = cells[group, model]
        return Cell(number(gap, places, sign=True).text, gap, round(p * SHADES))

    names = shortened(groups, LONGEST_NAME)
    numbered = len(others) > MOST_NAMED
    heads: Sequence[Name | str] = list(shortened(others, 14).values())
    if numbered:
        heads = [str(rank) for rank in range(2, len(others) + 2)]
    rows = tuple((named(names[group]), *(cell(group, model) for model in others)) for group in groups)
    columns = (titled("Group", False), *(Column((head,)) for head in heads))
    note: Sentence = (
        "Each cell is the model's mean minus that of ",
        lead,
        ", partially pooled. Blue: the model is better in that group; orange: ",
        lead,
        " is; the deeper, the surer.",
        *(() if not numbered else (" Columns are numbered as the models are ranked above.",)),
    )
    kind = "matrix numbered" if numbered else "matrix"
    return Table("Every model against the leading one, by group", columns, rows, note, kind=kind)


def in_groups(result: Result) -> Sentence | None:
    """In how many groups the leading model is ahead, and where the other is; None without groups."""
    comparison = result.comparison
    rows = [row for row in of_leaders(comparison) if as_float(row["p_a_better"]) is not None]
    if not rows:
        return None
    lead, other = (names_of(result)[name] for name in leading_pair(comparison.ranks))
    chances = {str(row["group"]): float(row["p_a_better"]) for row in rows}
    ahead = sum(p > 0.5 for p in chances.values())
    sure = sum(p >= SURE for p in chances.values())
    behind = sorted((p, group) for group, p in chances.items() if p <= 0.5)
    start = sentence(
        "By group: ",
        lead,
        " is ahead of ",
        other,
        f" in {ahead} of {len(rows)} groups, with P ≥ {SURE} in {sure or 'none'}",
    )
    if not behind:
        return (*start, ".")
    names = shortened([group for _, group in behind[:3]], LONGEST_NAME)
    more = f" and {len(behind) - 3} more" if len(behind) > 3 else ""
    listed = joined([names[group] for _, group in behind[:3]])
    return (*start, "; not ahead in ", *listed, f"{more} (least: P {equals(behind[0][0])}).")
