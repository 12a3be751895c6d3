"""The tables of pairs: differences over all items, in every group, and the items on which two models differ most."""

import math
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
    loose,
    named,
    number,
    shares,
    span,
    titled,
    words,
)
from probtruth.report.tables.models import names_of
from probtruth.report.words.numbers import (
    decimals,
    equals,
    exact,
    favouring_a,
    interval_width,
    minus,
    places_of,
    probability,
    shortened,
    shown,
)
from probtruth.report.words.sentences import Name, Sentence, joined, measure, sentence, with_unit
from probtruth.types import Comparison
from probtruth.types.comparison import Row, leaders, leading_pair

MOST_MODELS = 25
MOST_PAIRS = math.comb(MOST_MODELS, 2)
"""Rows of pairs that the page shows; the file has all."""
MOST_IN_MATRIX = 30
"""Models that the matrix of pairs shows."""
MOST_NAMED = 6
"""Models whose names stand above the columns of the matrix; of more, their numbers do."""
SHADES = 20
"""Steps of colour from P = 0 to P = 1."""
MOST_GROUPS = 100
"""Groups that the page shows; `result.json` has all."""
MOST_AGAINST_LEADER = 20
"""Models that the matrix by group shows beside the leading one, the best first."""
SURE = 0.95
"""From which probability on a group is counted as decided."""


def pairs(result: Result, rows: Sequence[Row] | None = None, caption: str = "Differences of all pairs") -> Table:
    """One row for each unordered pair; the difference is a minus b of the scores as they were given."""
    comparison = result.comparison
    rows = comparison.pairs if rows is None else rows
    n_pairs, of_best = len(rows), ""
    if n_pairs > MOST_PAIRS:
        best = [str(row["model"]) for row in comparison.ranks][:MOST_MODELS]
        rows = [row for row in rows if row["a"] in best and row["b"] in best]
        of_best = f" Those of the {len(best)} models of the best mean, of {n_pairs:,} pairs; pairwise.csv has all."
    chosen = [shown(comparison, row) for row in rows]
    names = names_of(result)
    places = places_of(chosen)
    columns: Columns = [
        (titled("a", False), lambda row: named(names[row["a"]])),
        (titled("b", False), lambda row: named(names[row["b"]])),
        (titled("Difference", short="a − b"), lambda row: number(row["difference"], places, sign=True)),
        (titled("95% interval"), lambda row: span(row["low"], row["high"], places)),
        (titled("P(a better)", short="P(a)"), lambda row: chance(row["p_a_better"])),
        (titled("P(equivalent)", short="P(=)"), lambda row: chance(row["p_equivalent"])),
        (titled("P(b better)", short="P(b)"), lambda row: chance(row["p_b_better"])),
    ]
    if comparison.rope is None:
        columns = [column for column in columns if column[0].title != ("P(equivalent)",)]
    sign = favouring_a(comparison.higher_is_better)
    note = f"Difference = a minus b in {with_unit(comparison.rule)}; {sign} favours a."
    if comparison.rope is not None:
        note += f" Equivalent: a difference of at most {exact(comparison.rope)}."
    if comparison.unseen.get("reason") and comparison.settings.get("population") == "new-items":
        note += " A rare difference, larger than any seen, cannot be excluded: the score has no known bound."
    return filled(caption, columns, chosen, (note + of_best,))


def chances_of_pairs(comparison: Comparison) -> Mapping[tuple[str, str], object]:
    """P(the first is better) of each ordered pair of models."""
    better: dict[tuple[str, str], object] = {}
    for row in comparison.pairs:
        better[str(row["a"]), str(row["b"])] = row["p_a_better"]
        better[str(row["b"]), str(row["a"])] = row["p_b_better"]
    return better


def matrix(result: Result) -> Table:
    """P(row is better than column), best model first."""
    comparison = result.comparison
    order = [str(row["model"]) for row in comparison.ranks][:MOST_IN_MATRIX]
    names = names_of(result)
    better = chances_of_pairs(comparison)

    def cell(a: str, b: str) -> Cell:
        if a == b:
            return Cell(("",), None)
        p = as_float(better[a, b])
        return Cell((probability(p),), p, None if p is None else round(p * SHADES))

    numbered = len(order) > MOST_NAMED
    heads = map(str, range(1, len(order) + 1)) if numbered else shortened(order, 14).values()
    first = [
        Cell((f"{position} ", names[a]) if numbered else (names[a],), str(names[a]))
        for position, a in enumerate(order, 1)
    ]
    rows = tuple((head, *(cell(a, b) for b in order)) for head, a in zip(first, order, strict=True))
    columns = (titled("", False), *(Column((short,)) for short in heads))
    left_out = len(comparison.ranks) - len(order)
    note = "Columns are numbered as the rows are. " if numbered else ""
    note += f"The {MOST_IN_MATRIX} best of {len(comparison.ranks)} models; pairwise.csv has all." if left_out else ""
    return Table(
        "P(row beats column)",
        columns,
        rows,
        (note,) if note else (),
        sortable=False,
        kind="matrix numbered" if numbered else "matrix",
    )


def divided(result: Result) -> Table | None:
    """The items on which the two leading models differ most; None where they never do."""
    divided_items = result.analysis.divided
    if not divided_items:
        return None
    a, b = (names_of(result)[model] for model in leading_pair(result.comparison.ranks))
    names = shortened((entry.item for entry in divided_items), LONGEST_NAME)
    with_says = any(entry.top_labels is not None for entry in divided_items)
    with_labels = any(entry.shares for entry in divided_items)
    columns = [titled("Item", False)]
    columns += [titled("Labels", False)] if with_labels else []
    columns += [Column((a, " says"), False), Column((b, " says"), False)] if with_says else []
    columns += [Column((a, " scores")), Column((b, " scores"))]
    rows = []
    for entry in divided_items:
        cells = [named(names[entry.item])]
        cells += [words(*shares(entry.shares))] if with_labels else []
        if with_says:
            says = entry.top_labels or (("", float("nan")),) * 2
            cells += [words(Name(label), f" ({probability(p)})") for label, p in says]
        rows.append((*cells, *(loose(value) for value in entry.scores)))
    rule = result.comparison.rule
    note = f"Scores are the {with_unit(rule)} of the item." + (
        f" A model says its most probable label; its {measure(rule)} depends on all that it gives to the labels."
        if with_says
        else ""
    )
    return Table("Items on which the two leading models differ most", tuple(columns), tuple(rows), (note,))


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
    others = [str(row["model"]) for row in leaders(comparison.ranks)[1 : MOST_AGAINST_LEADER + 1]]
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
