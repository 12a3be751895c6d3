"""Coverage-guided fuzzing of every reader: whatever a file holds, only an `InputError` may leave it, and soon.

RUNS are seconds for each reader. Needs atheris (`pip install atheris`). Each reader gets a process of its own, whose
Python code of probtruth is instrumented; three in ten mutations are libFuzzer's, half know the form (cells of tables,
values of JSON, members of archives), the others join hostile tokens into text. Found is what leaves a reader that is
no `InputError`, a message that is too long or holds control characters or a panic's text, an accepted text file that
Python's own CSV reader reads otherwise (`tests/io/oracles.py`), and a read that takes more than five seconds:
one example for each place goes to `probtruth-crashes` in the folder for temporary files.
"""

import atexit
import csv
import datetime
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
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars

sys.path[:0] = [str(Path(__file__).parents[place]) for place in (0, 2)] + [str(Path(__file__).parents[1] / "io")]

RUNS, SEED, SLOW, LONGEST = 60, 1, 5.0, 16_384  # Seconds of each reader and of one read, bytes of a file
CRASHES = Path(tempfile.gettempdir()) / "probtruth-crashes"
TOKENS = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\r\n", b"\n", b'"', b",", b"\t", b"nan", b"-inf"),
    *(b"1e999", b"1e-320", b"9007199254740993", b"9" * 400, b"{}", b"[", b"\\ud800", b"\\u0000", b"null", b"PAR1"),
    *(b"ARROW1", b"\xff\xff\xff\x7f", b"2026-11-21", b"../../x", b"=1+1", b"item", b"item,item", b"PK\x03\x04"),
    *("\u202e".encode(),),
)
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**400, 2**53 + 1, 2**64, 1.5, float("nan"), float("inf"), 5e-324, "", " ", "\0", "\ud800"),
    *("x" * 5000, "../../x", "=1+1", "<b>", [], {}, [[]], [None], {"": None}, ["a", 1], "1e5", "-1", "NaN", "C", "I"),
)
CELLS = (
    *("", " ", "a\nb", '"', "1" * 40, "\u0661", "\u202ea", "0", "1", "-1", "0.5", "1.5", "1e-17", "0.1", "nan", "NA"),
    *("null", "inf", "-Infinity", "1e400", "5e-324", "9007199254740993", "0x1", "1,5", "1_000", "007", "7.0", "true"),
    *("2026-11-21", "a", "b", "x", "m", "item", "model", "label", "weight", "*", "^a.*$", "../../x", "=1+1", "<b>"),
)
COLUMNS: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**53 + 1, -(2**63), 0.5, 1.5, -0.5, float("nan"), float("inf"), 5e-324, "", "a", "0.5"),
    *(b"\xff\x00", [0.5], [], [None], {"a": 1}, datetime.date(2026, 11, 21), datetime.datetime(2026, 11, 21, 1)),
    *(datetime.timedelta(1), "x" * 3000, "\u202ea", "../../x"),
)
TYPES = (
    *(polars.Int8, polars.UInt64, polars.Float32, polars.String, polars.Categorical, polars.Binary, polars.Boolean),
    *(polars.Date, polars.Decimal(38, 2), polars.List(polars.Float64), polars.Null),
)
UNSOUND_ARCHIVE = (ValueError, OSError, zipfile.BadZipFile, NotImplementedError, IndexError, RuntimeError, zlib.error)


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
    return bytes(made)


