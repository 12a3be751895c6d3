"""The scripts in `examples/` run in a process of its own, without a warning of its own making, and are short."""

import os
import subprocess
import sys
from pathlib import Path

import pages
import pytest

FOLDER = pages.REPOSITORY / "examples"
SCRIPTS = sorted(path for path in FOLDER.glob("*.py") if not path.stem.startswith("nelson"))
"""The remade figures have tests of their own, which also check the numbers: `tests/scoring/test_nelson_examples.py`."""
LONGEST = 120  # Lines of an example
NEEDS: dict[str, str] = {}  # What an example needs beyond the package; it is skipped where that is not installed
PATIENCE = 300
"""Seconds that an example may take on a machine that is busy with other things; alone it takes less than 20."""


@pytest.mark.process
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_runs(script: Path, tmp_path: Path) -> None:
    if script.stem in NEEDS:
        pytest.importorskip(NEEDS[script.stem])
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(script), "--out", str(out)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=PATIENCE,
        env={**os.environ, "MPLBACKEND": "Agg"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert set(tmp_path.iterdir()) <= {out}, "an example writes into the folder of --out only"


def test_examples_are_short_and_say_what_they_show() -> None:
    lines = {path.stem: path.read_text(encoding="utf-8").splitlines() for path in FOLDER.glob("*.py")}
    assert lines
    assert [name for name, text in lines.items() if len(text) >= LONGEST or not text[0].startswith('"""')] == []
