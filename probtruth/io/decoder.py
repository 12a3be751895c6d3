"""Run as a script in a process of its own: decodes Parquet and Arrow, so that a damaged file cannot end the caller.

Requests come on standard input, answers go to standard output, both as a kind (one byte), a length (eight bytes) and
that many bytes. It imports nothing of probtruth and ends when standard input does.
"""

import json
import sys
from collections.abc import Callable
from io import BytesIO
from struct import Struct
from typing import BinaryIO

import polars

HEAD = Struct("<cQ")
DONE, FAILED = b"d", b"f"
SPARE_BYTES = 4 << 30
BYTES_PER_BYTE = 64
"""Memory that a file may take: the spare bytes, and so many for each of its own."""


def parquet(data: bytes) -> bytes:
    """A Parquet file as an Arrow stream."""
    return _stream(polars.read_parquet(BytesIO(data)))


def notes(data: bytes) -> bytes:
    """The metadata of a Parquet file as JSON."""
    return json.dumps(polars.read_parquet_metadata(BytesIO(data))).encode()


def arrow(data: bytes) -> bytes:
    """An Arrow file or stream as an Arrow stream."""
    read = polars.read_ipc if data.startswith(b"ARROW1") else polars.read_ipc_stream
    return _stream(read(BytesIO(data)))


DECODERS: dict[bytes, Callable[[bytes], bytes]] = {b"p": parquet, b"n": notes, b"a": arrow}


def _stream(frame: polars.DataFrame) -> bytes:
    stream = BytesIO()
    frame.write_ipc_stream(stream)
    return stream.getvalue()


def answer(kind: bytes, data: bytes) -> tuple[bytes, bytes]:
    """The decoded bytes, or why there are none."""
    try:
        return DONE, DECODERS[kind](data)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, ValueError) as error:
        return FAILED, (str(error).strip().split("\n")[0] or type(error).__name__).encode(errors="replace")
    except MemoryError:
        return FAILED, b"it needs too much memory"


def limit_memory(size: int) -> None:
    """Bounds the memory of this process, on systems that know how; damaged sizes then fail instead of swapping."""
    if sys.platform == "linux":
        import resource

        with open("/proc/self/statm") as statm:
            now = int(statm.read().split()[0]) * resource.getpagesize()
        wanted = now + SPARE_BYTES + BYTES_PER_BYTE * size
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answers requests until they end."""
    while len(head := requests.read(HEAD.size)) == HEAD.size:
        kind, size = HEAD.unpack(head)
        limit_memory(size)
        status, payload = answer(kind, requests.read(size))
        answers.write(HEAD.pack(status, len(payload)))
        answers.write(payload)
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
