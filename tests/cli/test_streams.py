"""Standard output and error that fail, or lack characters: one message or none, and a status that says which."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from probtruth.cli import CLOSED_PIPE

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