def edited_cells(data: bytes, draw: random.Random, separator: str) -> bytes:
    """A table of text with one to four cells, rows or columns changed, so that most of it stays sound."""
    try:
        rows = [row for row in csv.reader(io.StringIO(data.decode()), delimiter=separator) if row]
    except (ValueError, csv.Error):
        rows = []
    if not rows:
        return edited_text(data, draw)
    for _ in range(draw.choice((1, 1, 2, 4))):
        row, edit = draw.randrange(len(rows)), draw.random()
        cell = draw.randrange(max(len(rows[row]), 1))
        if edit < 0.4:
            rows[row][cell : cell + 1] = [draw.choice(CELLS)]
        elif edit < 0.6:
            rows[row][cell : cell + 1] = draw.choice(rows)[cell : cell + 1]
        elif edit < 0.7:
            rows.insert(row, list(draw.choice(rows)))
        elif edit < 0.8:
            del rows[row][cell : cell + 1]
        elif edit < 0.9:
            rows = [[*line, line[cell] if cell < len(line) else ""] for line in rows]
        elif len(rows) > 1:
            del rows[row]
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator=draw.choice(("\n", "\n", "\r\n"))).writerows(rows)
    return stream.getvalue().encode(errors="surrogatepass")


def edited_frame(frame: polars.DataFrame, draw: random.Random, form: str) -> bytes:
    """A sound table, changed in cells, rows, names or types, and written as `form`."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        name, edit = draw.choice(frame.columns or [""]), draw.random()
        try:
            if edit < 0.35:
                values = frame[name].to_list()
                values[draw.randrange(len(values))] = draw.choice((draw.choice(COLUMNS), draw.choice(values)))
                frame = frame.with_columns(polars.Series(name, values, strict=draw.random() < 0.8))
            elif edit < 0.5:
                kept = [name] if draw.random() < 0.7 else frame.columns
                frame = frame.with_columns(frame[one].cast(draw.choice(TYPES), strict=False) for one in kept)
            elif edit < 0.6:
                frame = frame.with_columns(polars.lit(draw.choice(COLUMNS), allow_object=False).alias(name))
            elif edit < 0.75:
                frame = frame.rename({name: draw.choice(CELLS)})
            elif edit < 0.85:
                frame = polars.concat([frame, frame.sample(1, seed=draw.randrange(99))])
            elif edit < 0.95:
                frame = frame.with_columns(frame[name].alias(draw.choice(CELLS)))
            else:
                frame = frame.drop(name) if len(frame.columns) > 1 else frame.head(0)
        except (polars.exceptions.PolarsError, TypeError, ValueError, OverflowError, IndexError):
            continue
    stream = io.BytesIO()
    try:
        if form == "parquet":
            frame.write_parquet(stream, compression=draw.choice(("zstd", "snappy", "gzip", "uncompressed")))
        else:
            frame.write_ipc(stream, compression=draw.choice(("zstd", "lz4", "uncompressed")))
    except polars.exceptions.PolarsError:
        return b""
    return stream.getvalue()


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
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    for parts, place in (([data], 0), (lines, at)):
        try:
            parts[place] = json.dumps(edited_value(json.loads(parts[place]), draw)).encode()
        except (ValueError, RecursionError):
            continue
        return b"\n".join(parts)
    return edited_text(data, draw)


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
    except (*UNSOUND_ARCHIVE, EOFError):
        return edited_text(data, draw)
    return stream.getvalue()


def mutation(suffix: str, seeds: Sequence[bytes]) -> Callable[[bytes, random.Random], bytes]:
    """What knows the form of such files; tables in binary forms are made of the sound ones anew."""
    if suffix in (".parquet", ".arrow"):
        read = polars.read_parquet if suffix == ".parquet" else polars.read_ipc
        frames = [read(io.BytesIO(seed)) for seed in seeds]
        return lambda _, draw: edited_frame(draw.choice(frames), draw, suffix[1:])
    if suffix in (".csv", ".tsv"):
        return partial(edited_cells, separator="," if suffix == ".csv" else "\t")
    return edited_archive if suffix == ".eval" else edited_json


def place_of(error: BaseException) -> str:
    """The kind of error and the innermost line of probtruth that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if "probtruth" in frame.filename][-1:] or frames[-1:]
    return f"{type(error).__name__} {Path(last[0].filename).name}:{last[0].lineno}"


