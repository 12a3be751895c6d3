"""Run as a script in a process of its own: decodes Parquet and Arrow, so that a damaged file cannot end the caller.

It also scans tables at addresses, since these are not to be trusted more than files.

Questions come on standard input: a kind (one byte), a length, the memory and the seconds that may be taken (eight bytes
each), and so many bytes. Answers go to standard output: a status, a length, and so many bytes. A table of some size is
handed over in a file in memory, which goes through a socket; what stands where in it is then the answer. The script
imports nothing of probtruth and ends when standard input does, or when an answer takes too long.
"""

import hashlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import escape
from inspect import signature
from io import BytesIO, FileIO
from struct import Struct
from typing import IO, Any

import polars
from polars import selectors

QUESTION, ANSWER = Struct("<cQQd"), Struct("<cQ")
DONE, HANDED, FAILED = b"d", b"h", b"f"
MISSING, REFUSED, UNREACHED = b"m", b"r", b"u"
"""Why a store of objects, or the system, gave nothing."""
ENDS = 64
"""Rows at both ends of a table that tell it from another."""

SMALL = 1 << 20
"""Bytes of a table up to which it goes through the pipe: no file in memory is made for it, and no numpy loaded."""
ALIGNED = 64
"""Columns in a file in memory begin at multiples of so many bytes."""
KINDS: dict[Any, str] = {
    polars.Float32: "f4",
    polars.Float64: "f8",
    **{kind: f"i{size}" for kind, size in ((polars.Int8, 1), (polars.Int16, 2), (polars.Int32, 4), (polars.Int64, 8))},
    **{
        kind: f"u{size}"
        for kind, size in ((polars.UInt8, 1), (polars.UInt16, 2), (polars.UInt32, 4), (polars.UInt64, 8))
    },
}
"""Columns that are handed over as their numbers lie in memory, and NumPy's names of these kinds."""

Made = bytes | polars.DataFrame
"""What answers a question."""


def parquet(data: bytes) -> Made:
    """A Parquet file as a table."""
    return polars.read_parquet(BytesIO(data))


def whole(question: bytes) -> Made:
    """A table by its path, named in JSON."""
    return _scan(json.loads(question)).collect()


def notes(data: bytes) -> bytes:
    """The metadata of a Parquet file as JSON."""
    return json.dumps(polars.read_parquet_metadata(BytesIO(data))).encode()


def size(ends: bytes) -> bytes:
    """Rows and columns of a Parquet file as JSON, from its first mark and its footer."""
    lazy = polars.scan_parquet(BytesIO(ends))
    rows = lazy.select(polars.len()).collect().item()
    return json.dumps({"rows": rows, "columns": len(lazy.collect_schema())}).encode()


def arrow(data: bytes) -> Made:
    """An Arrow file or stream as a table."""
    read = polars.read_ipc if data.startswith(b"ARROW1") else polars.read_ipc_stream
    return read(BytesIO(data))


def rows(question: bytes) -> Made:
    """Some columns of some rows of a table, named in JSON."""
    wanted = json.loads(question)
    lazy = _scan(wanted).slice(wanted["start"], wanted["rows"])
    return lazy.select(selectors.by_name(*wanted["columns"])).collect()


def extent(question: bytes) -> bytes:
    """The number of rows and the columns of a table as JSON."""
    lazy = _scan(json.loads(question))
    height = lazy.select(polars.len()).collect().item()
    return json.dumps({"rows": height, "columns": lazy.collect_schema().names()}).encode()


def ends(question: bytes) -> bytes:
    """The number of rows of a table and a digest of the first and the last of them, as JSON."""
    lazy = _scan(json.loads(question))
    height = lazy.select(polars.len()).collect().item()
    digest = hashlib.blake2b(digest_size=16)
    for start in (0, max(height - ENDS, 0)):
        digest.update(_stream(lazy.slice(start, ENDS).collect()))
    return json.dumps({"rows": height, "ends": digest.hexdigest()}).encode()


def members(question: bytes) -> bytes:
    """The files that a pattern or a folder at an address stands for, or the version of its Delta table, as JSON."""
    wanted = json.loads(question)
    if wanted["form"] == "folder":
        wanted["path"] = wanted["path"].rstrip("/")
        if _names({**wanted, "form": "text", "path": f"{wanted['path']}/_delta_log/*.json"}):
            wanted["form"] = "delta"
        else:
            wanted |= {"form": "parquet", "path": f"{wanted['path']}/*.parquet"}
    if wanted["form"] == "delta":
        import deltalake

        options = {key: str(value) for key, value in wanted["storage_options"].items()}
        table = deltalake.DeltaTable(wanted["path"], storage_options=options)
        return json.dumps({"version": table.version()}).encode()
    return json.dumps({"files": _names(wanted)}).encode()


def _names(wanted: dict[str, Any]) -> list[str]:
    """The files that a pattern matches, in order."""
    try:
        names = _scan(wanted, glob=True, include_file_paths="").select(polars.col("").unique()).collect()
    except polars.exceptions.ComputeError as error:
        if "expanded paths were empty" in str(error):
            return []
        raise
    return sorted(names[""].to_list())


