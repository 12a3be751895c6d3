"""Builds the report of the demo beside the pages, where the first page links to it: `example-report/report.html`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import probtruth
from probtruth import demo

FOLDER = "example-report"


def _build(app: Any, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        write(Path(app.outdir) / FOLDER)


def write(out: Path) -> None:
    """What `probtruth demo` writes."""
    annotations, predictions = demo.load()
    result = probtruth.evaluate(annotations, predictions, groups=demo.digits(), rope=0.01)
    probtruth.write_report(replace(result, note=demo.NOTE), out)


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("build-finished", _build)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
