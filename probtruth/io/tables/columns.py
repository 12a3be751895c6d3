"""Which columns of a table are the items and the labels, where their names alone do not say it."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars
from jaxtyping import Float
from polars import DataFrame, Series, String

from probtruth import check, check_arrays, frame_numbers, frames
from probtruth.check import MaybeStrings, Source, Strings, need_columns, quote, shortlist, unique
from probtruth.check_arrays import surely_simplex
from probtruth.errors import InputError
from probtruth.frame_numbers import as_matrix, float_columns
from probtruth.frames import as_series, by_value, flat
from probtruth.io.formats import MaybeText, Texts
from probtruth.io.table import OWN, Part, Table
from probtruth.io.tables.wide import LIKE, REPEATED, all_named, in_probs, items_of
from probtruth.kernels.shapes import ItemLabel
from probtruth.types import Index
from probtruth.types.index import event_of, unnamed_event

MOST = 0.5  # The share of a column's names that the other side must have, for it to be the column of items


@dataclass(frozen=True)
class ByLabel:
    """A row for each item, and a column for each label; without a column of items rows have positions."""

    item: MaybeText
    labels: dict[str, str]  # each label's column, in the order of the table
    notes: Texts = ()  # what was guessed, in words
    positional: bool = False  # whether the labels are positions without names
    event: MaybeText = None  # the label whose probability the one column holds, where there is only one

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        own = [] if self.item is None else [self.item]
        return [*own, *dict.fromkeys(self.labels.values())]


def names_in(table: Table, item: MaybeText) -> list[Series]:
    """The column of items; without one, every column whose cells differ, since any of them may be it."""
    frame, _ = table.head
    name_of_item = "item" if item is None else item
    if name_of_item in frame.columns:
        return [_text(frame, name_of_item)]
    return [_text(frame, name) for name in frame.columns if _names_rows(frame, name)]


def item_column(table: Table, item: MaybeText, known: Sequence[Series], others: Strings = ()) -> tuple[str, Texts]:
    """The column of items: the one of this name, else the one whose names the other side has; and what was guessed."""
    frame, source = table.sample
    name_of_item = "item" if item is None else item
    if item is not None or name_of_item in frame.columns:
        need_columns(frame.columns, {"item": name_of_item}, source.name)
        return name_of_item, ()
    fits = []
    for name in frame.columns:
        if name not in others and _may_name(frame, name):
            own = _text(frame, name).drop_nulls().unique()
            if len(own) and any(own.is_in(frames.text(names).implode()).to_numpy().mean() >= MOST for names in known):
                fits.append(name)
    if len(fits) == 1:
        return fits[0], (f"{source.name}: took the column {fits[0]!r} as the items, whose names match",)
    if fits:
        raise InputError(
            f"no column 'item', and items in each of {shortlist(fits)}",
            "one column of item names",
            f"Call the right one 'item' or, if all files have it, name it: item={fits[0]!r} (command line: --item "
            f"{fits[0]}).",
            source.name,
        )
    if any(_names_rows(frame, name) for name in frame.columns):
        need_columns(frame.columns, {"item": "item"}, source.name)
    raise InputError(
        f"no column 'item', and none that could name the rows (columns: {shortlist(frame.columns, 12)})",
        "a column of item names",
        "Name the column of items with item= (command line: --item). Where each row is an item of its own and the rows "
        "of all files stand in one order, add the number of the row to each as a column 'item'.",
        source.name,
    )


def items_in(
    table: Table, kind: ByLabel, expected: str = "every item once", hint: str = REPEATED
) -> tuple[frames.Names | None, int, Source]:
    """The names of the items (None where rows have positions), how many they are, and where they stand."""
    if kind.item is None:
        frame, source = table.whole
        return None, frame.height, source
    items, source = items_of(table.rows([kind.item]), kind.item, expected, hint)
    return items, len(items), source


def choose(table: Table, item: MaybeText, index: Index | None, kind: str, labels: MaybeStrings = None) -> ByLabel:
    """The columns of a table of predictions, by its first rows; `labels` are the names that the caller gives."""
    known = []
    if index is not None and not index.positional_items:
        known = [as_series(index.items)]
    # a name that was given for the reference's column is another one here, perhaps
    item, notes = item_column(table, item if item in table.columns else None, known)
    used: Strings = ()
    in_order = labels is not None
    if labels is not None:
        used = labels
    elif index is not None and not index.positional_labels:
        used = index.labels
        in_order = index.label_columns is not None
        unnamed = table.single and event_of(used) is None and set(used).isdisjoint(table.columns)
        if (in_order and unnamed) or not table.has_names:  # whose columns follow the caller's order
            used = index.written("labels", table.name)
    elif index is not None and len(index.labels) == 2:
        used = ("0", "1")
    if not table.has_names:
        columns = labels_of(table, item)
        if not used:
            return ByLabel(item, {name: name for name in columns}, positional=True)
        check.length(len(columns), len(used), f"labels in {table.name}")
        return ByLabel(item, dict(zip(used, columns, strict=True)))
    chosen = label_columns(table, item, used, kind, in_order)
    values = None if used or len(chosen.labels) > 1 else numbers_in(table.sample[0], [*chosen.labels.values()], kind)
    if values is not None and kind != "logits" and not surely_simplex(values):
        hint = (
            "`evaluate` and `probtruth run` know them from the reference; read_predictions takes them as labels=[...]."
        )
        raise InputError(
            f"one column of numbers, {quote(*chosen.labels)}, and no names of labels",
            "a column for each label, or the names of both",
            " ".join((hint, *chosen.notes)),
            table.name,
        )
    return replace(chosen, notes=(*notes, *chosen.notes))


UNNAMED = re.compile(r"Unnamed: \d+([.]\d+)?")  # What pandas calls a column without a name


def saying(frame: DataFrame) -> list[str]:
    """The columns, without those that have no name and hold nothing or row numbers, as an index that was exported."""
    rows = np.arange(frame.height)
    left = []
    for name in frame.columns:
        cells = frames.cells(frame, name)
        of_pandas = UNNAMED.fullmatch(name) is not None
        if of_pandas or not name.strip():
            numbers = frame_numbers.numeric(cells)
            whole = not numbers.has_nulls() and (numbers == numbers.floor()).all()
            of_rows = whole and (numbers.to_numpy() == rows).all()
            of_some_rows = of_pandas and whole and numbers.is_unique().all()  # of a frame that was filtered
            if frames.blank(cells).all() or of_rows or of_some_rows:
                continue
        left.append(name)
    return left


def labels_of(table: Table, item: MaybeText, must_be_named: bool = True) -> list[str]:
    """All columns but that of the items, and those that probtruth writes beside the labels'."""
    frame, source = table.sample
    parts = [] if item is None else check.parts_of(item)  # of a name in several columns
    labels = [name for name in saying(frame) if name not in (item, *parts) and not name.startswith(OWN)]
    if not labels:
        raise InputError(
            "no column of a label",
            "one column for each label",
            "Check the file.",
            source.name,
        )
    if must_be_named:
        all_named(labels, "label", source)
    return labels


