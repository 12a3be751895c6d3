"""What a table of labels or scores holds: the only guess in the house. What a caller says goes before it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from polars import DataFrame, Series

from probtruth.check import Source, did_you_mean, quote, shortlist
from probtruth.check_arrays import surely_simplex
from probtruth.errors import InputError
from probtruth.frame_numbers import as_matrix, float_columns, numbers
from probtruth.frames import keys, need_columns, polars_names
from probtruth.io.formats import LabelReading, MaybeText, ScoreReading, Texts, listed
from probtruth.io.suggest import long_form_of
from probtruth.io.table import Table
from probtruth.io.tables.columns import ENOUGH, MOST, by_name, item_column, labels_of, names_in, of_numbers, some_number
from probtruth.io.tables.wide import REPEATED, items_of
from probtruth.io.vote_columns import Votes, vote_columns

MODELS = ("model", "models", "system", "run", "model_name")  # of a column that names models
TOTALS = ("total", "sum", "count", "votes", "n", "n_votes", "n_annotators", "all")  # of a sum of the others
FEWEST_ROWS = 5  # by which a column of another name is told to be the sum or the majority of others


@dataclass(frozen=True)
class Long:
    """A row for each annotation."""

    item: str
    annotator: str
    label: str
    replicate: MaybeText
    notes: Texts = ()


@dataclass(frozen=True)
class Hard:
    """A row for each item, with its label."""

    item: str
    label: str
    notes: Texts = ()


@dataclass(frozen=True)
class Wide:
    """A row for each item, and a column for each annotator."""

    item: MaybeText
    annotators: Texts
    notes: Texts = ()


@dataclass(frozen=True)
class ByLabel:
    """A row for each item, and a column for each label; without a column of items rows have positions."""

    item: MaybeText
    labels: dict[str, str]  # the column of each label
    notes: Texts = ()
    positional: bool = False  # whether the labels are positions without names

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        own = [] if self.item is None else [self.item]
        return [*own, *self.labels.values()]


class Counts(ByLabel):
    """How many annotators gave each label."""


class Soft(ByLabel):
    """The probability of each label."""


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
    labels: Sequence[str] | None = None
    n_labels: int | None = None


def kind_of(
    table: Table, how: LabelReading = LabelReading(), beside: Beside = Beside(), votes_only: bool = False
) -> LabelKind:
    """What a table of labels holds, and which of its columns; with `votes_only`, of annotators."""
    table = table.with_items(how.item)
    if how.format == "wide":
        return _wide(table, how)
    columns = set(table.columns)
    if {"model_a", "model_b", "winner"} <= columns:
        raise votes_on_pairs(table.name)
    long = {how.column("annotator"), how.column("label")}
    if how.format not in ("counts", "soft"):
        if long <= columns:
            return _long(table, how, beside)
        if how.column("label") in columns and not votes_only:
            return _hard(table, how, beside)
        if how.annotator is not None or how.column("label") in columns:
            raise neither(table, how)
    return _by_label(table, how, beside, votes_only)


def _long(table: Table, how: LabelReading, beside: Beside) -> Long:
    if _rows_are_items(table, how, beside):
        table = table.with_items(None)
    frame, source = table.head
    others = [how.column(role) for role in ("annotator", "label", "replicate")]
    item, notes = item_column(frame.head(ENOUGH), how.item, beside.items, source, others)
    replicate = how.column("replicate")
    if how.replicate is not None:
        need_columns(frame.columns, {"replicate": replicate}, source.name)
    return Long(item, others[0], others[1], replicate if replicate in frame.columns else None, notes)


def _rows_are_items(table: Table, how: LabelReading, beside: Beside) -> bool:
    """Whether the index of a table in long form names the items, because the other side has its names."""
    if how.item is not None or table.row_names is None or "item" in table.columns:
        return False
    own = polars_names(table.row_names).unique()
    return any(own.is_in(names.implode()).to_numpy().mean() >= MOST for names in beside.items)


def _hard(table: Table, how: LabelReading, beside: Beside) -> Hard:
    table = table.with_items(how.item)
    frame, source = table.head
    label = how.column("label")
    named = how.column("item") in frame.columns
    if how.annotator is not None or (not (named or beside.items) and names_in(frame.drop(label), None)):
        raise neither(table, how)
    item, notes = item_column(frame.head(ENOUGH), how.item, beside.items, source, (label,))
    if frame.get_column(item).is_duplicated().any():
        raise neither(table, how)
    return Hard(item, label, notes)


def _wide(table: Table, how: LabelReading) -> Wide:
    table = table.with_items(how.item)
    columns = table.columns
    item: MaybeText = how.column("item")
    if item not in columns and how.item is None and not table.stored:
        rows = table.whole[0]
        if not any(rows[name].is_unique().all() for name in columns):  # else it may name the items
            item = None
    if item is not None:
        need_columns(columns, {"item": item}, table.name)
    named = [] if how.annotator is None else [*listed(how.annotator)]
    return Wide(item, tuple(named or [name for name in columns if name != item]))


def _by_label(table: Table, how: LabelReading, beside: Beside, votes_only: bool) -> LabelKind:
    """Numbers by label: soft labels where rows sum to 1, counts of votes where something says that they are."""
    table = table.with_items(how.item)
    frame, source = table.head
    head = frame.head(ENOUGH)
    item: MaybeText = None
    notes: Texts = ()
    texts = len(of_numbers(head, head.columns)) < head.width
    if table.stored or how.item is not None or "item" in head.columns or texts:
        if how.column("item") not in head.columns and not beside.items:
            raise neither(table, how)
        item, notes = item_column(head, how.item, beside.items, source)
        names = keys(head, item, source, "item")
        if names.n_unique() < len(names):  # a row for each annotation, under other names
            guessed = how.item is None and item != "item"
            if how.format == "auto" and (guessed or long_form_of(frame, how)):
                raise neither(table, how)
            items_of([(head, source)], item, "every item once", REPEATED)
    chosen, aside, known = _label_columns(head, item, how, beside, source)
    if not table.has_names:
        chosen = {str(position): name for position, name in enumerate(chosen.values())}
    if not chosen:
        raise neither(table, how)
    made = (item, chosen, notes + aside, not table.has_names)
    values = _numbers(head, [*chosen.values()])
    sums = values is not None and surely_simplex(values)
    whole = values is not None and bool((values == np.floor(values)).all())
    if how.format == "soft" or (sums and how.format != "counts" and not votes_only):
        return Soft(*made)
    if how.format == "counts":
        return Counts(*made)
    if values is None or (whole and (values < 0).any()):
        raise neither(table, how, _first_odd(table, Counts(*made)))
    if not whole:
        if votes_only:
            raise neither(table, how, _first_odd(table, Counts(*made)))
        return Soft(*made)
    by_number = beside.labels is None and beside.n_labels == len(chosen)
    if known or (by_number and not may_be_codes(values, len(chosen))):
        return Counts(*made)
    raise _either(head, item, [*chosen.values()], source, beside)


def _label_columns(
    head: DataFrame, item: MaybeText, how: LabelReading, beside: Beside, source: Source
) -> tuple[dict[str, str], Texts, bool]:
    """The columns of labels: those that are named, or that the other side names, or all.

    With what was ignored, and whether something says that they are labels.
    """
    candidates = labels_of(head, item, source, must_be_named=beside.labels is None and how.label is None)
    if how.label is not None:
        named = listed(how.label)
        for name in named:
            need_columns(head.columns, {"label": name}, source.name)
        return by_name(named), (), True
    numeric = of_numbers(head, [name for name in candidates if name.strip()])
    if not numeric:
        return {}, (), False
    labels = by_name(numeric)
    of_models = set(beside.labels or ())
    hits = {label: name for label, name in labels.items() if label in of_models}
    known = len(hits) >= min(2, len(labels))
    if not known:
        hits = labels
    taken = set(hits.values())
    left = [name for name in candidates if name not in taken]
    values = _numbers(head, [*hits.values()])
    derived: dict[str, str] = {}
    if not known and values is not None and len(hits) > 2:
        derived = _derived(values, [*hits.values()], beside)
        hits = {label: name for label, name in hits.items() if name not in derived}
    elif values is not None:
        for name in left:
            if name in numeric:
                derived[name] = _role(head, name, values) or ""
    strange = [name for name in derived if not derived[name]]
    if strange:  # a label that the other side lacks: what matches labels says so
        return {label: name for label, name in labels.items() if name not in derived or name in strange}, (), known
    said = [f"{quote(name)} ({word})" for name, word in derived.items()]
    said += [quote(name) for name in left if name not in derived]
    notes = (f"{source.name}: ignored {', '.join(said)}",) if said else ()
    return hits, notes, known


def _numbers(head: DataFrame, columns: Sequence[str]) -> Float[np.ndarray, "item label"] | None:
    floats = float_columns(head, columns)
    return None if floats is None else as_matrix(floats)


def _role(head: DataFrame, name: str, values: Float[np.ndarray, "item label"]) -> MaybeText:
    """What a column is beside those of the labels: their sum, the most frequent of them, or a number of the row."""
    found = _numbers(head, [name])
    if found is None or (found != np.floor(found)).any() or (found < 0).any():
        return "no number of votes"
    column = found[:, 0]
    if (column == values.sum(1)).all():
        return "the sum of the labels"
    if _is_majority(column, values):
        return "the label with most votes"
    if len(set(column.tolist())) == len(column) > 1:
        return "a number of the row"
    return None


def _is_majority(column: Float[np.ndarray, " item"], values: Float[np.ndarray, "item label"]) -> bool:
    """Whether a column says which of others is the largest, by its position from 0 or from 1."""
    for first in (0, 1):
        position = column - first
        if position.min() >= 0 and position.max() < values.shape[1]:
            chosen = values[np.arange(len(values)), position.astype(int)]
            if (chosen == values.max(1)).all():
                return True
    return False


def _derived(values: Float[np.ndarray, "item label"], names: Sequence[str], beside: Beside) -> dict[str, str]:
    """Columns that follow from others: the sum of some, perhaps without one that says which of them is the largest."""
    known = beside.labels or ()
    sums = values.sum(1)
    for total, name in enumerate(names):
        enough = len(values) >= FEWEST_ROWS or name.lower() in TOTALS
        if name in known or not enough or not values[:, total].any():
            continue
        rest = sums - 2 * values[:, total]  # what is neither the total nor a part of it
        if not rest.any():
            return {name: "the sum of the others"}
        for code in range(len(names)):
            others = [k for k in range(len(names)) if k not in (total, code)]
            if code == total or len(others) < 2 or (values[:, code] != rest).any():
                continue
            if _is_majority(values[:, code], values[:, others]):
                return {name: "the sum of the others", names[code]: "the label with most votes"}
    return {}


def may_be_codes(values: Float[np.ndarray, "item column"], n_labels: int) -> bool:
    """Whether whole numbers may be positions of so many labels, from 0 or from 1."""
    low, high = values.min(), values.max()
    return bool(high < n_labels or (low >= 1 and high <= n_labels))


def _either(head: DataFrame, item: MaybeText, names: Sequence[str], source: Source, beside: Beside) -> InputError:
    """The refusal of whole numbers that may count votes or be answers."""
    row = "the first row" if item is None else f"item {quote(head[item][0])}"
    cells = [f"{head[name][0]} for {quote(name)}" for name in names[:4]]
    more = " ..." if len(names) > 4 else ""
    others = ""
    if beside.labels is not None:
        near = next((did_you_mean(name, beside.labels) for name in names if name not in beside.labels), "")
        others = f" The labels that are named are {shortlist(beside.labels, 6)}. {near}"
    return InputError(
        f"whole numbers in the columns {shortlist(names)}, which may count votes or be the answers of annotators",
        f"to know which; as counts, {row} has {', '.join(cells)}{more}",
        "If each column counts the votes for a label: read_annotations(table, format='counts') (command line: --format "
        "counts). If each column is an annotator: read_annotations(table, format='wide') (--format wide). For a row "
        f"for each annotation, name the columns: item=, annotator=, label= (--item, --annotator, --label).{others}",
        source.name,
    )


def _first_odd(table: Table, kind: ByLabel) -> str:
    """The first cell that is no number of votes, in words."""
    for frame, source in table.rows(kind.columns):
        for name in kind.labels.values():
            try:
                values = numbers(frame, name, source, "label")
            except InputError as error:
                return f"{error.got} in {error.where}"
            odd = (values < 0) | (values != np.floor(values))
            if odd.any():
                row = int(odd.argmax())
                return f"{quote(frame[name][row])} in {source.at(row, name)}"
    return ""


def votes_on_pairs(name: str) -> InputError:
    """The refusal of what arenas write."""
    return InputError(
        "votes on pairs of models (model_a, model_b, winner)",
        "labels of items, or a score for each item and model",
        "Votes are no scores: pt.compare(pt.read_votes(...)), or probtruth compare with the file, takes them.",
        name,
    )


def score_kind(table: Table, how: ScoreReading = ScoreReading(), models: Sequence[str] | None = None) -> ScoreKind:
    """What a table of scores holds; `models` are the columns of models of a board (none: all that are left)."""
    item, model, score = (how.column(role) for role in ("item", "model", "score"))
    rows = _models_in_rows(table, how, models)
    table = table if rows is not None else table.with_items(how.item)
    if rows is not None:
        return _board_of_models(table, rows, how)
    if models is not None:
        used = (item, how.group, how.cluster)
        return Board(item, tuple(models or [name for name in table.columns if name not in used]))
    columns = table.columns
    if {item, model, score} <= set(columns):
        return LongScores(item, model, score)
    if vote_columns(columns) is not None:
        votes = vote_columns(columns, {"item": how.item, "annotator": how.annotator})
        assert votes is not None
        return votes
    _refuse_wide(table, how)
    need_columns(columns, {"item": item, "model": model, "score": score}, table.name)
    return LongScores(item, model, score)


def _models_in_rows(table: Table, how: ScoreReading, models: Sequence[str] | None) -> MaybeText:
    """The column that names models where a table has a row for each of them; None for any other table."""
    frame, _ = table.head
    if how.transpose:
        frame, _ = table.with_items(how.model).head
        texts = [name for name in frame.columns if not some_number(frame, name)]
        called = [name for name in texts if name.lower() in MODELS]
        found = how.model or how.item or next(iter(called + texts), how.column("item"))
        need_columns(frame.columns, {"model": found}, table.name)
        return found
    said = how.item if how.item is not None else how.model
    named = [name for name in frame.columns if name.strip().lower() in MODELS and said in (None, name)]
    others = [name for name in frame.columns if name not in named]
    if len(named) != 1 or how.column("score") in frame.columns or how.column("item") in others:
        return None
    numeric = of_numbers(frame, others)
    names_rows = not frame.get_column(named[0]).is_duplicated().any() and not some_number(frame, named[0])
    return named[0] if names_rows and numeric and not set(models or ()) & set(numeric) else None


def _board_of_models(table: Table, rows: str, how: ScoreReading) -> Board:
    frame, source = table.with_items(rows).head
    others = [name for name in frame.columns if name != rows and name.strip()]
    numeric = of_numbers(frame, others)
    means = [name for name in numeric if _is_mean(frame, name, numeric)]
    items = [name for name in numeric if name not in means]
    if len(items) < 2:
        hint = "Give the scores of its items: one number for each model does not say how sure it is."
        raise InputError(f"a row for each model and one benchmark, {shortlist(items)}", "several", hint, source.name)
    said = [f"{quote(name)} (the mean of the others)" for name in means]
    said += [quote(name) for name in others if name not in numeric]
    notes = [f"{source.name}: read rows as models ({quote(rows)}) and columns as items: {shortlist(items)}"]
    if said:
        notes.append(f"{source.name}: ignored {', '.join(said)}")
    return Board(rows, tuple(items), True, tuple(notes))


def _is_mean(frame: DataFrame, name: str, numeric: Sequence[str]) -> bool:
    """Whether a column is the mean of the others: up to two decimals where its name says so, else exactly."""
    values = _numbers(frame, [name, *(other for other in numeric if other != name)])
    if values is None or values.shape[1] < 3:
        return False
    said = any(word in name.lower() for word in ("average", "avg", "mean", "overall"))
    off = np.abs(values[:, 1:].mean(1) - values[:, 0])
    return bool((off <= (0.0051 if said else 1e-9)).all())


def _refuse_wide(table: Table, how: ScoreReading) -> None:
    """Raises where a table has a column for each model instead of one for all, with the option that reads it."""
    frame, source = table.with_items(how.item).head
    item, model, score = (how.column(role) for role in ("item", "model", "score"))
    if item not in frame.columns or {model, score} & set(frame.columns):
        return
    others = [name for name in frame.columns if name not in (item, how.group, how.cluster)]
    models = [name for name in others if some_number(frame, name)]
    # by their names where other columns stand between, unless a name cannot be written so
    some = len(models) < len(others) and not any("," in name for name in models)
    option = ("--format", "wide", *(("--model", ",".join(models)) if some else ()))
    if len(models) > 1:
        raise InputError(
            f"no columns {quote(model)} and {quote(score)}, but one column of numbers for each of {shortlist(models)}",
            "one row for each item and model, or the names of the models' columns",
            f"If these are models, pass models={models if some else []!r} (command line: {' '.join(option)}); if they "
            "are items, and rows are models, transpose=True (--transpose).",
            source.name,
            option,
        )


def neither(table: Table, how: LabelReading, odd: str = "") -> InputError:
    """The refusal of a table in none of the forms of labels."""
    frame, source = table.head
    columns = frame.columns
    names = {role: how.column(role) for role in ("item", "annotator", "label")}
    absent = next((name for name in names.values() if name not in columns), names["item"])
    known = f"For known answers add a column {names['annotator']!r}, with one name in all rows. "
    got = f"the columns {shortlist(columns, 12)}"
    nested = next((column.name for column in frame if column.dtype.is_nested()), "")
    if nested:
        reader = "pt.loaders.read_chaosnli (command line: --format chaosnli)"
        nested = f" If {quote(nested)} holds all votes on an item: {reader}."
    return InputError(
        f"{got}, and {odd}" if odd else got,
        f"the long form (columns {names['item']!r}, {names['annotator']!r}, {names['label']!r}) or the counts form "
        f"({names['item']!r} and, for each label, a column of non-negative integers)",
        f"{known if {names['item'], names['label']} <= set(columns) else ''}"
        "Name the columns with item=, annotator=, label= (command line: --item, --annotator, --label); "
        "one column for each annotator is the wide form (format='wide'; --format wide). "
        f"{did_you_mean(absent, columns)}{nested}",
        source.name,
        long_form_of(frame, how),
    )
