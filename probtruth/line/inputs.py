"""What callers hand to the line, as the types that it works on: files, dataframes, dicts of columns, arrays, labels.

Every table is opened once (`opened_models`, `opened`), its kind is told once (`kind_of`); names go before positions.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from probtruth import check, check_arrays, frame_numbers, frames
from probtruth.errors import InputError
from probtruth.frame_numbers import NamedNumbers, is_frame, labelled, no_frame, row_names
from probtruth.io.annotations import annotations_of, answered
from probtruth.io.formats import LabelReading
from probtruth.io.kinds import Beside, Hard, Soft, kind_of, may_be_codes
from probtruth.io.loaders.readers import label_format, read_label_file
from probtruth.io.predictions import read_predictions
from probtruth.io.table import FrameTable, Table, opened, too_large
from probtruth.io.tables.columns import label_columns, names_in
from probtruth.io.tables.wide import items_of
from probtruth.io.truth import soft_of
from probtruth.kernels.arrays import on_device, to_host
from probtruth.types import Annotations, Index, Predictions, Truth
from probtruth.types.arguments import Estimand, Frame, Numbers, StrPath
from probtruth.types.predictions import by_model

type Reference = Annotations | Truth | StrPath | Table | Frame | Numbers
"""What models are judged by, as a caller may have it."""
type Models = Predictions | Mapping[str, StrPath | Table | Frame | Numbers]
"""The models' probabilities, as a caller may have them."""

REPEATED_LABEL = "Where several people answered, name them in a column 'annotator' (--annotator, annotator=)."


def opened_models(predictions: Models) -> Any:
    """The predictions themselves, or the table of each model: opened if it has names, else as numbers."""
    if isinstance(predictions, Predictions):
        return predictions
    made: dict[str, Table | NamedNumbers] = {}
    for model, table in by_model(predictions, "table or path").items():
        if isinstance(table, Table | NamedNumbers):
            made[model] = table
        elif isinstance(table, str | Path) or is_frame(table) or row_names(table) is not None:
            made[model] = opened(table, f"the table of model {check.quote(model)}")
        else:
            made[model] = labelled(table)
    named = [model for model, table in made.items() if isinstance(table, Table) and table.stored]
    unnamed = [model for model, table in made.items() if isinstance(table, NamedNumbers)]
    if named and unnamed:
        raise _mixed(named[0], unnamed[0])
    return made


def _mixed(named: str, other: str) -> InputError:
    """The refusal of models of which some have names of items."""
    return InputError(
        f"model {check.quote(named)} with names of items beside model {check.quote(other)} without",
        "names of items in all tables, or in none",
        f"Which items those of model {check.quote(other)} are cannot be told: make it a table with a column 'item'.",
    )


def predictions_of(
    predictions: Models,
    item: str | None = None,
    labels: Iterable[object] | None = None,
    index: Index | None = None,
    memory: float | None = None,
) -> Predictions:
    """The predictions themselves, or made from one table for each model."""
    tables = opened_models(predictions)
    if isinstance(tables, Predictions):
        return tables
    named = {model: table for model, table in tables.items() if _names_items(table, item)}
    if len(named) == len(tables):
        return read_predictions(named, index, item, labels=labels, memory=memory)
    if named:
        raise _mixed(next(iter(named)), next(model for model in tables if model not in named))
    numbers: Any = {model: _numbers_of(table) for model, table in tables.items()}
    return Predictions.from_probs(numbers, labels=labels)


def _names_items(table: object, item: str | None) -> bool:
    """Whether a table names its items: in a file, in an index, in the column of items, or in one of text."""
    if not isinstance(table, Table):
        return False
    if table.stored or not isinstance(table, FrameTable) or table.row_names is not None:
        return True
    return ("item" if item is None else item) in table.columns or any(
        str(kind) == "String" for kind in table.frame.dtypes
    )


def _numbers_of(table: object) -> NamedNumbers:
    """The numbers of a table without names of items."""
    if not isinstance(table, FrameTable):
        return labelled(table)
    values = frame_numbers.float_columns(table.frame, table.columns, table.head[1]).rows()
    return NamedNumbers(values, None, table.label_names)