def label_columns(
    table: Table,
    item: str,
    used: Strings,
    kind: str = "probs",
    in_order: bool = False,
    must_be_named: bool = True,
) -> ByLabel:
    """The columns of predicted labels, of which a reference uses some, perhaps `in_order` of the caller."""
    chosen = ByLabel(item, *labels_in(table, item, used, must_be_named, kind))
    return chosen if kind == "log-probs" else with_event(chosen, used, table, in_order, kind)


def labels_in(
    table: Table, item: MaybeText, used: Strings, must_be_named: bool = True, kind: str = "probs"
) -> tuple[dict[str, str], Texts]:
    """The column of each label, of which the other side uses some; and what was ignored, also of numbers."""
    frame, source = table.sample
    notes: Texts = ()
    columns = labels_of(table, item, must_be_named)
    prefix = _prefix(columns, used)
    if prefix:
        notes += (f"{source.name}: took {prefix!r} off the names of the labels",)
    named = set(used)
    labels = by_name([name for name in columns if name.startswith(prefix) and name.strip()], prefix, named)
    numbers = set(of_numbers(frame, [name for label, name in labels.items() if label not in named]))
    of_text = {label for label, name in labels.items() if label not in named and name not in numbers}
    labels = {label: name for label, name in labels.items() if label not in of_text or len(of_text) == len(labels)}
    roles = _no_labels(frame, labels, named, kind)
    labels = {label: name for label, name in labels.items() if name not in roles}
    taken = set(labels.values())
    said: list[str] = []
    for name in columns:
        if name not in taken:
            said.append(f"{quote(name)} ({roles[name]})" if roles.get(name) else quote(name))
    if said:
        notes += (f"{source.name}: ignored {', '.join(said[:12])}",)
    return labels, notes


