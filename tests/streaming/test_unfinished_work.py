"""The working state of a streamed run: locked, checked and never mixed."""

import errno
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.cli.console import Console
from probtruth.cli.options import Machine
from probtruth.cli.streamed import Memory, streaming
from probtruth.io.tables.batches import LEAST
from probtruth.streaming.disk_store import NumberFile

N_ITEMS = 5 * LEAST - 9
LABELS = ["yes", "no"]
NAMES = [f"q{item}" for item in range(N_ITEMS)]


class Stop(Exception):
    """What an interruption is here."""


def write_models(folder, seed=21):
    """Two models' predictions, the second in another order and without the last 4 items; and a long table of scores."""
    rng = np.random.default_rng(seed)
    for model in "ab":
        probs = rng.dirichlet([2, 1], N_ITEMS)
        frame = polars.DataFrame({"item": NAMES, **dict(zip(LABELS, probs.T, strict=True))})
        if model == "b":
            frame = frame.head(N_ITEMS - 4).sample(fraction=1.0, shuffle=True, seed=1)
        frame.write_parquet(folder / f"{model}.parquet")
    tables = [
        polars.DataFrame({"item": NAMES, "model": [model] * N_ITEMS, "score": rng.gamma(2, 1, N_ITEMS)})
        for model in "ab"
    ]
    polars.concat(tables).head(2 * N_ITEMS - 4).write_parquet(folder / "table.parquet")


def write_inputs(folder):
    """The models' predictions, and the soft labels."""
    write_models(folder)
    probs = np.random.default_rng(22).dirichlet([2, 1], N_ITEMS)
    polars.DataFrame({"item": NAMES, **dict(zip(LABELS, probs.T, strict=True))}).write_parquet(folder / "soft.parquet")
    return folder


