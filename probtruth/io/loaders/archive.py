"""Members of the zip archives that Inspect writes, in memory: nothing is extracted, or grows beyond a bound."""

import io
from collections.abc import Callable
from importlib import import_module
from typing import Any

from probtruth.check import quote
from probtruth.errors import InputError, MissingExtraError
from probtruth.io.json_values import parsed

LARGEST, SPARE, TIMES = 2 << 30, 64 << 20, 200  # All members may take the spare bytes, or so many times the archive's
PLAIN = (0, 8, 12, 14)  # Stored, deflate, bzip2, lzma: what every zipfile reads


class Archive:
    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.file: Any = _sound(lambda: _zipfile().ZipFile(io.BytesIO(data)), name)
        self.members = {info.filename: info for info in self.file.infolist()}
        size, most = sum(info.file_size for info in self.file.infolist()), min(LARGEST, max(SPARE, TIMES * len(data)))
        if size > most:
            raise InputError(
                f"an archive that grows from {len(data)} to {size} bytes",
                f"at most {most}",
                "Archives of logs do not grow so much; check where the file comes from.",
                name,
            )

    def read(self, member: str) -> bytes:
        where = f"{self.name}, member {quote(member)}"
        info, known = self.members.get(member), getattr(_zipfile(), "ZIP_ZSTANDARD", None)
        if info is not None and info.compress_type not in (*PLAIN, known):
            raise MissingExtraError(
                f"{where}: got a compression that is not read here, expected deflate, or zstandard and the package "
                "backports.zstd. Hint: pip install 'probtruth[inspect]', or `inspect log convert --to json`"
            )
        content = _sound(lambda: self.file.read(self.members[member]), where)
        return content

    def parsed(self, member: str) -> Any:
        return parsed(self.read(member), f"{self.name}, member {quote(member)}")


def _zipfile() -> Any:
    """The module that reads zip files, with zstandard where there is one."""
    try:
        return import_module("backports.zstd.zipfile")
    except ModuleNotFoundError:
        return import_module("zipfile")  # which knows zstandard itself from Python 3.14 on


def _sound(read: Callable[[], Any], where: str) -> Any:
    try:
        return read()
    except Exception as error:  # zip files and each compression have their own, none of them a common one
        raise InputError(
            f"a zip archive that is not sound ({error})",
            "a whole one",
            "Copy or write it again.",
            where,
        ) from None
