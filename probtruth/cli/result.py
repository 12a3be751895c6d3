"""What run, demo and compare end with: the report is written, and the verdict shown."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from probtruth.cli.console import Console


def write_and_show(result: Any, out: str, console: Console, extra: Mapping[str, Any] | None = None) -> None:
    """Writes the report, then shows the verdict; `extra` is added to the JSON on standard output."""
    from probtruth.report.formats import terminal
    from probtruth.report.write import write_report

    with console.progress("writing the report"):
        write_report(replace(result, command=console.command), out)
    console.show(*terminal.summary(result))
    console.note(f"report: {Path(out) / 'report.html'}")
    console.emit({**result.to_dict(), **(extra or {})})
