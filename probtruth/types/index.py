"""Names of items, annotators and labels, and how they align two tables."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Int, Integer

from probtruth import check, check_arrays, frames
from probtruth.errors import InputError
from probtruth.frames import Names, compact, name_text, rising, text
from probtruth.kernels.arrays import on_device, to_host
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,999}")  # A decimal integer, as Python writes it; very long ones are text


def sort_names(names: Iterable[str]) -> tuple[str, ...]:
    """Sorted by value if every name is a decimal integer, else by code point."""
    listed = list(names)
    return tuple(sorted(listed, key=int if all(_INTEGER.fullmatch(name) for name in listed) else None))


def order_of(names: "polars.Series") -> Integer[np.ndarray, " item"]:
    """The rows of a column of names (see `frames.compact`) in the order of `sort_names`."""
    if rising(names) and not _all_digits(names):
        return np.arange(len(names), dtype=np.uint32)
    if not _all_digits(names):
        return names.arg_sort().to_numpy()
    listed = names.to_list()
    return positions(listed, sort_names(listed))


def _all_digits(names: "polars.Series") -> bool:
    """Whether all names are text of digits, and so perhaps integers of more than 64 bits, which Python has to sort."""
    return not names.dtype.is_integer() and bool(names.str.contains("^-?[0-9]+$").all())


@dataclass(frozen=True, repr=False)
class Index(Brief):
    """Sorted names along the axes, and the order in which the caller gave them.

    Items are a tuple, or a `frames.Names` if there are too many for Python text. Positional names mean no names: an
    array without names follows the rows of the other side in its caller's order. `item_rows` and `label_columns` are
    the caller's row of each item and column of each label; None if names came without an order (long form).
    """

    items: Sequence[str]
    labels: tuple[str, ...]
    annotators: tuple[str, ...] = ()
    positional_items: bool = False
    positional_labels: bool = False
    item_rows: Int[np.ndarray, " item"] | None = field(default=None, compare=False, repr=False)
    label_columns: Int[np.ndarray, " label"] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of_array(
        cls, shape: Sequence[int], items: Iterable[object] | None = None, labels: Iterable[object] | None = None
    ) -> tuple["Index", Int[np.ndarray, " item"], Int[np.ndarray, " label"]]:
        """The sorted index of an array, and the rows and columns that bring the array into its order."""
        item_names, rows = _in_order(shape[0], as_names(items, "items"), "items")
        label_names, columns = _in_order(shape[1], as_names(labels, "labels"), "labels")
        return cls(item_names, label_names, (), items is None, labels is None, rows, columns), rows, columns

    def named_by(
        self, other: "Index", array: str
    ) -> tuple["Index", Int[np.ndarray, " item"], Int[np.ndarray, " label"]]:
        """The index with names in place of positions, from another one in its caller's order.

        Returns it with the rows and columns that bring `array` (in words) into its order.
        """
        index, rows, columns = self, np.arange(len(self.items)), np.arange(len(self.labels))
        if self.positional_items and not other.positional_items:
            check.length(len(self.items), len(other.items), f"items in {array}")
            rows = _rows_of(other.items, other.item_rows, False, "items", array)
            index = replace(index, items=tuple(other.items), positional_items=False, item_rows=rows)
        if self.positional_labels and not other.positional_labels:
            check.length(len(self.labels), len(other.labels), f"labels in {array}")
            columns = _rows_of(other.labels, other.label_columns, False, "labels", array)
            index = replace(index, labels=other.labels, positional_labels=False, label_columns=columns)
        return index, rows, columns

    def with_items(self, positions: Int[np.ndarray, " item"]) -> "Index":
        """The index of some of the items (their positions, ascending), still in the caller's order."""
        rows = None if self.item_rows is None else ranks(self.item_rows[positions])
        return replace(self, items=tuple(self.items[position] for position in positions.tolist()), item_rows=rows)

    def written_items(self, array: str) -> Sequence[str]:
        """The items in the caller's order.

        Errors: `InputError` without such an order; it says which names `array` (in words) needs.
        """
        rows = _rows_of(self.items, self.item_rows, self.positional_items, "items", array)
        return tuple(self.items[position] for position in np.argsort(rows).tolist())

    def written_labels(self, array: str) -> Sequence[str]:
        """The labels in the caller's order; errors as `written_items`."""
        columns = _rows_of(self.labels, self.label_columns, self.positional_labels, "labels", array)
        return tuple(self.labels[position] for position in np.argsort(columns).tolist())


