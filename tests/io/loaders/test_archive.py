import io
import json
import struct
import sys
from pathlib import Path

import pytest
from backports.zstd import zipfile

from probtruth.errors import InputError, MissingExtraError
from probtruth.io.loaders import inspect_logs, read_inspect
from probtruth.io.loaders.inspect_logs import Archive

METHODS = {"stored": zipfile.ZIP_STORED, "deflate": zipfile.ZIP_DEFLATED, "zstandard": zipfile.ZIP_ZSTANDARD}


def zipped(members: dict[str, bytes], method: str = "deflate") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", METHODS[method]) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("method", METHODS)
def test_members_are_read(method: str) -> None:
    content = {"a.json": b"{}", "b/c.json": bytes(range(256)) * 100, "empty": b""}
    opened = Archive(zipped(content, method), "x.eval")
    assert {name: opened.read(name) for name in opened.members} == content


def resized(data: bytes, size: int, other: int) -> bytes:
    """An archive that states another size of its member."""
    return data.replace(struct.pack("<I", size), struct.pack("<I", other))


def encrypted(data: bytes) -> bytes:
    at = data.index(b"PK\1\2") + 8
    return data[:at] + bytes([data[at] | 1]) + data[at + 1 :]


ZSTD = zipped({"a": bytes(range(256)) * 40}, "zstandard")
BROKEN = {
    "garbage": ZSTD[:60] + bytes(40) + ZSTD[100:],
    "other size": resized(ZSTD, 256 * 40, 999),
    "a bomb that lies": resized(zipped({"a": bytes(inspect_logs.SPARE * 4)}, "zstandard"), inspect_logs.SPARE * 4, 1),
    "moved": zipped({"a": b"x" * 1000}).replace(b"PK\3\4", b"PK\3\5", 1),
    "encrypted": encrypted(zipped({"a": b"x"})),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_broken_members(data: bytes) -> None:
    with pytest.raises(InputError, match="a zip archive that is not sound"):
        Archive(data, "x").read("a")


@pytest.mark.parametrize("method", ["deflate", "zstandard"])
def test_a_bomb_is_refused_before_it_grows(method: str) -> None:
    """One that grows beyond the bound, and one of members that do so together, since they share their bytes."""
    data = zipped({"a": bytes(inspect_logs.SPARE + 1)}, method)
    assert len(data) < 100_000
    half = zipped({"a": bytes(inspect_logs.SPARE // 2)}, method)
    start, stop = half.index(b"PK\1\2"), half.index(b"PK\5\6")
    entry, end = half[start:stop], bytearray(half[stop:])
    entries = b"".join(entry[:-1] + bytes([letter]) for letter in b"abcdefgh")
    struct.pack_into("<HHI", end, 8, 8, 8, len(entries))
    for bomb in (data, half[:start] + entries + bytes(end)):
        with pytest.raises(InputError, match="that grows from"):
            Archive(bomb, "x").read("a")


def test_the_extra_is_named_where_zstandard_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("compression.zstd", "backports.zstd.zipfile"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"probtruth\[inspect\]"):
        Archive(ZSTD, "x").read("a")


def test_logs_without_summaries_and_without_an_end(tmp_path: Path) -> None:
    header = json.dumps({"status": "success", "eval": {"task": "t", "model": "m"}}).encode()
    sample = json.dumps({"id": "q", "epoch": 1, "scores": {"s": {"value": 2}}}).encode()
    path = tmp_path / "x.eval"
    path.write_bytes(zipped({"header.json": header, "samples/q_epoch_1.json": sample}))
    assert read_inspect(path, higher_is_better=True).values.tolist() == [[2]]
    for content, message in (
        (zipped({"_journal/start.json": header}), r"without header\.json"),
        (b"PK\3\4 and no more", "not sound"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            read_inspect(path)