def reference_of(
    reference: Reference,
    predictions: Models,
    how: LabelReading = LabelReading(),
    estimand: Estimand | None = None,
    labels: Iterable[object] | None = None,
    memory: float | None = None,
) -> Annotations | Truth:
    """What the models are judged by, as annotations or a truth; `estimand` says which of the two soft labels are."""
    is_table = isinstance(reference, Table | str | Path) or is_frame(reference)
    of_answers = [*how.named("annotator", "label")]
    if how.none:
        of_answers.append("missing")
    if of_answers and (not is_table or isinstance(reference, Annotations | Truth)):
        hint = "Give a table with columns of items and labels, or leave those items out."
        raise InputError(f"{of_answers[0]}= with {type(reference).__name__}", "a table of answers", hint)
    if isinstance(reference, Annotations | Truth):
        return reference
    if isinstance(reference, Predictions):
        raise InputError("Predictions as the truth", "a Truth", "Swap the arguments: in score, predictions come first.")
    names = None if labels is None else tuple(labels)
    if isinstance(reference, Mapping) and reference and all(map(np.isscalar, reference.values())):
        return _hard([*reference.values()], [*reference], _beside(predictions, how, names, [*reference.values()]))
    stored = isinstance(reference, str | Path)
    forms = ("table", "wide", "counts")
    if stored and how.format != "soft" and label_format(reference, how.format) not in forms:  # type: ignore[arg-type]
        return read_label_file(reference, how, memory=memory)  # type: ignore[arg-type]
    table: Any = reference
    named = frame_numbers.is_array_with_names(reference) and row_names(reference) is not None
    if stored or is_frame(reference) or (named and table.ndim == 2):
        table = opened(reference, "the reference")
    if isinstance(table, Table):
        return _of_table(table, predictions, how, estimand, names, memory)
    if _axes(reference) == 1:
        rows = row_names(reference)
        values: Any = reference if on_device(reference) else frames.as_array(reference)
        return _hard(values, rows, _beside(predictions, how, names, np.asarray(to_host(values)).ravel().tolist()))
    return _of_numbers(labelled(reference), estimand, _beside(predictions, how, names, ()))


def _of_table(
    table: Table,
    predictions: Models,
    how: LabelReading,
    estimand: Estimand | None,
    labels: Sequence[object] | None,
    memory: float | None,
) -> Annotations | Truth:
    """What a table holds, by its kind."""
    on_disk = too_large([table], memory)
    if on_disk:
        table = table.in_batches()
    used: Sequence[object] = table.columns
    if how.column("label") in table.columns:
        used = table.head[0].get_column(how.column("label")).drop_nulls().unique().to_list()
    beside = _beside(predictions, how, labels, used)
    kind = kind_of(table, how, beside)
    if isinstance(kind, Soft) and how.none:
        raise InputError("missing= with soft labels", "a table of answers", "Leave it out.", table.name)
    if isinstance(kind, Soft):
        return soft_of(table, kind, estimand, on_disk)
    if isinstance(kind, Hard):
        frame, source = table.with_items(how.item).whole
        frame, source, _ = answered(frame, source, kind.label, how.none)
        items, _ = items_of([(frame, source)], kind.item, "one known label for each item", REPEATED_LABEL)
        answers = frames.names(frame, kind.label, source, "label").to_list()
        return _hard(answers, items, beside)
    return annotations_of(table, kind, how, None, on_disk, beside.labels)


def _beside(predictions: Models, how: LabelReading, labels: Sequence[object] | None, used: Sequence[object]) -> Beside:
    """What the predictions say of the items and labels of a reference that uses some names."""
    known = None if labels is None else tuple(map(frames.name_text, labels))
    if isinstance(predictions, Predictions):
        index = predictions.index
        items = [] if index.positional_items else [frames.text(frames.as_series(index.items))]
        if known is None and not index.positional_labels:
            known = index.labels
        return Beside(items, known, len(index.labels))
    if isinstance(predictions, Mapping) and not predictions:
        return Beside((), known, None if known is None else len(known))
    tables = opened_models(predictions)
    model, first = next(iter(tables.items()))
    if not isinstance(first, Table):
        own, n_labels = _labels_of_numbers(first, model)
        return Beside((), known or own, n_labels)
    first = first.with_items(how.item)
    frame, _ = first.head
    if known is None and first.has_names:
        names = tuple(sorted({frames.name_text(name) for name in used}))
        chosen = label_columns(first, how.column("item"), names)
        known = tuple(chosen.labels)
    n_labels = len(first.columns) - (how.column("item") in first.columns) if known is None else len(known)
    return Beside(names_in(frame, how.item), known, 2 if n_labels == 1 else n_labels)


