"""Names of items, annotators and labels, and how they align two tables."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int, Integer

from probtruth import check, check_arrays, frames
from probtruth.check import MaybeStrings, MaybeText, Strings, Texts, count, one_of, quote, shortlist, unique
from probtruth.errors import InputError
from probtruth.frame_numbers import NamedNumbers, labelled
from probtruth.frames import Names, compact, text
from probtruth.kernels.arrays import is_own, on_device, to_host
from probtruth.kernels.shapes import ItemInts, ItemLabel, LabelInts, RowInts, SomeInts
from probtruth.types.arguments import GivenNames
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

# Answers that often say that there is none, in lower case.
PLACEHOLDERS = (
    "na", "n/a", "nan", "none", "null", "missing", "unknown", "unsure", "skip", "skipped", "?", "-", "-1", "-99",
    "cannot say", "can't say", "can't tell", "cannot tell", "don't know", "not sure", "no answer",
)  # fmt: skip
# What is made of the answers of several annotators is often called, in lower case.
AGGREGATES = ("gold", "majority", "majority_vote", "consensus", "adjudicated", "aggregated", "final", "ground_truth")
MANY = 100_000  # Items from which on their names stay one column
# Names of two labels of which the second is the event that one number is about, in lower case.
EVENTS = (("0", "1"), ("no", "yes"), ("false", "true"), ("negative", "positive"), ("neg", "pos"))
_WORD = re.compile(r"[^\W\d_]+|\d+")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,999}")  # A decimal integer, as Python writes it; very long ones are text


def sort_names(names: Iterable[str]) -> Texts:
    """Sorted by value if every name is a decimal integer, else by code point."""
    listed = list(names)
    return tuple(sorted(listed, key=int if all(_INTEGER.fullmatch(name) for name in listed) else None))


def order_of(names: "polars.Series") -> Integer[np.ndarray, " item"]:
    """The rows of a column of names (see `frames.compact`) in the order of `sort_names`."""
    # text of digits alone may be integers of more than 64 bits, which Python has to sort
    if not names.dtype.is_integer() and names.str.contains("^-?[0-9]+$").all():
        listed = names.to_list()
        return positions(listed, sort_names(listed))
    return names.arg_sort().to_numpy()


def event_of(labels: Strings, column: str = "") -> MaybeText:
    """Which of two labels a column of one number an item is about: its name, else what says that something is the case.

    A column whose name has the word no, false or negative is about the other one. None where nothing says it; a name
    that says both is an error.
    """
    if column in labels:
        return column
    written = {label.lower(): label for label in labels}
    places = places_said(column)
    pair = next((pair for pair in EVENTS if len(labels) == 2 and written.keys() == {*pair}), None)
    if pair is None:
        words = _WORD.findall(column.lower())
        names = [label for label in labels if label.lower() in words]
        if names and 0 in places:  # as not_spam
            names = [*labels]
    else:
        names = [written[pair[place]] for place in places or {1}]
    if len(names) > 1:
        raise InputError(*unnamed_event(column, labels))
    return names[0] if names else None


def places_said(column: str) -> set[int]:
    """Which of two labels, the first or the second (the event), the words of a name say; both if they may mean either.

    Not and non turn the word that follows; a column of the number 0 may be one of several.
    """
    name = column.lower()
    words = {*_WORD.findall(name)}
    if name != "0" and words & {"0", "not", "non"}:
        return {0, 1}
    return {pair.index(word) for pair in EVENTS for word in words if word in pair}


def unnamed_event(column: str, labels: Strings) -> tuple[str, str, str]:
    """What is said of one column of numbers where its name does not say which label it is about."""
    return (
        f"one column of probabilities, {quote(column)}",
        f"the name of the label that it is about ({shortlist(labels)})",
        f"Rename it, for instance to {labels[1]!r}, or give one column for each label.",
    )


Order = Int[np.ndarray, " name"]
# Names, and their positions on either side.
Matched = tuple[Sequence[str], Int[np.ndarray, " ours"], Int[np.ndarray, " theirs"]]


@dataclass(frozen=True, repr=False)
class Index(Brief):
    """Sorted names along the axes, and the order in which the caller gave them.

    Items are a tuple, or a `frames.Names` if there are too many for Python text. Positional names mean no names: an
    array without names follows the rows of the other side in its caller's order. `item_rows` and `label_columns` are
    the caller's row of each item and column of each label; None if names came without an order (long form). `event`
    is what columns call the second of two labels without names, where they are about it alone (also 1 of 0 and 1).
    """

    items: Strings
    labels: Texts
    annotators: Texts = ()
    positional_items: bool = False
    positional_labels: bool = False
    item_rows: ItemInts | None = field(default=None, compare=False, repr=False)
    label_columns: LabelInts | None = field(default=None, compare=False, repr=False)
    event: Texts | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of_array(
        cls, shape: Sequence[int], items: GivenNames = None, labels: GivenNames = None
    ) -> tuple["Index", ItemInts, LabelInts]:
        """The sorted index of an array, and the rows and columns that bring the array into its order."""
        item_names, rows = _in_order(shape[0], as_names(items, "items"), "items")
        label_names, columns = _in_order(shape[1], as_names(labels, "labels"), "labels")
        return cls(item_names, tuple(label_names), (), items is None, labels is None, rows, columns), rows, columns

    def named_by(self, other: "Index", array: str) -> tuple["Index", ItemInts, LabelInts]:
        """The index with names in place of positions, from another one in its caller's order.

        Returns it with the rows and columns that bring `array` (in words) into its order.
        """
        index, orders = self, []
        for what, order in (("items", "item_rows"), ("labels", "label_columns")):
            names, positional, _ = self.side(what)
            rows = np.arange(len(names))
            if positional:
                names, _, rows = _by_position(other, self, what, array)
                changed = {what: names, f"positional_{what}": other.side(what)[1], order: rows}
                index = replace(index, **changed)  # type: ignore[arg-type]
            orders.append(rows)
        return index, orders[0], orders[1]

    def of_codes(self) -> "Index":
        """The same where labels without names were integers, of which 1 of two is an event."""
        return replace(self, event=() if len(self.labels) == 2 else None)

    def side(self, what: str) -> tuple[Sequence[str], bool, Order | None]:
        """The names of the "items" or "labels", whether they are positions, and the caller's row of each."""
        if what == "items":
            return self.items, self.positional_items, self.item_rows
        return self.labels, self.positional_labels, self.label_columns

    def with_items(self, positions: ItemInts) -> "Index":
        """The index of some of the items (their positions, ascending), still in the caller's order."""
        rows = None if self.item_rows is None else ranks(self.item_rows[positions])
        if isinstance(self.items, Names):
            return replace(self, items=Names(self.items.column[positions]), item_rows=rows)
        return replace(self, items=tuple(self.items[position] for position in positions.tolist()), item_rows=rows)

    def written(self, what: str, array: str) -> Texts:
        """The "items" or "labels" in the caller's order; an error without one says which names `array` needs."""
        names, _, rows = self.side(what)
        return tuple(names[position] for position in np.argsort(rows_of(names, rows, what, array)).tolist())


