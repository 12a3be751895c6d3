"""Soft labels as a file: the items, one column of probability for each label, and how they were made."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars
from polars import DataFrame, Series, String

from probtruth import frames
from probtruth.check import Source, Strings, Texts, one_of, shortlist
from probtruth.check_arrays import distributions, surely_simplex
from probtruth.errors import InputError
from probtruth.frames import as_series
from probtruth.io.kinds import Soft
from probtruth.io.output.csv_safe import check_new_csv, write_new_csv
from probtruth.io.output.folder import need_suffix
from probtruth.io.table import OWN, Table
from probtruth.io.tables import parquet_notes
from probtruth.io.tables.columns import items_in, under_labels
from probtruth.io.tables.wide import check_rows, fill, suspects
from probtruth.kernels.arrays import to_host
from probtruth.kernels.host import empty_array
from probtruth.types import Annotations, Index, Truth
from probtruth.types.annotations import Counts
from probtruth.types.arguments import ESTIMANDS, Estimand, StrPath

EVIDENCE = "evidence: "  # How the names of arrays of other evidence of the classes begin


def write_soft(truth: Truth, path: StrPath) -> None:
    """Writes a truth as Parquet or, where the path ends in `.csv`, as CSV: `item`, then a column for each label.

    Parquet also holds what a comparison against the truth needs: the annotations and the other evidence of the classes.
    """
    check_soft_out(path)
    if "item" in truth.index.labels:
        raise InputError(
            "a label called 'item'", "other names", "Rename that label: it is the name of the items' column."
        )
    notes = {
        "content": "soft labels",
        "method": truth.method,
        "estimand": truth.estimand,
        "positional_items": truth.index.positional_items,
        "positional_labels": truth.index.positional_labels,
        "evidence": list(truth.evidence),
        "diagnostics": _plain(truth.diagnostics),
        "annotators": list(truth.index.annotators),
    }
    probs = to_host(truth.probs)
    labels = truth.index.labels
    columns = {label: Series(probs[:, at]) for at, label in enumerate(labels)}
    frame = DataFrame({"item": Series(list(truth.index.items), dtype=String), **columns})
    if Path(path).suffix.lower() == ".csv":
        names = (*truth.index.items, *labels)
        write_new_csv(frame, path, names, "Write Parquet: end the path in .parquet.")
        return
    arrays = {"shares": truth.shares, "n_votes": truth.n_votes, "marginals": truth.marginals}
    arrays |= {EVIDENCE + name: table for name, table in truth.evidence.items()}
    if truth.annotations is not None:
        arrays |= arrays_of_answers(truth.annotations, truth.index.items)
    parquet_notes.write(frame, path, notes, arrays)


def arrays_of_answers(annotations: Annotations, items: Strings) -> dict[str, np.ndarray]:
    """The annotations of these items: how many there are of each label, or the item, annotator and label of each."""
    place = frames.positions(as_series(annotations.index.items), as_series(items))
    if annotations.annotator is None:
        return {"votes": annotations.counts()[place >= 0]}
    item = place[annotations.item]
    rows = item >= 0
    return {"item": item[rows], "annotator": annotations.annotator[rows], "label": annotations.label[rows]}


def answers_of(arrays: Mapping[str, np.ndarray], index: Index, excluded: Texts = ()) -> Annotations | None:
    """The annotations in such arrays; None where there are none."""
    if "votes" in arrays:
        _need_shape(arrays["votes"], (len(index.items), len(index.labels)))
        return Counts(index=index, votes=arrays["votes"].astype(np.int64))
    if "item" not in arrays:
        return None
    codes = {}
    for what, names in (("item", index.items), ("label", index.labels), ("annotator", index.annotators)):
        own = arrays[what].astype(np.int64)
        _need_shape(own, arrays["item"].shape)
        if own.min(initial=0) < 0 or own.max(initial=0) >= len(names):
            raise ValueError(f"an unknown {what}")
        codes[what] = own
    once = np.ones(len(codes["item"]), np.int64)
    return Annotations(codes["item"], codes["label"], codes["annotator"], once, index, excluded)


def _need_shape(array: np.ndarray, shape: Sequence[int]) -> None:
    if array.shape != tuple(shape):
        raise ValueError(f"an array of shape {array.shape} in place of {shape}")


def check_soft_out(path: StrPath) -> None:
    """Raises where soft labels cannot be written; a CSV that is there is never replaced, since it may be anybody's."""
    as_csv = need_suffix(path, ".parquet", ".csv") == ".csv"
    (check_new_csv if as_csv else parquet_notes.check_parquet_out)(path)


