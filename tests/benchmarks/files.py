"""Reading predictions against reading the same file with polars."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import polars

import probtruth as pt
from tests.benchmarks.measure import Section, Work
from tests.benchmarks.scoring import soft

ITEMS = 100_000


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """A Parquet and a CSV file of predictions."""
    place = tempfile.TemporaryDirectory()
    probs, _ = soft(ITEMS, 10)
    table = polars.DataFrame({"item": np.arange(ITEMS)} | {str(label): probs[:, label] for label in range(10)})
    table.write_parquet(Path(place.name) / "a.parquet")
    table.write_csv(Path(place.name) / "a.csv")
    return place


def reading() -> Section:
    """read_predictions, with its checks, against polars alone."""
    parquet, csv = (str(Path(folder().name) / name) for name in ("a.parquet", "a.csv"))
    works = [
        Work("floor: polars.read_parquet", lambda: polars.read_parquet(parquet)),
        Work("**read_predictions**, Parquet", lambda: pt.read_predictions({"a": parquet})),
        Work(
            "**read_predictions**, five models of this file, for each",
            lambda: pt.read_predictions(dict.fromkeys("abcde", parquet)),
            "<= 7.5 beyond the first",
            per=5,
        ),
        Work("polars.read_csv", lambda: polars.read_csv(csv)),
        Work("**read_predictions**, CSV", lambda: pt.read_predictions({"a": csv})),
    ]
    text = "Names matched, every row checked to be a distribution, logarithms taken."
    return Section(f"Reading predictions, {ITEMS:,} x 10", text, works, rounds=5)
