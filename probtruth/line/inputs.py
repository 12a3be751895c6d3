"""What callers hand to the pipeline, as the types that it works on: files, frames, dicts of columns, arrays, labels.

Every table is opened once (`opened_models`, `opened`), its kind is told once (`kind_of`); names go before positions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from probtruth import check, check_arrays, frame_numbers, frames
from probtruth.check import MaybeNumber, MaybeStrings, MaybeText, Strings, count, quote, unique
from probtruth.errors import InputError
from probtruth.frame_numbers import NamedNumbers, is_frame, labelled, row_names
from probtruth.io.addresses import is_path
from probtruth.io.annotations import annotations_of, answered
from probtruth.io.formats import LabelReading
from probtruth.io.kinds import Beside, Hard, Soft, kind_of, tool_in
from probtruth.io.loaders.readers import OF_LABELS, read_labels_of, refuse_unused
from probtruth.io.predictions import opened_models, read_predictions
from probtruth.io.table import ENOUGH, FrameTable, Table, opened, placed
from probtruth.io.tables import columns
from probtruth.io.tables.columns import label_columns, names_in, with_event
from probtruth.io.tables.wide import PIVOT, items_of
from probtruth.io.truth import soft_of
from probtruth.kernels.arrays import on_device, to_host
from probtruth.types import Annotations, Index, Predictions, Truth
from probtruth.types.arguments import Estimand, Frame, GivenNames, Numbers, StrPath
from probtruth.types.index import as_names, event_of, hard_labels, places_said
from probtruth.types.predictions import of_event

type Reference = Annotations | Truth | StrPath | Table | Frame | Numbers
"""What models are judged by, as a caller may have it."""
type Models = Predictions | Mapping[str, StrPath | Table | Frame | Numbers]
"""The models' probabilities, as a caller may have them."""

REPEATED_LABEL = f"Where several people answered, name them in a column 'annotator' (--annotator, annotator=); {PIVOT}."


def predictions_of(
    predictions: Models,
    item: MaybeText = None,
    labels: GivenNames = None,
    index: Index | None = None,
    memory: MaybeNumber = None,
) -> Predictions:
    """The predictions themselves, or made from one table for each model."""
    names = as_names(labels, "labels")
    if isinstance(predictions, Predictions):
        return predictions.in_order_of(names)
    tables = opened_models(predictions)
    named: Any = {model: table for model, table in tables.items() if _names_items(table, item)}
    if len(named) == len(tables):
        return read_predictions(named, index, item, labels=names, memory=memory).in_order_of(names)
    if named:
        other = quote(next(model for model in tables if model not in named))
        raise InputError(
            f"model {quote(next(iter(named)))} with names of items beside model {other} without",
            "names of items in all tables, or in none",
            f"Which items those of model {other} are cannot be told: make it a table with a column 'item'.",
        )
    numbers: Any = {model: _numbers_of(table) for model, table in tables.items()}
    # one number an item is about a label that the reference names; columns without names follow its order later
    known = index if all(of_event(table.values) for table in numbers.values()) else None
    return Predictions.from_probs(numbers, labels=names, index=known)


def _names_items(table: object, item: MaybeText) -> bool:
    """Whether a table names its items: in a file, in an index, in the column of items, or in one of text."""
    if not isinstance(table, FrameTable):
        return isinstance(table, Table)
    named = table.row_names is not None or ("item" if item is None else item) in table.columns
    return named or any(str(kind) == "String" for kind in table.frame.dtypes)


def _numbers_of(table: object) -> NamedNumbers:
    """The numbers of a table without names of items."""
    if not isinstance(table, FrameTable):
        return labelled(table)
    numbers = labelled(table.frame)
    return numbers if table.has_names else replace(numbers, labels=None)


