"""One set of data in every way in which a caller may have it: libraries, files, forms, orders and kinds of names."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import xarray as xr

N, LABELS = 14, 3
RNG = np.random.default_rng(11)
PROBS = {name: RNG.dirichlet(np.ones(LABELS), N).round(6) for name in ("good", "bad")}
for own in PROBS.values():
    own[:, -1] = 1 - own[:, :-1].sum(1)
HARD = RNG.integers(0, LABELS, N)
COUNTS = RNG.multinomial(5, [0.5, 0.3, 0.2], N)
SOFT = COUNTS / 5

# The names of items and of labels, by their kind; items are in no order that a sort would give.
SHUFFLED = RNG.permutation(N)
DAY = datetime(2024, 5, 1, 7, 30)
ITEMS: dict[str, list[Any]] = {
    "text": [f"q{n}" for n in SHUFFLED],
    "integers": [100 + int(n) for n in SHUFFLED],
    "from zero": [int(n) for n in SHUFFLED],
    "floats": [float(n) + 1 for n in SHUFFLED],
    "times": [DAY + timedelta(hours=int(n)) for n in SHUFFLED],
    "days": [datetime(2024, 5, 1 + int(n)) for n in SHUFFLED],
    "fractions of a second": [DAY + timedelta(milliseconds=250 * int(n)) for n in SHUFFLED],
    "small floats": [float(n + 1) * 1.5e-6 for n in SHUFFLED],
    "large floats": [float(n + 1) * 2.0**57 for n in SHUFFLED],
}
CLASSES: dict[str, list[Any]] = {
    "text": ["owl", "cat", "dog"],
    "integers": [2, 0, 1],
    "floats": [2.0, 1.0, 3.0],
    "decimals": [0.5, 0.25, 1.0],
}

type Frame = dict[str, list[Any]]


def by_label(values: np.ndarray, items: list[Any], classes: list[Any], seed: int) -> Frame:
    """A row for each item and a column for each label, both in an order of the table's own."""
    order = np.random.default_rng(seed)
    rows, columns = order.permutation(N), order.permutation(LABELS)
    table: Frame = {"item": [items[row] for row in rows]}
    return table | {classes[k]: [values[row, k].item() for row in rows] for k in columns}


def long(items: list[Any], classes: list[Any], seed: int) -> Frame:
    """A row for each vote."""
    rows = [(item, label) for item in range(N) for label in range(LABELS) for _ in range(COUNTS[item, label])]
    rows = [rows[row] for row in np.random.default_rng(seed).permutation(len(rows))]
    seen: dict[int, int] = {}
    votes = []
    for item, label in rows:
        seen[item] = seen.get(item, 0) + 1
        votes.append((items[item], f"a{seen[item]}", classes[label]))
    return dict(zip(("item", "annotator", "label"), map(list, zip(*votes, strict=True)), strict=True))


def hard(items: list[Any], classes: list[Any], seed: int) -> Frame:
    """A row for each item, with its label."""
    rows = np.random.default_rng(seed).permutation(N)
    return {"item": [items[row] for row in rows], "label": [classes[HARD[row]] for row in rows]}


def as_text(table: Frame) -> Frame:
    """The columns under names that are text, as every library but pandas needs."""
    return {str(name): cells for name, cells in table.items()}


def indexed(table: Frame) -> pd.DataFrame:
    frame = pd.DataFrame(table)
    return frame.drop(columns="item").set_axis(pd.Index(table["item"]), axis=0)


def data_array(table: Frame) -> xr.DataArray:
    frame = indexed(table)
    return xr.DataArray(frame.to_numpy(), {"item": list(frame.index), "label": list(frame.columns)}, ["item", "label"])


# Each way turns a table into what a caller passes on; files are written into a folder.
FRAMES: dict[str, Callable[[Frame], Any]] = {
    "dict": lambda table: table,
    "pandas": pd.DataFrame,
    "pandas, the items its index": indexed,
    "pandas, items a category": lambda table: pd.DataFrame(table).astype({"item": "category"}),
    "polars": lambda table: pl.DataFrame(as_text(table)),
    "lazy": lambda table: pl.DataFrame(as_text(table)).lazy(),
    "arrow": lambda table: pa.table(as_text(table)),
}


def written(suffix: str, separator: str = ",") -> Callable[[Frame, Path], Path]:
    """What writes a table as a file in a folder."""

    def write(table: Frame, folder: Path) -> Path:
        path = folder / f"t{len(list(folder.iterdir()))}{suffix}"
        frame = pl.DataFrame(as_text(table))
        if suffix in (".csv", ".tsv"):
            frame.write_csv(path, separator=separator)
        elif suffix == ".jsonl":
            frame.write_ndjson(path)
        elif suffix == ".parquet":
            frame.write_parquet(path)
        else:
            frame.write_ipc(path)
        return path

    return write


def by_pandas(table: Frame, folder: Path) -> Path:
    """A CSV as pandas writes it, where a column of integers with a blank has decimals."""
    path = folder / f"p{len(list(folder.iterdir()))}.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    return path


FILES: dict[str, Callable[[Frame, Path], Path]] = {
    "csv": written(".csv"),
    "csv of pandas": by_pandas,
    "csv, semicolons": written(".csv", ";"),
    "tsv": written(".tsv", "\t"),
    "jsonl": written(".jsonl"),
    "parquet": written(".parquet"),
    "feather": written(".arrow"),
}
WAYS = [*FRAMES, *FILES]


def given(way: str, table: Frame, folder: Path) -> Any:
    """The table in a way."""
    return FRAMES[way](table) if way in FRAMES else FILES[way](table, folder)
