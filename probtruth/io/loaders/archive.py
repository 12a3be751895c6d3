"""Members of a zip archive in memory: nothing is extracted, and nothing grows beyond a bound."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

from probtruth import check
from probtruth.errors import InputError, MissingExtraError

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
LARGEST, SPARE, TIMES = 2 << 30, 64 << 20, 200
"""A member may take so many bytes at most: the spare ones or so many times its compressed size, never the largest.
All members together: the spare ones or so many times the archive's size."""
LOCAL_HEADER = struct.Struct("<4s22xHH")
"""Before each member: a mark, and the lengths of the name and of the extra field that follow."""


@dataclass(frozen=True, eq=False)
class Archive:
    """A zip file whose member names are sound and distinct."""

    data: bytes
    name: str
    members: Mapping[str, zipfile.ZipInfo]

    def read(self, member: str) -> bytes:
        """The bytes of a member.

        Errors: `InputError` for damage, encryption, other compression than Inspect's, or expansion beyond the bound;
        `MissingExtraError` where zstandard is needed and not installed.
        """
        info = self.members[member]
        where = f"{self.name}, member {check.quote(member)}"
        if info.flag_bits & 1:
            raise InputError("an encrypted member", "one that can be read", "Decrypt it first.", where)
        most = min(LARGEST, max(SPARE, TIMES * info.compress_size))
        if info.file_size > most:
            raise InputError(
                f"a member that grows from {info.compress_size} to {info.file_size} bytes",
                f"at most {most}",
                "Archives of logs do not grow so much; check where the file comes from.",
                where,
            )
        decompress = _DECOMPRESS.get(info.compress_type)
        if decompress is None:
            raise InputError(
                f"compression of type {info.compress_type}", "none, deflate or zstandard", "Write it again.", where
            )
        content = decompress(self._raw(info, where), info.file_size, where)
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise damaged("its size or checksum is another", where)
        return content

    def _raw(self, info: zipfile.ZipInfo, where: str) -> bytes:
        start = info.header_offset
        head = self.data[start : start + LOCAL_HEADER.size] if start >= 0 else b""
        if len(head) < LOCAL_HEADER.size or not head.startswith(b"PK\x03\x04"):
            raise damaged("a member is not where it should be", where)
        _, name, extra = LOCAL_HEADER.unpack(head)
        start += LOCAL_HEADER.size + name + extra
        raw = self.data[start : start + info.compress_size]
        if len(raw) < info.compress_size:
            raise damaged("it ends too soon", where)
        return raw


def open_archive(data: bytes, name: str) -> Archive:
    """The archive, if its members have distinct names that stay inside it.

    Errors: `InputError`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            infos = file.infolist()
    # a RuntimeError is how zipfile refuses a version of the format that it does not read
    except (zipfile.BadZipFile, RuntimeError, struct.error, ValueError, OverflowError, EOFError) as error:
        raise damaged(str(error).split("\n")[0][:200] or type(error).__name__, name) from None
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        path = info.orig_filename
        if path.startswith(("/", "~")) or "\\" in path or ":" in path[:2] or ".." in path.split("/") or "\0" in path:
            raise InputError(
                f"the member {check.quote(path)}",
                "members inside the archive",
                "The file is not what an evaluation wrote; check where it comes from.",
                name,
            )
        if path in members:
            raise InputError(f"the member {check.quote(path)} twice", "every member once", "Write it again.", name)
        members[path] = info
    total, most = sum(info.file_size for info in infos), max(SPARE, TIMES * len(data))
    if total > most:
        raise InputError(
            f"an archive that grows from {len(data)} to {total} bytes",
            f"at most {most}",
            "Archives of logs do not grow so much; check where the file comes from.",
            name,
        )
    return Archive(data, name, members)


def damaged(why: str, where: str) -> InputError:
    """The error for an archive that is not sound."""
    return InputError(f"a zip archive that is not sound ({why})", "a whole one", "Copy or write it again.", where)


def _deflated(raw: bytes, size: int, where: str) -> bytes:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, size + 1)
    except zlib.error:
        raise damaged("its compressed data is broken", where) from None


def _zstandard(raw: bytes, size: int, where: str) -> bytes:
    opened, broken = _zstandard_reader()
    try:
        with opened(io.BytesIO(raw)) as stream:
            content: bytes = stream.read(size + 1)
            return content
    except (broken, EOFError):
        raise damaged("its compressed data is broken", where) from None


def _zstandard_reader() -> tuple[Callable[[IO[bytes]], Any], type[Exception]]:
    """How a stream is opened, and the error of a broken one: from the standard library, or the package zstandard."""
    try:
        module = import_module("compression.zstd")
        return module.ZstdFile, module.ZstdError
    except ModuleNotFoundError:
        pass  # before Python 3.14
    try:
        package = import_module("zstandard")
    except ModuleNotFoundError:
        raise MissingExtraError(
            "got a log compressed with zstandard, expected the package zstandard to be installed. "
            "Hint: pip install 'probtruth[inspect]', or write logs with `inspect log convert --to json`"
        ) from None
    decompressor = package.ZstdDecompressor(max_window_size=1 << 27)
    return decompressor.stream_reader, package.ZstdError


_DECOMPRESS: dict[int, Callable[[bytes, int, str], bytes]] = {
    STORED: lambda raw, size, where: raw,
    DEFLATED: _deflated,
    ZSTANDARD: _zstandard,
}
"""How each type of compression is undone, up to a size."""
