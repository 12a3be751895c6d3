"""Faults of streamed runs, counted: killed, stopped and damaged work, a full disk, and several runs at once.

    python tests/slow/faults_of_streaming.py [SEED] [MINUTES] > docs/validity/faults.md

Each case ends with the right result, bit for bit, or with one message; anything else is counted as wrong. The files lie
on a file system of their own in memory, whose size the full disk changes: the script starts itself anew in a namespace
of Linux (`unshare`) where it may mount that.
"""

import hashlib
import multiprocessing
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars

from probtruth.errors import InputError
from probtruth.io.truth import read_soft
from probtruth.line.score import score

N_ITEMS, LABELS = 12_000, ["yes", "no"]
STARTING_ANEW = "starting anew"
BATCH_SECONDS = 0.01
INSIDE = "PROBTRUTH_FAULTS"
"""The variable of the environment that says that this process may mount."""
ROOM = 1 << 29
"""Bytes of a disk that is not full."""
LATEST = 4.1e9
"""A moment in 2099, in seconds since 1970."""


def write_input(folder: Path, seed: int) -> None:
    """Soft labels and two models' predictions, the second in another order and without the last 7 items."""
    rng = np.random.default_rng(seed)
    names = [f"q{item}" for item in range(N_ITEMS)]
    for name in ("soft", "a", "b"):
        probs = rng.dirichlet([2, 1], N_ITEMS)
        frame = polars.DataFrame({"item": names, **dict(zip(LABELS, probs.T, strict=True))})
        if name == "b":
            frame = frame.head(N_ITEMS - 7).sample(fraction=1.0, shuffle=True, seed=seed)
        frame.write_parquet(folder / f"{name}.parquet")


def write_input_elsewhere(folder: Path, seed: int) -> None:
    """In a process of its own: threads of Polars in this one would not survive a fork."""
    process = multiprocessing.get_context("spawn").Process(target=write_input, args=(folder, seed))
    process.start()
    process.join()