def _no_labels(frame: DataFrame, labels: dict[str, str], used: Collection[str], kind: str) -> dict[str, str]:
    """Columns of numbers that are no labels beside those that are, and what they are where it can be told."""
    names = [*labels.values()]
    hits = [name for label, name in labels.items() if label in used]
    strange = [name for label, name in labels.items() if label not in used]
    if not strange or len(names) == 1 or kind == "logits":  # which sum to anything
        return {}
    values = numbers_in(frame, names, kind)
    if values is not None and surely_simplex(values):
        return {}
    if len(hits) < 2:
        return {} if values is None or len(names) < 3 or not len(values) else _derived(values, names, hits)
    main = numbers_in(frame, hits, kind)
    if main is not None and surely_simplex(main):
        return dict.fromkeys(strange, "")
    if main is None or (main != np.floor(main)).any():
        return {}
    roles = {}
    for name in strange:
        role = _role(numbers_in(frame, [name]), main)
        if role is not None:
            roles[name] = role
    return roles


def numbers_in(frame: DataFrame, columns: Strings, kind: str = "probs") -> ItemLabel | None:
    """The columns as numbers, percentages and log-probabilities as probabilities; None where some cell is none."""
    floats = float_columns(frame, columns)
    if floats is None:
        return None
    with np.errstate(over="ignore"):
        return np.exp(as_matrix(floats)) if kind == "log-probs" else in_probs(as_matrix(floats), kind)


def odd_logits(table: Table, chosen: ByLabel, used: Collection[str]) -> list[str]:
    """Columns read as logits that no annotator used, of whole numbers or numbers from 0 to 1, unlike the others."""
    odd = []
    for label, name in chosen.labels.items():
        values = None if chosen.event else numbers_in(table.sample[0], [name])
        if values is None:
            return []
        plain = (values == np.floor(values)).all() or ((values >= 0) & (values <= 1)).all()
        if plain and label in used:
            return []
        if plain:
            odd.append(name)
    return odd


SUM, LARGEST = "the sum of the others", "the position of the largest of the others"


def _role(found: Float[np.ndarray, "item one"] | None, votes: ItemLabel) -> MaybeText:
    """What a column is beside votes by label: their sum, which of them is largest, no votes; None for more votes."""
    if found is None or (found != np.floor(found)).any() or (found < 0).any():
        return ""
    column = found[:, 0]
    if (column == votes.sum(1)).all():
        return SUM
    if _is_largest(column, votes):
        return LARGEST
    return "" if len(np.unique(column)) == len(column) > 1 else None  # a number of the row


def _is_largest(column: Float[np.ndarray, " item"], values: ItemLabel) -> bool:
    """Whether a column says which of others is the largest, by its position from 0 or from 1."""
    largest = values == values.max(1, keepdims=True)
    positions = np.arange(values.shape[1])
    return any((largest & (positions + first == column[:, None])).any(1).all() for first in (0, 1))


