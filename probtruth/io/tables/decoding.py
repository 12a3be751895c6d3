"""Parquet and Arrow are decoded in a process of its own: a damaged file can end that process, but not the caller's."""

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from probtruth.io.tables import decoder, handed
from probtruth.io.tables.handed import Decoded

SECONDS, BYTES_PER_SECOND = 60.0, 1e6
"""How long a file may take: the seconds, and one more for so many bytes."""
SPARE_BYTES, BYTES_PER_BYTE = 4 << 30, 64
"""How much memory a file may take, on systems that can bound it: the spare bytes, and so many for each of its own."""


class DecodingError(Exception):
    """The bytes could not be decoded; the message says why, and `status` (of `decoder`) which kind of failure it is."""

    def __init__(self, message: str, status: bytes = decoder.FAILED) -> None:
        super().__init__(message)
        self.status = status


def decode(
    kind: bytes,
    data: bytes,
    size: int | None = None,
    seconds: float = SECONDS,
    environment: Mapping[str, str | None] | None = None,
) -> Decoded:
    """The answer of `decoder` to the bytes, in memory and time that are bounded by their number.

    Where no process can be started the bytes are decoded here, unless they name an address.

    Arguments: `size` is the number of bytes for these bounds, where it is another, and `seconds` what any may take; a
    process that was started with other variables than those of `environment` (None: it has none of that name) is
    replaced.

    Errors: `DecodingError`.
    """
    size = len(data) if size is None else size
    limit = seconds + size / BYTES_PER_SECOND
    with _SHARED.lock:
        process = _SHARED.running(environment)
        if process is None and environment is not None:
            raise DecodingError("no process can be started for it")
        try:
            bounds = (SPARE_BYTES + BYTES_PER_BYTE * size, limit)
            if process is None:
                status, payload = decoder.answer(kind, data)
                answer = Decoded(bytes(payload))
            else:
                status, answer = _ask(process, _SHARED.channel, kind, data, *bounds)
        except (OSError, EOFError, MemoryError, OverflowError):
            _SHARED.stop()
            raise DecodingError(f"it is damaged, or needs too much memory or more than {limit:.0f} s") from None
        except BaseException:  # interrupted: the answer still to come must not be taken for that of the next question
            _SHARED.stop()
            raise
    if status != decoder.DONE:
        raise DecodingError(answer.data.decode(errors="replace"), status)
    return answer


def _ask(
    process: "subprocess.Popen[bytes]",
    channel: socket.socket | None,
    kind: bytes,
    data: bytes,
    memory: int,
    limit: float,
) -> tuple[bytes, Decoded]:
    """Status and answer; an `OSError` or `EOFError` where the process ended instead.

    The process ends itself at the limit: a watch kept by a thread here would have to be started for every file, and a
    thread cannot be started safely wherever the garbage collector may run.
    """
    requests, answers = process.stdin, process.stdout
    if requests is None or answers is None:
        raise EOFError
    requests.write(decoder.QUESTION.pack(kind, len(data), memory, limit))
    requests.write(data)
    requests.flush()
    head = answers.read(decoder.ANSWER.size)
    if len(head) < decoder.ANSWER.size:
        raise EOFError
    status, size = decoder.ANSWER.unpack(head)
    payload = answers.read(size)
    if len(payload) < size:
        raise EOFError
    if status == decoder.HANDED and channel is not None:
        return decoder.DONE, handed.received(channel, payload)
    return status, Decoded(payload)


class _Shared:
    """The one process that serves file after file, and is replaced when a file ended it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.channel: socket.socket | None = None
        self.environment: Mapping[str, str | None] | None = None

    def running(self, environment: Mapping[str, str | None] | None = None) -> "subprocess.Popen[bytes] | None":
        """A process that waits for questions, in an environment (None: any); None where none can be started."""
        other = environment is not None and environment != self.environment
        if self.process is not None and (other or self.process.poll() is not None):
            self.stop()
        if self.process is None and sys.executable:
            self.environment = environment
            changed = {**os.environ, **(environment or {})}
            self.channel, theirs = handed.channel()
            try:
                self.process = _start({key: value for key, value in changed.items() if value is not None}, theirs)
            except OSError:
                self._close_channel()
            finally:
                if theirs is not None:
                    theirs.close()
        return self.process

    def _close_channel(self) -> None:
        channel, self.channel = self.channel, None
        if channel is not None:
            channel.close()

    def stop(self) -> None:
        """Ends the process."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            _close_pipes(process)
        self._close_channel()

    def forget(self) -> None:
        """In a forked child: leaves the process to the parent."""
        process, self.process = self.process, None
        self.lock = threading.Lock()
        if process is not None:
            process.returncode = 0
            _close_pipes(process)
        self._close_channel()


def _script(channel: socket.socket | None) -> str:
    """Runs the decoder, which also has to start within the limit where the system can see to that."""
    script, words = str(Path(decoder.__file__)), [] if channel is None else [str(channel.fileno())]
    limited = f"import signal, sys, runpy; getattr(signal, 'alarm', int)({SECONDS:.0f})"
    known = f"sys.path[:] = {sys.path!r}; sys.argv[1:] = {words!r}"
    return f"{limited}; {known}; runpy.run_path({script!r}, run_name='__main__')"


def _start(environment: Mapping[str, str], channel: socket.socket | None) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _script(channel)],
        pass_fds=() if channel is None else (channel.fileno(),),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,  # Ctrl-C is the caller's
    )


def _close_pipes(process: "subprocess.Popen[bytes]") -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # what was not sent has nobody to go to
                pipe.close()


def stop() -> None:
    """Ends the process that decodes; the next file starts another."""
    with _SHARED.lock:
        _SHARED.stop()


_SHARED = _Shared()
atexit.register(_SHARED.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SHARED.forget)
