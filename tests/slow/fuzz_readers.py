"""Coverage-guided fuzzing of every reader: whatever a file holds, only an `InputError` may leave it, and soon.

    PYTHONPATH=. nice -n 19 python tests/slow/fuzz_readers.py --seconds 60 > table.md

needs atheris (`pip install atheris`). Each reader gets a process of its own, whose Python code of probtruth is
instrumented; half of the mutations are libFuzzer's, half replace values inside JSON or join hostile tokens into text.
What leaves a reader that is no `InputError`, an error message that is too long, and a read that takes more than five
seconds are written to `--crashes`, one file for each place they come from. `--only NAME` takes one reader.
"""

import argparse
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
import zipfile
import zlib
from pathlib import Path
from typing import Any

SLOW = 5.0
"""Seconds that a read of a small file may take at most."""
LONGEST = 16_384
"""Bytes of a mutated file."""
LONGEST_MESSAGE = 9000
"""Characters: four parts of bounded length."""
TOKENS = (
    *(
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\r",
        b"\r\n",
        b"\n",
        b'"',
        b",",
        b"\t",
        b"nan",
        b"-inf",
        b"1e999",
    ),
    *(b"1e-320", b"9007199254740993", b"9" * 400, b"{}", b"[", b"\\ud800", b"\\u0000", b"null", b"PAR1", b"ARROW1"),
    *(b"\xff\xff\xff\x7f", b"2026-11-21", b"../../x", b"=1+1", b"item", b"item,item", b"PK\x03\x04", "\u202e".encode()),
)
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**400, 2**53 + 1, 2**64, 1.5, float("nan"), float("inf"), 5e-324, "", " ", "\0", "\ud800"),
    *("x" * 5000, "../../x", "=1+1", "<b>", [], {}, [[]], [None], {"": None}, ["a", 1], "1e5", "-1", "NaN", "C", "I"),
)


def edited_text(data: bytes, draw: random.Random) -> bytes:
    """With hostile tokens joined in, or pieces left out or doubled."""
    made = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at, size = draw.randrange(len(made) + 1), draw.choice((1, 3, 9, 40))
        edit = draw.randrange(4)
        if edit == 0:
            del made[at : at + size]
        elif edit == 1:
            made[at:at] = made[at : at + size] * draw.choice((1, 2, 8))
        else:
            made[at : at + draw.choice((0, 1, 4))] = draw.choice(TOKENS)
    return bytes(made[:LONGEST])


def edited_value(value: Any, draw: random.Random, depth: int = 0) -> Any:
    """With some value anywhere in it replaced, left out, doubled or renamed."""
    if not isinstance(value, list | dict) or not value or (depth and draw.random() < 0.15):
        return draw.choice(VALUES) if draw.random() < 0.9 else [value] * draw.choice((2, 50))
    made = list(value) if isinstance(value, list) else dict(value)
    key = draw.choice(range(len(made)) if isinstance(made, list) else list(made))
    edit = draw.random()
    if edit < 0.7:
        made[key] = edited_value(made[key], draw, depth + 1)
    elif edit < 0.8:
        del made[key]
    elif isinstance(made, list):
        made.insert(key, made[key])
    else:
        made[draw.choice(("", "item", "id", "Id", "\ud800", "score"))] = made.pop(key)
    return made


def edited_json(data: bytes, draw: random.Random) -> bytes:
    """A JSON document, or one of the lines of JSON lines, with a value changed; bytes where it is neither."""
    try:
        return json.dumps(edited_value(json.loads(data), draw)).encode()[:LONGEST]
    except (ValueError, RecursionError):
        pass
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    try:
        lines[at] = json.dumps(edited_value(json.loads(lines[at]), draw)).encode()
    except (ValueError, RecursionError):
        return edited_text(data, draw)
    return b"\n".join(lines)[:LONGEST]


def edited_archive(data: bytes, draw: random.Random) -> bytes:
    """With a member's JSON changed, left out, doubled or renamed; bytes where it is no archive."""
    stream = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as after:
            members = before.namelist()
            chosen, edit = draw.choice(members), draw.random()
            for name in members:
                body = before.read(name)
                if name == chosen and edit < 0.7:
                    body = edited_json(body, draw)
                if name != chosen or edit < 0.8:
                    after.writestr(name, body)
                elif edit > 0.85:
                    after.writestr(
                        draw.choice(("../../x.json", "summaries.json/", "header.json", "samples/x.json")), body
                    )
    except (
        ValueError,
        OSError,
        zipfile.BadZipFile,
        NotImplementedError,
        IndexError,
        RuntimeError,
        zlib.error,
        EOFError,
    ):
        return edited_text(data, draw)
    return stream.getvalue()


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


def fuzz(name: str, seconds: float, corpus: Path, crashes: Path, tally: Path) -> None:
    """One reader, in this process, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=["probtruth"], enable_loader_override=False):
        import fuzz_seeds

        from probtruth.errors import InputError

        target = fuzz_seeds.targets()[name]
    watch = Watch(name, crashes)
    shelf = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="probtruth-fuzz-", dir=shelf))
    path = folder / target.file
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed{number}").write_bytes(seed)

    def once(data: bytes) -> None:
        path.write_bytes(data)
        watch.runs += 1
        start = time.perf_counter()
        try:
            target.read(path)
            watch.read += 1
        except InputError as error:
            words = str(error)
            if "\n" in words or len(words) > LONGEST_MESSAGE or "Hint: " not in words:
                watch.keep(data, f"message {place_of(error)}", words[:LONGEST_MESSAGE])
        except Exception as error:
            watch.keep(data, place_of(error), "".join(traceback.format_exception(error)))
        taken = time.perf_counter() - start
        watch.slowest = max(watch.slowest, taken)
        if taken > SLOW:
            watch.keep(data, "slow", f"{taken:.1f} s")
        if watch.runs % 256 == 0 or taken > 1:
            tally.write_text(json.dumps(watch.report()))

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        draw = random.Random(seed)
        chance = draw.random()
        if chance < 0.5:
            return atheris.Mutate(data, most)
        by_form = {".json": edited_json, ".jsonl": edited_json, ".eval": edited_archive}
        made = by_form.get(path.suffix, edited_text) if chance < 0.8 else edited_text
        return made(data, draw)[:most]

    options = [f"-max_total_time={int(seconds)}", f"-max_len={LONGEST}", "-timeout=300", "-rss_limit_mb=8000"]
    quiet = ["-print_final_stats=0", "-verbosity=0", f"-artifact_prefix={crashes}/"]
    import atexit

    atexit.register(lambda: tally.write_text(json.dumps(watch.report())))
    atheris.Setup([sys.argv[0], *options, *quiet, str(corpus)], once, custom_mutator=mutate)
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each reader")
    parser.add_argument("--only", help="one reader")
    parser.add_argument("--crashes", type=Path, default=Path(tempfile.gettempdir()) / "probtruth-crashes")
    parser.add_argument("--inside", nargs=2, type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside is not None:
        fuzz(asked.only, asked.seconds, asked.inside[0], asked.crashes, asked.inside[1])
        return
    import fuzz_seeds

    asked.crashes.mkdir(parents=True, exist_ok=True)
    names = [asked.only] if asked.only else list(fuzz_seeds.targets())
    print("| reader | executions | of these read | per second | slowest, s | found |\n|---|---|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            corpus, tally = Path(folder) / "corpus", Path(folder) / "tally.json"
            corpus.mkdir()
            command = [sys.executable, __file__, "--only", name, "--seconds", str(asked.seconds)]
            command += ["--crashes", str(asked.crashes), "--inside", str(corpus), str(tally)]
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
