import threading

import numpy as np
import polars
import pytest

from probtruth.cli.time_limit import LIMIT, TimeLimit
from probtruth.errors import InputError
from probtruth.streaming import predictions_on_disk, score_batches


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
    own = predictions_on_disk._reported

    def reported(before, total, on_progress):
        done.append(before)
        if len(done) == 4 and clocks[-1].running:
            clocks[-1].action()
        return own(before, total, on_progress)

    monkeypatch.setattr(predictions_on_disk, "_reported", reported)
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
