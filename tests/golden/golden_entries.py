"""How the golden cases call the package: the only file here to change when its entries move."""

import contextlib
import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import probtruth as pt

Result = dict[str, Any]


def command(out: Path, *words: object) -> Result:
    """`result.json` of `probtruth WORDS... --out OUT`, run in this process."""
    from probtruth.cli import main

    before, sys.argv = sys.argv, ["probtruth", "--config", "off", *map(str, words), "--out", str(out)]
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


def evaluated_on_disk(labels: Path, models: Mapping[str, Path], form: str = "auto", **options: Any) -> Result:
    """The same with predictions in a temporary file."""
    return _plain(pt.evaluate(pt.read_annotations(labels, format=form, memory=1.0), models, memory=1.0, **options))


def compared(frame: object, columns: Mapping[str, Any], **options: Any) -> Result:
    """A table of scores, compared in memory."""
    return _plain(pt.Result.of(pt.compare(pt.Scores.from_frame(frame, **columns), **options)))


def compared_on_disk(path: Path, columns: Mapping[str, Any], **options: Any) -> Result:
    """The same with scores in a temporary file."""
    return _plain(pt.Result.of(pt.compare(pt.read_scores(path, memory=1.0, **columns), **options)))


def _plain(result: Any) -> Result:
    return json.loads(json.dumps(result.to_dict()))
