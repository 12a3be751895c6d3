"""Compare models whose losses lie in an engine of your own: each worker makes a state of its batch, one merge answers.

A Parquet file has one row for each of 20,000 items and one column of losses for each of two models. DuckDB, Spark or
Ray reads it in batches; a batch's state has a few kilobytes, whatever its size. The answer is that of `compare`.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import probtruth as pt
from probtruth.streaming import ComparisonState, comparison_state

if TYPE_CHECKING:
    import pyarrow

N_ITEMS = 20_000


def made_losses(path: Path) -> None:
    """Losses of two models: theirs are larger by 0.004 on average."""
    random = np.random.default_rng(0)
    ease = random.gamma(2.0, 0.4, N_ITEMS)
    ours, theirs = ease + random.normal(0, 0.2, N_ITEMS), ease + random.normal(0.004, 0.2, N_ITEMS)
    table = pl.DataFrame({"item": np.arange(N_ITEMS).astype(str), "ours": ours, "theirs": theirs})
    table.write_parquet(path, row_group_size=5_000)


def state_of(batch: "pyarrow.Table | pyarrow.RecordBatch") -> bytes:
    """The state of a batch, as bytes: the one function that every engine runs."""
    scores = pt.loaders.read_wide_scores(batch, rule="loss", higher_is_better=False)
    return comparison_state(scores).to_bytes()


def merged(states: Iterable[bytes]) -> ComparisonState:
    """The state of all batches, in whatever order they come."""
    return reduce(ComparisonState.merge, map(ComparisonState.from_bytes, states))


def in_duckdb(path: Path) -> Iterator[bytes]:
    """DuckDB hands out its result in batches of Arrow, read one by one."""
    import duckdb

    for batch in duckdb.sql(f"SELECT item, ours, theirs FROM '{path}'").to_arrow_reader(5_000):
        yield state_of(batch)


def in_spark(path: Path) -> list[bytes]:
    """Spark hands each worker its batches of Arrow."""
    import pyarrow
    from pyspark.sql import SparkSession

    def states(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            yield pyarrow.RecordBatch.from_pydict({"state": [state_of(batch)]})

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2]").appName("probtruth").getOrCreate()
    rows = spark.read.parquet(str(path)).mapInArrow(states, "state binary").collect()
    spark.stop()
    return [bytes(row.state) for row in rows]


def in_ray(path: Path) -> list[bytes]:
    """Ray hands each worker its batches of Arrow."""
    import ray

    def states(batch: "pyarrow.Table") -> dict[str, list[bytes]]:
        return {"state": [state_of(batch)]}

    ray.init(num_cpus=2, include_dashboard=False, logging_level="warning")
    data = ray.data.read_parquet(str(path)).map_batches(states, batch_size=5_000, batch_format="pyarrow")
    made = [row["state"] for row in data.take_all()]
    ray.shutdown()
    return made


ENGINES = {"duckdb": in_duckdb, "spark": in_spark, "ray": in_ray}


def main() -> None:
    """Compares in one engine, and prints the verdict above that of memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=ENGINES, default="duckdb")
    parser.add_argument("--out", type=Path, help="keep the file of losses in this folder")
    options = parser.parse_args()
    chosen = options.engine
    with tempfile.TemporaryDirectory() as folder:
        path = (options.out or Path(folder)) / "losses.parquet"
        path.parent.mkdir(exist_ok=True)
        made_losses(path)
        answer = merged(ENGINES[chosen](path)).finalize()
        scores = pt.loaders.read_wide_scores(path, rule="loss", higher_is_better=False)
    for name, comparison in {chosen: answer, "memory": pt.compare(scores, engine="exact")}.items():
        (pair,) = comparison.pairs
        low, high = f"{pair['low']:.5f}", f"{pair['high']:.5f}"
        print(f"{name}: ours minus theirs {pair['difference']:.5f} ({low} to {high}), P {pair['p_a_better']:.4f}")


if __name__ == "__main__":
    main()
