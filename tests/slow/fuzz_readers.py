"""Coverage-guided fuzzing of every reader: whatever a file holds, only an `InputError` may leave it, and soon.

    PYTHONPATH=.:tests/io nice -n 19 python tests/slow/fuzz_readers.py --seed 1 --seconds 60 > table.md

needs atheris (`pip install atheris`). Each reader gets a process of its own, whose Python code of probtruth is
instrumented; a third of the mutations are libFuzzer's, half know the form (`fuzz_edits.py`: cells of tables, values of
JSON, members of archives), the others join hostile tokens into text.
What leaves a reader that is no `InputError`, a message that is too long or holds control characters or a panic's text,
an accepted text file that Python's own csv or json reader reads otherwise (`tests/io/oracles.py`), and a read that
takes more than five seconds are written to `--crashes`, one file for each place they come from. `--only NAME` takes one
reader.
"""

import argparse
import atexit
import hashlib
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars
from fuzz_edits import LONGEST, edited_archive, edited_cells, edited_frame, edited_json, edited_text
from oracles import LONGEST_MESSAGE, disagreement, unfit

SLOW = 5.0
"""Seconds that a read of a small file may take at most."""


class Watch:
    """Counts what happens, and keeps what must not."""

    def __init__(self, name: str, crashes: Path) -> None:
        self.name, self.crashes = name, crashes
        self.runs, self.read, self.slowest, self.started = 0, 0, 0.0, time.monotonic()
        self.found: dict[str, str] = {}

    def keep(self, data: bytes, place: str, words: str) -> None:
        """One example for each place."""
        if place not in self.found:
            self.found[place] = words
            stem = re.sub(r"\W+", "_", self.name) + "-" + hashlib.sha256(place.encode()).hexdigest()[:8]
            (self.crashes / stem).write_bytes(data)
            (self.crashes / f"{stem}.txt").write_text(words, errors="backslashreplace")

    def report(self) -> dict[str, Any]:
        return {
            "name": self.name, "runs": self.runs, "read": self.read, "seconds": time.monotonic() - self.started,
            "slowest": self.slowest, "found": self.found,
        }  # fmt: skip


def place_of(error: BaseException) -> str:
    """The kind of error and the innermost line of probtruth that it passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "probtruth" in frame.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} {Path(last.filename).name}:{last.lineno}"


def mutation(suffix: str, seeds: Sequence[bytes]) -> Callable[[bytes, random.Random], bytes]:
    """What knows the form of such files; tables in binary forms are made of the sound ones anew."""
    if suffix in (".parquet", ".arrow"):
        read = polars.read_parquet if suffix == ".parquet" else polars.read_ipc
        frames = [read(io.BytesIO(seed)) for seed in seeds]
        return lambda _, draw: edited_frame(draw.choice(frames), draw, suffix[1:])
    if suffix in (".csv", ".tsv"):
        return partial(edited_cells, separator="," if suffix == ".csv" else "\t")
    return edited_archive if suffix == ".eval" else edited_json


def fuzz(name: str, seed: int, seconds: float, runs: int, corpus: Path, crashes: Path, tally: Path) -> None:
    """One reader, in this process, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=["probtruth"], enable_loader_override=False):
        import fuzz_seeds

        from probtruth.errors import InputError

        target = next(one for one in fuzz_seeds.targets() if one.name == name)
    watch = Watch(name, crashes)
    shelf = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="probtruth-fuzz-", dir=shelf))
    path = folder / target.file
    for number, sound in enumerate(target.seeds):
        (corpus / f"seed{number}").write_bytes(sound)

    def once(data: bytes) -> None:
        path.write_bytes(data)
        watch.runs += 1
        taken = read(data)
        if taken > SLOW:
            taken = min(taken, read(data))  # twice: a machine that does other work is not a slow reader
        watch.slowest = max(watch.slowest, taken)
        if taken > SLOW:
            watch.keep(data, "slow", f"{taken:.1f} s")
        if watch.runs % 256 == 0 or taken > 1:
            tally.write_text(json.dumps(watch.report()))

    def read(data: bytes) -> float:
        """Judges one read; the seconds that it took."""
        start = time.perf_counter()
        try:
            accepted = target.read(path) is not False
            watch.read += accepted
        except InputError as error:
            accepted, why = False, unfit(str(error))
            if why is not None:
                watch.keep(data, f"message {place_of(error)}", f"{why}: {str(error)[:LONGEST_MESSAGE]}")
        except Exception as error:
            accepted = False
            watch.keep(data, place_of(error), "".join(traceback.format_exception(error)))
        taken = time.perf_counter() - start
        other = disagreement(path) if accepted else None
        if other is not None:
            watch.keep(data, f"Python reads otherwise: {other[:20]}", other)
        return taken

    structured = mutation(path.suffix, target.seeds)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        draw = random.Random(seed)
        chance = draw.random()
        if chance < 0.3:
            return atheris.Mutate(data, most)
        start = draw.choice(target.seeds) if draw.random() < 0.5 else data
        return (structured if chance < 0.8 else edited_text)(start, draw)[:most]

    options = [
        f"-seed={seed}",
        f"-max_total_time={int(seconds)}",
        f"-runs={runs}",
        f"-max_len={LONGEST}",
        "-timeout=300",
        "-rss_limit_mb=8000",
    ]
    quiet = ["-print_final_stats=0", "-verbosity=0", f"-artifact_prefix={crashes}/"]
    atexit.register(lambda: tally.write_text(json.dumps(watch.report())))
    atheris.Setup([sys.argv[0], *options, *quiet, str(corpus)], once, custom_mutator=mutate)
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of libFuzzer, for each reader")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each reader")
    parser.add_argument("--runs", type=int, default=-1, help="of each reader at most")
    parser.add_argument("--only", help="one reader")
    parser.add_argument("--crashes", type=Path, default=Path(tempfile.gettempdir()) / "probtruth-crashes")
    parser.add_argument("--inside", nargs=2, type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside is not None:
        fuzz(asked.only, asked.seed, asked.seconds, asked.runs, asked.inside[0], asked.crashes, asked.inside[1])
        return
    import fuzz_seeds

    asked.crashes.mkdir(parents=True, exist_ok=True)
    names = [asked.only] if asked.only else [one.name for one in fuzz_seeds.targets()]
    print("| reader | executions | of these read | per second | slowest, s | found |\n|---|---|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            corpus, tally = Path(folder) / "corpus", Path(folder) / "tally.json"
            corpus.mkdir()
            command = [sys.executable, __file__, "--only", name, "--seconds", str(asked.seconds)]
            command += ["--seed", str(asked.seed)]
            command += ["--runs", str(asked.runs), "--crashes", str(asked.crashes), "--inside", str(corpus), str(tally)]
            ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            if not tally.is_file():
                raise SystemExit(f"{name}: {ended.stderr[-2000:]}")
            found = json.loads(tally.read_text())
        ending = "" if ended.returncode == 0 else f"; ended with {ended.returncode}"
        per_second = found["runs"] / max(found["seconds"], 1e-9)
        print(
            f"| {name} | {found['runs']:,} | {found['read']:,} | {per_second:,.0f} | {found['slowest']:.2f} | "
            f"{len(found['found'])}{ending} |",
            flush=True,
        )
        for place in found["found"]:
            print(f"{name}: {place}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
