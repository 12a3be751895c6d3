import io
import json
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from backports import zstd

from probtruth.errors import InputError, MissingExtraError
from probtruth.io.loaders import archive, read_inspect
from probtruth.io.loaders.archive import Archive


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return stream.getvalue()


def of_zstandard(name: bytes, content: bytes, compressed: bytes | None = None, size: int | None = None) -> bytes:
    """A zip file of one member in zstandard, by the layout of APPNOTE 6.3.10, sections 4.3.7 to 4.3.16."""
    raw = zstd.compress(content) if compressed is None else compressed
    sizes = (zlib.crc32(content), len(raw), len(content) if size is None else size)
    local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 63, 0, 93, 0, 33, *sizes, len(name), 0) + name + raw
    central = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 63, 63, 0, 93, 0, 33, *sizes, len(name), 0, 0, 0, 0, 0, 0)
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(central) + len(name), len(local), 0)
    return local + central + name + end


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_are_read(method: int) -> None:
    content = {"a.json": b"{}", "b/c.json": bytes(range(256)) * 100, "empty": b""}
    opened = Archive(zipped(content, method), "x.eval")
    assert {name: opened.read(name) for name in opened.members} == content


def test_zstandard_is_read() -> None:
    content = b"so it goes " * 1000
    assert Archive(of_zstandard(b"a", content), "x").read("a") == content
    assert Archive(of_zstandard(b"a", b""), "x").read("a") == b""


@pytest.mark.parametrize(
    "data",
    [
        of_zstandard(b"a", b"x" * 10, b"not zstandard"),
        of_zstandard(b"a", b"x" * 1000, zstd.compress(b"x" * 1000)[:-5]),
        of_zstandard(b"a", b"x" * 10, size=9),
        zipped({"a": b"x" * 1000}).replace(b"PK\3\4", b"PK\3\5", 1),
    ],
    ids=["garbage", "cut", "other size", "moved"],
)
def test_broken_members(data: bytes) -> None:
    with pytest.raises(InputError, match="a zip archive that is not sound"):
        Archive(data, "x").read("a")


@pytest.mark.parametrize("compress", [lambda zeros: zipped({"a": zeros}), lambda zeros: of_zstandard(b"a", zeros)])
def test_a_bomb_is_refused_before_it_grows(compress) -> None:  # type: ignore[no-untyped-def]
    data = compress(bytes(archive.SPARE + 1))
    assert len(data) < 100_000
    with pytest.raises(InputError, match="that grows from"):
        Archive(data, "x").read("a")


def test_many_members_that_share_their_bytes() -> None:
    """Each grows to less than the bound, all together beyond it: the members of the directory overlap."""
    data = zipped({"a": bytes(archive.SPARE // 2)})
    start = data.index(b"PK\1\2")
    entry, end = data[start : data.index(b"PK\5\6")], bytearray(data[data.index(b"PK\5\6") :])
    entries = b"".join(entry[:-1] + bytes([letter]) for letter in b"abcdefgh")
    struct.pack_into("<HHI", end, 8, 8, 8, len(entries))
    with pytest.raises(InputError, match="an archive that grows"):
        Archive(data[:start] + entries + bytes(end), "x")


def test_a_bomb_that_lies_about_its_size() -> None:
    data = of_zstandard(b"a", b"x", zstd.compress(bytes(archive.SPARE * 4)))
    with pytest.raises(InputError, match="not sound"):
        Archive(data, "x").read("a")


def test_encrypted_and_other_compression() -> None:
    data = bytearray(zipped({"a": b"x"}))
    central = data.index(b"PK\1\2")
    data[central + 8] |= 1
    with pytest.raises(InputError, match=r"not sound .*encrypted"):
        Archive(bytes(data), "x").read("a")


def test_the_extra_is_named_where_zstandard_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("compression.zstd", "backports.zstd.zipfile"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"probtruth\[inspect\]"):
        Archive(of_zstandard(b"a", b"x"), "x").read("a")


def test_logs_without_summaries_and_without_an_end(tmp_path: Path) -> None:
    header = json.dumps({"status": "success", "eval": {"task": "t", "model": "m"}}).encode()
    sample = json.dumps({"id": "q", "epoch": 1, "scores": {"s": {"value": 2}}}).encode()
    path = tmp_path / "x.eval"
    path.write_bytes(zipped({"header.json": header, "samples/q_epoch_1.json": sample}))
    assert read_inspect(path, higher_is_better=True).values.tolist() == [[2]]
    path.write_bytes(zipped({"_journal/start.json": header}))
    with pytest.raises(InputError, match=r"without header\.json"):
        read_inspect(path)
    path.write_bytes(b"PK\3\4 and no more")
    with pytest.raises(InputError, match="not sound"):
        read_inspect(path)
