"""Wide tables: a column of item names, and one column for each label, model or annotator."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import polars
from jaxtyping import Float, Shaped
from polars import DataFrame

from probtruth import check_arrays, frames
from probtruth.check import Source, Strings, need_columns, quote, shortlist, unique
from probtruth.check_arrays import distributions
from probtruth.errors import InputError
from probtruth.frame_numbers import as_matrix, float_columns
from probtruth.frames import blank, flat
from probtruth.io.table import Part, Table
from probtruth.kernels.host import block_rows
from probtruth.kernels.shapes import ItemLabel, SomeInts

type Convert = Callable[[np.ndarray], tuple[np.ndarray, bool]]  # Cells as they are stored, and whether all are fit
type CellKind = Literal["probs", "percent", "log-probs", "logits", "log_probs"]
# What the cells of a table can be; `log_probs` is another way to write one of them.
KINDS = get_args(CellKind.__value__)[:-1]
PIVOT = "if the table has a row for each item and label, pivot it: a column for each label"
REPEATED = f"Remove one of its rows; {PIVOT}; if it holds several models, give each its own table."


def all_named(columns: Strings, what: str, source: Source) -> None:
    if not all(name.strip() for name in columns):  # which an exported row number often is
        raise InputError(
            "a column without a name",
            f"one named column for each {what}",
            "Drop it (pandas: index=False).",
            source.name,
        )


def items_of(
    parts: Iterable[Part], item: str, expected: str, hint: str, like: frames.Names | None = None, what: str = "item"
) -> tuple[frames.Names, Source]:
    """The names of the items, each of which has one row, and where they stand; `like` itself where it is the same."""
    columns = []
    sources = []
    for frame, part in parts:
        columns.append(frames.written(frame, item, part, what))
        sources.append((part, frame.height))
    source = Source.of_parts(sources)
    if not sum(map(len, columns)):
        raise InputError("no rows", f"at least one {what}", "Check the file.", source.name)
    names = frames.by_value(polars.concat(frames.alike(columns), rechunk=True))
    if like is not None and frames.same(names, like.column):
        return like, source
    if names.n_unique() < len(names):
        row = int((~names.is_first_distinct()).arg_max() or 0)
        raise InputError(
            f"{what} {quote(names[row])} a second time",
            expected,
            hint,
            source.at(row, item),
        )
    return frames.Names(names), source


def fill(
    out: Shaped[np.ndarray, "some label"],
    rows: SomeInts,
    n_rows: int,
    parts: Iterable[Part],
    columns: Strings,
    convert: Convert,
    refuse: Callable[[np.ndarray, DataFrame, Source], None],
) -> None:
    """Writes what `convert` makes of the table's `rows` (-1: none) into `out`; cells found unfit are refused."""
    place = np.full(n_rows, -1)
    there = np.flatnonzero(rows >= 0)
    place[rows[there]] = there
    before = 0
    size = block_rows(len(columns))
    for frame, source in parts:
        floats = float_columns(frame, columns, source)
        assert floats is not None
        fit = True
        for start in range(0, frame.height, size):
            with np.errstate(all="ignore"):  # of what is refused below
                values, sound = convert(as_matrix(floats[start : start + size]))
            fit = fit and sound
            at = place[before + start :][: len(values)]
            if (at < 0).any():
                values = values[at >= 0]
                at = at[at >= 0]
            out[at] = values
        if not fit:
            refuse(as_matrix(floats), frame, source)
        before += frame.height


def check_rows(
    values: ItemLabel,
    labels: Strings,
    source: Source,
    kind: str,
    more: str,
    what: str = "probabilities",
) -> None:
    """Raises at the first cell or row that cannot be used, with its line, and what the numbers look like."""
    names = [source.columns.get(label, label) for label in labels]
    try:
        distributions(in_probs(values, kind), source.at, what, "probs" if kind == "percent" else kind, names)
    except InputError as error:
        hint = _looks_like(values, kind, what) or error.hint
        raise InputError(error.got, error.expected, f"{hint} {more}", error.where) from None


def in_probs(values: ItemLabel, kind: str) -> ItemLabel:
    """The cells as they are, but percentages as probabilities."""
    return values / 100 if kind == "percent" else values


