"""Twelve tasks of twelve people: short scripts of documented calls, on files as these people have them."""

import ast
import contextlib
import importlib.util
import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
SPEC = importlib.util.spec_from_file_location("made_files", FOLDER / "made_files.py")
assert SPEC is not None
assert SPEC.loader is not None
made_files = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(made_files)
REPOSITORY = FOLDER.parents[1]
LONGEST = 15
"""Lines of code of a script, comments and blank lines not counted."""
SHOWN = {
    "accuracies_with_groups.py": r"large +┆ 0\.[78]\d* .*\n.*small",
    "ci_gate.sh": r"fails: p_worse of 'branch' against 'main' is 1",
    "cross_val_predict.py": r"bayes +┆ 0\.1.*\n.*logistic +┆ 0\.1",
    "crowd_csv.sh": r"ours is almost certainly better than theirs",
    "dataframes.py": r"ours .*\n.*theirs",
    "harness_folder.sh": r"large is almost certainly better than (org/)?small",
    "inspect_log.sh": r"large is almost certainly better than mockllm/small",
    "judges_on_a_scale.py": r"ours +┆ theirs +┆ -0\.4.* 1\.0 +│\n└.*\nAgreement",
    "label_studio.py": r"ours .*\n.*theirs",
    "large_parquet.sh": r"ours is almost certainly better than theirs",
    "single_model.py": r"ours +┆ 0\.\d+ +┆ 0\.\d+ +┆ 0\.\d+",
    "soft_labels_chaosnli.sh": r"ours is almost certainly better than theirs",
}
"""What the last output of each script shows; the files are made so that this is the right answer."""
FAILS = {"ci_gate.sh"}
"""Scripts that end with status 1, as their writers want."""


def lines_of_code(script: Path) -> int:
    """Lines that are neither blank, nor a comment, nor the docstring."""
    text = script.read_text(encoding="utf-8")
    if script.suffix == ".py":
        first = ast.parse(text).body[0]
        text = "\n".join(text.splitlines()[first.end_lineno :])
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text.splitlines())


def test_there_are_twelve_and_they_are_short() -> None:
    scripts = [path for path in FOLDER.iterdir() if path.suffix in (".py", ".sh") and path.name in made_files.MADE]
    assert set(made_files.MADE) == set(SHOWN)
    assert sorted(path.name for path in scripts) == sorted(made_files.MADE)
    assert {path.name: n for path in scripts if (n := lines_of_code(path)) >= LONGEST} == {}


@pytest.mark.process
@pytest.mark.parametrize("name", sorted(name for name in SHOWN if name.endswith(".sh")))
def test_commands(name: str, tmp_path: Path) -> None:
    made_files.MADE[name](tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {**os.environ, "PATH": path, "PYTHONPATH": str(REPOSITORY), "MPLBACKEND": "Agg", "COLUMNS": "120"}
    command = ["bash", "-e", str(FOLDER / name)]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == (name in FAILS), done.stdout + done.stderr
    assert re.search(SHOWN[name], done.stdout + done.stderr), done.stdout + done.stderr


@pytest.mark.page
@pytest.mark.parametrize("name", sorted(name for name in SHOWN if name.endswith(".py")))
def test_scripts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_files.MADE[name](tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with contextlib.redirect_stdout(io.StringIO()) as output:
        runpy.run_path(str(FOLDER / name))
    assert re.search(SHOWN[name], output.getvalue()), output.getvalue()