def ranks(numbers: SomeInts) -> SomeInts:
    """The rank of each number, from 0; the numbers differ."""
    return np.argsort(np.argsort(numbers))


def are_row_numbers(names: Strings) -> bool:
    numbers = compact(frames.as_series(names))
    return numbers.dtype.is_integer() and is_own(numbers.to_numpy(), len(numbers))


def rows_of(names: Strings, rows: Order | None, what: str, array: str) -> Order:
    """The caller's row of each name; names 0, 1, ... are row numbers, which no other order contradicts."""
    if are_row_numbers(names):
        if rows is None or is_own(rows, len(names)):
            return np.arange(len(names))
        written = [names[row] for row in np.argsort(rows)[:3].tolist()]
        raise InputError(
            f"{what} called 0, 1, ... in another order ({', '.join(written)} ...) beside {array} without their names",
            f"{what} that both sides name, or an order that is that of the numbers",
            f"To match by name, name the {what} of both sides; to match by position, take these names off "
            "(pandas: reset_index(drop=True) on both).",
        )
    if rows is not None:
        return rows
    raise InputError(
        f"{array} without names of {what}, against {what} that stand in no order ({shortlist(names, 3)})",
        f"the name of the {what.rstrip('s')} of every {'row' if what == 'items' else 'column'}",
        f"Pass {what}=[...] in the order of the array (items= to from_probs), or a table with names: which belongs to "
        "which cannot be told from a table in long form or from files in different orders.",
    )