def _labels_of_numbers(table: NamedNumbers, model: str) -> tuple[Sequence[str] | None, int]:
    """The names of the labels of an array, if there are any, and their number."""
    shape = np.shape(table.values)  # type: ignore[call-overload]
    if len(shape) == 1 or shape[1:] == (1,):
        return None, 2  # the probabilities of an event
    if len(shape) != 2:
        check_arrays.as_floats(table.values, "item label", f"probabilities of model {model!r}")  # says what is wrong
    return table.labels, shape[1]


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


def _hard(values: Any, items: Iterable[object] | None, beside: Beside) -> Truth:
    """Certain labels, under the names, or the number, of those that the predictions have.

    Fractions are the probabilities of an event: of two labels, of the second.
    """
    if on_device(values):
        values = to_host(values)
    outcomes = np.asarray(frames.as_array(values))
    if outcomes.dtype.kind == "f" and beside.n_labels == 2 and _are_fractions(outcomes):
        both: Any = NamedNumbers(np.stack([1 - outcomes, outcomes], axis=1), row_names(values))
        return Truth.from_probs(both, items=items, labels=beside.labels)
    if beside.labels is not None:
        return Truth.from_labels(values, items=items, classes=beside.labels)
    if beside.n_labels is None:
        return Truth.from_labels(values, items=items)
    array = np.asarray(frames.as_array(values))
    if array.dtype.kind in "OUT" and all(str(value).isdecimal() for value in array.ravel().tolist()):
        array = array.astype(np.int64)
        values = array if row_names(values) is None else values
    whole = array.dtype.kind in "biu"
    return Truth.from_labels(values, beside.n_labels if whole else None, items)


def _are_fractions(values: np.ndarray) -> bool:
    inside = (values >= 0) & (values <= 1)
    return bool(inside.all() and (values != np.floor(values)).any())


def _of_numbers(table: Any, estimand: Estimand | None, beside: Beside) -> Annotations | Truth:
    """Soft labels where every row of an array sums to 1, counts where its numbers cannot be answers."""
    array = check_arrays.as_float_table(table.values, "the reference")
    if check_arrays.surely_simplex(array):
        return Truth.from_probs(table, estimand=estimand or "distribution")
    numbers = to_host(array)
    whole = bool((np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers))).all())
    if not whole:
        return Truth.from_probs(table, estimand=estimand or "distribution")
    named = table.labels is not None and beside.labels is not None and set(table.labels) <= set(beside.labels)
    if not named and may_be_codes(numbers, beside.n_labels or numbers.shape[1]):
        raise InputError(
            "an array of whole numbers, which may count votes or be the answers of annotators",
            "to know which",
            "If each column counts the votes for a label: Annotations.from_counts(array). If each column is an "
            "annotator: read_annotations(dataframe, format='wide').",
        )
    made = Annotations.from_counts(numbers, table.items, table.labels)
    return made


def by_name(listed: object, names: Sequence[str], what: str) -> object:
    """A Series as a mapping where its index holds names, as a list where it is a plain range; else unchanged."""
    if listed is None:
        return None
    no_frame(listed, what)
    if not (frame_numbers.is_series(listed) or frame_numbers.is_array_with_names(listed)):
        return listed
    own = row_names(listed)
    values = np.asarray(listed).tolist()
    if own is None:
        return values
    if not set(own).isdisjoint(names):
        check.unique(own, f"name in the index of {what}")
        return dict(zip(own, values, strict=True))
    raise InputError(
        f"{what} as a Series with the index {check.shortlist(own, 3)}",
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
