"""Run as a script in a process of its own: decodes Parquet and Arrow, so that a damaged file cannot end the caller.

Questions come on standard input: a kind (one byte), a length, the memory and the seconds that may be taken (eight bytes
each), and so many bytes. Answers go to standard output: a status, a length, and so many bytes. The script imports
nothing of probtruth and ends when standard input does, or when an answer takes too long.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from struct import Struct
from typing import IO

import polars
from polars import selectors

QUESTION, ANSWER = Struct("<cQQd"), Struct("<cQ")
DONE, FAILED = b"d", b"f"

Payload = bytes | memoryview


def parquet(data: bytes) -> Payload:
    """A Parquet file as an Arrow stream."""
    return _stream(polars.read_parquet(BytesIO(data)))


def notes(data: bytes) -> bytes:
    """The metadata of a Parquet file as JSON."""
    return json.dumps(polars.read_parquet_metadata(BytesIO(data))).encode()


def size(ends: bytes) -> bytes:
    """Rows and columns of a Parquet file as JSON, from its first mark and its footer."""
    lazy = polars.scan_parquet(BytesIO(ends))
    rows = lazy.select(polars.len()).collect().item()
    return json.dumps({"rows": rows, "columns": len(lazy.collect_schema())}).encode()


def arrow(data: bytes) -> Payload:
    """An Arrow file or stream as an Arrow stream."""
    read = polars.read_ipc if data.startswith(b"ARROW1") else polars.read_ipc_stream
    return _stream(read(BytesIO(data)))


def rows(question: bytes) -> Payload:
    """Some columns of some rows of a Parquet or Arrow file, named in JSON, as an Arrow stream."""
    wanted = json.loads(question)
    lazy = _scan(wanted["path"]).slice(wanted["start"], wanted["rows"])
    return _stream(lazy.select(selectors.by_name(*wanted["columns"])).collect())


def extent(question: bytes) -> bytes:
    """The number of rows and the columns of a Parquet or Arrow file as JSON."""
    lazy = _scan(json.loads(question)["path"])
    height = lazy.select(polars.len()).collect().item()
    return json.dumps({"rows": height, "columns": lazy.collect_schema().names()}).encode()


def _scan(path: str) -> polars.LazyFrame:
    if path.lower().endswith(".parquet"):
        return polars.scan_parquet(path, glob=False, hive_partitioning=False)
    return polars.scan_ipc(path, glob=False, hive_partitioning=False)


DECODERS: dict[bytes, Callable[[bytes], Payload]] = {
    b"p": parquet,
    b"n": notes,
    b"s": size,
    b"a": arrow,
    b"r": rows,
    b"e": extent,
}


def _stream(frame: polars.DataFrame) -> memoryview:
    stream = BytesIO()
    frame.write_ipc_stream(stream)
    return stream.getbuffer()  # `getvalue` would copy it


def answer(kind: bytes, data: bytes) -> tuple[bytes, Payload]:
    """The decoded bytes, or why there are none."""
    try:
        return DONE, DECODERS[kind](data)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, ValueError) as error:
        return FAILED, (str(error).strip().split("\n")[0] or type(error).__name__).encode(errors="replace")
    except MemoryError:
        return FAILED, b"it needs too much memory"


def limit_memory(more: int) -> None:
    """Bounds what this process takes from here on, where the system can: damaged sizes then fail and do not swap."""
    if sys.platform == "linux":
        import resource

        with open("/proc/self/statm") as statm:
            now = int(statm.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (now + more if hard < 0 else min(now + more, hard), hard))


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Ends this process if the block takes longer, whatever hangs in it."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    else:
        timer = threading.Timer(seconds, os._exit, (1,))
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answers questions until they end."""
    while len(head := questions.read(QUESTION.size)) == QUESTION.size:
        kind, size, memory, seconds = QUESTION.unpack(head)
        limit_memory(memory)
        with limit_time(seconds):
            status, payload = answer(kind, questions.read(size))
        answers.write(ANSWER.pack(status, len(payload)))
        answers.write(payload)
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