def _by_position(reference: Index, other: Index, what: str, array: str) -> Matched:
    """Both sides where one has no names: those of the other, in the order in which the caller gave them."""
    (names, positional, rows), (others, _, other_rows) = reference.side(what), other.side(what)
    check.length(len(others), len(names), f"{what} in {array}")
    in_order = np.arange(len(names))
    event = reference.event if positional else other.event
    if positional:
        names, rows, array = others, other_rows, "the reference"
    order = _by_event(names, event) if what == "labels" else None
    if order is None:
        order = rows_of(names, rows, what, array)
    return (names, order, in_order) if positional else (tuple(names), in_order, order)


def _by_event(labels: Strings, columns: Texts | None) -> Order | None:
    """The positions of two labels where the second is the event that columns of these names are about.

    None where they are about none, or nothing says which label it is.
    """
    if columns is None:
        return None
    events = {event_of(labels, column) for column in columns or ("",)}
    if len(events) > 1:
        raise InputError(
            f"one column of probabilities for each model, called {shortlist(columns)}",
            "columns about one of the labels",
            "Give a column for each label.",
        )
    (event,) = events
    return None if event is None else np.array([int(label == event) for label in labels])


def as_names(names: GivenNames, what: str) -> MaybeStrings:
    """Names as text, in their order; None if there are none. Those in one column were checked where they were read."""
    if names is None or isinstance(names, Names):
        return names
    listed = check.listed(names, what)
    written = frames.named(listed)
    for position, (name, word) in enumerate(zip(listed, written, strict=True)):
        if frames.missing(name) or not word.strip():
            singular = what.rstrip("s")
            raise InputError(
                f"a blank name for {singular} {position}", f"a name for every {singular}", f"Name that {singular}."
            )
    return written


def named_table(numbers: object, items: GivenNames, labels: GivenNames, what: str) -> NamedNumbers:
    """A table under the names that were passed, in their order, else its own."""
    passed = NamedNumbers(None, as_names(items, "items"), as_names(labels, "labels"))
    return labelled(numbers).in_order_of(passed, what)


def _in_order(size: int, names: MaybeStrings, what: str) -> tuple[Sequence[str], Order]:
    if names is None:
        return frames.numbered(size) if size > MANY else tuple(map(str, range(size))), np.arange(size)
    check.length(size, len(names), what)
    column = compact(frames.as_series(names))
    rows = order_of(column).astype(np.int64)
    ordered = column.gather(rows)
    if (ordered[1:] == ordered[:-1]).any():
        unique(names, what.rstrip("s"))
    return Names(ordered) if size > MANY else tuple(text(ordered).to_list()), rows


