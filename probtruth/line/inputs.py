"""What callers hand to the line, as the types that it works on: files, dataframes, dicts of columns, arrays, labels.

A table in long form is annotations; numbers by item and label are probabilities where every row sums to 1, and counts
of votes where all are whole numbers; one value for each item is its label. Nothing else is guessed.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from probtruth import check, check_arrays, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.frame_numbers import NamedNumbers, is_frame, labelled, no_frame, row_names
from probtruth.io.annotations import read_annotations
from probtruth.io.formats import LabelReading
from probtruth.io.loaders.readers import label_format, read_label_file
from probtruth.io.predictions import read_predictions
from probtruth.io.tables.columns import item_column, label_columns, names_in
from probtruth.io.tables.read import Block, batches, columns_of, read_table
from probtruth.io.tables.wide import items_of
from probtruth.io.truth import read_soft
from probtruth.kernels.arrays import on_device, to_host
from probtruth.types import Annotations, Index, Predictions, Truth
from probtruth.types.arguments import Estimand, Frame, Numbers, StrPath
from probtruth.types.predictions import by_model

type Reference = Annotations | Truth | StrPath | Block | Frame | Numbers
"""What models are judged by, as a caller may have it."""
type Models = Predictions | Mapping[str, StrPath | Block | Frame | Numbers]
"""The models' probabilities, as a caller may have them."""

STORED = (str, Path, Block)  # What a table is read from
LONG = ("annotator", "label")  # The columns, beside the items', by which annotations in long form are known


def predictions_of(
    predictions: Models,
    item: str = "item",
    labels: Iterable[object] | None = None,
    index: Index | None = None,
    memory: float | None = None,
) -> Predictions:
    """The predictions themselves, or made from one table for each model."""
    if isinstance(predictions, Predictions):
        return predictions
    named = by_model(predictions, "table or path")
    predictions = {name: _with_items(table, item) for name, table in named.items()}
    stored = [name for name, table in predictions.items() if isinstance(table, STORED)]
    if all(_names_items(table, item) for table in predictions.values()):
        return read_predictions(predictions, index, item, memory=memory)  # type: ignore[arg-type]
    if stored:
        other = next(name for name, table in predictions.items() if not _names_items(table, item))
        raise InputError(
            f"a path for model {check.quote(stored[0])} and a {type(predictions[other]).__name__} for model "
            f"{check.quote(other)}",
            "paths for all models, or tables for all",
            "Read the files first (polars.read_csv, for one).",
        )
    if index is not None:
        _need_one_order(predictions.values(), index)
    own = labelled(next(iter(predictions.values())), item).labels
    return Predictions.from_probs(predictions, labels=labels if own is None else None)  # type: ignore[arg-type]


def _need_one_order(tables: Iterable[object], index: Index) -> None:
    """Raises where a reference has the numbers of the rows in another order than tables of pandas beside it."""
    rows, moved = np.arange(len(index.items)), index.item_rows
    if moved is None or (moved == rows).all() or [*index.items] != [*map(str, rows.tolist())]:
        return
    if any(type(table).__module__.startswith("pandas") for table in tables):
        raise InputError(
            "an index of 0, 1, ... in another order beside tables whose index is a plain range",
            "one order of the items on both sides",
            "To match by index: reference.sort_index(); to match by position: reference.reset_index(drop=True).",
        )


def _with_items(table: Any, item: str) -> Any:
    """A dataframe whose pandas index names the items, with a column of them; anything else as it is."""
    names = row_names(table) if is_frame(table) else None
    if names is None or item in table.columns:
        return table
    return frames.as_polars({item: list(names), **frames.as_polars(table).to_dict()})


def _names_items(table: object, item: str) -> bool:
    """Whether a table of a model is a file, or a dataframe with a column of items, which is one of text."""
    if isinstance(table, STORED) or not is_frame(table):
        return isinstance(table, STORED)
    frame = frames.as_polars(table)
    return item in frame.columns or any(str(kind) == "String" for kind in frame.dtypes)


