import importlib
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import polars
import pytest

from probtruth.cli.interrupts import LIMIT, WATCH, TimeLimit
from probtruth.errors import InputError
from probtruth.streaming import score_batches
from probtruth.streaming.journal import Journal


class Clock:
    """In place of a timer: it runs out when the test says so."""

    def __init__(self, seconds, action):
        self.seconds, self.action, self.running = seconds, action, False

    def start(self):
        self.running = True

    def cancel(self):
        self.running = False


@pytest.fixture
def clocks(monkeypatch):
    made = []
    monkeypatch.setattr(threading, "Timer", lambda *how: made.append(Clock(*how)) or made[-1])
    return made


@pytest.mark.parametrize(
    ("option", "seconds"), [("90s", 90), ("90", 90), ("10m", 600), ("1.5 h", 5400), ("2d", 172800)]
)
def test_times(clocks, option, seconds):
    TimeLimit().start(option)
    assert (clocks[0].seconds, clocks[0].running) == (seconds, True)


@pytest.mark.parametrize("option", ["", "soon", "0s", "-1m", "10 weeks"])
def test_times_that_are_none(clocks, option):
    with pytest.raises(InputError, match=r"got --time .*, expected a time such as 90s, 10m or 2h"):
        TimeLimit().start(option)
    assert not clocks


def test_a_streamed_run_ends_in_time_and_goes_on_behind_its_last_batch(run, tmp_path, clocks, monkeypatch):
    """Of 12 batches of 1,024 rows the clock stops the first run after four; the second one scores the other eight."""
    rng = np.random.default_rng(0)
    names = [f"q{item}" for item in range(6_000)]
    for name in ("soft", "a", "b"):
        share = rng.uniform(0.1, 0.9, len(names))
        polars.DataFrame({"item": names, "no": share, "yes": 1 - share}).write_parquet(tmp_path / f"{name}.parquet")
    for number in ("LEAST_MEMORY", "PER_ITEM"):  # small files are streamed in little memory
        monkeypatch.setattr(f"probtruth.cli.streamed.{number}", 0)
    done = []
    own = Journal.finish

    def finish(journal, *batch):
        own(journal, *batch)
        done.append(batch)
        if len(done) == 4 and clocks[-1].running:
            clocks[-1].action()

    monkeypatch.setattr(Journal, "finish", finish)
    words = ("run", "--soft", tmp_path / "soft.parquet", "--out", tmp_path / "out", "--engine", "exact")
    words += tuple(f"--predictions={name}={tmp_path / f'{name}.parquet'}" for name in "ab")
    stopped = run(*words, "--memory", "1KB", "--time", "10m")
    assert stopped.status == 1
    last = stopped.err.splitlines()[-1]
    assert last.startswith(
        "probtruth: got more work than --time 10m allows, expected less: nothing was written. Hint: "
    )
    assert last.endswith("Allow more time, or repeat the command: it goes on behind its last finished batch.")
    assert not (tmp_path / "out").exists()
    scored = []
    own_losses = score_batches.expected_losses
    monkeypatch.setattr(score_batches, "expected_losses", lambda *how: scored.append(1) or own_losses(*how))
    again = run(*words, "--memory", "1KB", "--time", "1h")
    assert again.status == 0, again.err
    assert len(scored) == 8
    assert not clocks[-1].running, "the clock stops with the run"
    assert LIMIT.timer is None


IN_COMPILED_CODE = """
import hashlib, signal, sys
import probtruth.line.compare
from probtruth.__main__ import main
from probtruth.cli import interrupts
from probtruth.streaming.scratch_folder import temporary_folder

limit, ignored = sys.argv.pop(1), sys.argv.pop(1)
if ignored:  # as a shell starts what is to run in the background
    signal.signal(signal.SIGINT, signal.SIG_IGN)

def compare_in_memory(*rest, **options):
    interrupts.start(limit or None)
    with temporary_folder() as folder:
        (folder / "scores").mkdir()
        (folder / "scores" / "losses-0").touch()
        print("computing", flush=True)
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # a quarter of an hour in which Python hears of no signal

probtruth.line.compare.compare_in_memory = compare_in_memory
main()
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize(
    ("limit", "ignored", "number", "status", "words"),
    [
        ("", "", signal.SIGINT, 130, "interrupted: nothing was written"),
        ("", "ignored", signal.SIGTERM, 143, "terminated: nothing was written"),
        ("0.2s", "", 0, 1, "got more work than --time 0.2s allows, expected less: nothing was written."),
        ("0.2s", "ignored", 0, 1, "got more work than --time 0.2s allows, expected less: nothing was written."),
    ],
    ids=["ctrl-c", "terminated in the background", "time", "time in the background"],
)
def test_compiled_code_is_interrupted_too(files, tmp_path, limit, ignored, number, status, words):
    """What no other run goes on with is gone."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-c", IN_COMPILED_CODE, limit, ignored, "compare", str(files["scores"])]
    command += ["--lower-is-better", "--out", str(tmp_path / "out")]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary)}, **streams) as run:
        try:
            assert run.stdout.readline() == "computing\n"
            assert list(temporary.glob("probtruth-*/scores/*"))
            if not limit:
                run.send_signal(number)
            assert run.stderr.read().startswith(f"probtruth: {words}")
            assert run.wait(60) == status
        finally:
            run.kill()
    assert not list(tmp_path.glob("*out*"))
    assert not list(temporary.glob("probtruth-*"))