@dataclass(frozen=True, repr=False)
class Audit(Brief):
    """The items that alignment by name left out.

    `missing` are items of the reference that some model lacks (no model has, where missing scores are allowed), `extra`
    are items that some model has and the reference lacks. `different` are items whose question differs for some model.
    All of these are dropped for all models. `by_model` counts for each model what it lacks, dropped or not, and its
    extra ones. `prompts` are items whose prompt differs for some model; they stay. `renormalised` are models of which
    rows were divided by their sums, as the caller wished: how many rows, and the least and the largest of the sums.
    """

    missing: Texts = ()
    extra: Texts = ()
    by_model: tuple[tuple[str, int, int], ...] = ()
    different: Texts = ()
    prompts: Texts = ()
    renormalised: tuple[tuple[str, int, float, float], ...] = ()

    @property
    def dropped(self) -> int:
        """Number of items that the comparison left out."""
        return len({*self.missing, *self.extra, *self.different})

    def counts(self) -> Texts:
        """What was left out and why, in words, each kind with its first items; empty if nothing was."""
        kinds = (
            (self.missing, "that some model lacks"),
            (self.extra, "without labels"),
            (self.different, "that are another question for some model"),
        )
        return tuple(f"{len(names)} {why} ({shortlist(names, 3)})" for names, why in kinds if names)

    def __add__(self, other: "Audit") -> "Audit":
        """Both audits as one."""
        counts: dict[str, Any] = {}
        for model, *numbers in (*self.by_model, *other.by_model):
            counts[model] = counts.get(model, 0) + np.array(numbers)
        return Audit(
            sort_names({*self.missing, *other.missing}),
            sort_names({*self.extra, *other.extra}),
            tuple((model, *both.tolist()) for model, both in counts.items()),
            sort_names({*self.different, *other.different}),
            sort_names({*self.prompts, *other.prompts}),
            (*self.renormalised, *other.renormalised),
        )


def hard_labels(labels: Any) -> np.ndarray:
    """Labels as an array; whole numbers are integers: one label that was missing once makes pandas' floats of all."""
    array = to_host(labels) if on_device(labels) else np.asarray(frames.as_array(labels))
    return array.astype(np.int64) if array.dtype.kind == "f" and (array % 1 == 0).all() else array


def one_hot(
    labels: object, classes: MaybeStrings, n_labels: object, what: str, in_order: bool = True
) -> tuple[ItemLabel, MaybeStrings]:
    """Rows with a single 1, and the names of the columns; None where the labels are positions without names.

    Whole numbers are positions from 0 in classes that stand `in_order`, unless the classes' names are numbers too.
    """
    check_arrays.no_masked(labels, what)
    check_arrays.shape_of(labels, what)
    array = hard_labels(labels)
    if array.dtype.kind == "b":
        array = array.astype(object if classes is not None else np.int64)
    named = array.dtype.kind not in "iu" or any(name.lstrip("-").isdigit() for name in classes or ())
    if named and array.ndim == 1 and array.dtype.kind != "f":
        written = as_names(array.tolist(), what) or ()
        classes = sort_names(set(written)) if classes is None else classes
        absent = set(written) - set(classes)
        if absent:
            one_of(next(name for name in written if name in absent), classes, f"{what}: label")
        array = positions(classes, written)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"{what} of type {array.dtype} and shape {array.shape}",
            "one integer for each item",
            "Give positions of labels, from 0, or names.",
        )
    if not named and not in_order:
        raise InputError(
            f"integers as {what}, beside labels in no order ({shortlist(classes or ())})",
            "names, or labels in order",
            "Pass labels=[...] in the order that the integers mean.",
        )
    size = check.whole(n_labels, 1, "n_labels") if classes is None else len(classes)
    bad = (array < 0) | (array >= size)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"label {array[row]}",
            f"an integer from 0 to {size - 1}",
            "Integers are positions, from 0; if they are names, pass those of all labels in order (labels=, classes=).",
            f"{what}, item {row}",
        )
    rows = np.zeros((len(array), size))
    rows[np.arange(len(array)), array] = 1
    return rows, classes


def positions(names: Strings, wanted: Strings) -> Int[np.ndarray, " wanted"]:
    """The position of each wanted name in `names`; every wanted name must be there."""
    position_of = {name: position for position, name in enumerate(names)}
    return np.fromiter(map(position_of.__getitem__, wanted), np.int64, len(wanted))


# A column of names as codes, and the names in the order of the codes.
Coded = tuple[RowInts, Sequence[str]]


