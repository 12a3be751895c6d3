"""Parquet and Arrow are decoded in another process, which may die without harm."""

import json
import os
import signal
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import polars
import pytest

from probtruth.errors import InputError
from probtruth.io.tables import decoder, decoding
from probtruth.io.tables.batches import open_table
from probtruth.io.tables.read import read_table

FRAME = polars.DataFrame({"item": ["a", "b"], "x": [0.5, 1.0]})


Processes = list["subprocess.Popen[bytes]"]


@pytest.fixture(autouse=True)
def a_fresh_process() -> None:
    decoding.stop()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Processes:
    """The processes that are started, the last one last."""
    processes: Processes = []
    start = subprocess.Popen

    def listed(*words: Any, **options: Any) -> "subprocess.Popen[bytes]":
        processes.append(start(*words, **options))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", listed)
    return processes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    FRAME.write_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


SPY = """
import os, subprocess, sys
from probtruth.io.tables.read import read_table
started, start = [], subprocess.Popen
subprocess.Popen = lambda *words, **options: started.append(start(*words, **options)) or started[-1]
"""
"""The beginning of a program that lists the processes that it starts."""


class TestProcess:
    def test_one_process_serves_many_files(self, path: Path, started: Processes) -> None:
        assert read_table(path)[0].equals(FRAME)
        assert read_table(path)[0].equals(FRAME)
        assert len(started) == 1

    def test_a_path_is_read_from_where_it_is_and_an_odd_one_too(
        self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read_table(path)  # the process that decodes is started elsewhere
        monkeypatch.chdir(tmp_path)
        assert read_table("t.parquet")[0].equals(FRAME)
        for name in ("a*[b].parquet", "line\nbreak.parquet"):
            (tmp_path / name).write_bytes(path.read_bytes())
        assert read_table(tmp_path / "line\nbreak.parquet")[0].equals(FRAME)
        monkeypatch.setattr("probtruth.io.tables.read.matching", lambda where: None)  # a name, not a pattern
        assert read_table(tmp_path / "a*[b].parquet")[0].equals(FRAME)

    def test_a_process_that_died_is_replaced(self, path: Path, started: Processes) -> None:
        read_table(path)
        os.kill(started[0].pid, 9)
        time.sleep(0.1)
        assert read_table(path)[0].equals(FRAME)
        assert len(started) == 2

    def test_a_file_that_ends_the_process_is_an_error(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        code, start = "import sys; sys.stdin.buffer.read(20); sys.exit(134)", subprocess.Popen
        monkeypatch.setattr(subprocess, "Popen", lambda words, **options: start([*words[:-1], code], **options))
        with pytest.raises(InputError, match="it is damaged, or needs too much memory or more than 60 s"):
            read_table(path)
        monkeypatch.undo()
        assert read_table(path)[0].equals(FRAME)

    @pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm here")
    def test_a_file_that_takes_longer_than_its_limit_ends_the_process(self, path: Path) -> None:
        with subprocess.Popen([sys.executable, decoder.__file__], stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            process.stdin.write(decoder.QUESTION.pack(b"p", path.stat().st_size, 1 << 32, 0.2))
            process.stdin.flush()  # and nothing more: the bytes of the file do not come
            assert process.wait(60) == -signal.SIGALRM

    @pytest.mark.parametrize("executable", ["", "/nowhere/python"])
    def test_without_a_process_it_is_decoded_here(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, started: Processes, executable: str
    ) -> None:
        monkeypatch.setattr(sys, "executable", executable)
        assert read_table(path)[0].equals(FRAME)
        assert started == []
        path.write_bytes(path.read_bytes()[:-20] + b"PAR1")
        with pytest.raises(InputError, match="not sound Parquet"):
            read_table(path)

    @pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm here")
    def test_an_interrupt_ends_the_process(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What it would still answer must not be taken for the answer to the next question."""
        silent, start = "import time; time.sleep(60)", subprocess.Popen
        processes: Processes = []

        def started(words: list[str], **options: Any) -> "subprocess.Popen[bytes]":
            processes.append(start([*words[:-1], silent], **options))
            return processes[-1]

        monkeypatch.setattr(subprocess, "Popen", started)
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            with pytest.raises(KeyboardInterrupt):
                read_table(path)
        finally:
            signal.signal(signal.SIGALRM, before)
        assert processes[0].returncode == -signal.SIGKILL
        monkeypatch.undo()
        assert read_table(path)[0].equals(FRAME)

    @pytest.mark.process
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    def test_a_forked_child_starts_its_own(self, path: Path) -> None:
        code = (
            f"{SPY}"
            "read_table(sys.argv[1])\n"
            "if (child := os.fork()) == 0:\n"
            "    read_table(sys.argv[1])\n"
            "    os._exit(0 if len(started) == 2 else 1)\n"
            "assert os.waitpid(child, 0)[1] == 0\n"
            "read_table(sys.argv[1])\n"
            "assert len(started) == 1\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", code, str(path)],
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")

    @pytest.mark.process
    def test_it_ends_with_the_caller(self, path: Path) -> None:
        code = f"{SPY}read_table(sys.argv[1])\nprint(started[0].pid)\n"
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, str(path)], capture_output=True, timeout=60, check=True
        )
        assert done.stderr == b""
        with pytest.raises(ProcessLookupError):
            os.kill(int(done.stdout), 0)


@pytest.mark.parametrize("name", ["t.arrow", "a[1]*.arrow", "t.parquet", "a[1]*.parquet"])
def test_rows_of_a_file_whose_name_is_no_pattern(tmp_path: Path, name: str) -> None:
    (tmp_path / "a1x.arrow").write_bytes(b"another file, which the name would match as a pattern")
    write = FRAME.write_ipc if name.endswith(".arrow") else FRAME.write_parquet
    write(tmp_path / name)
    question = {"path": str(tmp_path / name), "start": 1, "rows": 1, "columns": ["x"]}
    rows = decoding.decode(b"r", json.dumps(question).encode())
    assert rows.frame().equals(FRAME[1:].select("x"))
    assert json.loads(decoding.decode(b"e", json.dumps(question).encode()).data)["rows"] == 2


class TestDecoder:
    """The script itself, in this process."""

    def ask(self, folder: Path, *questions: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        asked = b"".join(decoder.QUESTION.pack(kind, len(data), 0, 60.0) + data for kind, data in questions)
        (folder / "asked").write_bytes(asked)
        with (folder / "asked").open("rb") as stream, (folder / "answers").open("wb") as answers:
            decoder.serve(stream, answers)
        found = []
        with (folder / "answers").open("rb") as stream:
            while head := stream.read(decoder.ANSWER.size):
                status, size = decoder.ANSWER.unpack(head)
                found.append((status, stream.read(size)))
        return found

    def test_questions_are_answered_in_order(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(decoder, "limit_memory", lambda more: None)
        data = path.read_bytes()
        stream = BytesIO()
        FRAME.write_ipc(stream)
        (ok, table), (failed, why), (noted, notes), (arrow, same) = self.ask(
            path.parent, (b"p", data), (b"p", b"PAR1"), (b"n", data), (b"a", stream.getvalue())
        )
        assert (ok, failed, noted, arrow) == (decoder.DONE, decoder.FAILED, decoder.DONE, decoder.DONE)
        assert polars.read_ipc_stream(BytesIO(table)).equals(FRAME)
        assert polars.read_ipc_stream(BytesIO(same)).equals(FRAME)
        assert b"ARROW:schema" in notes
        assert why

    def test_too_little_memory_is_a_failure(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def greedy(data: bytes) -> bytes:
            raise MemoryError

        monkeypatch.setitem(decoder.DECODERS, b"p", greedy)
        assert decoder.answer(b"p", b"") == (decoder.FAILED, b"it needs too much memory")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux only")
def test_a_table_that_unpacks_to_far_more_than_the_limit_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal numbers take kilobytes as Parquet, and a thousand times that as a table."""
    path = tmp_path / "bomb.parquet"
    column = polars.repeat(1.5, 1 << 23, eager=True)
    polars.DataFrame({f"c{number}": column for number in range(8)}).write_parquet(path)
    megabyte = 1 << 20
    assert path.stat().st_size < megabyte
    monkeypatch.setattr(decoding, "SPARE_BYTES", 64 * megabyte)
    monkeypatch.setattr("probtruth.io.tables.binary.HUGE", 1 << 40)  # its footer alone would have it refused
    with pytest.raises(InputError, match="not sound Parquet"):
        read_table(path)


@pytest.mark.parametrize(
    "inside",
    [
        'called `Result::unwrap()` on an `Err` value: "x"',
        "JoinError::Panic(Id(4), ...)",
        "The Rust code panicked: index out of bounds",
    ],
)
def test_what_the_decoder_says_of_its_own_code_is_left_out(monkeypatch, tmp_path, inside):
    def fails(kind, data):
        raise decoding.DecodingError(inside)

    polars.DataFrame({"item": ["a"]}).write_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr(decoding, "decode", fails)
    for read in (read_table, open_table):
        with pytest.raises(InputError) as refused:
            read(tmp_path / "a.parquet")
        assert "not sound Parquet (it is damaged)" in str(refused.value)
        assert inside[:9] not in str(refused.value)
