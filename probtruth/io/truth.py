"""Soft labels as a file: the items, one column of probability for each label, and how they were made."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars
from polars import DataFrame, Series, String

from probtruth import check
from probtruth.check import Source, Texts, one_of, shortlist
from probtruth.check_arrays import as_floats, distributions, surely_simplex
from probtruth.errors import InputError
from probtruth.io.kinds import Soft
from probtruth.io.output.csv_safe import check_new_csv, write_new_csv
from probtruth.io.table import Table
from probtruth.io.tables import parquet_notes
from probtruth.io.tables.columns import OWN
from probtruth.io.tables.wide import REPEATED, Convert, check_rows, fill, items_of, suspects
from probtruth.kernels.arrays import to_host
from probtruth.kernels.host import empty_array
from probtruth.types import Annotations, Index, Truth
from probtruth.types.annotations import Counts
from probtruth.types.arguments import ESTIMANDS, Estimand, StrPath

VOTES = f"{OWN}votes"  # The column of the numbers of votes
EVIDENCE = OWN + "{}: "  # How columns of other evidence of the classes begin
# Lists: the label of every annotation of an item, and who gave it, as positions among the labels and the annotators.
ANSWERS, ANNOTATORS = f"{OWN}answers", f"{OWN}annotators"


def write_soft(truth: Truth, path: StrPath) -> None:
    """Writes a truth as Parquet or, where the path ends in `.csv`, as CSV: `item`, then a column for each label.

    Parquet also holds what a comparison against the truth needs: the annotations and the other evidence of the classes.
    """
    check_soft_out(path)
    if "item" in truth.index.labels:
        raise InputError(
            "a label called 'item'", "other names", "Rename that label: it is the name of the items' column."
        )
    annotations = truth.annotations
    votes_are = None
    if annotations is not None:
        votes_are = "counts" if annotations.annotator is None else "long"
    notes = {
        "content": "soft labels",
        "method": truth.method,
        "estimand": truth.estimand,
        "positional_items": truth.index.positional_items,
        "positional_labels": truth.index.positional_labels,
        "marginals": truth.marginals,
        "evidence": list(truth.evidence),
        "diagnostics": _plain(truth.diagnostics),
        "annotations": votes_are,
        "annotators": list(truth.index.annotators),
    }
    labels = truth.index.labels
    columns = {"item": Series(list(truth.index.items), dtype=String)}
    tables = {"": to_host(truth.probs)}
    if Path(path).suffix.lower() != ".csv":
        tables |= {EVIDENCE.format(name): table for name, table in truth.evidence.items()}
        if truth.shares is not None:
            tables[OWN] = truth.shares
    for start, table in tables.items():
        columns |= {start + label: Series(table[:, at]) for at, label in enumerate(labels)}
    frame = DataFrame(columns)
    if Path(path).suffix.lower() == ".csv":
        names = (*truth.index.items, *labels)
        write_new_csv(frame, path, names, "Write Parquet: end the path in .parquet.")
        return
    if truth.n_votes is not None:
        frame = frame.with_columns(Series(VOTES, truth.n_votes))
    if annotations is not None and annotations.annotator is not None:
        frame = frame.join(answers_by_item(annotations), on="item", how="left", maintain_order="left")
    parquet_notes.write(frame, path, notes)


def answers_by_item(annotations: Annotations) -> DataFrame:
    """For each item the labels of its annotations and who gave them, as lists of positions."""
    codes = {ANSWERS: annotations.label, ANNOTATORS: annotations.annotator}
    items = Series("item", list(annotations.index.items), dtype=String)[annotations.item]
    rows = DataFrame([items, *DataFrame(codes).cast(polars.UInt32)])
    return rows.group_by("item", maintain_order=True).agg(polars.all())


def check_soft_out(path: StrPath) -> None:
    """Raises where soft labels cannot be written; a CSV that is there is never replaced, since it may be anybody's."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise InputError(f"the path {str(path)!r}", "a path that ends in .parquet or .csv", "Name the output so.")
    (check_new_csv if suffix == ".csv" else parquet_notes.check_parquet_out)(path)


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
        if len(labels) == 1:
            raise InputError(
                f"soft labels in one column, {labels[0]!r}",
                "one for each label",
                "Add a column for the other label, which is 1 minus this one.",
                source.name,
            )
        check_rows(cells, ordered, source, "probs", suspects(labels, None, item or ""), "soft labels")

    def numbers(start: str, convert: Convert) -> np.ndarray:
        """The numbers in the columns of the labels, in the order of the index."""
        columns = [start + kind.labels[label] for label in ordered]
        values = empty_array((len(rows), len(labels)), on_disk)
        fill(values, rows, len(rows), table.rows([*kind.columns[:1], *columns]), columns, convert, refuse)
        return values

    probs = numbers("", lambda cells: (cells, surely_simplex(cells)))
    notes = parquet_notes.of(table)
    lost = [name for name in table.columns if name.startswith(OWN)]
    if lost and not notes:
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
        evidence: Any = notes.get("evidence", ())
        tables = {name: numbers(EVIDENCE.format(name), lambda cells: (cells, True)) for name in evidence}
        shares = None
        if OWN + labels[0] in table.columns:
            shares = numbers(OWN, lambda cells: (cells, True))
        votes = None
        if VOTES in table.columns:
            votes = np.concatenate([frame[VOTES].cast(polars.Int64).to_numpy() for frame, _ in table.rows([VOTES])])
        restored = replace(_restored(truth, notes, shares, votes), evidence=tables)
        if notes.get("annotations") is None:
            return restored
        if notes["annotations"] == "counts":
            return replace(restored, annotations=_counts(restored))
        answers = [frame.select(ANSWERS, ANNOTATORS) for frame, _ in table.rows([ANSWERS, ANNOTATORS])]
        left_out: Any = restored.diagnostics.get("excluded_annotators", ())
        return replace(restored, annotations=annotations_of(polars.concat(answers), restored.index, left_out))
    except (KeyError, TypeError, ValueError, polars.exceptions.PolarsError) as error:
        raise parquet_notes.damaged(str(error), source.name) from None