IN_AN_IMPORT = """
import sys
import probtruth.line.compare
from pathlib import Path
from probtruth.__main__ import main
from probtruth.io.output.swap import work_beside

def compare_in_memory(*rest, **options):
    with work_beside(Path("out"), folder=True):
        sys.path.insert(0, "")
        import slow

probtruth.line.compare.compare_in_memory = compare_in_memory
main()
"""
SLOW = """
import time, traceback
try:
    print("importing", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    traceback.print_exc()
    raise ImportError("slow failed to import")
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_ctrl_c_inside_an_import_is_one_line(files, tmp_path):
    """NumPy, while it is imported, prints what interrupts it and goes on to fail otherwise."""
    (tmp_path / "slow.py").write_text(SLOW)
    command = [sys.executable, "-c", IN_AN_IMPORT, "compare", "scores.csv", "--lower-is-better", "--quiet"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": tmp_path}
    with subprocess.Popen(command, **streams) as run:
        try:
            assert run.stdout.readline() == "importing\n"
            assert list(tmp_path.glob(".out*"))
            run.send_signal(signal.SIGINT)
            assert run.stderr.read() == "probtruth: interrupted: nothing was written\n"
            assert run.wait(60) == 130
        finally:
            run.kill()
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.process
def test_nothing_is_imported_before_the_handler_stands():
    """While Python imports, Ctrl-C is a traceback; `atexit` is part of Python, and no file has to be read for it."""
    code = "import sys; before = set(sys.modules); import probtruth.__main__; print(*sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"atexit", "probtruth", "probtruth.__main__"}


AT_THE_END = """
import os, signal
from probtruth.__main__ import main

class Last:
    def __del__(self, kill=os.kill, own=os.getpid(), number=signal.SIGINT):
        kill(own, number)

last = Last()
main()
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_a_command_that_is_done_does_not_end_without_words(files):
    """Ctrl-C while Python clears away its modules, when it hears of no signal any more."""
    done = subprocess.run([sys.executable, "-c", AT_THE_END, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("probtruth ")


@pytest.mark.parametrize("earlier", [False, True])
def test_an_output_that_stands_is_not_denied(run, files, tmp_path, monkeypatch, earlier):
    """Ctrl-C in the instant after the result got its name."""
    words = ("compare", files["scores"], "--lower-is-better", "--engine", "exact", "--out", tmp_path / "out")
    if earlier:
        assert run(*words).status == 0
    folder = importlib.import_module("probtruth.io.output.folder")
    name = "exchange" if earlier else "_put_folder"
    own = getattr(folder, name)

    def placed(*how):
        own(*how)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(folder, name, placed)
    outcome = run(*words)
    assert (tmp_path / "out" / "result.json").exists()
    assert outcome.status == 130
    assert outcome.err.splitlines()[-1] == f"probtruth: interrupted: {tmp_path / 'out'} is written, and whole"
    monkeypatch.setattr(LIMIT, "over", True)
    monkeypatch.setattr(LIMIT, "option", "9s")
    late = run(*words)
    assert late.status == 1
    assert f"less: {tmp_path / 'out'} is written, and whole. Hint: Allow more time." in late.err
    assert not list(tmp_path.glob(".out*"))


def test_what_a_library_makes_of_ctrl_c_is_ctrl_c(run, files, tmp_path, monkeypatch):
    """As an import of NumPy does, in whose compiled part KeyboardInterrupt becomes an ImportError."""
    importlib.import_module("probtruth.line.compare")
    heard = threading.Event()

    def interrupted(*rest, **options):
        heard.set()
        raise ImportError("numpy.core.multiarray failed to import")

    monkeypatch.setattr("probtruth.line.compare.compare_in_memory", interrupted)
    monkeypatch.setattr(WATCH, "heard", heard)
    outcome = run("compare", files["scores"], "--lower-is-better", "--out", tmp_path / "out")
    assert (outcome.status, outcome.err.splitlines()[-1]) == (130, "probtruth: interrupted: nothing was written")
