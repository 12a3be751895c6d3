"""Soft labels as a file: the items, one column of probability for each label, and how they were made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars
from polars import DataFrame, Series, String

from probtruth import check
from probtruth.check import Source, one_of
from probtruth.check_arrays import as_floats, distributions, surely_simplex
from probtruth.errors import InputError
from probtruth.io.formats import LabelReading, MaybeText
from probtruth.io.kinds import Soft, kind_of
from probtruth.io.output.csv_safe import check_new_csv, write_new_csv
from probtruth.io.table import Table, opened, too_large
from probtruth.io.tables import parquet_notes
from probtruth.io.tables.columns import OWN
from probtruth.io.tables.wide import REPEATED, check_rows, fill, items_of, suspects
from probtruth.kernels.arrays import to_host
from probtruth.kernels.host import empty_array
from probtruth.types import Annotations, Index, Truth
from probtruth.types.annotations import Counts
from probtruth.types.arguments import ESTIMANDS, Estimand, StrPath

VOTES = f"{OWN}votes"  # The column of the numbers of votes
# Lists: the label of every annotation of an item, and who gave it, as positions among the labels and the annotators.
ANSWERS, ANNOTATORS = f"{OWN}answers", f"{OWN}annotators"


def write_soft(truth: Truth, path: str | Path) -> None:
    """Writes a truth as Parquet or, where the path ends in `.csv`, as CSV: `item`, then a column for each label.

    Parquet also holds what a comparison against the truth needs: the annotations and the other evidence of the classes.
    """
    check_soft_out(path)
    if "item" in truth.index.labels:
        raise InputError(
            "a label called 'item'", "other names", "Rename that label: it is the name of the items' column."
        )
    probs = to_host(truth.probs)
    columns = {label: probs[:, position] for position, label in enumerate(truth.index.labels)}
    notes = {
        "content": "soft labels",
        "method": truth.method,
        "estimand": truth.estimand,
        "positional_items": truth.index.positional_items,
        "positional_labels": truth.index.positional_labels,
        "marginals": truth.marginals,
        "evidence": list(truth.evidence),
        "diagnostics": _plain(truth.diagnostics),
        "annotations": _kind_of(truth.annotations),
        "annotators": list(truth.index.annotators),
    }
    frame = DataFrame({"item": Series(list(truth.index.items), dtype=String), **columns})
    if truth.shares is not None:
        frame = frame.with_columns(*(Series(OWN + one, truth.shares[:, at]) for at, one in enumerate(columns)))
    if truth.n_votes is not None:
        frame = frame.with_columns(Series(VOTES, truth.n_votes))
    for name, table in truth.evidence.items():
        for position, label in enumerate(columns):
            frame = frame.with_columns(Series(_evidence_column(name, label), table[:, position]))
    if truth.annotations is not None and truth.annotations.annotator is not None:
        frame = _with_answers(frame, truth.annotations)
    if Path(path).suffix.lower() == ".csv":
        names = (*truth.index.items, *truth.index.labels)
        write_new_csv(frame.select("item", *columns), path, names, "Write Parquet: end the path in .parquet.")
    else:
        parquet_notes.write(frame, path, notes)


def check_soft_out(path: str | Path) -> None:
    """Raises where soft labels cannot be written; a CSV that is there is never replaced, since it may be anybody's."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise InputError(f"the path {str(path)!r}", "a path that ends in .parquet or .csv", "Name the output so.")
    (check_new_csv if suffix == ".csv" else parquet_notes.check_parquet_out)(path)


def read_soft(
    table: StrPath | Table, item: MaybeText = None, estimand: Estimand | None = None, memory: float | None = None
) -> Truth:
    """Soft labels in a file: a column of item names, and one of probability for each label."""
    made = opened(table)
    on_disk = too_large([made], memory)
    if on_disk:
        made = made.in_batches()
    kind = kind_of(made, LabelReading(item, format="soft"))
    assert isinstance(kind, Soft)
    return soft_of(made, kind, estimand, on_disk)