def ranks(numbers: Int[np.ndarray, " some"]) -> Int[np.ndarray, " some"]:
    """The rank of each number, from 0; the numbers differ."""
    result = np.empty(len(numbers), np.int64)
    result[np.argsort(numbers)] = np.arange(len(numbers))
    return result


def _rows_of(
    names: Sequence[str], rows: Int[np.ndarray, " name"] | None, positional: bool, what: str, array: str
) -> Int[np.ndarray, " name"]:
    """The caller's row of each name; names 0, 1, ... without an order are row numbers."""
    if positional:
        return np.arange(len(names))
    if rows is not None:
        return rows
    if len(names) and names[0] == "0" and all(name == str(row) for row, name in enumerate(names)):
        return np.arange(len(names))
    raise InputError(
        f"{array} without names of {what}, against {what} that stand in no order ({check.shortlist(names, 3)})",
        f"the name of the {what.rstrip('s')} of every {'row' if what == 'items' else 'column'}",
        f"Pass {what}=[...] in the order of the array: which belongs to which cannot be told from a table in long form "
        "or from files in different orders.",
    )


def as_names(names: Iterable[object] | None, what: str) -> Sequence[str] | None:
    """Names as text, in their order; None if there are none. Those in one column were checked where they were read."""
    if names is None or isinstance(names, Names):
        return names
    listed = check.listed(names, what)
    written = tuple(map(name_text, listed))
    for position, (name, word) in enumerate(zip(listed, written, strict=True)):
        if frames.missing(name) or not word.strip():
            singular = what.rstrip("s")
            raise InputError(
                f"a blank name for {singular} {position}", f"a name for every {singular}", f"Name that {singular}."
            )
    return written


def _in_order(size: int, names: Sequence[str] | None, what: str) -> tuple[tuple[str, ...], Int[np.ndarray, " name"]]:
    if names is None:
        return tuple(map(str, range(size))), np.arange(size)
    check.length(size, len(names), what)
    if isinstance(names, Names):
        column = compact(names.column)
        rows = order_of(column).astype(np.int64)
        sorted_column = column.gather(rows)
        if bool((sorted_column[1:] != sorted_column[:-1]).all()):
            return tuple(text(sorted_column).to_list()), rows
    check.unique(names, what.rstrip("s"))
    ordered = sort_names(names)
    return ordered, positions(names, ordered)


@dataclass(frozen=True, repr=False)
class Audit(Brief):
    """The items that alignment by name left out.

    `missing` are items of the reference that some model lacks, `extra` are items that some model has and the reference
    lacks; `by_model` counts both for each model. `different` are items whose question differs for some model. All of
    these are dropped for all models. `prompts` are items whose prompt differs for some model; they stay.
    `renormalised` are models of which rows were divided by their sums, as the caller wished: how many rows, and the
    least and the largest of the sums.
    """

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    by_model: tuple[tuple[str, int, int], ...] = ()
    different: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    renormalised: tuple[tuple[str, int, float, float], ...] = ()

    @property
    def dropped(self) -> int:
        """Number of items that the comparison left out."""
        return len({*self.missing, *self.extra, *self.different})

    def counts(self) -> tuple[str, ...]:
        """What was left out and why, in words, each kind with its first items; empty if nothing was."""
        kinds = (
            (self.missing, "that some model lacks"),
            (self.extra, "without labels"),
            (self.different, "that are another question for some model"),
        )
        return tuple(f"{len(names)} {why} ({check.shortlist(names, 3)})" for names, why in kinds if names)

    def __add__(self, other: "Audit") -> "Audit":
        """Both audits as one."""
        counts = {model: (missing, extra) for model, missing, extra in self.by_model}
        for model, missing, extra in other.by_model:
            before = counts.get(model, (0, 0))
            counts[model] = (before[0] + missing, before[1] + extra)
        return Audit(
            sort_names(set(self.missing) | set(other.missing)),
            sort_names(set(self.extra) | set(other.extra)),
            tuple((model, *both) for model, both in counts.items()),
            sort_names({*self.different, *other.different}),
            sort_names({*self.prompts, *other.prompts}),
            (*self.renormalised, *other.renormalised),
        )