def reference_of(
    reference: Reference,
    predictions: Models,
    item: str = "item",
    estimand: Estimand | None = None,
    labels: Iterable[object] | None = None,
    memory: float | None = None,
) -> Annotations | Truth:
    """What the models are judged by, as annotations or a truth; `estimand` says which of the two soft labels are."""
    if isinstance(reference, Annotations | Truth):
        return reference
    if isinstance(reference, Block):
        if reference.counts:
            return read_annotations(reference, item, format="counts", memory=memory)
        return read_soft(reference, item, estimand, memory=memory)
    if isinstance(reference, Mapping) and reference and all(map(np.isscalar, reference.values())):
        return _hard([*reference.values()], [*reference], predictions, item, labels)
    table: Any = frames.as_polars(reference) if is_frame(reference) else reference
    if is_frame(reference) and LONG[1] in table.columns:
        table = frames.with_index(reference)
    stored = isinstance(table, str | Path)
    if stored or is_frame(reference):
        columns = columns_of(table) if stored else table.columns
        if set(LONG) <= set(columns) or (LONG[1] in columns and len(columns) == 2):
            return stored_labels(table, predictions, LabelReading(item, format="table"), labels)
        if stored:
            like = [] if item in columns else _names_beside(predictions, item)
            return read_soft(table, item, estimand, like, memory)
        texts = sum(str(kind) == "String" for kind in table.dtypes)
        if texts > 1:
            return stored_labels(table, predictions, LabelReading(item, format="table"), labels)
        if item not in columns and texts:
            own, _ = item_column(table, item, _names_beside(predictions, item), Source())
            reference = table.rename({own: item})
    elif _axes(reference) == 1:
        return _hard(reference, row_names(reference), predictions, item, labels)
    return _numbers(labelled(reference, item), estimand)


def stored_labels(
    table: Any,
    predictions: Models,
    how: LabelReading,
    labels: Iterable[object] | None = None,
    memory: float | None = None,
) -> Annotations | Truth:
    """Annotations in a table or the export of a tool or, without annotators, one known label for each item."""
    path = isinstance(table, str | Path)
    if path and label_format(table, how.format) != "table":
        return read_label_file(table, how, memory=memory)
    columns = columns_of(table) if path else table.columns
    like = [] if how.item in columns else _names_beside(predictions, how.item)
    if how.annotator not in columns and how.label in columns and (how.item in columns or len(columns) == 2):
        frame, source = read_table(table) if path else (table, Source())
        item, _ = item_column(frame, how.item, like, source, (how.label,))
        items, _ = items_of([(frame, source)], item, "one known label for each item", REPEATED_LABEL)
        answers = frames.names(frame, how.label, source, "label").to_list()
        return _hard(answers, items, predictions, how.item, labels)
    known = None
    if not {how.annotator, how.label} <= set(columns) and isinstance(predictions, Mapping) and predictions:
        known = _labels_of(predictions, how.item, columns)
    known = known if isinstance(known, tuple) else None
    return read_annotations(table, how.item, how.annotator, how.label, how.replicate, known, like=like, memory=memory)


def _names_beside(predictions: Models, item: str) -> list[Any]:
    """The names of items that the predictions have, by which the column of items is found in the table beside them."""
    if isinstance(predictions, Predictions):
        return [] if predictions.index.positional_items else [frames.text(frames.as_series(predictions.index.items))]
    first: Any = next(iter(by_model(predictions, "table or path").values())) if predictions != {} else None
    return names_in(first, item) if isinstance(first, STORED) or is_frame(first) else []


REPEATED_LABEL = "Where several people answered, name them in a column 'annotator' (--annotator, annotator=)."


def _axes(reference: object) -> int:
    """One for labels, two for numbers by item and label; anything else is an error."""
    try:
        axes = reference.ndim if on_device(reference) else np.ndim(frames.as_array(reference))  # type: ignore[arg-type]
    except ValueError:  # rows of several lengths
        axes = 0
    if isinstance(reference, Predictions):
        raise InputError("Predictions as the truth", "a Truth", "Swap the arguments: in score, predictions come first.")
    if axes not in (1, 2):
        raise InputError(
            type(reference).__name__,
            "Annotations or Truth, a path, a dataframe, labels, or an array of soft labels or counts",
            "Use read_annotations or Truth.from_probs where the form is not clear.",
        )
    return axes


