"""The tables of the report, once, for the page, for Markdown and for the terminal."""

import math
from collections.abc import Iterable, Mapping, Sequence

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
    span,
    titled,
    words,
)
from probtruth.report.words.numbers import (
    UNKNOWN,
    decimals,
    exact,
    favouring_a,
    fixed,
    interval_width,
    percent,
    places_of,
    probability,
    shortened,
    shown,
)
from probtruth.report.words.sentences import Name, Sentence, measure, with_unit
from probtruth.types import Comparison
from probtruth.types.comparison import Row, leading_pair

MOST_MODELS = 25
MOST_PAIRS = math.comb(MOST_MODELS, 2)
"""Rows of pairs that the page shows; the file has all."""
MOST_IN_MATRIX = 30
"""Models that the matrix of pairs shows."""
MOST_NAMED = 6
"""Models whose names stand above the columns of the matrix; of more, their numbers do."""
ACCURACY = "How often the model's most probable label is right, expected under the labels of each item"
DIVERGENCE = "What the model's score has above the entropy of the labels, which no model can avoid"
BEST = "Probability that this model is the best of all"
RANK = "The mean of the ranks that the model may have; 1 is best"
REGRET = "How much worse than the best model you must expect to be if you choose this one"
SHADES = 20
"""Steps of colour from P = 0 to P = 1."""


def names_of(result: Result) -> Mapping[str, Name]:
    """The models' names, short enough for a cell."""
    return shortened(result.scores.models, LONGEST_NAME)


def _scores(comparison: Comparison) -> Column:
    """The column of what is compared."""
    if comparison.settings.get("metric"):
        return titled(with_unit(comparison.rule).capitalize(), short="score")
    return titled(f"Mean {with_unit(comparison.rule)}", short="mean")


def models(result: Result) -> Table:
    """One row for each model, best mean score first."""
    comparison = result.comparison
    ranks = comparison.ranks
    places = decimals(interval_width(row) for row in ranks)
    infinite = dict(zip(result.scores.models, map(int, result.scores.n_infinite), strict=True))
    optional: Columns = []
    accuracy = result.analysis.accuracy
    if accuracy is not None:
        shown = titled("Accuracy (expected)", short="acc.", meaning=ACCURACY)
        optional.append((shown, lambda row: number(accuracy[str(row["model"])], 3)))
    if any(as_float(row["divergence"]) is not None for row in ranks):
        divergence = titled("Divergence", short="diverg.", meaning=DIVERGENCE)
        optional.append((divergence, lambda row: number(row["divergence"], places)))
    if any(infinite.values()):
        optional.append((titled("Infinite on"), lambda row: number(infinite[str(row["model"])], 0)))
    columns: Columns = [
        (titled("Model", False), lambda row: named(str(row["model"]))),
        (_scores(comparison), lambda row: number(row["score"], places)),
        (titled("95% interval"), lambda row: span(row["low"], row["high"], places)),
        *optional,
    ]
    order = 1, comparison.higher_is_better
    if len(ranks) == 1:
        return filled("The model", columns, ranks, _models_note(result, places), order)
    columns += [
        (titled("P(best)", meaning=BEST), lambda row: chance(row["p_best"])),
        (titled("Expected rank", short="rank", meaning=RANK), lambda row: number(row["expected_rank"], 2)),
        (titled("Expected regret", short="regret", meaning=REGRET), lambda row: loose(row["expected_regret"], 3)),
    ]
    what = "metric" if comparison.settings.get("metric") else "mean score"
    return filled(f"Models, best {what} first", columns, ranks, _models_note(result, places), order)


def _models_note(result: Result, places: int) -> Sentence:
    comparison = result.comparison
    better = "higher" if comparison.higher_is_better else "lower"
    what = "metric of all items together" if comparison.settings.get("metric") else "plain mean over items"
    note = f"The score is the {what}; {better} is better. "
    entropy = next((as_float(row["entropy"]) for row in comparison.ranks if row["entropy"] is not None), None)
    if entropy is not None:
        note += (
            f"Mean score = entropy + divergence: the entropy of the labels, {fixed(entropy, places)}, is what the best "
            "possible forecast would score, and the divergence is what the model adds to it. "
        )
    if len(comparison.ranks) == 1:
        return (note.strip(),)
    note += (
        "The intervals of single models share the same items: whether two models differ is read from the differences, "
        "not from the overlap of these. Expected regret is the mean loss of choosing this model instead of the best."
    )
    return (note,)


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


def disputed(result: Result) -> Table | None:
    """The items on which annotators disagree most; None without labels or disagreement."""
    disputed_items = result.analysis.disputed
    if not disputed_items:
        return None
    names = shortened((entry.item for entry in disputed_items), LONGEST_NAME)
    rows = tuple(
        (
            named(names[entry.item]),
            words(*_shares(entry.shares)),
            number(entry.votes, 0),
            number(entry.entropy, 3),
        )
        for entry in disputed_items
    )
    columns = (titled("Item", False), titled("Labels", False), titled("Votes"), titled("Entropy (nats)"))
    return Table("Items on which the labels disagree most", columns, rows)


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
        cells += [words(*_shares(entry.shares))] if with_labels else []
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


def settings(result: Result) -> Table:
    """What was chosen, and with which versions it was computed."""
    settings = result.to_dict()
    pieces: list[tuple[str, object]] = [("rule", settings.get("rule")), ("seed", settings.get("seed"))]
    pieces += [("rope", settings.get("rope")), *dict(settings.get("settings") or {}).items()]
    pieces += [(f"version of {name}", version) for name, version in dict(settings.get("versions") or {}).items()]
    unique = dict(pieces)
    rows = tuple((words(name.replace("_", " ")), Cell(_value(value), None)) for name, value in unique.items())
    return Table("Settings", (titled("Setting", False), titled("Value", False)), rows, sortable=False, kind="dense")


def _value(value: object) -> Sentence:
    if value is None:
        return (UNKNOWN,)
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    if isinstance(value, float):
        return (exact(value),)
    if isinstance(value, Mapping):
        return (", ".join(f"{key}: {''.join(_value(inner))}" for key, inner in value.items()),)
    return (Name(str(value)),)


def _shares(shares: Iterable[tuple[str, float]]) -> Sentence:
    pieces: list[str] = []
    for label, share in shares:
        pieces += [", " if pieces else "", Name(label), f" ({percent(share)})"]
    return tuple(piece for piece in pieces if piece)
