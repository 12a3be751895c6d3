"""What callers hand to the line, as the types that it works on: files, dataframes, dicts of columns, arrays, labels.

A table in long form is annotations; numbers by item and label are probabilities where every row sums to 1, and counts
of votes where all are whole numbers; one value for each item is its label. Nothing else is guessed.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probtruth import check, check_arrays, frames
from probtruth.errors import InputError
from probtruth.frame_numbers import NamedNumbers, is_frame, labelled, row_names
from probtruth.io.annotations import is_long, read_annotations
from probtruth.io.predictions import read_predictions
from probtruth.io.tables.batches import columns_of
from probtruth.io.tables.read import Block
from probtruth.io.tables.wide import CellKind, known_kind
from probtruth.io.truth import read_soft
from probtruth.kernels.arrays import on_device, to_host
from probtruth.types import Annotations, Index, Predictions, Truth
from probtruth.types.arguments import Estimand, Frame, Numbers, StrPath

if TYPE_CHECKING:
    from typing_extensions import TypeIs

type Reference = Annotations | Truth | StrPath | Block | Frame | Numbers
"""What models are judged by, as a caller may have it."""
type Models = Predictions | Mapping[str, StrPath | Block | Frame | Numbers]
"""The models' probabilities, as a caller may have them."""

STORED = (str, Path, Block)
"""What a table is read from."""
LONG = ("annotator", "label")
"""The columns, beside the items', by which annotations in long form are known."""
BUILD = {
    "probs": Predictions.from_probs,
    "log-probs": Predictions.from_log_probs,
    "logits": Predictions.from_logits,
}


@check.checks_itself
def files_of(predictions: Models) -> Mapping[str, StrPath | Block] | None:
    """The files, where predictions are {model: path}; None where they are something else."""
    if not isinstance(predictions, Mapping) or not predictions:
        return None
    paths = {name: table for name, table in predictions.items() if isinstance(table, STORED)}
    if paths and len(paths) < len(predictions):
        other = next(name for name in predictions if name not in paths)
        raise InputError(
            f"a path for model {check.quote(next(iter(paths)))} and a {type(predictions[other]).__name__} for model "
            f"{check.quote(other)}",
            "paths for all models, or tables for all",
            "Read the files first (polars.read_csv, for one).",
        )
    return paths or None


def is_soft(reference: Reference, item: str) -> "TypeIs[StrPath | Block]":
    """Whether the reference is a stored table of soft labels."""
    if isinstance(reference, Block):
        return not reference.counts
    return isinstance(reference, str | Path) and not is_long(columns_of(reference), item, *LONG)


@check.checks_itself
def predictions_of(
    predictions: Models,
    item: str = "item",
    kind: CellKind = "probs",
    labels: Iterable[object] | None = None,
    index: Index | None = None,
    renormalise: bool = False,
) -> Predictions:
    """The predictions themselves, or made from one table for each model.

    Dataframes that name their items in a column are aligned by name, as files are; arrays follow the order of the other
    side. `labels` name the columns of arrays.
    """
    if isinstance(predictions, Predictions):
        return predictions
    if not isinstance(predictions, Mapping) or not predictions:
        problem = "an empty dict" if isinstance(predictions, Mapping) else type(predictions).__name__
        raise InputError(
            problem,
            "Predictions, or a dict {model: table of probabilities, or path}",
            "Wrap a single table: {'my model': table}.",
        )
    known = known_kind(kind)
    if all(_names_items(table, item) for table in predictions.values()):
        return read_predictions(predictions, index, item, kind, renormalise)  # type: ignore[arg-type]
    if renormalise or known not in BUILD:
        raise InputError(
            "renormalise with arrays" if renormalise else f"arrays of kind {kind!r}",
            "rows that are distributions",
            "Divide them yourself: p / p.sum(axis=1, keepdims=True). Tables with a column of items may be so.",
        )
    own = labelled(next(iter(predictions.values())), item).labels
    return BUILD[known](predictions, labels=labels if own is None else None)  # type: ignore[arg-type]


def _names_items(table: object, item: str) -> bool:
    """Whether a table of a model is a file, or a dataframe with a column of items."""
    if isinstance(table, STORED):
        return True
    return is_frame(table) and item in frames.as_polars(table).columns


@check.checks_itself
def reference_of(
    reference: Reference,
    predictions: Models,
    item: str = "item",
    estimand: Estimand | None = None,
    labels: Iterable[object] | None = None,
) -> Annotations | Truth:
    """What the models are judged by, as annotations or a truth; `estimand` says which of the two soft labels are.

    Errors: `InputError` for what is neither annotations in long form, nor soft labels, counts or labels.
    """
    if isinstance(reference, Annotations | Truth):
        return reference
    if isinstance(reference, Block):
        return (
            read_annotations(reference, item, format="counts")
            if reference.counts
            else read_soft(reference, item, estimand)
        )
    if isinstance(reference, str | Path):
        if is_long(columns_of(reference), item, *LONG):
            return read_annotations(reference, item)
        return read_soft(reference, item, estimand)
    if isinstance(reference, Mapping) and reference and all(map(np.isscalar, reference.values())):
        return _hard([*reference.values()], [*reference], predictions, item, labels)
    if is_frame(reference):
        table = frames.as_polars(reference)
        if is_long(table.columns, item, *LONG):
            return Annotations.from_long(table, item)
        if {item, LONG[1]} == set(table.columns) and table.height:
            return _hard(table[LONG[1]].to_list(), table[item].to_list(), predictions, item, labels)
    elif _axes(reference) == 1:
        return _hard(reference, row_names(reference), predictions, item, labels)
    return _numbers(labelled(reference, item), estimand)


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
    known = _labels_of(predictions, item)
    if on_device(values):
        values = to_host(values)
    whole = np.asarray(frames.as_array(values)).dtype.kind in "biu"
    if isinstance(known, int):
        return Truth.from_labels(values, known if whole else None, items)  # type: ignore[arg-type]
    return Truth.from_labels(values, items=items, classes=known)  # type: ignore[arg-type]


def _labels_of(predictions: Models, item: str) -> tuple[str, ...] | int | None:
    """The names of the labels that predictions have, or how many there are where they have no names."""
    if isinstance(predictions, Predictions):
        index = predictions.index
        return len(index.labels) if index.positional_labels else tuple(index.labels)
    if not isinstance(predictions, Mapping) or not predictions:
        return None
    first = next(iter(predictions.values()))
    if isinstance(first, STORED):
        return tuple(name for name in columns_of(first) if name != item)
    table = labelled(first, item)
    shape = np.shape(table.values)  # type: ignore[call-overload]
    if len(shape) == 1:
        check_arrays.as_float_table(table.values, "probabilities")  # raises: it has no axis of labels
    return table.labels if table.labels is not None else shape[1] if len(shape) == 2 else None


def _numbers(table: NamedNumbers, estimand: Estimand | None) -> Annotations | Truth:
    """Soft labels where every row sums to 1, counts where all numbers are whole; an error elsewhere."""
    array = check_arrays.as_float_table(table.values, "the reference")
    if not check_arrays.surely_simplex(array):
        numbers = to_host(array)
        if (np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers))).all():
            return Annotations.from_counts(numbers, table.items, table.labels)
    return Truth.from_probs(array, table.items, table.labels, estimand or "distribution")