def in_order(codes: RowInts, names: Strings) -> tuple[RowInts, Texts]:
    """The same codes of names that are sorted."""
    ordered = sort_names(names)
    return positions(ordered, names)[codes], ordered


def no_repeats(coded: Mapping[str, Coded], repeat: RowInts, source: check.Source) -> None:
    """Raises where two rows have all names in common; `repeat` tells repeats apart that are meant."""
    columns = np.stack([repeat, *(codes for codes, _ in coded.values())])
    order = np.lexsort(columns)  # stable, so that the first of equal rows comes first
    again = (np.diff(columns[:, order]) == 0).all(0)
    rows = order[1:][again]
    if len(rows):
        row = int(rows.min())
        cells = ", ".join(f"{what} {quote(names[codes[row]])}" for what, (codes, names) in coded.items())
        hint = "Remove the repeats, or name a column that tells them apart: replicate=... (command line: --replicate)"
        if "annotator" not in coded:
            hint += " or annotator=... (--annotator)"
        raise InputError(
            f"{cells} twice ({count(len(rows), 'such row')})",
            f"every ({', '.join(coded)}) pair once",
            f"{hint}.",
            source.at(row),
        )


def not_shifted(names: Strings, others: Strings, what: str) -> None:
    """Raises where one side counts its rows from one number and the other from another: that is no match by name."""
    ranges = []
    for side in (names, others):
        numbers = compact(frames.as_series(side))
        if not len(numbers) or not numbers.dtype.is_integer():
            return
        first = int(numbers.min())  # type: ignore[arg-type]
        last = int(numbers.max())  # type: ignore[arg-type]
        if last - first != len(numbers) - 1:
            return
        ranges.append((first, last))
    if len(names) == len(others) and ranges[0] != ranges[1]:
        raise InputError(
            "items {3} to {4} in {0}, beside {1} to {2} on the other side".format(what, *ranges[0], *ranges[1]),
            "items that are called the same on both sides",
            "Row numbers are no names: give both sides the same names, or take them off (pandas: "
            "reset_index(drop=True) on both).",
        )


def match_items(reference: Index, other: Index, what: str) -> Matched:
    """The items that both sides have, sorted, and their rows on both; the only function that matches items."""
    if reference.positional_items or other.positional_items:
        return _by_position(reference, other, "items", what)
    if reference.items == other.items:
        return reference.items, np.arange(len(reference.items)), np.arange(len(other.items))
    not_shifted(reference.items, other.items, what)
    there = set(other.items)
    both = tuple(name for name in reference.items if name in there)
    if not both:
        raise InputError(
            f"no item in common: {shortlist(reference.items, 3)} against {shortlist(other.items, 3)} in {what}",
            "the same item names in both",
            check.AS_TEXT,
        )
    return both, positions(reference.items, both), positions(other.items, both)


def _no_answers(labels: Sequence[str]) -> str:
    none = [name for name in labels if name.strip().lower() in PLACEHOLDERS]
    if not none:
        return ""
    option = shlex.quote(",".join(none))
    call = f"read_annotations(table, missing={none!r}) (command line: --missing={option})"
    return f" Leave answers that are none out: {call}."


def match_labels(reference: Index, other: Index, what: str) -> Matched:
    """The labels of `other`, the positions of the reference's labels among them, and their positions in `other`."""
    if reference.positional_labels or other.positional_labels:
        names, ours, theirs = _by_position(reference, other, "labels", what)
        return names, np.argsort(ours), theirs
    there = set(other.labels)
    absent = [name for name in reference.labels if name not in there]
    if absent:
        raise InputError(
            f"label {shortlist(absent)} in the reference, but {what} has only {shortlist(other.labels)}",
            "a probability for every label that the reference uses",
            f"{check.did_you_mean(absent[0], other.labels)} Rename the columns to the labels; each label needs one"
            + (" (of two labels, the other's is 1 minus this one)." if len(other.labels) == 1 else ".")
            + _no_answers(absent),
        )
    return other.labels, positions(other.labels, reference.labels), np.arange(len(other.labels))
