"""The command line in a process of its own, when the machine fails it: no half result, no lost earlier one.

Standard output and error that fail, or lack characters: one message or none, and a status that says which.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from probtruth.cli import CLOSED_PIPE
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


FULL = Path("/dev/full")
STREAMS = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def command(*words, **options):
    """The status, standard output and standard error of a command in a process of its own."""
    start = [sys.executable, "-m", "probtruth", *map(str, words)]
    environment = {**os.environ, **options.pop("environment", {})}
    done = subprocess.run(start, check=False, timeout=300, env=environment, **(STREAMS | options))
    return done.returncode, done.stdout, done.stderr


def model_scores(files, name="α"):
    """A comparison with a name that ASCII lacks, to run."""
    table = files["scores"].parent / "named.csv"
    table.write_text(files["scores"].read_text(encoding="utf-8").replace(",a,", f",{name},"), encoding="utf-8")
    return ("compare", table, "--lower-is-better", "--engine", "exact")


def closed_pipe():
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.process
@pytest.mark.parametrize("words", [("--version",), ("--help",), ("check", "none.csv", "--json")])
def test_a_closed_pipe_is_neither_an_error_nor_the_status_of_no_answer(words):
    pipe = closed_pipe()
    assert command(*words, stdout=pipe)[::2] == (CLOSED_PIPE, b"")
    os.close(pipe)


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="closes descriptors")
def test_streams_that_are_closed(files, tmp_path):
    words = ("-c", 'exec "$@" 2>&-', "sh", sys.executable, "-m", "probtruth")
    done = subprocess.run(["sh", *words, *map(str, model_scores(files))], capture_output=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"P(" in done.stdout.partition(b"What to do next")[0]
    done = subprocess.run(["sh", *words, "score", "--nonsense"], capture_output=True, check=False, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")
    words = ("-c", 'exec "$@" >&- 2>&- <&-', *words[2:])
    out = tmp_path / "out"
    named = [*map(str, model_scores(files)), "--out", str(out)]
    assert subprocess.run(["sh", *words, *named], check=False, timeout=300).returncode == 0
    json.loads((out / "result.json").read_text(encoding="utf-8"))  # no other stream wrote into it


@pytest.mark.process
def test_other_encodings(run, files, tmp_path):
    words = model_scores(files)
    plain = command(*words, "--json", "--out", tmp_path / "out", environment={"PYTHONIOENCODING": "ascii"})
    assert (plain[0], plain[2].splitlines()) == (0, [f"report: {tmp_path / 'out' / 'report.html'}".encode()])
    assert json.loads(plain[1].decode("ascii")) == run(*words, "--json").json
    for encoding in ("ascii", "latin-1"):
        status, out, err = command(*words, environment={"PYTHONIOENCODING": encoding})
        assert (status, err) == (0, b"")
        assert "−" not in out.decode(encoding)
        assert " a - b " in out.decode(encoding), "a minus sign never becomes a question mark"
    assert (tmp_path / "out" / "report.html").exists()
