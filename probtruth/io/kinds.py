"""What a table of labels or scores holds: the only guess in the house. What a caller says goes before it."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars
from polars import DataFrame, Series

from probtruth.check import (
    MaybeStrings,
    Source,
    Strings,
    count,
    did_you_mean,
    need_columns,
    one_of,
    parts_of,
    quote,
    shortlist,
    usual_column,
)
from probtruth.check_arrays import surely_simplex
from probtruth.errors import InputError
from probtruth.frame_numbers import numbers, numeric
from probtruth.frames import blank, cells, flat, keys, name_text, polars_names, text
from probtruth.io.formats import TOOLS, LabelReading, MaybeText, Reading, ScoreReading, Texts, listed
from probtruth.io.table import Table
from probtruth.io.tables.columns import (
    MOST,
    ByLabel,
    by_name,
    is_numeric,
    item_column,
    labels_in,
    labels_of,
    numbers_in,
    of_numbers,
    of_scores,
    of_truth_values,
    saying,
)
from probtruth.io.tables.wide import REPEATED, items_of
from probtruth.io.vote_columns import Votes, votes_in

FEWEST_ANSWERS = 10  # of which no two are alike, for a column to hold something else than answers
FEWEST_LABELS = 2  # of the other side that columns of whole numbers need, to be counts of votes without being told
AVERAGES = ("average", "avg", "mean", "overall")  # What a leaderboard calls the mean of its benchmarks
MODELS = ("model", "models", "system", "run", "model_name")  # of a column that names models
# In the name of a column that says something else of a model than a score.
FACTS = (
    "params?|parameters|rank|year|date|released?|hub|co[2₂]|costs?|price|size|memory|dimensions?|latency|votes|"
    "max tokens|context length|context window"
)
FACT = re.compile(rf"#|^(?:id|index)$|\b(?:{FACTS})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Long:
    """A row for each annotation."""

    form = "table"

    item: str
    annotator: str
    label: str
    replicate: MaybeText
    notes: Texts = ()


@dataclass(frozen=True)
class Hard:
    """A row for each item, with its label."""

    form = "labels"

    item: str
    notes: Texts
    label: str


@dataclass(frozen=True)
class Wide:
    """A row for each item, and a column for each annotator."""

    form = "wide"

    item: MaybeText
    annotators: Texts
    notes: Texts = ()


class Counts(ByLabel):
    """How many annotators gave each label."""

    form = "counts"


class Soft(ByLabel):
    """The probability of each label."""

    form = "soft"


type LabelKind = Long | Hard | Wide | Counts | Soft


@dataclass(frozen=True)
class LongScores:
    """A row for each item and model."""

    item: str
    model: str
    score: str


@dataclass(frozen=True)
class Board:
    """A row for each item and a column for each model or, if it is one `of_models`, the other way round."""

    rows: str  # the column that names what the rows are
    columns: Texts
    of_models: bool = False
    notes: Texts = ()


type ScoreKind = LongScores | Board | Votes


@dataclass(frozen=True)
class Beside:
    """What the other side says: columns of which one names the items, and the names, or the number, of the labels."""

    items: Sequence[Series] = ()
    labels: MaybeStrings = None
    n_labels: int | None = None


def tool_in(table: Table, how: Reading) -> MaybeText:
    """The tool that wrote a log or an export, by its content or by the format that was said; None for a table."""
    one_of(how.format, how.formats, "--format")
    tool = table.tool if how.format == "auto" else how.format
    return tool if tool in TOOLS else None


def kind_of(
    table: Table, how: LabelReading = LabelReading(), beside: Beside = Beside(), votes_only: bool = False
) -> LabelKind:
    """What a table of labels that is no log holds, and which of its columns; with `votes_only`, of annotators."""
    rows = table
    table = table.with_items(how.item)
    columns = table.columns
    if how.format == "wide":
        return _wide(table, how)
    if {"model_a", "model_b", "winner"} <= set(columns):
        raise votes_on_pairs(table.name)
    if how.format not in ("counts", "soft"):
        label = how.column("label")
        if label in columns and how.column("annotator") in columns:
            return _long(rows, how, beside)
        if label in columns and how.annotator is None and not votes_only:
            return Hard(*item_column(table, how.item, beside.items, (label,)), label)
        if how.annotator is not None or label in columns:
            raise neither(table, how)
    return _by_label(table, how, beside, votes_only)


def _long(table: Table, how: LabelReading, beside: Beside) -> Long:
    # numbers of rows name no items of a table with several rows an item, unless the other side has them
    if not table.numbers_rows or _rows_are_items(table, beside):
        table = table.with_items(how.item)
    others = [how.column(role) for role in ("annotator", "label", "replicate")]
    annotator, label, replicate = others
    item, notes = item_column(table, how.item, beside.items, others)
    need_columns(table.columns, how.named("replicate"), table.name)
    return Long(item, annotator, label, replicate if replicate in table.columns else None, notes)


def _rows_are_items(table: Table, beside: Beside) -> bool:
    """Whether the numbers of the rows of a table name its items, because the other side has these names."""
    own = polars_names(table.row_names or ()).unique()
    return any(own.is_in(names.implode()).to_numpy().mean() >= MOST for names in beside.items)


def _wide(table: Table, how: LabelReading) -> Wide:
    item: MaybeText = how.column("item")
    unnamed = item not in table.columns and how.item is None and not table.stored
    if unnamed and not any(column.is_unique().all() for column in table.whole[0]):  # else one may name the items
        item = None
    need_columns(table.columns, {"item": item}, table.name)
    said = listed(how.annotator)
    return Wide(item, said or _annotators(table, item))


def _annotators(table: Table, item: MaybeText) -> Texts:
    """The columns but that of the items; one that says something else of them (a text, a row number) is refused."""
    frame, source = table.sample
    names = tuple(name for name in saying(frame) if name != item)
    answers = {name: _answers(frame, name, source) for name in names}
    for name, column in answers.items():
        others = [answers[other] for other in names if other != name]
        if len(column) < FEWEST_ANSWERS or not column.is_unique().all() or all(one.is_unique().all() for one in others):
            continue
        numbers = column.cast(polars.Int64, strict=False).sort()
        in_a_row = len(column) == frame.height and bool((numbers.diff().drop_nulls() == 1).all())
        if (not numbers.has_nulls() and in_a_row) or not column.is_in(polars.concat(others).implode()).any():
            rest = [other for other in names if other != name]
            raise InputError(
                f"the column {quote(name)}, in which no two cells are alike, beside columns of answers",
                "columns of annotators only",
                f"Name them: annotators={rest!r} (command line: --annotator {shlex.quote(','.join(rest))}).",
                source.name,
            )
    return names


def _answers(frame: DataFrame, name: str, source: Source) -> Series:
    """The cells of a column that say something, as text."""
    column = flat(frame, name, source, "annotator")
    return text(column.filter(~blank(column)))


def _by_label(table: Table, how: LabelReading, beside: Beside, votes_only: bool) -> LabelKind:
    """Numbers by label: soft labels where rows sum to 1, counts of votes where something says that they are."""
    head, source = table.sample
    item, notes = _item_of_numbers(table, how, beside)
    known = how.label is not None
    chosen = {}
    if known:
        for name in listed(how.label):
            need_columns(head.columns, {"label": name}, source.name)
        chosen = by_name(listed(how.label))
    elif table.has_names:
        used = set(beside.labels or ())
        chosen, ignored = labels_in(table, item, beside.labels or (), must_be_named=beside.labels is None)
        notes += ignored
        known = sum(label in used for label in chosen) >= FEWEST_LABELS
    else:
        columns = of_numbers(head, labels_of(table, item, must_be_named=False))
        chosen = {str(position): name for position, name in enumerate(columns)}
    names = [*chosen.values()]
    if not of_numbers(head, names):
        for name in of_scores(head, names):
            numbers(head, name, source, "label")  # which says how to write them
        raise neither(table, how)
    soft = Soft(item, chosen, notes, not table.has_names)
    counts = Counts(item, chosen, notes, not table.has_names)
    if how.format in ("soft", "counts"):
        return soft if how.format == "soft" else counts
    values = numbers_in(head, names)
    found = [numeric(cells(head, name)).fill_nan(None).drop_nulls() for name in names]
    whole = all((column == column.floor()).all() for column in found)
    if values is not None and not (values >= 0).all():  # as answers, with codes of -1
        values = None
    if not votes_only and (not whole or (values is not None and surely_simplex(values))):
        return soft
    if known or not whole:
        return counts
    if values is None:
        raise _either(head, item, names, source, beside, votes_only)
    n_labels = len(names)
    from_0 = values.max() < n_labels
    from_1 = values.min() >= 1 and values.max() <= n_labels
    by_number = beside.n_labels == n_labels and (beside.labels is None or not table.has_names)
    if by_number and not from_0 and not from_1:  # no codes of labels
        return counts
    raise _either(head, item, names, source, beside, votes_only)


def _item_of_numbers(table: Table, how: LabelReading, beside: Beside) -> tuple[MaybeText, Texts]:
    """The column of items, in which each stands once; None where rows have positions only."""
    head, source = table.sample
    only_numbers = len(of_numbers(head, head.columns)) == head.width
    if only_numbers and not table.stored and how.item is None and "item" not in head.columns:
        return None, ()
    if how.column("item") not in head.columns and not beside.items:
        raise neither(table, how)
    item, notes = item_column(table, how.item, beside.items)
    if how.format == "auto" and keys(head, item, source, "item").is_duplicated().any():
        others = [name for name in head.columns if name != item]
        if item != how.column("item") or len(of_numbers(head, others)) < len(others):
            raise neither(table, how)  # a row for each annotation, under other names
    items_of([(head, source)], item, "every item once", REPEATED)
    return item, notes


def _either(
    head: DataFrame, item: MaybeText, names: Strings, source: Source, beside: Beside, votes_only: bool
) -> InputError:
    """The refusal of whole numbers that may count votes or be answers."""
    odd = {}  # the first row of each column whose cell cannot be a count
    for name in names:
        fits = (numeric(cells(head, name)).fill_nan(None) >= 0).fill_null(False)
        if not fits.all():
            odd[name] = (~fits).arg_true()[0]
    at = next(iter(odd.values()), 0)
    row = f"row {at + 1}" if item is None else f"item {quote(head[item][at])}"
    shown = [*odd, *(name for name in names if name not in odd)][:4]
    said = [
        f"{'a blank cell' if blank(cells(head, name))[at] else name_text(head[name][at])} for {quote(name)}"
        for name in shown
    ]
    more = " ..." if len(names) > 4 else ""
    others = ""
    if beside.labels is not None:
        others = f" The labels that are named are {shortlist(beside.labels, 6)}."
    hint = (
        "If each column counts the votes for a label: read_annotations(table, format='counts'), or of an array "
        "Annotations.from_counts(array) (command line: --format counts). If each column is an annotator: "
        "read_annotations(table, format='wide') (--format wide). For a row for each annotation, name the columns: "
        "item=, annotator=, label= (--item, --annotator, --label)."
    )
    return InputError(
        f"whole numbers in the columns {shortlist(names)}, which may count votes or be the answers of annotators",
        f"to know which; as counts, {row} has {', '.join(said)}{more}",
        f"{(None if votes_only else _if_label(names)) or hint}{others}",
        source.name,
    )


def _if_label(columns: Strings) -> MaybeText:
    """What to say where one column is left beside the items."""
    if len(columns) != 1 or columns[0] == "label" or usual_column("annotator", columns) is not None:
        return None
    typed = shlex.quote(columns[0])
    return f"If {quote(columns[0])} is the label of each item: label={columns[0]!r} (command line: --label {typed})."


def votes_on_pairs(name: str) -> InputError:
    """The refusal of what arenas write."""
    return InputError(
        "votes on pairs of models (model_a, model_b, winner)",
        "labels of items, or a score for each item and model",
        "Votes are no scores: pt.compare(pt.read_votes(...)), or probtruth compare with the file, takes them.",
        name,
    )


def score_kind(table: Table, how: ScoreReading = ScoreReading(), models: MaybeStrings = None) -> ScoreKind:
    """What a table of scores holds; `models` are the columns of models of a board (none: all that are left)."""
    item, model, score = (how.column(role) for role in ("item", "model", "score"))
    rows = _models_in_rows(table, how, models)
    if rows is not None:
        return _board_of_models(table, rows, how)
    if models is not None:
        table = table.with_items(how.item)
        used = (item, how.group, how.cluster)
        return Board(item, tuple(models or [name for name in saying(table.head[0]) if name not in used]))
    long = table if table.numbers_rows else table.with_items(how.item)
    columns = long.columns
    if {item, model, score} <= set(columns):
        return LongScores(item, model, score)
    votes = votes_in(table, {"item": how.item, "annotator": how.annotator, "group": how.group})
    if votes is not None:
        return votes
    _refuse_wide(table, how)
    need_columns(columns, {"item": item, "model": model, "score": score}, table.name)
    return LongScores(item, model, score)


def _models_in_rows(table: Table, how: ScoreReading, models: MaybeStrings) -> MaybeText:
    """The column that names models where a table has a row for each of them; None for any other table."""
    frame, _ = table.head
    if how.transpose:
        frame, _ = table.with_items(how.model).head
        texts = [column.name for column in frame if not is_numeric(column)]
        called = [name for name in texts if name.lower() in MODELS]
        found = how.model or how.item or next(iter(called + texts), how.column("item"))
        need_columns(frame.columns, {"model": found}, table.name)
        return found
    said = how.item if how.item is not None else how.model
    named = [name for name in frame.columns if name.strip().lower() in MODELS and said in (None, name)]
    others = [name for name in frame.columns if name not in named]
    if len(named) != 1 or how.column("score") in frame.columns or how.column("item") in others:
        return None
    names = frame.get_column(named[0])
    if names.is_duplicated().any() or is_numeric(names):
        return None
    numeric = of_scores(frame, others)
    return named[0] if numeric and set(numeric).isdisjoint(models or ()) else None


def _board_of_models(table: Table, rows: str, how: ScoreReading) -> Board:
    frame, source = table.with_items(rows).head
    others = [name for name in saying(frame) if name != rows and name.strip()]
    numeric = of_scores(frame, others)
    # beside scores, truth values are facts about a model
    numeric = [name for name in numeric if not of_truth_values(frame, name)] or numeric
    numeric = [name for name in numeric if FACT.search(name) is None]
    means = _means(frame, numeric)
    items = [name for name in numeric if name not in means]
    if len(items) < 2:
        raise InputError(
            f"{count(len(items), 'column')} of scores in a table with a row for each model",
            "several",
            "Give the scores of its items: one number for each model does not say how sure it is.",
            source.name,
        )
    said = [f"{quote(name)} (the mean of the others)" for name in means]
    said += [quote(name) for name in others if name not in numeric]
    notes = [f"{source.name}: read rows as models ({quote(rows)}) and columns as items: {shortlist(items)}"]
    if said:
        notes.append(f"{source.name}: ignored {', '.join(said)}")
    return Board(rows, tuple(items), True, tuple(notes))


def _means(frame: DataFrame, numeric: Strings) -> list[str]:
    """Columns that are the mean of the others: by their names, up to two decimals by a part of them, else exactly."""
    values = numbers_in(frame, numeric)
    sums = None if values is None or len(numeric) < 3 else values.sum(1)
    means = []
    for at, name in enumerate(numeric):
        mean = re.sub(r"\(.*\)|[^a-z]", "", name.lower()) in AVERAGES
        if not mean and values is not None and sums is not None:
            own = values[:, at]
            said = any(word in name.lower() for word in AVERAGES)
            off = np.abs((sums - own) / (len(numeric) - 1) - own)
            mean = bool((off <= (0.0051 if said else 1e-9)).all())
        if mean:
            means.append(name)
    return means


def _refuse_wide(table: Table, how: ScoreReading) -> None:
    """Raises where a table has a column for each model instead of one for all, with the option that reads it."""
    frame, source = table.with_items(how.item).head
    item, model, score = (how.column(role) for role in ("item", "model", "score"))
    if item not in frame.columns or {model, score} & set(frame.columns):
        return
    others = [name for name in frame.columns if name not in (item, how.group, how.cluster)]
    models = of_scores(frame, others)
    named: list[str] = []
    option = "--format wide"
    if len(models) < len(others) and not any("," in name for name in models):  # other columns stand between
        named = models
        option = f"--format wide --model {shlex.quote(','.join(models))}"
    if len(models) > 1:
        raise InputError(
            f"no columns {quote(model)} and {quote(score)}, but one column of numbers for each of {shortlist(models)}",
            "one row for each item and model, or the names of the models' columns",
            f"If these are models, pass models={named!r} (command line: {option}); if they are items, and rows are "
            "models, transpose=True (--transpose).",
            source.name,
        )


def neither(table: Table, how: LabelReading) -> InputError:
    """The refusal of a table in none of the forms of labels."""
    frame, source = table.head
    names = [how.column(role) for role in ("item", "annotator", "label")]
    absent = [name for name in names if name not in frame.columns]
    for name in absent:
        parts_of(name)  # which is text
    hint = (
        "Name the columns with item=, annotator=, label= (command line: --item, --annotator, --label); one column for "
        "each annotator is the wide form (format='wide'; --format wide)."
    )
    close = did_you_mean((absent or names)[0], frame.columns)
    usual = {role: usual_column(role, frame.columns) for role in ("item", "annotator", "label")}
    if absent == names and None not in usual.values():
        said = {role: str(name) for role, name in usual.items()}
        if not frame.select([said["item"], said["annotator"]]).is_duplicated().any():
            in_python = ", ".join(f"{role}={name!r}" for role, name in said.items())
            typed = " ".join(f"--{role} {shlex.quote(name)}" for role, name in said.items())
            hint = f"{hint} Perhaps {in_python} (command line: {typed})."
            close = ""
    if absent == names[1:2]:
        hint = f"For known answers add a column {absent[0]!r}, with one name in all rows. {hint}"
    nested = [column.name for column in frame if column.dtype.is_nested()]
    if nested:
        reader = "pt.loaders.read_chaosnli (command line: --format chaosnli)"
        hint += f" If {quote(nested[0])} holds all votes on an item: {reader}."
    item = usual["item"] if names[0] in absent else names[0]
    of_one = _if_label([name for name in frame.columns if name != item])
    if of_one is not None and names[2] in absent and not nested:
        hint = of_one
        close = ""
    return InputError(
        f"the columns {shortlist(frame.columns, 12)}",
        f"the long form (columns {shortlist(names)}) or the counts form ({names[0]!r} and, for each label, a column of "
        "non-negative integers)",
        f"{hint} {close}".rstrip(),
        source.name,
    )
