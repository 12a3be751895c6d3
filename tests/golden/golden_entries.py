"""How the golden cases call the package: the only file here to change when its entries move."""

import contextlib
import io
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import probtruth as pt

Result = dict[str, Any]
SMALLEST_BATCHES = 1.0
"""Bytes of memory for batches: so few that each batch has the fewest rows that the package ever reads (1,024)."""


def command(out: Path, *words: object) -> Result:
    """`result.json` of `probtruth WORDS... --out OUT`, run in this process."""
    from probtruth.cli import main

    before, sys.argv = sys.argv, ["probtruth", "--config", "off", *map(str, words), "--out", str(out), "--quiet"]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            main()
    except SystemExit as stop:
        if stop.code:
            raise RuntimeError(f"probtruth {words[0]} ended with status {stop.code}, expected 0") from stop
    finally:
        sys.argv = before
    return json.loads((out / "result.json").read_text(encoding="utf-8"))


def evaluated(labels: Path, models: Mapping[str, Path], form: str = "auto", **options: Any) -> Result:
    """Files of labels and predictions, evaluated in memory."""
    annotations = pt.read_annotations(labels, format=form)
    return _plain(pt.evaluate(annotations, pt.read_predictions(models, index=annotations.index), **options))


def evaluated_in_batches(
    labels: Path, models: Mapping[str, Path], client: object = None, form: str = "auto", **options: Any
) -> Result:
    """The same with predictions streamed in the smallest batches, here or on Dask workers."""
    annotations = pt.read_annotations(labels, format=form)
    return _plain(pt.evaluate(annotations, models, client=client, memory=SMALLEST_BATCHES, **options))


def compared(frame: object, columns: Mapping[str, Any], **options: Any) -> Result:
    """A table of scores, compared in memory."""
    return _plain(pt.Result.of_scores(pt.Scores.from_frame(frame, **columns), **options))


def compared_in_batches(path: Path, columns: Mapping[str, Any], client: object = None, **options: Any) -> Result:
    """The same with scores streamed in the smallest batches, here or on Dask workers."""
    return _plain(pt.Result.of_scores(path, client=client, memory=SMALLEST_BATCHES, **columns, **options))


@contextlib.contextmanager
def two_workers() -> Iterator[Any]:
    """A Dask client of two worker processes on this machine."""
    from distributed import Client, LocalCluster

    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**workers) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


def _plain(result: Any) -> Result:
    return json.loads(json.dumps(result.to_dict()))