def renormalised(values: ItemLabel, kind: str) -> tuple[ItemLabel, Float[np.ndarray, " divided"]]:
    """The cells, with every row divided by its sum that is off by more than the tolerance; and these sums."""
    if kind == "logits":
        return values, np.empty(0)
    in_logs = kind == "log-probs"
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        probs = np.exp(values) if in_logs else in_probs(values, kind)
        sums = probs.sum(1)
        sound = np.isfinite(sums) & (sums > 0) & (probs >= 0).all(1)
        off = sound & (np.abs(sums - 1) > check_arrays.SUM_TOLERANCE)
        divisor = np.where(off, sums, 1)[:, None]
        return values - np.log(divisor) if in_logs else values / divisor, sums[off]


NEAR = 0.02  # How far from 1 the sums of rows may be, relatively, that are to look like distributions
LIKE = {"probs": "probabilities", "percent": "percentages", "log-probs": "log-probabilities", "logits": "logits"}


def _looks_like(values: ItemLabel, kind: str, what: str) -> str:
    """What the numbers look like, and the option that reads them so; empty where they look like nothing."""
    if kind == "logits" or not values.size or np.isnan(values).any() or (values == np.inf).any():
        return ""
    soft = what == "soft labels"
    if soft and (values >= 0).all() and (values == np.floor(values)).all():
        return "Whole numbers: if they count votes, read_annotations(path, format='counts') reads them."
    like = _guess(values)
    if not like:
        return ""
    sums = values.sum(1)
    words = f"Rows sum to {sums.min():.6g} to {sums.max():.6g}: these look like"
    if soft:
        return f"{words} {LIKE[like]}; soft labels must be probabilities: convert the file."
    if like != kind:
        return f"{words} {LIKE[like]}; pass --kind {like} (Python: kind={like!r})."
    advice = "pass --renormalise (Python: renormalise=True) to divide rows by their sums."
    return f"{words} rounded {LIKE[like]}; {advice}"


def _guess(values: ItemLabel) -> str:
    """The kind that cells seem to be of; empty for none."""
    sums = values.sum(1)
    if (values >= 0).all():
        near = [like for like, total in (("probs", 1), ("percent", 100)) if np.abs(sums / total - 1).max() <= NEAR]
        return near[0] if near else ""
    with np.errstate(over="ignore"):
        exponentials = np.exp(values).sum(1)
    if (values <= 0).all() and np.abs(exponentials - 1).max() <= NEAR:
        return "log-probs"
    near_simplex = np.median(np.abs(sums - 1)) <= NEAR  # probabilities with some negative cell
    return "" if near_simplex else "logits"


def suspects(labels: Strings, used: Collection[str] | None, item: str | None) -> str:
    """The columns that may not be labels, for a hint; `used` are the labels of the reference, where they are known."""
    strange = [] if used is None else [label for label in labels if label not in used]
    if strange:
        return f"No annotator used column {shortlist(strange)}: drop it if it is no label."
    return f"Every column but {quote(item or '')} is read as a label: {shortlist(labels)}."


NAME, VALUE = "name ", "value "  # Names that columns of a file do not have


def check_wide(frame: DataFrame, source: Source, rows: Mapping[str, str], columns: Strings, what: str) -> None:
    """Raises where a table has no row for each item (which the first column of `rows` names) and column for each."""
    hint = f"If it has a row for each {what} too, read it in long form."
    of_rows, first = next(iter(rows.items()))
    for role, name in (*rows.items(), *((what, name) for name in columns)):
        need_columns(frame.columns, {role: name}, source.name)
    items_of([(frame, source)], first, f"one row for each {of_rows}", hint, what=of_rows)
    if not columns or not {*columns}.isdisjoint(rows.values()):
        raise InputError(
            f"no column of a {what}",
            f"one for each {what}",
            f"Name them: {what}s=[...] (command line: --{what} x,y).",
            source.name,
        )
    unique(columns, f"{what} column")
    all_named(columns, what, source)


def long_form(table: Table, item: str, annotators: Strings) -> Part:
    """A row for each cell that is not blank: its item, the annotator as NAME and VALUE; and where it stands."""
    frame, source = table.whole
    check_wide(frame, source, {"item": item}, annotators, "annotator")
    parts = []
    sources = []
    for name in annotators:
        cells = flat(frame, name, source, "annotator")
        full = ~blank(cells)
        where = replace(source.of_rows(full.arg_true().to_list()), columns={VALUE: name})
        values = frames.text(frames.written(cells.filter(full).to_frame(VALUE), VALUE, where, "annotator"))
        rows = [frame.get_column(item).filter(full), values.alias(VALUE)]
        parts.append(DataFrame(rows).with_columns(polars.lit(name).alias(NAME)))
        sources.append((where, len(values)))
    return polars.concat(parts), Source.of_parts(sources)
