"""Parquet and Arrow are decoded in another process, which may die without harm."""

import os
import signal
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path

import polars
import pytest

from probtruth.errors import InputError
from probtruth.io.tables import decoder, decoding
from probtruth.io.tables.batches import open_table
from probtruth.io.tables.read import read_table

FRAME = polars.DataFrame({"item": ["a", "b"], "x": [0.5, 1.0]})


@pytest.fixture(autouse=True)
def a_fresh_process() -> None:
    decoding._SHARED.stop()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    FRAME.write_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def process_id() -> int:
    process = decoding._SHARED.process
    assert process is not None
    return process.pid


class TestProcess:
    def test_one_process_serves_many_files(self, path: Path) -> None:
        assert read_table(path)[0].equals(FRAME)
        first = process_id()
        assert read_table(path)[0].equals(FRAME)
        assert process_id() == first

    def test_a_process_that_died_is_replaced(self, path: Path) -> None:
        read_table(path)
        os.kill(process_id(), 9)
        time.sleep(0.1)
        assert read_table(path)[0].equals(FRAME)

    def test_a_file_that_ends_the_process_is_an_error(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        code = "import sys; sys.stdin.buffer.read(20); sys.exit(134)"
        monkeypatch.setattr(decoding, "_script", lambda: code)
        with pytest.raises(InputError, match="it is damaged, or needs too much memory"):
            read_table(path)
        monkeypatch.undo()
        assert read_table(path)[0].equals(FRAME)

    def test_a_file_that_takes_for_ever_is_an_error(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        script, last = decoding._script().rsplit("; ", 1)
        slow = "import time; served['DECODERS'][b'p'] = lambda data: time.sleep(60)"
        served = f"served = {last.replace("'__main__'", "'decoder'")}; {slow}"
        serve = "served['serve'](sys.stdin.buffer, sys.stdout.buffer)"
        monkeypatch.setattr(decoding, "_script", lambda: f"{script}; {served}; {serve}")
        monkeypatch.setattr(decoding, "SECONDS", 0.3)
        started, start = [], decoding._start
        monkeypatch.setattr(decoding, "_start", lambda: started.append(start()) or started[0])
        with pytest.raises(InputError, match="more than 0 s"):
            read_table(path)
        assert started[0].returncode == (-signal.SIGALRM if hasattr(signal, "SIGALRM") else 1)
        monkeypatch.undo()
        assert read_table(path)[0].equals(FRAME)

    @pytest.mark.parametrize("executable", ["", "/nowhere/python"])
    def test_without_a_process_it_is_decoded_here(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, executable: str
    ) -> None:
        monkeypatch.setattr(sys, "executable", executable)
        assert read_table(path)[0].equals(FRAME)
        assert decoding._SHARED.process is None
        path.write_bytes(path.read_bytes()[:-20] + b"PAR1")
        with pytest.raises(InputError, match="not sound Parquet"):
            read_table(path)

    def test_an_interrupt_ends_the_process(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What it would still answer must not be taken for the answer to the next question."""
        read_table(path)

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(decoding, "_ask", interrupt)
        with pytest.raises(KeyboardInterrupt):
            read_table(path)
        assert decoding._SHARED.process is None

    @pytest.mark.process
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    def test_a_forked_child_starts_its_own(self, path: Path) -> None:
        code = (
            "import os, sys\n"
            "from probtruth.io.tables import decoding\n"
            "from probtruth.io.tables.read import read_table\n"
            "read_table(sys.argv[1])\n"
            "first = decoding._SHARED.process.pid\n"
            "if (child := os.fork()) == 0:\n"
            "    fresh = decoding._SHARED.process is None\n"
            "    os._exit(0 if fresh else 1)\n"
            "assert os.waitpid(child, 0)[1] == 0\n"
            "read_table(sys.argv[1])\n"
            "assert decoding._SHARED.process.pid == first\n"
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
        code = (
            "import sys\nfrom probtruth.io.tables import decoding\nfrom probtruth.io.tables.read import read_table\n"
            "read_table(sys.argv[1])\nprint(decoding._SHARED.process.pid)\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, str(path)], capture_output=True, timeout=60, check=True
        )
        assert done.stderr == b""
        with pytest.raises(ProcessLookupError):
            os.kill(int(done.stdout), 0)


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