def _restored(truth: Truth, notes: Mapping[str, Any], shares: np.ndarray | None, votes: np.ndarray | None) -> Truth:
    if votes is not None and (votes < 0).any():
        raise ValueError("a negative number of votes")
    if shares is not None:
        voted = shares if votes is None else shares[votes > 0]
        if len(voted):
            distributions(voted, lambda row: f"row {row + 1}", "vote shares")
    marginals = None
    if notes["marginals"] is not None:
        marginals = as_floats(notes["marginals"], "label", "marginals")
        check.length(len(marginals), len(truth.index.labels), "marginals")
    positional: Any = {name: notes[name] is True for name in ("positional_items", "positional_labels")}
    diagnostics = notes.get("diagnostics", {})
    return replace(
        truth,
        index=replace(truth.index, annotators=tuple(notes.get("annotators", ())), **positional),
        diagnostics={name: tuple(value) if isinstance(value, list) else value for name, value in diagnostics.items()},
        method=str(notes["method"]),
        shares=shares,
        n_votes=votes,
        marginals=marginals,
    )


def _counts(truth: Truth) -> Annotations:
    """The counts that a truth was inferred from, by the shares of the votes."""
    if truth.shares is None or truth.n_votes is None:
        raise ValueError("counts without shares of votes")
    votes = np.rint(np.nan_to_num(truth.shares) * truth.n_votes[:, None]).astype(np.int64)
    return Counts(index=truth.index, votes=votes)


def annotations_of(answers: DataFrame, index: Index, excluded: Texts = ()) -> Annotations:
    """The annotations in lists, one row an item of the index; lists of two lengths in a row are an error of polars."""
    lists = answers.select(ANSWERS, ANNOTATORS).with_row_index("row")
    rows = lists.explode(ANSWERS, ANNOTATORS).drop_nulls().cast(polars.Int64)
    item, label, annotator = (column.to_numpy() for column in rows)
    for codes, names in ((label, index.labels), (annotator, index.annotators)):
        if codes.max(initial=0) >= len(names):
            raise ValueError("annotations with an unknown label or annotator")
    once = np.ones(len(item), np.int64)
    return Annotations(item, label, annotator, once, index, excluded)


def _plain(diagnostics: Mapping[str, object]) -> dict[str, object]:
    """The diagnostics that metadata can hold, which warnings are about."""
    plain = {}
    for name, value in diagnostics.items():
        number = isinstance(value, int | float) and np.isfinite(value)
        if number or isinstance(value, str | tuple | Mapping):
            plain[name] = value
    return plain
