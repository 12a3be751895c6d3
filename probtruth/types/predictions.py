"""Predictions: for each model and item a distribution over the labels, as log-probabilities."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from probtruth import check_arrays
from probtruth.check import MaybeStrings, Texts, count, quote, shortlist, unique
from probtruth.errors import InputError
from probtruth.frame_numbers import SIDES, NamedNumbers, labelled, row_names
from probtruth.frames import name_text
from probtruth.kernels.arrays import (
    LabelTable,
    Table,
    exponential,
    log_softmax,
    on_device,
    reordered,
    stacked,
    together,
)
from probtruth.types.arguments import GivenNames, Tables
from probtruth.types.index import (
    EVENTS,
    Audit,
    Index,
    are_row_numbers,
    as_names,
    event_of,
    one_hot,
    places_said,
    positions,
)
from probtruth.types.shown import Brief


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Brief):
    """Log-probabilities of each model for each item; -inf if a model calls a label impossible.

    `log_probs` lie where the caller's arrays do: on the host (NumPy), or on devices (JAX), where they are then scored.
    Those of large files are a memory-mapped array in a temporary file.
    `warnings` say what looks wrong in the input; a result repeats them. `notes` say how tables were read where that
    was not asked for.
    """

    log_probs: Float[Table, "model item label"]
    models: Texts
    index: Index
    audit: Audit = field(default_factory=Audit)
    warnings: Texts = ()
    notes: Texts = ()

    def __repr__(self) -> str:
        """The sizes, the models and the labels."""
        models = f"{count(len(self.models), 'model')} ({shortlist(self.models, 4)})"
        items = count(len(self.index.items), "item")
        return f"Predictions: {models} on {items}; labels {shortlist(self.index.labels, 6)}"

    @property
    def probs(self) -> Float[Table, "model item label"]:
        """The probabilities, where the log-probabilities lie."""
        return exponential(self.log_probs)

    def named_by(self, other: Index) -> "Predictions":
        """The same predictions; if they have no names, with the names of another index, in its caller's order.

        Arguments:
            other: the index that has the names.
        """
        index, rows, columns = self.index.named_by(other, "the predictions")
        return replace(self, log_probs=reordered(self.log_probs, rows, columns), index=index)

    def in_order_of(self, labels: MaybeStrings) -> "Predictions":
        """The same, of which an array without names on the other side has the labels in this order, if there is one.

        Arguments:
            labels: the names of the labels, which predictions without names take.

        Errors: `InputError` for a label that the predictions lack.
        """
        index = self.index
        if labels is None:
            return self
        if index.positional_labels:
            return self.named_by(Index.of_array((len(index.items), len(index.labels)), None, labels)[0])
        absent = [name for name in labels if name not in index.labels]
        if absent:
            raise InputError(
                f"labels={shortlist(labels)}, beside predictions of {shortlist(index.labels)}",
                "names of labels that the predictions have",
                "Names go before positions: rename the columns, or leave labels= out.",
            )
        every = len(labels) == len(index.labels)
        return replace(self, index=replace(index, label_columns=positions(labels, index.labels) if every else None))

    @classmethod
    def from_probs(
        cls, probs: Tables, items: GivenNames = None, labels: GivenNames = None, index: Index | None = None
    ) -> "Predictions":
        """Predictions from one array of probabilities (item, label) for each model.

        each table is an array of any library, a dataframe with a column for each label (and a column `item`), or an
        xarray DataArray. Rows and columns follow `items` and `labels` if you pass them, else the names in the tables,
        else the caller's order of the names in `index` (usually `annotations.index`), else the order of the rows and
        names on the other side of the comparison. Arrays of JAX stay on their devices, one or several (sharded over the
        items), in their own type, and other models' arrays are put there too.

        Arguments:
            probs: probabilities; the last axis is the label.
            items: the names of the rows, in their order.
            labels: the names of the labels, in the order of the columns.
            index: the names to align with, such as `annotations.index`.

        Errors: `InputError` names the model and item of a NaN, a negative value, or a row that does not sum to 1
        (tolerance `probtruth.check_arrays.SUM_TOLERANCE`); nothing is clipped or renormalised.
        """
        return cls._build("probs", probs, items, labels, index)

    @classmethod
    def from_log_probs(
        cls, log_probs: Tables, items: GivenNames = None, labels: GivenNames = None, index: Index | None = None
    ) -> "Predictions":
        """Predictions from log-probabilities (nats), which never pass through probabilities; see `from_probs`.

        Arguments:
            log_probs: natural logarithms of the probabilities; the last axis is the label.
            items: the names of the rows, in their order.
            labels: the names of the labels, in the order of the columns.
            index: the names to align with, such as `annotations.index`.
        """
        return cls._build("log-probs", log_probs, items, labels, index)

    @classmethod
    def from_logits(
        cls, logits: Tables, items: GivenNames = None, labels: GivenNames = None, index: Index | None = None
    ) -> "Predictions":
        """Predictions from logits: any real numbers; the probabilities are their softmax over the labels.

        Rows between 0 and 1 that all sum to 1 are probabilities: `warnings` says so.

        Arguments:
            logits: any real numbers; the last axis is the label.
            items: the names of the rows, in their order.
            labels: the names of the labels, in the order of the columns.
            index: the names to align with, such as `annotations.index`.
        """
        return cls._build("logits", logits, items, labels, index)

    @classmethod
    def from_labels(
        cls,
        predicted: Mapping[str, ArrayLike],
        n_labels: int | None = None,
        items: GivenNames = None,
        index: Index | None = None,
        labels: GivenNames = None,
    ) -> "Predictions":
        """Predictions of models that only name a label, which gets probability 1.

        Arguments:
            predicted: has for each model the names of labels, and `labels` are then all names that there are. Or
                integers from 0, of `n_labels`.
            n_labels: the number of labels.
            items, index: as in `from_probs`.
            labels: the names of the labels, in the order of the columns.

        >>> import probtruth as pt
        >>> pt.Predictions.from_labels({"m": ["dog", "cat"]}, labels=["cat", "dog"]).probs.tolist()
        [[[0.0, 1.0], [1.0, 0.0]]]
        """
        names = as_names(labels, "labels")
        in_order = True
        if names is None and n_labels is None and index is not None and not index.positional_labels:
            in_order = index.label_columns is not None
            names = index.written("labels", "the predictions") if in_order else index.labels
        if names is None and n_labels is None:
            raise InputError(
                "no labels",
                "the names or the number of all labels",
                "Pass labels=[...], all names, or n_labels=..., how many there are.",
            )
        certain: dict[str, Any] = {}
        for model, answers in by_model(predicted).items():
            rows, _ = one_hot(answers, names, n_labels, f"labels of model {model!r}", in_order)
            certain[model] = NamedNumbers(rows, row_names(answers))
        made = cls.from_probs(certain, items=items, index=index, labels=names)
        return made if names is not None else replace(made, index=made.index.of_codes())

    @classmethod
    def _build(
        cls, kind: str, tables: object, items: GivenNames, labels: GivenNames, index: Index | None
    ) -> "Predictions":
        read = {name: labelled(table) for name, table in by_model(tables).items()}
        passed = NamedNumbers(None, as_names(items, "items"), as_names(labels, "labels"))
        read, notes, events = _with_both_labels(kind, read, passed.labels, index)
        order = _common_names(read, passed, index)
        ordered = {name: table.in_order_of(order, f"model {quote(name)}") for name, table in read.items()}
        models = tuple(read)
        arrays = together(
            check_arrays.as_float_table(table.values, f"{WORDS[kind]} of model {name!r}")
            for name, table in ordered.items()
        )
        like_probs = []
        logs = []
        for name, array in zip(models, arrays, strict=True):
            if array.shape != arrays[0].shape:
                raise InputError(
                    f"model {quote(name)} with shape {array.shape}",
                    f"{arrays[0].shape} as model {quote(models[0])}",
                    "Give every model the same items and labels.",
                )
            check_arrays.distributions(array, partial(_row_name, name, order.items), kind=kind)
            if kind == "logits" and check_arrays.surely_simplex(array):
                like_probs.append(name)
            logs.append(as_logs(kind, array))
        made, rows, columns = Index.of_array(arrays[0].shape, order.items, order.labels)
        made = replace(made, event=events if order.labels is None else None)
        for side, rows_of_names in zip(SIDES, ("item_rows", "label_columns"), strict=True):
            orders = {tuple(getattr(table, side) or ()) for table in read.values()} - {()}
            if getattr(passed, side) is None and len(orders) > 1:  # of which none is the caller's
                made = replace(made, **{rows_of_names: None})  # type: ignore[arg-type]
        return cls(reordered(stacked(*logs), rows, columns), models, made, warnings=of_logits(like_probs), notes=notes)


# What cells are, by their kind.
WORDS = {"probs": "probabilities", "log-probs": "log-probabilities", "logits": "logits"}


def of_event(values: object) -> bool:
    """Whether a table holds one number for each item, which is about the second of two labels."""
    check_arrays.no_masked(values, "predictions")
    shape = check_arrays.shape_of(values, "predictions")
    return len(shape) == 1 or shape[1:] == (1,)


def _with_both_labels(
    kind: str, tables: dict[str, NamedNumbers], passed: MaybeStrings, index: Index | None
) -> tuple[dict[str, NamedNumbers], Texts, Texts | None]:
    """Tables of one number an item with a column for each of the two labels, and what was taken for what.

    Where nothing names the labels, also what the columns were called that are about the second (see `Index.event`).
    """
    events = [model for model, table in tables.items() if of_event(table.values)]
    if not events or kind == "log-probs":
        return tables, (), None
    labels = passed
    for table in tables.values():
        if labels is None and table.labels is not None and len(table.labels) > 1:
            labels = table.labels
    reference = index if labels is None else None
    if reference is not None and not reference.positional_labels:
        labels = reference.labels
    if len(labels or (reference.labels if reference is not None else EVENTS[0])) != 2:
        return tables, (), None
    made = dict(tables)
    notes: dict[str, None] = {}
    columns: dict[str, None] = {}
    for model in events:
        table = tables[model]
        own = "" if table.labels is None else table.labels[0]
        pair = labels or next((pair for pair in EVENTS if own in pair), None)
        event: Any = int(places_said(own) != {0})
        if event and own:
            columns[own] = None
        if pair is not None:
            name = event_of(pair, own)
            if name is None and reference is not None:
                pair = reference.written("labels", "predictions")
            event = 1 if name is None else [*pair].index(name)
        made[model] = NamedNumbers(_both(kind, table.values, event), table.items, pair)
        word = quote(event if pair is None else pair[event])
        notes[f"one number an item: took it as that of label {word}"] = None
    return made, tuple(notes), tuple(columns)


def _both(kind: str, values: Any, event: int) -> Table:
    """Columns for both labels, from probabilities or logits of one of them."""
    if not on_device(values):
        values = check_arrays.as_floats(values, "item label" if np.ndim(values) == 2 else "item", WORDS[kind])
    array = values.reshape(-1)
    space = array.__array_namespace__()
    columns = [space.zeros_like(array) if kind == "logits" else 1 - array, array]
    both = space.stack(columns if event == 1 else columns[::-1], axis=-1)
    return both


def _common_names(tables: Mapping[str, NamedNumbers], passed: NamedNumbers, index: Index | None) -> NamedNumbers:
    """The names of rows and columns that all tables take: those that were passed, else those of the tables."""
    common = {}
    for side in SIDES:
        names = getattr(passed, side)
        names_of = {model: getattr(table, side) for model, table in tables.items()}
        without = [model for model, one in names_of.items() if one is None]
        named = [model for model, one in names_of.items() if one is not None]
        if names is None and without and index is not None and not index.side(side)[1]:
            names = index.written(side, "predictions")
        if names is None and named:
            names = names_of[named[0]]
            if without and not are_row_numbers(names):
                other = quote(without[0])
                raise InputError(
                    f"model {quote(named[0])} with names of {side} ({shortlist(names, 3)}) beside model "
                    f"{other} without",
                    f"names of {side} in all tables, or in none",
                    f"Which {side} those of model {other} are cannot be told: make it a table with names too, or pass "
                    f"{side}=[...] in the order of its array.",
                )
        common[side] = names
    return NamedNumbers(None, common["items"], common["labels"])


def of_logits(like_probs: Iterable[str]) -> Texts:
    """The warning about models whose logits are plainly probabilities, if there are any."""
    names = shortlist(like_probs)
    if not names:
        return ()
    return (
        f"the logits of {names} look like probabilities (their rows are between 0 and 1 and sum to 1), "
        "and their softmax is nearly flat: if they are probabilities, use Predictions.from_probs (command line: "
        "--kind probs)",
    )


def as_logs(kind: str, cells: LabelTable) -> LabelTable:
    """Log-probabilities from checked cells, which are "probs", "log-probs" or "logits" (percentages become probs)."""
    if kind in ("logits", "log-probs"):
        return log_softmax(cells) if kind == "logits" else cells
    if on_device(cells):
        from probtruth.kernels import device

        return device.logarithm(cells)
    with np.errstate(divide="ignore"):
        return np.log(cells)


def by_model(tables: object, wanted: str = "array") -> dict[str, Any]:
    """{model: table} with names as text; anything else is an error."""
    if not isinstance(tables, Mapping) or not tables:
        raise InputError(
            "an empty dict" if isinstance(tables, Mapping) else type(tables).__name__,
            f"a dict {{model name: {wanted}}}",
            f"Wrap it: {{'my model': {wanted}}}. Rows of several models: dict([*pandas.DataFrame.groupby(table, "
            "'model')]).",
        )
    models = [*map(name_text, tables)]
    unique(models, "model")
    if not all(model.strip() for model in models):
        raise InputError("a blank model name", "a name for every model", "Write NAME=FILE.")
    return dict(zip(models, tables.values(), strict=True))


def _row_name(model: str, items: MaybeStrings, row: int) -> str:
    return f"model {quote(model)}, item {quote(row if items is None else items[row])}"
