"""Tables come from the process that decodes in files in memory that are mapped, sealed, and not copied."""

import datetime
import json
import mmap
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars
import pytest

from probtruth.io.tables import decoder, decoding, handed
from probtruth.io.tables.handed import Decoded
from probtruth.io.tables.read import read_table

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="files in memory are of Linux")

ROWS = 20_000
DAY = datetime.date(2026, 1, 1)


@pytest.fixture
def frame() -> polars.DataFrame:
    """Columns of all kinds, more than a megabyte; numbers with blanks and text among them."""
    values = np.random.default_rng(0).random(ROWS)
    whole = polars.Series("i64", np.arange(ROWS))
    kinds = {str(kind): kind for kind in (polars.Int8, polars.Int16, polars.Int32)}
    kinds |= {str(kind): kind for kind in (polars.UInt8, polars.UInt16, polars.UInt32, polars.UInt64)}
    return polars.DataFrame(
        {
            "item": [f"q{row}" for row in range(ROWS)],
            "f4": values.astype(np.float32),
            "yes": values < 0.5,
            "f8": np.where(values < 0.1, np.nan, values),
            "blanks": [None, *values[1:]],
            "i64": whole,
            "day": [DAY] * ROWS,
            **{name: (whole % 100).cast(kind) for name, kind in kinds.items()},
            "^.*$": values,
        }
    )


@pytest.fixture
def path(frame: polars.DataFrame, tmp_path: Path) -> Path:
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=3000)  # the last group has fewer rows
    return tmp_path / "t.parquet"


def answered(path: Path) -> Decoded:
    return decoding.decode(b"f", json.dumps({"path": str(path)}).encode())


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_table_is_what_was_written_and_its_numbers_are_mapped(path: Path, frame: polars.DataFrame) -> None:
    answer = answered(path)
    assert answer.frame().equals(frame)
    assert answer.names == frame.columns
    assert [*answer.numbers] == [name for name in frame.columns if name not in ("item", "yes", "blanks", "day")]
    for column in answer.numbers.values():
        assert isinstance(column.base.obj, mmap.mmap)
        assert not column.flags.writeable
        assert column.flags.aligned
    own = answer.numbers["f8"]
    assert np.shares_memory(answer.frame()["f8"].to_numpy(), own), "polars does not copy them either"


def test_a_table_outlives_the_process_and_leaves_no_file_open(path: Path, frame: polars.DataFrame) -> None:
    answered(path)
    before = open_files()
    answer = answered(path)
    decoding.stop()
    assert answer.frame().equals(frame)
    assert answered(path).frame().equals(frame)
    del answer
    assert open_files() == before


def test_two_answers_are_good_at_once(path: Path, frame: polars.DataFrame, tmp_path: Path) -> None:
    other = frame.reverse()
    other.write_parquet(tmp_path / "other.parquet")
    first, second = answered(path), answered(tmp_path / "other.parquet")
    assert first.frame().equals(frame)
    assert second.frame().equals(other)


@pytest.mark.parametrize("columns", [["f4"], ["item"]])
def test_numbers_alone_and_text_alone(path: Path, frame: polars.DataFrame, columns: list[str], tmp_path: Path) -> None:
    wide = polars.concat([frame.select(columns)] * 20)
    wide.write_parquet(tmp_path / "wide.parquet")
    assert answered(tmp_path / "wide.parquet").frame().equals(wide)


def test_a_small_table_comes_through_the_pipe(tmp_path: Path) -> None:
    small = polars.DataFrame({"item": ["a", "b"], "x": [0.5, 1.0]})
    small.write_parquet(tmp_path / "small.parquet")
    answer = answered(tmp_path / "small.parquet")
    assert answer.numbers == {}
    assert answer.frame().equals(small)


def test_without_files_in_memory_every_table_does(
    path: Path, frame: polars.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> int:
        raise OSError

    decoding.stop()
    monkeypatch.setattr(os, "memfd_create", refused)
    answer = answered(path)
    assert answer.numbers == {}
    assert answer.frame().equals(frame)
    decoding.stop()


def test_beside_many_open_files_a_table_is_copied(
    path: Path, frame: polars.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handed, "MANY", -1)
    answer = answered(path)
    assert isinstance(answer.numbers["f4"].base, bytes)
    assert answer.frame().equals(frame)
    assert read_table(path)[0].equals(frame)


class TestWhatIsRefused:
    """What a process that a damaged file has harmed might send."""

    @pytest.fixture
    def ends(self) -> Iterator[tuple[socket.socket, socket.socket]]:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            yield ours, theirs

    @pytest.fixture
    def file(self) -> Iterator[int]:
        file = os.memfd_create("t", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.write(file, bytes(64))
        yield file
        os.close(file)

    def seal(self, file: int, *seals: str) -> None:
        import fcntl

        for name in seals:
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, getattr(fcntl, name))

    @pytest.mark.parametrize(
        "seals",
        [(), ("F_SEAL_WRITE", "F_SEAL_GROW"), ("F_SEAL_SHRINK", "F_SEAL_GROW"), ("F_SEAL_SHRINK", "F_SEAL_WRITE")],
    )
    def test_a_file_that_could_still_change(
        self, ends: tuple[socket.socket, socket.socket], file: int, seals: tuple[str, ...]
    ) -> None:
        """A mapping of a file that becomes shorter ends the process that reads it (SIGBUS)."""
        self.seal(file, *seals)
        socket.send_fds(ends[1], [b"t"], [file])
        before = open_files()
        with pytest.raises(EOFError):
            handed.received(ends[0], b'{"rows": 1, "columns": [["a", "f4", 0]], "stream": null}')
        assert open_files() == before

    @pytest.mark.parametrize(
        "layout",
        [
            b"no JSON",
            b"{}",
            b'{"rows": 17, "columns": [["a", "f4", 0]], "stream": null}',
            b'{"rows": 1, "columns": [["a", "f4", 64]], "stream": null}',
            b'{"rows": 1, "columns": [["a", "f4", -4]], "stream": null}',
            b'{"rows": 1, "columns": [["a", "O", 0]], "stream": null}',
            b'{"rows": 1, "columns": [["a", null, 0]], "stream": "x"}',
        ],
    )
    def test_a_layout_that_is_not_that_of_the_file(
        self, ends: tuple[socket.socket, socket.socket], file: int, layout: bytes
    ) -> None:
        self.seal(file, "F_SEAL_SHRINK", "F_SEAL_GROW", "F_SEAL_WRITE")
        socket.send_fds(ends[1], [b"t"], [file])
        with pytest.raises(EOFError):
            handed.received(ends[0], layout)

    def test_an_end_without_a_file(self, ends: tuple[socket.socket, socket.socket]) -> None:
        ends[1].close()
        with pytest.raises(EOFError):
            handed.received(ends[0], b"{}")


def test_the_decoder_hands_over_what_is_large(
    frame: polars.DataFrame, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script itself, in this process."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        status, layout = decoder.answer(b"p", path.read_bytes(), theirs)
        assert status == decoder.HANDED
        assert handed.received(ours, bytes(layout)).frame().equals(frame)
        monkeypatch.setattr(decoder, "SMALL", 1 << 30)
        assert decoder.answer(b"p", path.read_bytes(), theirs)[0] == decoder.DONE