@pytest.fixture
def files(tmp_path):
    return write_inputs(tmp_path)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """The same files for many tests, which leave them alone."""
    return write_inputs(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module")
def wanted(inputs):
    """What an undisturbed run of each command says."""
    return {command: streamed(command, inputs, None) for command in COMMANDS}


@pytest.fixture(scope="module")
def unfinished(inputs):
    """The folder of each command's unfinished work, for copies."""
    for command in COMMANDS:
        interrupted(command, inputs, inputs / f"unfinished-{command}")
    return {command: inputs / f"unfinished-{command}" for command in COMMANDS}


def streamed(command, folder, scratch, **more):
    """`evaluate` or `compare`, with its working state in `scratch`; what the comparison says."""
    if command == "evaluate":
        paths = {model: folder / f"{model}.parquet" for model in "ab"}
        made = pt.evaluate(folder / "soft.parquet", paths, memory=1, engine="exact", scratch=scratch, **more)
        return json.dumps(made.to_dict(), default=str)
    table = folder / "table.parquet"
    made = pt.compare(table, memory=1, engine="exact", higher_is_better=False, scratch=scratch, **more)
    return repr((made.pairs, made.ranks))


STORE = {"evaluate": "asked", "compare": "scores"}
COMMANDS = tuple(STORE)


def interrupted(command, folder, scratch, after=7):
    """Unfinished work of so many batches."""

    def stop(done, total):
        if done == after:
            raise Stop

    with pytest.raises(Stop):
        streamed(command, folder, scratch, on_progress=stop)


def notices(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "probtruth"]


def zero(path, n_bytes):
    with path.open("r+b") as stream:
        stream.write(b"\0" * min(n_bytes, path.stat().st_size))


DAMAGES = {
    "zeroed": lambda path: zero(path, path.stat().st_size),
    "4,000 zeroed": lambda path: zero(path, 4000 * 8),
    "cut off": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: os.truncate(path, 0),
    "removed": Path.unlink,
    "noise": lambda path: path.write_bytes(np.random.default_rng(1).bytes(path.stat().st_size)),
}
FILES = {
    "evaluate": ("losses-0", "losses-1", "sample-0", "finished.jsonl", "settings.json"),
    "compare": ("losses-0", "losses-1", "finished.jsonl", "settings.json"),
}


QUICK = ("evaluate", "losses-1", "zeroed"), ("evaluate", "finished.jsonl", "cut off"), ("compare", "losses-0", "noise")
"""Damages that the quick tests try; the others wait behind a marker."""
EVERY = [(command, file, damage) for command in COMMANDS for file in FILES[command] for damage in DAMAGES]


@pytest.mark.parametrize(
    ("command", "file", "damage"),
    [pytest.param(*each, marks=() if each in QUICK else pytest.mark.long) for each in EVERY],
)
def test_damage_is_noticed_and_the_result_is_right(inputs, wanted, unfinished, tmp_path, caplog, command, file, damage):
    scratch = shutil.copytree(unfinished[command], tmp_path / "scratch")
    DAMAGES[damage](scratch / STORE[command] / file)
    with caplog.at_level(logging.WARNING):
        assert streamed(command, inputs, scratch) == wanted[command]
    silent = file == "finished.jsonl" and damage in ("emptied", "removed", "cut off")  # nothing, or less, is finished
    assert len(notices(caplog)) == (0 if silent else 1)
    assert not scratch.exists()


@pytest.mark.parametrize("damage", ["zeroed", "cut off", "emptied", "removed"])
def test_a_damaged_lock_file_is_taken_for_what_it_was(inputs, wanted, unfinished, tmp_path, damage):
    scratch = shutil.copytree(unfinished["evaluate"], tmp_path / "scratch")
    DAMAGES[damage](scratch / "probtruth-unfinished.json")
    assert streamed("evaluate", inputs, scratch) == wanted["evaluate"]
    assert not scratch.exists()


def test_zeroed_losses_of_items_that_a_model_lacks_stay_unknown(files, caplog):
    """Zeros where nothing was ever written: the checksum of no batch covers them."""
    want = streamed("evaluate", files, None)
    interrupted("evaluate", files, files / "scratch", after=10)
    _zero_unknown(files / "scratch" / "asked" / "losses-1")
    assert streamed("evaluate", files, files / "scratch") == want
    interrupted("compare", files, files / "scratch", after=10)
    _zero_unknown(files / "scratch" / "scores" / "losses-1")
    assert streamed("compare", files, files / "scratch") == streamed("compare", files, None)
    assert notices(caplog) == []


def _zero_unknown(path):
    losses = np.memmap(path, np.float64, "r+")
    unknown = np.isnan(losses)
    assert unknown.sum() == 4
    losses[unknown] = 0.0
    losses.flush()


def test_an_interrupted_run_goes_on_twice(files, caplog):
    """The entry that a killed process cut off does not spoil the next one."""
    want = streamed("evaluate", files, None)
    for after in (3, 6, 8):
        interrupted("evaluate", files, files / "scratch", after)
        with (files / "scratch" / "asked" / "finished.jsonl").open("a") as journal:
            journal.write('["losses-0", 1')
    assert streamed("evaluate", files, files / "scratch") == want
    assert notices(caplog) == []


@pytest.mark.long
def test_work_of_another_version_or_with_other_settings_is_not_gone_on_with(files, caplog, monkeypatch):
    interrupted("evaluate", files, files / "scratch")
    monkeypatch.setattr(pt, "__version__", "0.0.9")
    interrupted("evaluate", files, files / "scratch")
    monkeypatch.undo()
    assert streamed("evaluate", files, files / "scratch", rule="brier") == streamed(
        "evaluate", files, None, rule="brier"
    )
    first, second = notices(caplog)
    assert "of another version" in first
    assert "of another version" in second
    interrupted("evaluate", files, files / "scratch")
    assert streamed("evaluate", files, files / "scratch", rule="brier") == streamed(
        "evaluate", files, None, rule="brier"
    )
    assert "of other inputs or settings" in notices(caplog)[-1]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("after", [1, 4, 10])
def test_input_that_is_replaced_while_it_is_read_is_an_error(files, command, after):
    """Another file of the same size at the same path, between batches, between passes and after the last one."""

    def replace(done, total):
        if done == after:
            (files / "new").mkdir()
            write_models(files / "new", seed=23)
            for name in ("b.parquet", "table.parquet"):
                os.replace(files / "new" / name, files / name)

    with pytest.raises(pt.InputError, match="replaced, changed or removed while it was read"):
        streamed(command, files, files / "scratch", on_progress=replace)


def test_outputs_alike_in_40_characters_have_their_own_folders(tmp_path):
    names = set()
    for out in ("x" * 40 + "-one", "x" * 40 + "-two", "sub/" + "x" * 40 + "-one"):
        with streaming(
            "files", str(tmp_path / out), Memory(1e6), Machine(), Console(json=True, quiet=True), "scoring"
        ) as options:
            names.add(options["scratch"].name)
    assert len(names) == 3


RUN = """
import os, signal, sys
from pathlib import Path
import probtruth as pt

folder, wait = Path(sys.argv[1]), int(sys.argv[2])

def hear(done, total):
    if done == wait:
        print("there", flush=True)
        sys.stdin.readline()

paths = {model: folder / f"{model}.parquet" for model in "ab"}
try:
    pt.evaluate(folder / "soft.parquet", paths, memory=1, engine="exact", scratch=folder / "scratch", on_progress=hear)
except pt.InputError as error:
    print(error)
    sys.exit(2)
"""


def started(folder, wait):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, folder, str(wait)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.process
def test_a_second_run_is_told_of_the_first_and_a_killed_one_is_gone_on_with(files, caplog):
    with started(files, 6) as first:
        assert first.stdout.readline() == "there\n"
        with pytest.raises(pt.InputError, match=f"process {first.pid} on") as caught:
            streamed("evaluate", files, files / "scratch")
        assert f"Wait until process {first.pid} has ended, or end it" in str(caught.value)
        os.kill(first.pid, signal.SIGSTOP)
        with started(files, 99) as second:
            assert f"process {first.pid} on" in second.communicate(timeout=120)[0]
            assert second.returncode == 2
        os.kill(first.pid, signal.SIGKILL)
        first.wait(60)
    read = []
    again = streamed("evaluate", files, files / "scratch", on_progress=lambda done, total: read.append(done))
    assert again == streamed("evaluate", files, None)
    assert read[:10] == list(range(1, 11))
    assert notices(caplog) == []
    assert not (files / "scratch").exists()


@pytest.mark.parametrize(("what", "after"), [("__init__", 1), ("write", 0), ("write", 5), ("sync", 3)])
def test_a_disk_that_is_full_in_the_middle(inputs, wanted, tmp_path, monkeypatch, what, after):
    """One message; with room, the same call goes on to the same answer. It was a traceback."""
    scratch, calls, real = tmp_path / "scratch", [], getattr(NumberFile, what)

    def full(*words, **named):
        calls.append(what)
        if len(calls) > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*words, **named)

    with monkeypatch.context() as patch:
        patch.setattr(NumberFile, what, full)
        with pytest.raises(pt.InputError, match=r"cannot be written \(no space left on device\).*repeat the command"):
            streamed("compare", inputs, scratch)
    assert streamed("compare", inputs, scratch) == wanted["compare"]
    assert not scratch.exists()