def look_alikes(names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of names that differ only in spaces, case or Unicode form."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(" ".join(unicodedata.normalize("NFKC", name).casefold().split()), []).append(name)
    return tuple(tuple(several) for several in alike.values() if len(several) > 1)


def label_positions(
    labels: object, classes: Sequence[str] | None, what: str = "label"
) -> tuple[Any, Sequence[str] | None]:
    """Labels as positions, and the names at these positions; None where the labels are positions without names.

    Integers are positions, unless the names of the classes are integers too.
    """
    check_arrays.no_masked(labels, "labels")
    array = to_host(labels) if on_device(labels) else np.asarray(frames.as_array(labels))
    if array.dtype.kind == "b":
        array = array.astype(object if classes is not None else np.int64)
    whole = array.dtype.kind in "iu"
    if whole and (classes is None or not any(name.lstrip("-").isdigit() for name in classes)):
        return array, classes
    if array.ndim != 1 or array.dtype.kind == "f":
        return array, classes  # refused where positions are checked
    written = as_names(array.tolist(), "labels") or ()
    names = sort_names(set(written)) if classes is None else classes
    known = set(names)
    absent = next((name for name in written if name not in known), None)
    if absent is not None:
        check.one_of(absent, names, what)
    return positions(names, written), names


def positions(names: Sequence[str], wanted: Sequence[str]) -> Int[np.ndarray, " wanted"]:
    """The position of each wanted name in `names`; every wanted name must be there."""
    position_of = {name: position for position, name in enumerate(names)}
    return np.fromiter((position_of[name] for name in wanted), np.int64, len(wanted))


@dataclass(eq=False)
class NameCodes:
    """The distinct names of a column in the order in which they first appear; a row's code is the place of its name."""

    column: str
    option: str
    waiting: "list[polars.Series]" = field(default_factory=list)

    def learn(self, frame: "polars.DataFrame", source: check.Source) -> None:
        """Takes note of the names of some rows."""
        new = frames.names(frame, self.column, source, self.option).rename("name")
        self.waiting.append(new.unique(maintain_order=True))
        if len(self.waiting) > 1 and len(self.waiting[-1]) * len(self.waiting) > len(self.waiting[0]):  # linear time
            self.waiting = [self._distinct()]

    def _distinct(self) -> "polars.Series":
        joined = self.waiting[0].clone()
        for one in self.waiting[1:]:
            joined.append(one)
        return joined.unique(maintain_order=True)

    @cached_property
    def known(self) -> "polars.Series":
        """The names as a column, once all rows are known."""
        return self._distinct()

    @cached_property
    def names(self) -> list[str]:
        """The names as text."""
        listed: list[str] = self.known.to_list()
        return listed

    def codes(self, frame: "polars.DataFrame", source: check.Source) -> Int[np.ndarray, " row"]:
        """The code of each row."""
        return frames.positions(frames.names(frame, self.column, source, self.option), self.known)


# A column of names as codes, and the names in the order of the codes.
Coded = tuple[Int[np.ndarray, " row"], Sequence[str]]


def no_repeats(
    coded: Mapping[str, Coded],
    repeat: Int[np.ndarray, " row"],
    source: check.Source,
    again: Bool[np.ndarray, " row"] | None = None,
) -> None:
    """Raises where two rows have all names in common; `repeat` tells repeats apart that are meant.

    `again` are rows whose names an earlier part of the table had.
    """
    columns = (repeat, *(codes for codes, _ in coded.values()))
    order = np.lexsort(columns)
    same = np.ones(max(len(order) - 1, 0), bool)
    for column in columns:  # one at a time: they may be long
        same &= np.diff(column[order]) == 0
    rows = order[1:][same] if again is None or not again.any() else np.flatnonzero(again)
    if len(rows):
        row = int(rows.min())
        cells = ", ".join(f"{what} {check.quote(names[codes[row]])}" for what, (codes, names) in coded.items())
        raise InputError(
            f"{cells} twice ({len(rows)} such rows)",
            f"every ({', '.join(coded)}) pair once",
            "Remove the repeats, or name a column that tells them apart: replicate=... (command line: --replicate).",
            source.at(row),
        )


def one_each(
    of_item: Int[np.ndarray, " item"],
    items: Int[np.ndarray, " row"],
    codes: Int[np.ndarray, " row"],
    names: Sequence[str],
    what: str,
    where: Callable[[int], str],
) -> None:
    """Puts the code of each row into the place of its item, where -1 stands for none; an item has one code."""
    before = of_item[items]
    of_item[items[::-1]] = codes[::-1]  # the first row of an item decides, so that an error points at a later one
    clash = (of_item[items] != codes) | ((before >= 0) & (before != codes))
    if clash.any():
        row = int(clash.argmax())
        raise InputError(
            f"item {check.quote(names[int(items[row])])} in two {what}s",
            f"one {what} for each item",
            f"Check the {what} column: its rows must agree.",
            where(row),
        )


# Names, and their positions on either side.
Matched = tuple[tuple[str, ...], Int[np.ndarray, " ours"], Int[np.ndarray, " theirs"]]


def match_items(reference: Index, other: Index, what: str) -> Matched:
    """The items that both sides have, sorted, and their rows on both; the only function that matches items."""
    rows = np.arange(len(reference.items)), np.arange(len(other.items))
    if reference.positional_items or other.positional_items:
        check.length(len(other.items), len(reference.items), f"items in {what}")
        if not reference.positional_items:
            rows = rows[0], _rows_of(reference.items, reference.item_rows, False, "items", what)
            return tuple(reference.items), *rows
        rows = _rows_of(other.items, other.item_rows, other.positional_items, "items", "the reference"), rows[1]
        return tuple(other.items), *rows
    if reference.items == other.items:
        return tuple(reference.items), *rows
    there = set(other.items)
    both = tuple(name for name in reference.items if name in there)
    if not both:
        raise InputError(
            f"no item in common: {check.shortlist(reference.items, 3)} "
            f"against {check.shortlist(other.items, 3)} in {what}",
            "the same item names in both",
            "Names are compared as text ('007' is not '7'); check the item column.",
        )
    return both, positions(reference.items, both), positions(other.items, both)


def match_labels(reference: Index, other: Index, what: str) -> Matched:
    """The labels of `other`, the positions of the reference's labels among them, and their positions in `other`."""
    columns = np.arange(len(reference.labels)), np.arange(len(other.labels))
    if reference.positional_labels or other.positional_labels:
        check.length(len(other.labels), len(reference.labels), f"labels in {what}")
        if not reference.positional_labels:
            theirs = _rows_of(reference.labels, reference.label_columns, False, "labels", what)
            return reference.labels, columns[0], theirs
        ours = _rows_of(other.labels, other.label_columns, other.positional_labels, "labels", "the reference")
        return other.labels, np.argsort(ours), columns[1]
    absent = [name for name in reference.labels if name not in set(other.labels)]
    if absent:
        raise InputError(
            f"label {check.shortlist(absent)} in the reference, but {what} has only {check.shortlist(other.labels)}",
            "a probability for every label that the reference uses",
            f"{check.did_you_mean(absent[0], other.labels)} Rename the columns to the labels; each label needs one"
            + (" (of two labels, the other's is 1 minus this one)." if len(other.labels) == 1 else "."),
        )
    return other.labels, positions(other.labels, reference.labels), columns[1]