def _derived(values: ItemLabel, names: Strings, hits: Strings) -> dict[str, str]:
    """Columns that follow from others: the sum of some, perhaps beside one that says which of them is the largest."""
    sums = values.sum(1)
    for at, name in enumerate(names):
        column = values[:, at]
        rest = sums - column
        if name in hits or not column.any():
            continue
        of_probs = (np.abs(rest - 1) <= check_arrays.SUM_TOLERANCE).all()
        if of_probs and _is_largest(column, np.delete(values, at, axis=1)):
            return {name: LARGEST}
        if not of_probs and not check_arrays.may_be_total(name, len(values)):
            continue
        more = rest - column  # what is neither the total nor a part of it
        if (np.abs(more) <= check_arrays.SUM_TOLERANCE).all():
            return {name: SUM}
        for code in np.flatnonzero(values[0] == more[0]).tolist():
            if code == at or len(names) < 4 or (values[:, code] != more).any():
                continue
            if _is_largest(more, np.delete(values, [at, code], axis=1)):
                return {name: SUM, names[code]: LARGEST}
    return {}


def by_name(columns: Strings, prefix: str = "", used: Collection[str] = ()) -> dict[str, str]:
    """The columns by the names of their labels; numbers and times by value, but as the other side has them."""
    labels = [name.removeprefix(prefix) for name in columns]
    for values in (frames.NUMBER, "(?i)^(true|false)$", frames.TIME):
        alike = [label for label in labels if re.match(values, label) and label not in used]
        named = dict(zip(alike, frames.named(alike), strict=True))
        labels = [named.get(label, label) for label in labels]
    unique(labels, "label")
    return dict(zip(labels, columns, strict=True))


def _prefix(columns: Strings, used: Strings) -> str:
    """What stands before every label of the reference in the names of columns; empty where these are the labels."""
    if not used or set(used) & set(columns):
        return ""
    fits = []
    for name in columns:
        prefix = name.removesuffix(used[0])
        if name.endswith(used[0]) and all(prefix + label in columns for label in used):
            fits.append(prefix)
    return fits[0] if len(fits) == 1 else ""


def with_event[Kind: ByLabel](
    chosen: Kind, used: Strings, table: Table, in_order: bool = False, kind: str = "probs"
) -> Kind:
    """The same, of a table with one column of numbers as the probabilities of an event."""
    source = table.head[1]
    pair = ("0", "1") if used and {*used} <= {"0", "1"} else tuple(used)
    if len(chosen.labels) != 1 or len(pair) != 2:
        return chosen
    ((label, column),) = chosen.labels.items()
    event = event_of(pair, label)
    if event is None and table.single and in_order:
        event = pair[1]
    if event is None:
        raise InputError(*unnamed_event(column, pair), source.name)
    other = next(name for name in pair if name != event)
    if column not in pair:
        _no_confidence(table, chosen.item, column, other, pair, kind)
    said = f"{source.name}: took {column!r} as the probability of {event!r}"
    return replace(chosen, labels={other: column, event: column}, event=event, notes=(*chosen.notes, said))


SURE = re.compile("conf|certain|max", re.IGNORECASE)  # in the name of how sure a model is of its answer, whichever


def _no_confidence(table: Table, item: MaybeText, column: str, other: str, pair: Strings, kind: str) -> None:
    """Raises if a column is the probability of an answer that another column gives, so that none is below a half."""
    frame, source = table.sample
    values = numbers_in(frame, [column], kind)
    if values is None or kind == "logits" or not (values >= 0.5).all():
        return
    answers = []
    for name in frame.columns:
        if name not in (item, column) and _may_name(frame, name):
            said = _text(frame, name).drop_nulls().unique()
            if len(said) == 2 or said.to_list() == [other]:
                answers.append(name)
    if answers or SURE.search(column):
        beside = f" beside the answers {shortlist(answers)}" if answers else ""
        raise InputError(
            f"one column of numbers, {quote(column)}, never below 0.5{beside}",
            f"the probability of one label ({shortlist(pair)})",
            "The probability of each row's answer says nothing of one label: give one column for each label. If it is "
            f"that of one label, rename it, for instance to {pair[1]!r}.",
            source.name,
        )


