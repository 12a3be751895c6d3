"""Tables as the process that decodes hands them over: in files in memory, which the caller maps and does not copy."""

import json
import mmap
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO

import numpy as np
import polars

MANY = 200
"""A mapping keeps its file open: beyond so many open files, what is handed over is copied instead."""


@dataclass(frozen=True, eq=False)
class Decoded:
    """Bytes; or a table, of which these are an Arrow stream, but for the columns of numbers that lie in memory.

    `names` are all of the table's columns in order, where there are such numbers.
    """

    data: bytes
    numbers: Mapping[str, np.ndarray] = field(default_factory=dict)
    names: Sequence[str] = ()

    def frame(self) -> polars.DataFrame:
        """The table, whose numbers stay where they are."""
        others = polars.read_ipc_stream(BytesIO(self.data)) if self.data else polars.DataFrame()
        if not self.numbers:
            return others
        numbers = {name: polars.Series(name, column) for name, column in self.numbers.items()}
        return polars.DataFrame([numbers[name] if name in numbers else others.get_column(name) for name in self.names])


def channel() -> tuple[socket.socket, socket.socket] | tuple[None, None]:
    """Both ends of what files in memory go through; nothing where the system cannot seal such files."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.close(os.memfd_create("probtruth", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
            return socket.socketpair()
    return None, None


def received(channel: socket.socket, layout: bytes) -> Decoded:
    """The table in the file that comes through the channel; `layout` says what stands where in it, see `decoder`.

    Errors: `EOFError` for another file, or one that could still change or become shorter while it is used.
    """
    _, files, _, _ = socket.recv_fds(channel, 1, 1)
    if len(files) != 1:
        raise EOFError
    try:
        data = _content(files[0])
        known = json.loads(layout)
        numbers = {
            name: np.frombuffer(data, kind, known["rows"], offset)
            for name, kind, offset in known["columns"]
            if offset is not None
        }
        stream = b"" if known["stream"] is None else data[known["stream"] :]
        return Decoded(stream, numbers, [name for name, _, _ in known["columns"]])
    except (ValueError, TypeError, KeyError) as error:
        raise EOFError from error
    finally:
        os.close(files[0])


def _content(file: int) -> mmap.mmap | bytes:
    """The bytes of a file in memory."""
    import fcntl  # which only some systems have

    sealed = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
    if fcntl.fcntl(file, fcntl.F_GET_SEALS) & sealed != sealed:
        raise EOFError
    if file <= MANY:
        return mmap.mmap(file, 0, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE, prot=mmap.PROT_READ)
    with open(file, "rb", buffering=0, closefd=False) as stream:
        stream.seek(0)
        return stream.read()
