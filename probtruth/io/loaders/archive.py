"""Members of the zip archives that Inspect writes, in memory: nothing is extracted, or grows beyond a bound."""

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from probtruth import check
from probtruth.errors import InputError, MissingExtraError

# A member, and all together, may take so many bytes: the spare ones, or so many times what they take compressed.
LARGEST, SPARE, TIMES = 2 << 30, 64 << 20, 200


class Archive:
    """A zip file, whose members are read by name."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        with self._sound(name):
            self.file: Any = _zipfile().ZipFile(io.BytesIO(data))
        self.members: dict[str, Any] = {info.filename: info for info in self.file.infolist()}
        _bounded(sum(info.file_size for info in self.file.infolist()), len(data), name)

    def read(self, member: str) -> bytes:
        """The bytes of a member."""
        info, where = self.members[member], f"{self.name}, member {check.quote(member)}"
        _bounded(info.file_size, info.compress_size, where)
        with self._sound(where):
            content: bytes = self.file.read(info)
            return content

    @contextmanager
    def _sound(self, where: str) -> Iterator[None]:
        """Errors of the formats as errors of input."""
        try:
            yield
        except NotImplementedError:
            raise MissingExtraError(
                f"{where}: got a compression that is not read here, expected deflate, or zstandard and the package "
                "backports.zstd. Hint: pip install 'probtruth[inspect]', or `inspect log convert --to json`"
            ) from None
        except _errors() as error:
            hint = "Copy or write it again."
            raise InputError(f"a zip archive that is not sound ({error})", "a whole one", hint, where) from None


def _zipfile() -> Any:
    """The module that reads zip files, with zstandard where there is one."""
    try:
        return import_module("backports.zstd.zipfile")
    except ModuleNotFoundError:
        return import_module("zipfile")  # which knows zstandard itself from Python 3.14 on


def _errors() -> tuple[type[Exception], ...]:
    """The errors of broken archives and of broken zstandard."""
    found = [OSError, EOFError, RuntimeError, ValueError, OverflowError, zlib.error, _zipfile().BadZipFile]
    for name in ("compression.zstd", "backports.zstd"):
        try:
            found.append(import_module(name).ZstdError)
        except ModuleNotFoundError:
            continue
    return tuple(found)


def _bounded(size: int, compressed: int, where: str) -> None:
    most = min(LARGEST, max(SPARE, TIMES * compressed))
    if size > most:
        raise InputError(
            f"an archive that grows from {compressed} to {size} bytes",
            f"at most {most}",
            "Archives of logs do not grow so much; check where the file comes from.",
            where,
        )