class Process:
    """One run, forked from this process, which has loaded the libraries and used none of them."""

    def __init__(self, folder: Path, scratch: Path, slow: float = 0.0, clock: float = 0.0) -> None:
        said = Path(tempfile.gettempdir()) / f"faults-{secrets.token_hex(4)}"
        self.out, self.err = said.with_suffix(".out"), said.with_suffix(".err")
        self.number = os.fork()
        if not self.number:
            own = time.time
            time.time = lambda: own() + clock
            os._exit(self._run(folder, scratch, slow))

    def _run(self, folder: Path, scratch: Path, slow: float) -> int:
        for path, descriptor in ((self.out, 1), (self.err, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
        paths: dict[str, str | Path] = {model: folder / f"{model}.parquet" for model in "ab"}
        try:
            truth, out = read_soft(folder / "soft.parquet"), folder / "scores.parquet"
            score(paths, truth, memory=1, scratch=scratch, out=out, on_progress=lambda *_: time.sleep(slow))
            os.write(1, hashlib.sha256(out.read_bytes()).hexdigest().encode())
        except InputError as error:
            os.write(1, f"InputError {error}".encode())
            return 2
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            return 3
        return 0

    def send(self, number: signal.Signals) -> None:
        """Sends a signal."""
        os.kill(self.number, number)

    def ended(self) -> tuple[int, str, str]:
        """The status, the output, and standard error."""
        _, status = os.waitpid(self.number, 0)
        out, err = (path.read_text() if path.exists() else "" for path in (self.out, self.err))
        for path in (self.out, self.err):
            path.unlink(missing_ok=True)
        return os.waitstatus_to_exitcode(status), out, err.strip()


class Study:
    """Counts of what became of each kind of fault."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.scratch, self.random = folder, folder / "scratch", random.Random(seed)
        write_input_elsewhere(folder, seed)
        started = time.monotonic()
        status, self.want, err = Process(folder, folder / "first").ended()
        self.seconds = time.monotonic() - started
        assert status == 0, err
        self.counts: dict[str, Counter[str]] = {}

    def count(self, kind: str, run: tuple[int, str, str]) -> None:
        """What became of a run."""
        status, out, err = run
        if status == 0 and out == self.want and err == "":
            outcome = "right"
        elif status == 0 and out == self.want and err.startswith(STARTING_ANEW) and "\n" not in err:
            outcome = "right, with a notice"
        elif status == 2 and out.startswith("InputError") and err == "":
            outcome = "refused"
        else:
            outcome = "wrong"
            print(kind, status, out[:300], err[-600:], file=sys.stderr)
        self.counts.setdefault(kind, Counter())[outcome] += 1

    def finish(self, kind: str, clock: float = 0.0) -> None:
        """A run that goes on with what is there; nothing may be left over after it."""
        self.count(kind, Process(self.folder, self.scratch, clock=clock).ended())
        left = [path for path in (self.scratch, *self.folder.glob(".scores*")) if path.exists()]
        if left:
            self.counts[kind]["wrong"] += 1
            print(kind, "left", left, file=sys.stderr)
            for path in left:  # it counts once
                path.rename(path.with_name(f"left-{secrets.token_hex(4)}"))

    def killed(self, least_files: int = 0) -> None:
        """A run that is killed at a random moment; again, until it left so many files."""
        while True:
            run = Process(self.folder, self.scratch, BATCH_SECONDS)
            time.sleep(self.random.uniform(0, self.seconds))
            run.send(signal.SIGKILL)
            run.ended()
            if len([path for path in self.scratch.rglob("*") if path.is_file()]) >= least_files:
                return

    def kills(self) -> None:
        """Killed once or several times in a row, then run to its end."""
        for _ in range(self.random.randint(1, 3)):
            self.killed()
        self.finish("kill -9 at one to three random moments")

    def clock_jumps(self) -> None:
        """Killed, then the clock shows any time between 1970 and 2100, and so do the files of the unfinished work."""
        self.killed()
        for path in self.scratch.rglob("*"):
            os.utime(path, (self.random.uniform(0, LATEST), self.random.uniform(0, LATEST)))
        self.finish("kill -9, then a clock that jumps", self.random.uniform(0, LATEST) - time.time())

    def damage(self) -> None:
        """Killed, then one file of the unfinished work is damaged."""
        self.killed(least_files=4)
        files = sorted(path for path in self.scratch.rglob("*") if path.is_file())
        damage: Callable[[Path, random.Random], None]
        name, damage = self.random.choice((("zeroed", zero), ("cut off", cut_off)))
        damage(self.random.choice(files), self.random)
        self.finish(f"kill -9, then one file {name} from a random position")

    def full(self) -> None:
        """A disk with room for a random number of bytes; then one with room."""
        kind = "a disk that is full after random bytes, then the same with room"
        disk = os.statvfs(self.folder)
        used = disk.f_frsize * (disk.f_blocks - disk.f_bavail)
        resized(self.folder, used + int(2 ** self.random.uniform(12, 20)))
        self.count(kind, Process(self.folder, self.scratch).ended())
        resized(self.folder, ROOM)
        self.finish(kind)

    def together(self) -> None:
        """Two or three runs at once, the first of them stopped at a random moment."""
        kind = "two or three runs at once, the first paused by SIGSTOP"
        others = [Process(self.folder, self.scratch, BATCH_SECONDS) for _ in range(self.random.randint(0, 1))]
        first = Process(self.folder, self.scratch, BATCH_SECONDS)
        time.sleep(self.random.uniform(0, self.seconds))
        first.send(signal.SIGSTOP)
        self.count(kind, Process(self.folder, self.scratch).ended())
        first.send(signal.SIGCONT)
        for run in (first, *others):
            self.count(kind, run.ended())
        if self.scratch.exists():
            self.finish(kind)


def resized(folder: Path, size: int, how: str = "remount,") -> None:
    """Gives the file system in memory at the folder another size in bytes."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"{how}size={size}", "faults", folder], check=True)


def zero(path: Path, chance: random.Random) -> None:
    """A random stretch of a file becomes zeros."""
    size = path.stat().st_size
    start = chance.randrange(max(size, 1))
    with path.open("r+b") as stream:
        stream.seek(start)
        stream.write(b"\0" * min(size - start, chance.randint(1, 1 << 16)))


def cut_off(path: Path, chance: random.Random) -> None:
    """A file ends early."""
    os.truncate(path, chance.randrange(max(path.stat().st_size, 1)))


def main(seed: int, minutes: float) -> None:
    """Runs the faults in turn until the time is over, then prints the table."""
    warnings.filterwarnings("ignore", message=".*fork", category=RuntimeWarning)
    warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
    with tempfile.TemporaryDirectory(prefix="faults-") as made:
        resized(Path(made), ROOM, "")
        study, started = Study(Path(made), seed), time.monotonic()
        while time.monotonic() - started < 60 * minutes:
            for fault in (study.kills, study.damage, study.full, study.together, study.clock_jumps):
                fault()
        subprocess.run(["umount", made], check=True)
    print("# Faults of streamed runs\n")
    print(f"`python tests/slow/faults_of_streaming.py {seed} {minutes:g}`, on Linux: {N_ITEMS:,} items, two models,")
    print(
        "batches of 1,024 rows, `score`. A run is right if its file is that of an undisturbed one, byte for byte, and"
    )
    print("nothing is left over; it is refused if it ends with one message and status 2. Anything else is wrong.\n")
    outcomes = ("right", "right, with a notice", "refused", "wrong")
    print("| fault | " + " | ".join(outcomes) + " |\n|---|" + "---:|" * len(outcomes))
    for kind, counts in sorted(study.counts.items()):
        print(f"| {kind} | " + " | ".join(str(counts[outcome]) for outcome in outcomes) + " |")


if __name__ == "__main__":
    if INSIDE not in os.environ:
        os.execvpe("unshare", ["unshare", "-rm", sys.executable, *sys.argv], {**os.environ, INSIDE: "yes"})
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0, float(sys.argv[2]) if len(sys.argv) > 2 else 10.0)
