"""Files larger than memory: the whole line against reading them, its peak memory, and two Dask workers against one."""

import atexit
import os
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars

import probtruth as pt
from probtruth.cli.cluster import ONE_CORE
from probtruth.io.tables import decoding
from tests.benchmarks.measure import Process, Section, Work, optional

ROWS_OF_GROUP = 1 << 18

STREAMED = """
import sys
from pathlib import Path
import probtruth as pt

folder, n_models, memory = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
files = {f"m{model}": folder / f"m{model}.parquet" for model in range(n_models)}
pt.evaluate(folder / "soft.parquet", files, scratch=folder / "scratch", memory=memory, engine="exact")
"""


@cache
def folder(n_items: int, n_labels: int, n_models: int) -> tempfile.TemporaryDirectory[str]:
    """Soft labels and the models' files, float32, items numbered."""
    place = tempfile.TemporaryDirectory()
    rng = np.random.default_rng(0)
    for name in ("soft", *(f"m{model}" for model in range(n_models))):
        probs = rng.standard_exponential((n_items, n_labels), np.float32) + np.float32(1e-6)
        probs /= probs.sum(1, keepdims=True)
        columns = {"item": np.arange(n_items)} | {f"l{label}": probs[:, label] for label in range(n_labels)}
        path = Path(place.name) / f"{name}.parquet"
        polars.DataFrame(columns).write_parquet(path, row_group_size=ROWS_OF_GROUP)
    return place


def models_of(place: str, n_models: int) -> dict[str, Path]:
    """The models' files."""
    return {f"m{model}": Path(place) / f"m{model}.parquet" for model in range(n_models)}


def truth_in(place: str) -> pt.Truth:
    """The soft labels."""
    frame = polars.read_parquet(Path(place) / "soft.parquet")
    labels = frame.columns[1:]
    return pt.Truth.from_probs(frame.select(labels).to_numpy(), items=frame["item"].to_list(), labels=labels)


def run(n_items: int = 1_000_000, n_labels: int = 10, n_models: int = 5) -> Section:
    """The whole line on files, streamed and in memory, against polars reading the same files."""
    place = folder(n_items, n_labels, n_models).name
    truth, files = truth_in(place), models_of(place, n_models)

    def read() -> None:
        for path in files.values():
            polars.read_parquet(path)

    ways: dict[str, dict[str, Any]] = {
        "streamed": {"memory": 1e9},
        "streamed, an interrupted run could go on": {"memory": 1e9, "scratch": Path(place) / "scratch"},
        "in memory": {"memory": 1e11},
    }
    works = [
        Work("floor: polars.read_parquet of every file, on all cores", read),
        *(
            Work(
                f"**evaluate of files**, {how}: read, checked, scored, compared by the exact engine",
                partial(pt.evaluate, truth, files, engine="exact", **options),
                "<= 5",
            )
            for how, options in ways.items()
        ),
    ]
    title = f"`run` on Parquet, {n_items:,} items x {n_labels} labels x {n_models} models, float32"
    text = (
        "Every cell is decoded in a process of its own, every row checked to be a distribution; streamed items are "
        "matched in a pass of its own. Processor time, that of the decoder included, imports not."
    )
    return Section(title, text, works, rounds=4, clock=_with_decoder)


def _with_decoder() -> float:
    """Processor time of this process and of the one that decodes, on Linux."""
    decoder = decoding._SHARED.process
    if decoder is None:
        return time.process_time()
    words = Path(f"/proc/{decoder.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return time.process_time() + sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")


def memory(
    sizes: tuple[tuple[int, int], ...] = ((1_000_000, 10), (2_000_000, 3), (20_000_000, 3)), n_models: int = 5
) -> Section:
    """Peak memory of the streamed line at some numbers of items and labels, each in a process of its own."""
    works = []
    for n_items, n_labels in sizes:
        place = folder(n_items, n_labels, n_models).name
        streamed = Process(STREAMED, (place, str(n_models), "5e8"))
        words = f"**evaluate of files**, {n_items * n_models:,} rows of {n_labels} labels"
        works.append(Work(words, streamed, note=streamed.memory))
    text = (
        f"{n_models} models, 0.5 GB for batches; items numbered; a process each, imports included. Soft labels and the "
        "names of items stay in memory, predictions do not. The memory is the most that the process took plus the most "
        "of its decoder."
    )
    return Section("Memory of input that is streamed", text, works, rounds=1, warm_up=False)


def dask(n_items: int = 2_000_000, n_labels: int = 4, n_models: int = 5) -> Section:
    """Two workers against one, each of one thread."""
    title = f"Dask, {n_items * n_models:,} rows: two workers against one"
    distributed = optional("distributed")
    if distributed is None:
        return Section(title, "", [], skipped=["dask[distributed]"])
    place = folder(n_items, n_labels, n_models).name
    truth, files = truth_in(place), models_of(place, n_models)
    works = [
        Work(
            f"**evaluate of files**, {n} worker{'s' if n > 1 else ''}", _on_workers(distributed, n, truth, files), goal
        )
        for n, goal in ((1, ""), (2, "<= 0.59"))
    ]
    text = (
        "Each worker, with the process that decodes for it, is kept to a core of its own; read, checked and scored by "
        "them, then compared by the exact engine. What this process does itself (names, sending, the posterior) is in "
        "both."
    )
    return Section(title, text, works, rounds=1, warm_up=False)


def _on_workers(distributed: object, n: int, truth: pt.Truth, files: dict[str, Path]) -> Callable[[], object]:
    options = {"n_workers": n, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    options |= {"env": ONE_CORE}
    client = distributed.Client(distributed.LocalCluster(**options))  # type: ignore[attr-defined]
    atexit.register(client.shutdown)
    client.wait_for_workers(n)
    client.run(lambda: __import__("probtruth.streaming.dask_store"))  # as workers that have run before have it
    for core, worker in zip(sorted(os.sched_getaffinity(0)), client.scheduler_info()["workers"], strict=False):
        client.run(os.sched_setaffinity, 0, {core}, workers=[worker])
    return lambda: pt.evaluate(truth, files, client=client, engine="exact")