def _hard(
    values: object, items: Iterable[object] | None, predictions: Models, item: str, labels: Iterable[object] | None
) -> Truth:
    """Certain labels, under the names, or the number, of those that the predictions have."""
    names = None if labels is None else tuple(labels)
    if names is not None:
        return Truth.from_labels(values, items=items, classes=names)  # type: ignore[arg-type]
    known = _labels_of(predictions, item, np.asarray(frames.as_array(values), object).ravel().tolist())
    if on_device(values):
        values = to_host(values)
    whole = np.asarray(frames.as_array(values)).dtype.kind in "biu"
    if isinstance(known, int):
        return Truth.from_labels(values, known if whole else None, items)  # type: ignore[arg-type]
    return Truth.from_labels(values, items=items, classes=known)  # type: ignore[arg-type]


def _labels_of(predictions: Models, item: str, used: Iterable[object]) -> tuple[str, ...] | int | None:
    """The names of the labels that predictions have, or how many there are where they have no names."""
    if isinstance(predictions, Predictions):
        index = predictions.index
        return len(index.labels) if index.positional_labels else tuple(index.labels)
    if isinstance(predictions, Mapping) and not predictions:
        return None
    name, table = next(iter(by_model(predictions, "table or path").items()))
    first = _with_items(table, item)
    if _names_items(first, item):
        frame, source = next(batches(first))  # type: ignore[arg-type]
        names = tuple(sorted({frames.name_text(name) for name in used}))
        return tuple(label_columns(frame, source, item, names, isinstance(first, Block)).labels)
    own = labelled(first, item)
    shape = np.shape(own.values)  # type: ignore[call-overload]
    if len(shape) == 1 or shape[1:] == (1,):
        return 2  # the probabilities of an event
    if len(shape) != 2:
        check_arrays.as_floats(own.values, "item label", f"probabilities of model {name!r}")  # says what is wrong
    return own.labels if own.labels is not None else shape[1]


def _numbers(table: NamedNumbers, estimand: Estimand | None) -> Annotations | Truth:
    """Soft labels where every row sums to 1, counts where all numbers are whole; an error elsewhere."""
    array = check_arrays.as_float_table(table.values, "the reference")
    if not check_arrays.surely_simplex(array):
        numbers = to_host(array)
        if (np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers))).all():
            return Annotations.from_counts(numbers, table.items, table.labels)
    return Truth.from_probs(array, table.items, table.labels, estimand or "distribution")


def by_name(listed: object, names: Sequence[str], what: str) -> object:
    """A pandas Series as a mapping where its index holds names, as a list where it is a plain range; else unchanged."""
    no_frame(listed, what)
    index = getattr(listed, "index", None)
    if index is None or callable(index) or isinstance(listed, Mapping):  # a list has a method of that name
        return listed
    keys, values = [frames.name_text(key) for key in index], list(listed)  # type: ignore[call-overload]
    if not set(keys).isdisjoint(names):
        check.unique(keys, f"name in the index of {what}")
        return dict(zip(keys, values, strict=True))
    if keys == [str(position) for position in range(len(keys))]:
        return values
    raise InputError(
        f"{what} as a Series with the index {check.shortlist(keys, 3)}",
        f"an index of the names ({check.shortlist(names, 3)}), or a plain range",
        f"Pass {what}.to_list() if it stands in the right order, or set its index.",
    )


def by_item(listed: object, reference: Index, predictions: Index | None, what: str) -> object:
    """A list by item as a mapping, since items may be dropped on the way."""
    listed = by_name(listed, reference.items, what)
    if listed is None or isinstance(listed, Mapping):
        return listed
    names = np.asarray(listed).ravel().tolist()
    unordered = reference.positional_items or reference.item_rows is None
    index = predictions if predictions is not None and unordered and not predictions.positional_items else reference
    check.length(len(names), len(index.items), f"items in {what}")
    return dict(zip(index.written("items", what), names, strict=True))