def soft_of(table: Table, kind: Soft, estimand: Estimand | None = None, on_disk: bool = False) -> Truth:
    """The soft labels in a table, of rows that are distributions.

    Where the file does not say what they are, `estimand` does.
    """
    table = table.with_items(kind.item)
    labels = [*kind.labels]
    item = kind.item
    source = table.head[1]
    items = None
    n_rows = sum(part.height for part, _ in table.rows(kind.columns[:1]))
    if item is not None:
        items, source = items_of(table.rows([item]), item, "every item once", REPEATED)
    index, rows, _ = Index.of_array((n_rows, len(labels)), items, None if kind.positional else labels)
    ordered = labels if kind.positional else index.labels

    def refuse(cells: np.ndarray, frame: DataFrame, source: Source) -> None:
        check_rows(cells, ordered, source, "probs", suspects(labels, None, item or ""), "soft labels")

    def numbers(start: str, convert: Callable[[np.ndarray], tuple[np.ndarray, bool]]) -> np.ndarray:
        """The numbers in the columns of the labels, in the order of the index."""
        columns = [start + kind.labels[label] for label in ordered]
        wanted = columns if item is None else [item, *columns]
        values = empty_array((len(rows), len(labels)), on_disk)
        fill(values, rows, len(rows), table.rows(wanted), columns, convert, refuse)
        return values

    probs = numbers("", lambda cells: (cells, surely_simplex(cells)))
    notes = parquet_notes.of(table)
    own = notes.get("estimand")
    if estimand is not None and own not in (None, estimand):
        raise InputError(f"the estimand {estimand!r}", f"{own!r}, as the file says", "Leave it out.", source.name)
    known = one_of(estimand or str(own or "distribution"), ESTIMANDS, "estimand")
    truth = Truth(probs, index, known, "given")
    if not notes:
        return truth
    try:
        if (items, tuple(labels)) != (truth.index.items, truth.index.labels):
            raise ValueError("items or labels in another order than they were written")
        shares = numbers(OWN, lambda cells: (cells, True)) if OWN + labels[0] in table.columns else None
        votes = [frame[VOTES] for frame, _ in table.rows([VOTES])] if VOTES in table.columns else []
        names: Any = notes.get("evidence", ())
        evidence = {name: numbers(_evidence_column(name, ""), lambda cells: (cells, True)) for name in names}
        restored = replace(_restored(truth, notes, shares, votes), evidence=evidence)
        if notes.get("annotations") is None:
            return restored
        answers = [frame for frame, _ in table.rows([ANSWERS, ANNOTATORS])]
        return replace(restored, annotations=_annotations(restored, notes, answers))
    except (KeyError, TypeError, ValueError, polars.exceptions.PolarsError) as error:
        raise parquet_notes.damaged(str(error), source.name) from None


def _restored(truth: Truth, notes: Mapping[str, object], shares: np.ndarray | None, n_votes: Sequence[Series]) -> Truth:
    votes = np.concatenate([some.cast(polars.Int64).to_numpy() for some in n_votes]) if n_votes else None
    if votes is not None and (votes < 0).any():
        raise ValueError("a negative number of votes")
    if shares is not None:
        voted = shares if votes is None or votes.all() else shares[votes > 0]
        if len(voted):
            distributions(voted, lambda row: f"row {row + 1}", "vote shares")
    marginals = None
    if notes["marginals"] is not None:
        marginals = as_floats(notes["marginals"], "label", "marginals")
        check.length(len(marginals), len(truth.index.labels), "marginals")
    known: dict[str, Any] = {name: notes[name] is True for name in ("positional_items", "positional_labels")}
    annotators: Any = notes.get("annotators", ())
    diagnostics: Any = notes.get("diagnostics", {})
    return replace(
        truth,
        index=replace(truth.index, annotators=tuple(annotators), **known),
        diagnostics={name: tuple(value) if isinstance(value, list) else value for name, value in diagnostics.items()},
        method=str(notes["method"]),
        shares=shares,
        n_votes=votes,
        marginals=marginals,
    )


def _evidence_column(name: str, label: str) -> str:
    """The column of one label's probabilities under other evidence."""
    return f"{OWN}{name}: {label}"


def _plain(diagnostics: Mapping[str, object]) -> dict[str, object]:
    """The diagnostics that metadata can hold, which warnings are about."""
    plain: dict[str, object] = {}
    for name, value in diagnostics.items():
        number = isinstance(value, int | float) and np.isfinite(value)
        if number or isinstance(value, str | tuple | Mapping):
            plain[name] = value
    return plain


def _kind_of(annotations: Annotations | None) -> MaybeText:
    """What is known of the annotations that a truth was inferred from."""
    if annotations is None:
        return None
    return "counts" if annotations.annotator is None else "long"


def _with_answers(frame: DataFrame, annotations: Annotations) -> DataFrame:
    """The table with the annotations of every item, as lists."""
    columns = {"row": annotations.item, ANSWERS: annotations.label, ANNOTATORS: annotations.annotator}
    rows = DataFrame(columns).cast(polars.UInt32).sort("row", maintain_order=True)
    lists = rows.group_by("row", maintain_order=True).agg(polars.all())
    numbered = frame.with_row_index("row")
    return numbered.join(lists, on="row", how="left", maintain_order="left").drop("row")


def _annotations(truth: Truth, notes: Mapping[str, object], parts: Sequence[DataFrame]) -> Annotations:
    """The annotations that a truth was inferred from; of counts by the shares of the votes."""
    n_labels, n_annotators = len(truth.index.labels), len(truth.index.annotators)
    if notes["annotations"] == "counts":
        if truth.shares is None or truth.n_votes is None:
            raise ValueError("counts without shares of votes")
        votes = np.rint(np.nan_to_num(truth.shares) * truth.n_votes[:, None]).astype(np.int64)
        return Counts(index=truth.index, votes=votes)
    table = polars.concat(parts)
    size = table[ANSWERS].list.len().fill_null(0).to_numpy()
    item = np.repeat(np.arange(len(size)), size)
    label, annotator = (
        table[name].explode().drop_nulls().to_numpy().astype(np.int64) for name in (ANSWERS, ANNOTATORS)
    )
    if not len(item) == len(label) == len(annotator):
        raise ValueError("annotations without a label or an annotator")
    if len(item) and (label.max() >= n_labels or annotator.max() >= n_annotators):
        raise ValueError("annotations with an unknown label or annotator")
    excluded: Any = truth.diagnostics.get("excluded_annotators", ())
    return Annotations(item, label, annotator, np.ones(len(item), np.int64), truth.index, excluded)
