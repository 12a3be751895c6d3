"""The command line in a process of its own, when the machine fails it: no half result, no lost earlier one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from probtruth.io.output.folder import is_result


@pytest.fixture
def start(tmp_path, files):
    """Starts a comparison of small scores into `out`; code is compiled into one cache."""

    def begin(out: Path, engine: str = "exact", before: str = "", **options: object) -> subprocess.Popen:
        code = f"{before}\nfrom probtruth.cli import main; main()"
        words = [sys.executable, "-c", code, "compare", str(files["scores"]), "--lower-is-better"]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment} | options
        return subprocess.Popen([*words, "--engine", engine, "--out", str(out)], **options)

    return begin


@pytest.mark.process
def test_a_full_disk(start, tmp_path):
    """As a limit on the size of files has it: the same error on the same call."""
    (tmp_path / "out").mkdir()
    ended = start(tmp_path / "out", before="import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))")
    said = ended.communicate()[1]
    assert ended.returncode == 2
    assert "an output that cannot be written (file too large)" in said.splitlines()[-1]
    assert list((tmp_path / "out").iterdir()) == []
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.process
def test_two_runs_into_one_folder(start, tmp_path):
    runs = [start(tmp_path / "out") for _ in range(2)]
    for run in runs:
        assert run.communicate()[1].startswith("report: ")
        assert run.returncode == 0
    assert is_result(tmp_path / "out")
    assert not list(tmp_path.glob(".out*"))


def test_interrupted(run, files, tmp_path, monkeypatch):
    import probtruth.line.compare

    def interrupt(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(probtruth.line.compare, "compare", interrupt)
    outcome = run("compare", files["scores"], "--lower-is-better", "--out", tmp_path / "out")
    assert outcome.status == 130
    assert outcome.err.splitlines()[-1].startswith("probtruth: interrupted")
    assert not (tmp_path / "out").exists()