def text(question: bytes) -> Made:
    """A text at an address, its lines ending in line feeds."""
    lines = _scan(json.loads(question)).collect().to_series()
    return "\n".join([*lines.to_list(), ""]).encode()


def remote_notes(question: bytes) -> bytes:
    """The metadata of a Parquet file at an address as JSON."""
    wanted = json.loads(question)
    return json.dumps(polars.read_parquet_metadata(wanted["path"], **_access(wanted))).encode()


def _access(wanted: dict[str, Any]) -> dict[str, Any]:
    """How a store is read; credentials that lie about are not looked for where options have their own."""
    if "storage_options" not in wanted:
        return {}
    return {
        "storage_options": wanted["storage_options"] or None,
        "credential_provider": None if wanted["own"] else "auto",
    }


def _scan(wanted: dict[str, Any], glob: bool = False, **options: Any) -> polars.LazyFrame:
    """The table lazily; its `form` follows from the extension where the question has none."""
    path, access = wanted["path"], _access(wanted)
    form = wanted.get("form") or ("parquet" if path.lower().endswith(".parquet") else "arrow")
    if form == "delta":
        return polars.scan_delta(path, version=wanted["version"], **access)
    if form == "iceberg":
        return polars.scan_iceberg(path, storage_options=access.get("storage_options"))
    if form == "text":
        return polars.scan_lines(path, glob=glob, **access, **options)
    if form == "parquet":
        return polars.scan_parquet(path, glob=glob, hive_partitioning=False, **access, **options)
    if "glob" in signature(polars.scan_ipc).parameters:
        options["glob"] = glob
    elif not glob:  # versions that lack it take every name for a pattern
        path = escape(path)
    return polars.scan_ipc(path, hive_partitioning=False, **access, **options)


DECODERS: dict[bytes, Callable[[bytes], Made]] = {
    b"p": parquet,
    b"f": whole,
    b"n": notes,
    b"s": size,
    b"a": arrow,
    b"r": rows,
    b"e": extent,
    b"h": ends,
    b"g": members,
    b"t": text,
    b"m": remote_notes,
}


def _stream(frame: polars.DataFrame) -> memoryview:
    stream = BytesIO()
    frame.write_ipc_stream(stream)
    return stream.getbuffer()  # `getvalue` would copy it


def _handed(frame: polars.DataFrame, channel: socket.socket) -> bytes:
    """Sends a file in memory that nobody can change any more, and says what stands where in it, as JSON.

    Columns of numbers without blanks lie there as in memory, one after the other; the others are an Arrow stream behind
    them.
    """
    import fcntl

    descriptor = os.memfd_create("probtruth", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with FileIO(descriptor, "r+") as file:
        offsets: dict[str, int] = {}
        for column in frame:
            if column.dtype in KINDS and not column.has_nulls():
                file.seek(-file.tell() % ALIGNED, os.SEEK_CUR)
                offsets[column.name] = file.tell()
                for chunk in filter(len, column.get_chunks()):
                    _write(file, memoryview(chunk.to_numpy()).cast("B"))
        numbers = file.tell()
        others = [name for name in frame.columns if name not in offsets]
        if others:
            _write(file, _stream(frame.select(selectors.by_name(*others))))
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE)
        socket.send_fds(channel, [b"t"], [descriptor])
    columns = [[name, KINDS.get(kind), offsets.get(name)] for name, kind in frame.schema.items()]
    return json.dumps({"rows": frame.height, "columns": columns, "stream": numbers if others else None}).encode()


def _write(file: FileIO, data: memoryview) -> None:
    """All of the bytes; the system takes 2 GiB at most at once."""
    while len(data):
        data = data[file.write(data) :]


def answer(kind: bytes, data: bytes, channel: socket.socket | None = None) -> tuple[bytes, bytes | memoryview]:
    """The decoded bytes, or why there are none; of a table handed over through the channel, what stands where in it."""
    try:
        made = DECODERS[kind](data)
        if not isinstance(made, polars.DataFrame):
            return DONE, made
        if channel is None or made.estimated_size() <= SMALL:
            return DONE, _stream(made)
        return HANDED, _handed(made, channel)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, ValueError) as error:
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        return _status(error), reason.encode(errors="replace")
    except ImportError as error:
        return FAILED, f"No module named {error.name}".encode()
    except MemoryError:
        return FAILED, b"it needs too much memory"


def _status(error: BaseException) -> bytes:
    """What kind of failure it is."""
    if isinstance(error, FileNotFoundError):
        return MISSING
    if isinstance(error, PermissionError):
        return REFUSED
    return UNREACHED if isinstance(error, OSError) else FAILED


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


def serve(questions: IO[bytes], answers: IO[bytes], channel: socket.socket | None = None) -> None:
    """Answers questions until they end."""
    while len(head := questions.read(QUESTION.size)) == QUESTION.size:
        kind, size, memory, seconds = QUESTION.unpack(head)
        limit_memory(memory)
        with limit_time(seconds):
            status, payload = answer(kind, questions.read(size), channel)
        answers.write(ANSWER.pack(status, len(payload)))
        answers.write(payload)
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer, socket.socket(fileno=int(sys.argv[1])) if len(sys.argv) > 1 else None)