def reference_of(
    reference: Reference,
    predictions: Models,
    how: LabelReading = LabelReading(),
    estimand: Estimand | None = None,
    labels: GivenNames = None,
    memory: MaybeNumber = None,
) -> Annotations | Truth:
    """What the models are judged by, as annotations or a truth; `estimand` says which of the two soft labels are."""
    of_items = [*reference.values()] if isinstance(reference, Mapping) else []
    one_each = len(of_items) > 0 and all(map(frames.is_one_value, of_items))
    is_table = not one_each and (isinstance(reference, Table) or is_path(reference) or is_frame(reference))
    said = [*how.named("annotator", "label"), *(["missing"] if how.none else [])]
    if said and not is_table:
        raise InputError(
            f"{said[0]}= with {type(reference).__name__}",
            "a table of answers",
            "Give a table with columns of items and labels, or leave those items out.",
        )
    if isinstance(reference, Annotations | Truth):
        return reference
    if isinstance(reference, Predictions):
        raise InputError("Predictions as the truth", "a Truth", "Swap the arguments: in score, predictions come first.")
    names = as_names(labels, "labels")
    if one_each:
        return _hard(of_items, reference, _beside(predictions, how, names, of_items), names)  # type: ignore[arg-type]
    axes = 2 if is_table else _axes(reference)
    rows = row_names(reference)
    of_annotators = axes == 1 and rows is not None and len(frame_numbers.levels(reference)) > 1
    if is_table or of_annotators or (axes == 2 and rows is not None):
        table = opened(reference, "the reference")
        if of_annotators:
            how = replace(how, label=table.columns[-1])
        return _of_table(table, predictions, how, estimand, names, memory)
    if axes == 2:
        numbers: Any = labelled(reference)
        array = check_arrays.as_float_table(numbers.values, "the reference")
        unique(numbers.labels or (), "label")
        sample = opened(NamedNumbers(to_host(array[:ENOUGH]), None, numbers.labels), "the reference")
        if isinstance(kind_of(sample, LabelReading(), _beside(predictions, how, names, ())), Soft):
            return Truth.from_probs(numbers, estimand=estimand or "distribution")
        return Annotations.from_counts(to_host(array), numbers.items, numbers.labels)
    values: Any = to_host(reference) if on_device(reference) else frames.as_array(reference)
    return _hard(values, rows, _beside(predictions, how, names, np.asarray(values).ravel().tolist()), names)


def _of_table(
    table: Table,
    predictions: Models,
    how: LabelReading,
    estimand: Estimand | None,
    labels: MaybeStrings,
    memory: MaybeNumber,
) -> Annotations | Truth:
    """What a table holds, by its kind."""
    tool = tool_in(table, how)
    if tool is not None:
        return read_labels_of(tool, table, how, None)
    used: Strings = table.columns
    if how.column("label") in used:
        labels_there = frames.flat(table.head[0], how.column("label"), table.head[1], "label").drop_nulls().unique()
        used = frame_numbers.names_in(labels_there.to_list())
    else:
        used = [*columns.by_name(used)]
    beside = _beside(predictions, how, labels, used)
    kind = kind_of(table, how, beside)
    refuse_unused(how, kind.form, OF_LABELS, table.name)
    (table,) = placed([table], memory)
    if isinstance(kind, Soft):
        if kind.item is not None:
            kind = with_event(kind, beside.labels or (), table)
        return soft_of(table, kind, estimand)
    if isinstance(kind, Hard):
        frame, source = table.with_items(how.item).whole
        frame, source, _ = answered(frame, source, kind.label, how.none)
        items, _ = items_of([(frame, source)], kind.item, "one known label for each item", REPEATED_LABEL)
        answers = frames.names(frame, kind.label, source, "label").to_list()
        return _hard(answers, items, beside, labels)
    return annotations_of(table, kind, how, None, beside.labels)


def _beside(predictions: Models, how: LabelReading, known: MaybeStrings, used: Sequence[object]) -> Beside:
    """What the predictions say of the items and labels of a reference that uses some names."""
    n_labels = None if known is None else len(known)
    if isinstance(predictions, Predictions):
        index = predictions.index
        items = [] if index.positional_items else [frames.text(frames.as_series(index.items))]
        if known is None and not index.positional_labels:
            known = index.labels
        return Beside(items, known, len(index.labels))
    if not predictions:
        return Beside((), known, n_labels)
    model, first = next(iter(opened_models(predictions).items()))
    if isinstance(first, NamedNumbers):
        shape = check_arrays.shape_of(first.values, f"probabilities of model {model!r}")
        if len(shape) not in (1, 2):
            # which says what is wrong
            check_arrays.as_floats(first.values, "item label", f"probabilities of model {model!r}")
        n_columns = (*shape, 1)[1]
        own = None if n_columns == 1 else first.labels  # the probabilities of an event have no name
        return Beside((), known or own, max(n_columns, 2))
    first = first.with_own_items(how.item)
    item = "item" if how.item is None or how.item not in first.columns else how.item
    if known is None and first.has_names:
        names = tuple(sorted({frames.name_text(name) for name in used} - {how.column("item")}))
        known = tuple(label_columns(first, item, names, must_be_named=False).labels)
    n_columns = len(first.columns) - (item in first.columns) if known is None else len(known)
    return Beside(names_in(first, item), known, max(n_columns, 2))


