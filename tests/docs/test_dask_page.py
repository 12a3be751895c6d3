"""The page's Dask program: workers' sums give the numbers of one process, also where a worker is killed."""

import functools
import operator
import os
import signal
from pathlib import Path
from types import ModuleType

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth import demo
from tests.docs.pages import REPOSITORY, blocks

pytestmark = pytest.mark.cluster
NUMBERS = ["difference", "low", "high", "p_a_better"]


def test_killed_worker_changes_nothing(tmp_path: Path) -> None:
    from dask.distributed import Client, LocalCluster, as_completed

    annotations, predictions = demo.load()
    _write(annotations, predictions, tmp_path)
    files = {name: str(tmp_path / f"{name}.parquet") for name in predictions.models}
    sums = _program().sums
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        done = client.map(sums, range(8), annotations=str(tmp_path / "labels.parquet"), predictions=files)
        first = next(iter(as_completed(done, timeout=120)))
        holder = client.who_has([first])[first.key][0]
        process = client.run(os.getpid, workers=[holder])[holder]
        os.kill(process, signal.SIGKILL)
        parts = client.gather(done)
    merged = pt.compare(functools.reduce(operator.add, parts)).pairwise()
    alone = pt.evaluate(tmp_path / "labels.parquet", files).comparison.pairwise()
    assert merged["a"].to_list() == alone["a"].to_list()
    np.testing.assert_allclose(merged.select(NUMBERS), alone.select(NUMBERS), rtol=1e-9)


def _program() -> ModuleType:
    page = (REPOSITORY / "docs/how-to/spark-ray-duckdb.md").read_text(encoding="utf-8")
    (source,) = [block.body for block in blocks(page) if block.name == "in_dask.py"]
    module = ModuleType("in_dask")  # not among the modules, so that its functions go to the workers by value
    exec(source, module.__dict__)
    return module


def _write(annotations: pt.Annotations, predictions: pt.Predictions, folder: Path) -> None:
    index, who = annotations.index, annotations.annotator
    columns = {
        "item": [index.items[at] for at in annotations.item],
        "annotator": [index.annotators[at] for at in who],
        "label": [index.labels[at] for at in annotations.label],
    }
    polars.DataFrame(columns).write_parquet(folder / "labels.parquet")
    for name, probs in zip(predictions.models, predictions.probs, strict=True):
        table = polars.DataFrame(np.asarray(probs), schema=list(index.labels))
        table.insert_column(0, polars.Series("item", predictions.index.items)).write_parquet(folder / f"{name}.parquet")