def fuzz(name: str, seconds: int, folder: Path) -> None:
    """One reader, in this process, which libFuzzer ends; what was counted is in `tally.json`."""
    import atheris

    with atheris.instrument_imports(include=["probtruth"], enable_loader_override=False):
        import fuzz_seeds
        from oracles import LONGEST_MESSAGE, disagreement, unfit

        from probtruth.errors import InputError

        target = next(one for one in fuzz_seeds.targets() if one.name == name)
    path, started, found = folder / "read" / target.file, time.monotonic(), set()  # alone, as in a folder of results
    tally = {"runs": 0, "read": 0, "slowest": 0.0}
    corpus = folder / "corpus"
    corpus.mkdir()
    path.parent.mkdir()
    for number, sound in enumerate(target.seeds):
        (corpus / f"seed{number}").write_bytes(sound)

    def keep(data: bytes, place: str, words: str) -> None:
        if place not in found:
            found.add(place)
            stem = re.sub(r"\W+", "_", name) + "-" + hashlib.sha256(place.encode()).hexdigest()[:8]
            (CRASHES / stem).write_bytes(data)
            (CRASHES / f"{stem}.txt").write_text(words, errors="backslashreplace")

    def read(data: bytes) -> float:
        """Judges one read; the seconds that it took."""
        start, accepted = time.perf_counter(), False
        try:
            accepted = target.read(path) is not False
        except InputError as error:
            why = unfit(str(error))
            if why is not None:
                keep(data, f"message {place_of(error)}", f"{why}: {str(error)[:LONGEST_MESSAGE]}")
        except Exception as error:
            keep(data, place_of(error), "".join(traceback.format_exception(error)))
        taken = time.perf_counter() - start
        tally["read"] += accepted
        other = disagreement(path) if accepted else None
        if other is not None:
            keep(data, f"Python reads otherwise: {other[:20]}", other)
        return taken

    def once(data: bytes) -> None:
        path.write_bytes(data)
        tally["runs"] += 1
        taken = read(data)
        if taken > SLOW:
            taken = min(taken, read(data))  # twice: a machine that does other work is not a slow reader
        if taken > SLOW:
            keep(data, "slow", f"{taken:.1f} s")
        tally["slowest"] = max(tally["slowest"], taken)
        if tally["runs"] % 256 == 0 or taken > 1:
            report()

    def report() -> None:
        counted = tally | {"seconds": time.monotonic() - started, "found": sorted(found)}
        (folder / "tally.json").write_text(json.dumps(counted))

    structured = mutation(path.suffix, target.seeds)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        draw = random.Random(seed)
        chance = draw.random()
        if chance < 0.3:
            return atheris.Mutate(data, most)
        start = draw.choice(target.seeds) if draw.random() < 0.5 else data
        return (structured if chance < 0.8 else edited_text)(start, draw)[:most]

    atexit.register(report)
    limits = [
        f"-seed={SEED}",
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        "-timeout=300",
        "-rss_limit_mb=8000",
    ]
    quiet = ["-print_final_stats=0", "-verbosity=0", f"-artifact_prefix={CRASHES}/"]
    atheris.Setup([sys.argv[0], *limits, *quiet, str(corpus)], once, custom_mutator=mutate)
    atheris.Fuzz()


def study(seconds: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    import fuzz_seeds

    CRASHES.mkdir(parents=True, exist_ok=True)
    yield "hostile-input", ("reader", "executions", "of these read", "per second", "slowest, s", "found")
    shelf = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    for name in (one.name for one in fuzz_seeds.targets()):
        with tempfile.TemporaryDirectory(dir=shelf) as folder:
            command = [sys.executable, __file__, name, str(seconds), folder]
            ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            tally = Path(folder) / "tally.json"
            if not tally.is_file():
                raise SystemExit(f"{name}: {ended.stderr[-2000:]}")
            found = json.loads(tally.read_text())
        ending = "" if ended.returncode == 0 else f"; ended with {ended.returncode}"
        counted = (f"{found['runs']:,}", f"{found['read']:,}", f"{found['runs'] / found['seconds']:,.0f}")
        yield "hostile-input", (name, *counted, f"{found['slowest']:.2f}", f"{len(found['found'])}{ending}")


if __name__ == "__main__":
    fuzz(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