def _axes(reference: object) -> int:
    """One for labels, two for numbers by item and label; anything else is an error."""
    try:
        axes = reference.ndim if on_device(reference) else np.ndim(frames.as_array(reference))  # type: ignore[arg-type]
    except ValueError:  # rows of several lengths
        axes = 0
    if axes not in (1, 2):
        raise InputError(
            type(reference).__name__,
            "Annotations or Truth, a path, a dataframe, labels, or an array of soft labels or counts",
            "Use read_annotations or Truth.from_probs where the form is not clear.",
        )
    return axes


def _hard(values: Any, items: GivenNames, beside: Beside, labels: MaybeStrings) -> Truth:
    """Certain labels, under the names, or the number, of those that the predictions have; `labels` names all in order.

    Fractions are the probabilities of an event: of two labels, of the second. What are numbers without names of labels
    finds these, by position or as an event, where it meets the predictions.
    """
    array = np.asarray(values)
    kind = array.dtype.kind
    items = row_names(values) if items is None else [*items]
    unlabelled = []
    if kind not in "iub":  # integers and truth values are never missing
        unlabelled = [row for row, value in enumerate(array.ravel().tolist()) if frames.missing(value)]
    if unlabelled:
        first = unlabelled[0] + 1 if items is None else quote(items[unlabelled[0]])
        raise InputError(
            f"no label for {count(len(unlabelled), 'item')} (the first: {first})",
            "a label for every item",
            "Leave those items out.",
        )
    name = frames.name_text(getattr(values, "name", None) or "")
    fractions = kind == "f" and ((array >= 0) & (array <= 1)).all()
    event = event_of(labels, name) if fractions and labels is not None and len(labels) == 2 else None
    array = hard_labels(array)
    if fractions and array.dtype.kind == "i" and (places_said(name) == {0} or (labels and event == labels[0])):
        problem = f"0.0 and 1.0, which may be positions of labels or probabilities of {quote(event or name)}"
        raise InputError(problem, "labels, as integers or as names", "Pass integers (np.asarray(labels, int)).")
    kind = array.dtype.kind
    if fractions and kind == "f" and beside.n_labels == 2:
        both: Any = np.stack([1 - array, array], axis=1)
        if labels is not None:
            return Truth.from_probs(both, items=items, labels=sorted(labels, key=(event or "").__eq__))
        of_first = places_said(name) == {0}
        made = Truth.from_probs(both[:, ::-1] if of_first else both, items=items)
        return replace(made, index=replace(made.index, event=() if of_first else (name,)))
    named = beside.labels or ()
    digits = not named and kind in "OUT" and all(str(value).isdecimal() for value in array.ravel().tolist())
    codes = kind in "iu" and not any(name.lstrip("-").isdigit() for name in named)
    truths = kind == "b" and "true" not in named and (not named or event_of(named) is not None)
    if labels is None and beside.n_labels is not None and (codes or truths or digits):
        return Truth.from_labels(array.astype(np.int64), beside.n_labels, items)
    return Truth.from_labels(values, items=items, classes=labels or beside.labels)


def by_item(listed: object, known: Annotations | Truth, predictions: Index | None, what: str) -> object:
    """A list by item as a mapping, since items may be dropped on the way."""
    reference = known.index
    listed = frame_numbers.by_name(listed, reference.items, what)
    if listed is None or isinstance(listed, Mapping):
        return listed
    names: Any = listed
    unordered = reference.positional_items or reference.item_rows is None
    index = predictions if predictions is not None and unordered and not predictions.positional_items else reference
    check.length(len(names), len(index.items), f"items in {what}")
    hint = f"Pass a dict {{item: {what.rstrip('s')}}}."
    try:
        items = index.written("items", what)
    except InputError as error:
        raise InputError(error.got, f"{what} by name", hint) from None
    first = [] if index is reference or reference.positional_items else _as_they_appear(known)
    both = {*first} & {*items}
    if [name for name in first if name in both] != [name for name in items if name in both]:
        got = f"{what} as a list, for items that stand in other orders in the reference and in the predictions"
        raise InputError(got, f"{what} by name", hint)
    return dict(zip(items, names, strict=True))


def _as_they_appear(known: Annotations | Truth) -> list[str]:
    """The items in the order in which the rows of a long table name them; none where nothing tells it."""
    annotations = known if isinstance(known, Annotations) else known.annotations
    if annotations is None:
        return []
    places, first = np.unique(annotations.item, return_index=True)
    return [annotations.index.items[place] for place in places[np.argsort(first)].tolist()]
