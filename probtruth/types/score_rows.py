"""How items belong together, and rows of scores, one for each item and model (and repeat), as codes and numbers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int

from probtruth import check, frame_numbers, frames
from probtruth.check import Source, Texts
from probtruth.errors import InputError
from probtruth.kernels.shapes import CellInts, ChosenInts, ItemInts, ModelCell, ModelItem, RowFloats, RowInts, TheseInts
from probtruth.types.index import Coded, in_order
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

Parts = Iterable[tuple["polars.DataFrame", Source]]  # a table some rows at a time
NO_NUMBER = "Check that cell; --missing (missing=) leaves out what says that there is no score."
FOLD = re.compile(r"(cv[ _-]?)?folds?([ _-]?(id|no|nr|number|index|\d+))?", re.IGNORECASE)  # What folds are called
OF_FOLDS = "folds of cross-validation share training data"  # How a caution begins that replicates="folds" answers


@dataclass(frozen=True, eq=False, repr=False)
class Partition(Brief):
    """Which of some named groups or clusters each item lies in; `codes` are positions in `names`."""

    codes: ItemInts
    names: Texts

    def part(self, items: TheseInts) -> "Partition":
        """That of some items; names that none of them has are left out."""
        used, codes = np.unique(self.codes[items], return_inverse=True)
        return Partition(codes, tuple([self.names[code] for code in used.tolist()]))


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(Brief):
    """The scores before replicates were averaged: of each item and replicate (a cell), every model's, NaN for none.

    Cells stand by item (its place) and, within it, by replicate (the place of its name).
    """

    item: CellInts
    replicate: CellInts
    values: ModelCell
    names: Texts
    what: str = "replicate"  # or "annotator", whose part of the variance always counts

    def counts(self, n_items: int) -> Int[np.ndarray, "model item"]:
        """How many replicates each model has of each item."""
        counted = [np.bincount(self.item[~np.isnan(row)], minlength=n_items) for row in self.values]
        return np.array(counted, np.int64)

    def means(self, n_items: int) -> ModelItem:
        """Each model's mean over the replicates of each item; NaN where it has none."""
        found = np.full((len(self.values), n_items), np.nan)
        for row, values in zip(found, self.values, strict=True):
            there = ~np.isnan(values)
            n = np.bincount(self.item[there], minlength=n_items)
            total = np.bincount(self.item[there], values[there], n_items)
            np.divide(total, n, out=row, where=n > 0)
        return found

    def part(self, models: ChosenInts, items: TheseInts, n_items: int) -> "Replicates":
        """The cells of some models on some of the `n_items` items, which are in ascending order."""
        place = np.full(n_items, -1)
        place[items] = np.arange(len(items))
        cells = np.flatnonzero(place[self.item] >= 0)
        values = self.values[np.ix_(models, cells)]
        return Replicates(place[self.item[cells]], self.replicate[cells], values, self.names, self.what)


def cautions_of_folds(coded: Mapping[str, Coded], columns: Mapping[str, str]) -> Texts:
    """A caution where the items, or the repeats of an item, are called folds."""
    for role in ("item", "replicate"):
        names = coded[role][1] if role in coded else []
        if len(names) > 1 and any(FOLD.fullmatch(name) for name in (columns[role], names[0])):
            share = f"{1 / len(names):.3g}"
            return (
                f"{OF_FOLDS}, and count here as if they did not: replicates='folds', fold_correlation={share} (command "
                f"line: --replicates folds --fold-correlation {share}) corrects that",
            )
    return ()