def soft_of(table: Table, kind: Soft, estimand: Estimand | None = None) -> Truth:
    """The soft labels in a table, of rows that are distributions.

    Where the file does not say what they are, `estimand` does.
    """
    table = table.with_items(kind.item)
    labels = [*kind.labels]
    items, n_rows, source = items_in(table, kind)
    index, rows, _ = Index.of_array((n_rows, len(labels)), items, None if kind.positional else labels)
    ordered = labels if kind.positional else index.labels

    def refuse(cells: np.ndarray, frame: DataFrame, source: Source) -> None:
        if len(labels) == 1:
            raise InputError(
                f"soft labels in one column, {labels[0]!r}",
                "one for each label",
                "Add a column for the other label, which is 1 minus this one.",
                source.name,
            )
        check_rows(cells, ordered, source, "probs", suspects(labels, None, kind.item), "soft labels")

    probs = empty_array((len(rows), len(labels)), table.batched)
    parts = (under_labels(*part, kind) for part in table.rows(kind.columns))
    fill(probs, rows, len(rows), parts, ordered, lambda cells: (cells, surely_simplex(cells)), refuse)
    notes = parquet_notes.of(table)
    lost = [name for name in table.columns if name.startswith(OWN)]
    if lost and "arrays" not in notes:
        raise InputError(
            f"soft labels whose notes another program dropped (columns {shortlist(lost, 2)} remain)",
            "the file as `probtruth truth` wrote it, or probabilities alone",
            f"Write it again, or drop the columns that begin with {OWN!r}: other votes then stand behind the scores.",
            source.name,
        )
    own = notes.get("estimand")
    if estimand is not None and own not in (None, estimand):
        raise InputError(f"the estimand {estimand!r}", f"{own!r}, as the file says", "Leave it out.", source.name)
    truth = Truth(probs, index, one_of(estimand or str(own or "distribution"), ESTIMANDS, "estimand"), "given")
    if not notes:
        return truth
    try:
        if (items, tuple(labels)) != (index.items, index.labels):
            raise ValueError("items or labels in another order than they were written")
        return _restored(truth, notes, parquet_notes.arrays_of(table, notes) if lost else {})
    except (AttributeError, KeyError, TypeError, ValueError, polars.exceptions.PolarsError) as error:
        raise parquet_notes.damaged(str(error), source.name) from None


def _restored(truth: Truth, notes: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Truth:
    """The truth with what the file says of it."""
    votes = arrays.get("n_votes")
    shares = arrays.get("shares")
    evidence = {name: arrays[EVIDENCE + name] for name in notes["evidence"]}
    shapes = {"n_votes": truth.probs.shape[:1], "marginals": truth.probs.shape[1:]}
    for name in ("n_votes", "shares", "marginals", *(EVIDENCE + name for name in evidence)):
        if name in arrays:
            _need_shape(arrays[name], shapes.get(name, truth.probs.shape))
    if votes is not None and (votes < 0).any():
        raise ValueError("a negative number of votes")
    if shares is not None:
        voted = shares if votes is None else shares[votes > 0]
        if len(voted):
            distributions(voted, lambda row: f"row {row + 1}", "vote shares")
    positional: Any = {name: notes[name] is True for name in ("positional_items", "positional_labels")}
    index = replace(truth.index, annotators=tuple(notes["annotators"]), **positional)
    diagnostics = {name: tuple(one) if isinstance(one, list) else one for name, one in notes["diagnostics"].items()}
    return replace(
        truth,
        index=index,
        method=str(notes["method"]),
        diagnostics=diagnostics,
        shares=shares,
        n_votes=None if votes is None else votes.astype(np.int64),
        marginals=arrays.get("marginals"),
        evidence=evidence,
        annotations=answers_of(arrays, index, diagnostics.get("excluded_annotators", ())),
    )


def _plain(diagnostics: Mapping[str, object]) -> dict[str, object]:
    """The diagnostics that metadata can hold, which warnings are about."""
    plain = {}
    for name, value in diagnostics.items():
        number = isinstance(value, int | float) and np.isfinite(value)
        if number or isinstance(value, str | tuple | Mapping):
            plain[name] = value
    return plain