def under_labels(frame: DataFrame, source: Source, chosen: ByLabel, kind: str = "probs") -> Part:
    """The columns under the names of the labels; that of an event's probability as two."""
    if all(label == name for label, name in chosen.labels.items()):
        return frame, source
    own = {label: frame.get_column(name) for label, name in chosen.labels.items()}
    if chosen.event is not None:
        column = chosen.labels[chosen.event]
        values = frame_numbers.numbers(frame, column, source, "label")
        other = np.zeros_like(values)  # of logits
        if kind != "logits":
            top = 100.0 if kind == "percent" else 1.0
            bad = ~((values >= 0) & (values <= top))
            if bad.any():
                row = int(bad.argmax())
                hint = "Check that cell"
                if kind != "percent":
                    like, formula = ("logits", "1 / (1 + exp(-x))") if (values < 0).any() else ("percent", "x / 100")
                    hint = (
                        f"Convert {LIKE[like]} ({formula}) or, where one label of an item is judged, read the models "
                        f"by themselves: read_predictions(..., kind={like!r}) (command line: --kind {like})"
                    )
                raise InputError(
                    f"{values[row]}",
                    f"a probability from 0 to {top:g}",
                    f"{hint}. Nothing is clipped.",
                    source.at(row, column),
                )
            other = top - values
        own = {label: Series(values if label == chosen.event else other) for label in own}
    columns = {label: source.columns.get(name, name) for label, name in chosen.labels.items()}
    return DataFrame(own), replace(source, columns=columns)


def _may_name(frame: DataFrame, name: str) -> bool:
    """Whether a column may name rows: text or integers, but no decimals in a text."""
    cells = frames.cells(frame, name)
    if cells.dtype == String:
        return not cells.str.contains(r"^\s*-?\d*[.]\d+([eE][-+]?\d+)?\s*$").any()
    return cells.dtype in (polars.Categorical, polars.Enum) or cells.dtype.is_integer()


def _names_rows(frame: DataFrame, name: str) -> bool:
    """Whether a column may name rows, each in another way."""
    return _may_name(frame, name) and frames.cells(frame, name).is_unique().all()


def _text(frame: DataFrame, name: str) -> Series:
    return by_value(frames.text(flat(frame, name, Source(), "item")))


def of_numbers(frame: DataFrame, names: Strings) -> list[str]:
    """The columns, of these, that hold numbers."""
    return [name for name in names if is_numeric(frames.cells(frame, name))]


def of_scores(frame: DataFrame, names: Strings) -> list[str]:
    """As `of_numbers`, with the columns of what only a reader takes for numbers (63.7%), which are refused later."""
    found = []
    for name in names:
        cells = frames.cells(frame, name)
        scores = is_numeric(cells)
        if not scores and cells.dtype == String:
            scores = is_numeric(cells.str.replace(f"^{frame_numbers.MARKED}$", "0"))
        if scores:
            found.append(name)
    return found


def is_numeric(column: Series) -> bool:
    """Whether at least half of the cells that say anything are numbers."""
    if column.dtype in (polars.Categorical, polars.Enum):
        column = column.cast(String)
    if not isinstance(column.dtype, String):
        return column.dtype.is_numeric() or column.dtype in (polars.Boolean, polars.Duration)
    if column.cast(polars.Float64, strict=False).null_count() == 0:  # the quick way, for very many columns
        return True
    n_said = (~frames.blank(column.alias("cells"))).arg_true().len()  # a benchmark may be scored on few models
    n_numbers = frame_numbers.numeric(column).count()
    return n_said > 0 and n_numbers >= MOST * n_said


def of_truth_values(frame: DataFrame, name: str) -> bool:
    """Whether a column holds true and false, as values or as words."""
    column = frames.cells(frame, name)
    if column.dtype != String:
        return column.dtype == polars.Boolean
    words = column.str.strip_chars().str.to_lowercase()
    return bool(words.drop_nulls().is_in(["true", "false", ""]).all())