def coded_columns(
    parts: Parts, columns: Mapping[str, str], score: str, missing: Sequence[str]
) -> tuple[dict[str, Coded], RowFloats, Source]:
    """Each column of names as codes and the names in the order in which they first appear, and each row's score.

    Rows without a score only say that there is such an item and model.
    """
    codes: dict[str, list[np.ndarray]] = {option: [] for option in columns}
    places: dict[str, dict[str, int]] = {option: {} for option in columns}
    latest: dict[str, tuple[Sequence[str], np.ndarray]] = {option: ((), np.zeros(0, np.int32)) for option in columns}
    numbers = []
    sources = []
    n_blank = 0
    n_missing = 0
    for frame, source in parts:
        check.need_columns(frame.columns, {**columns, "score": score}, source.name)
        cells = frames.flat(frame, score, source, "score")
        words = () if cells.dtype.is_numeric() else ("nan", "NaN")
        blank = frames.blank(cells, (*missing, *words))
        n_missing += int((frames.blank(cells, missing) & ~frames.blank(cells)).sum())
        full = np.flatnonzero(~blank.to_numpy())
        for option, place in places.items():
            own_codes, names = frames.coded(frames.written(frame, columns[option], source, option))
            if names != latest[option][0]:  # the columns of a wide table have the same items
                latest[option] = names, np.array([place.setdefault(name, len(place)) for name in names], np.int32)
            codes[option].append(latest[option][1][own_codes[full]])
        if len(full) < frame.height:
            n_blank += frame.height - len(full)
            source = source.of_rows(full.tolist())
            frame = frame[full]
        numbers.append(frame_numbers.numbers(frame, score, source, "score", NO_NUMBER))
        sources.append((source, frame.height))
    notes = dict.fromkeys(note for source, _ in sources for note in source.notes)
    name = sources[0][0].name
    if missing and not n_missing:
        notes[f"{name}: no score is {check.shortlist(missing)}"] = None
    if n_blank:
        notes[f"{name}: {check.count(n_blank, 'score')} missing"] = None
    all_parts = Source(name, parts=sources, notes=tuple(notes))
    if not sum(map(len, numbers)):
        raise InputError("no rows", "at least one score", "Check the file.", name)
    coded: dict[str, Coded] = {}
    for option, place in places.items():
        renamed, names = frames.coded(frames.by_value(frames.polars_names([*place])))
        coded[option] = (renamed[np.concatenate(codes[option])], names)
    return coded, np.concatenate(numbers), all_parts


def partition_of(
    what: str, coded: Mapping[str, Coded], stays: ItemInts, source: Source, columns: Mapping[str, str]
) -> Partition | None:
    """The groups or clusters of the items that stay, where there are any; the rows of an item must agree."""
    if what not in coded:
        return None
    (of_item, items), (codes, names) = coded["item"], coded[what]
    of_items = np.zeros(len(items), np.int64)
    of_items[of_item[::-1]] = codes[::-1]  # the first row of an item decides, so that an error points at a later one
    clash = of_items[of_item] != codes
    if clash.any():
        row = int(clash.argmax())
        raise InputError(
            f"item {check.quote(items[of_item[row]])} in two {what}s",
            f"one {what} for each item",
            f"Check the {what} column: its rows must agree.",
            source.at(row, columns[what]),
        )
    used, inverse = np.unique(of_items[stays], return_inverse=True)
    return Partition(*in_order(inverse, [names[code] for code in used.tolist()]))


def unit_of(coded: Mapping[str, Coded]) -> str:
    """What tells the scores of a model and item apart."""
    if "annotator" in coded and "replicate" in coded:
        problem = "a column of annotators and one of replicates"
        raise InputError(problem, "one of the two", "Average the replicates of each annotator first.")
    return "annotator" if "annotator" in coded else "replicate"


def by_replicate(
    cell: RowInts,
    values: RowFloats,
    count: Int[np.ndarray, "model item"],
    repeat: RowInts,
    names: Sequence[str],
    what: str,
) -> Replicates | None:
    """The values of each model by item and replicate, where there are replicates; `cell` is model and item."""
    if count.max() < 2 and what == "replicate":
        return None
    repeat, ordered = in_order(repeat, names)
    model, item = np.divmod(cell, count.shape[1])
    key = item * len(names) + repeat
    cells, place = np.unique(key, return_inverse=True)
    table = np.full((len(count), len(cells)), np.nan)
    table[model, place] = values
    return Replicates(cells // len(names), cells % len(names), table, ordered, what)
