"""Addresses of tables that are no local files: these are copied to a temporary folder, and read from there.

Credentials are those of the environment. What may be secret in an address (a password, the signature in a query) is
redacted wherever an address is shown.
"""

import base64
import errno
import glob
import gzip
import math
import os
import re
import shutil
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import unquote, urljoin, urlsplit

from probtruth.errors import InputError, MissingExtraError
from probtruth.redaction import redacted

SCHEMES = ("s3", "gs", "az", "hf", "https")  # What an address may begin with; `http` only for this machine
LOOPBACK = re.compile(r"http://([^/@]*@)?(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(/|$)")
# How an address begins; one letter is a drive of Windows. A `Path` of an address has lost a slash.
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//?)")
WILD = re.compile(r"[*?\[]")
DELTA_LOG = "_delta_log"  # The folder by which a Delta table is known
BINARIES = (".parquet", ".arrow", ".ipc", ".feather")
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", *BINARIES)
LARGEST, LONGEST = 64 << 30, 3600.0  # At most so many bytes from an address, within so many seconds
LONGEST_PATH = 1000  # Characters of a path that a message shows
SILENCE = 60  # Seconds without a byte after which a server counts as gone
REDIRECTS = {301, 302, 303, 307, 308}
MOST_REDIRECTS = 10

# The copies of the call that is going on, by path or address: each is made once, and goes with the call.
_HELD: ContextVar[dict[str, Path] | None] = ContextVar("the copies of a call", default=None)
_ORIGINS: dict[str, str] = {}  # What was copied, and the address from which, as it is shown
_FOLDERS: list["tempfile.TemporaryDirectory[str]"] = []  # Removed when the process ends


@contextmanager
def fetched_once() -> Iterator[None]:
    """Within this block, or this function, an address is fetched once."""
    if _HELD.get() is not None:
        yield
        return
    held: dict[str, Path] = {}
    token = _HELD.set(held)
    try:
        yield
    finally:
        _HELD.reset(token)
        for copy in held.values():
            if str(copy) in _ORIGINS:
                shutil.rmtree(copy.parent, ignore_errors=True)


def location(path: str | os.PathLike[str]) -> Path:
    """The local path of a table; one at an address, or packed by gzip, is copied to one."""
    held = _HELD.get()
    if held is None:
        held = {}
    text = os.fspath(path)
    if text not in held:
        held[text] = unpacked(_local(path))
    return held[text]


def unpacked(path: Path) -> Path:
    """The content of a table that gzip packed, as a copy under the name of the table; any other path as it is."""
    if path.suffix.lower() != ".gz" or not is_table(path.name) or not path.is_file():
        return path

    def write(target: Path) -> None:
        try:
            with gzip.open(path) as source:
                _save(source, target, None, math.inf)
        except (OSError, EOFError, zlib.error) as error:
            reason = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else "damaged"
            raise InputError(
                f"what gzip cannot unpack ({reason})", "a file of gzip", "Check it.", shown(path)
            ) from None

    return _copied(shown(path), path.stem, write)


def _local(path: str | os.PathLike[str]) -> Path:
    text = os.fspath(path)
    match = SCHEME.match(text)
    if match is not None and (is_address(text) or (isinstance(path, Path) and not os.path.lexists(path))):
        text = match[1].lower() + text[match.end(1) :]
        _check(text, isinstance(path, Path))
        return _read(_downloaded if text.startswith("http") else _of_store, text)
    return Path(path)


def _read(read: Callable[[str], Path], text: str) -> Path:
    """What a reader of addresses makes; its errors in our words, without what may be secret in them."""
    try:
        return read(text)
    except InputError as error:
        raise InputError(error.got, error.expected, error.hint, error.where or redacted(text)) from None
    except ImportError as error:
        package = (error.name or "").partition(".")[0].replace("_", "-")
        raise MissingExtraError(
            f"{redacted(text)}: got a table that needs the package {package}, expected it installed. "
            f"Hint: pip install {package}"
        ) from None
    except Exception as error:  # each package has its own, none of them a common one; they may hold keys
        if hasattr(error, "close"):  # an answer that says no
            error.close()
        raise InputError(*_failure(error), redacted(text)) from None


def _failure(error: Exception) -> tuple[str, str, str]:
    """What came, what was expected and what to do, in our words for those of a store or a server."""
    words = f"{getattr(error, 'code', '')} {type(error).__name__} {error}".lower()
    if re.search(r"\b404\b|\b410\b|filenotfound|not found|no such", words):
        return "no such object", "the address of an object", "Check the address."
    if re.search(r"\b40[13]\b|permissionerror|denied|forbidden", words):
        got = "no permission to read it (a missing or wrong key, or none for this object)"
        hint = "Check the credentials in the environment (AWS_ACCESS_KEY_ID and the like)."
        return got, "an object that may be read", hint
    if getattr(error, "errno", None) == errno.ENOSPC:
        return "no room for a copy of it", "a disk with room", "Set TMPDIR to a folder on another disk."
    hint = "Check the network and the address of the store (AWS_ENDPOINT_URL and the like), and repeat the command."
    return "no answer, or one that broke off", "a store that can be reached", hint


def shown(path: str | os.PathLike[str]) -> str:
    """A path or address as messages show it: without secrets, on one line, and not a whole text in its place."""
    text = _ORIGINS.get(os.fspath(path)) or redacted(os.fspath(path))
    if len(text) > LONGEST_PATH:
        return f"{text[:100]!r}... ({len(text)} characters)"
    return text if text.isprintable() else repr(text)


def is_path(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether it is a path, or an address, as text or as an object of any library."""
    return isinstance(value, str | os.PathLike)


def is_address(text: str) -> bool:
    match = SCHEME.match(text)
    return match is not None and match[2] == "//"


def _check(url: str, is_path: bool) -> None:
    scheme, rest = url.partition(":")[0], url.partition("://")[2]
    blank = not url.isprintable() or " " in url
    faults = [
        (blank, "an address with a blank in it", "Write %20 for a blank."),
        (scheme == "file", "the scheme file://", "Write the path alone."),
        (scheme not in (*SCHEMES, "http"), f"the scheme {scheme}://", "Fetch the file first."),
        (is_path, "an address as a Path, which drops a slash", "Pass it as text."),
        (not rest.split("/")[0], "an address of nothing", "Name an object."),
        (scheme == "http" and not LOOPBACK.match(url), "http://", "Anybody on the way reads it: write https://."),
    ]
    for found, fault, hint in faults:
        if found:
            raise InputError(
                fault,
                f"a path, or the address of a table: {', '.join(f'{name}://' for name in SCHEMES)}",
                hint,
                f"{scheme}://..." if blank else redacted(url),
            )


def _copied(origin: str, name: str, write: Callable[[Path], object]) -> Path:
    """A copy in a folder of its own, of what messages call by its `origin`."""
    if not _FOLDERS:
        from probtruth.kernels.host import temporary_folder  # with NumPy, which the start does without

        _FOLDERS.append(temporary_folder())
    target = Path(tempfile.mkdtemp(dir=_FOLDERS[0].name)) / name
    write(target)
    _ORIGINS[str(target)] = origin
    return target


def _save(source: Any, target: Path, size: int | None, end: float) -> None:
    """Writes what a stream holds, within the bounds on size and time (`end` on the monotonic clock)."""
    read = getattr(source, "read1", source.read)  # what has come, so that a slow server does not stop the clock
    n_bytes = 0
    largest = min(LARGEST, shutil.disk_usage(target.parent).free // 2)
    with target.open("wb") as sink:
        while piece := read(1 << 20):
            n_bytes += len(piece)
            if n_bytes > largest:
                raise too_much(f"more than {largest / 2**30:.3g} GiB")
            if time.monotonic() > end:
                raise too_much(f"no end after {LONGEST:g} seconds")
            sink.write(piece)
    if size is not None and n_bytes != size:
        raise ConnectionError  # it was cut


def too_much(got: str) -> InputError:
    limit = f"at most {LARGEST >> 30} GiB (and half of the disk) within {LONGEST:g} seconds"
    return InputError(got, limit, "Copy the table here first, and read the copy.")


def _downloaded(url: str) -> Path:
    """The copy of what a server sends, which has so many seconds for all of it, its headers too."""
    end = time.monotonic() + LONGEST
    found: list[Path | Exception] = []

    def work() -> None:
        try:
            found.append(_fetched(url, end))
        except Exception as error:  # raised again below, in the thread of the caller
            found.append(error)

    # a server can send its headers byte by byte: only another thread can stop waiting for them
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(LONGEST)
    if not found:
        raise too_much(f"no end after {LONGEST:g} seconds")
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def _fetched(url: str, end: float) -> Path:
    with _answer(url) as answer:
        length = answer.headers.get("Content-Length")
        size = int(length) if length else None
        if size is not None and size > LARGEST:
            raise too_much(f"{size / 2**30:.0f} GiB")
        name = Path(urlsplit(url).path).name
        return _copied(redacted(url), name, lambda target: _save(answer, target, size, end))


def _answer(url: str) -> Any:
    """The answer after redirects, which obey the rules of addresses; credentials stay with their host."""
    import urllib.error
    import urllib.request  # here, since they bring http and email along

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    opener = urllib.request.build_opener(Stay)
    user, first = _without_user(url)
    here = first
    for _ in range(MOST_REDIRECTS):
        request = urllib.request.Request(here)
        if user and urlsplit(here.lower())[:2] == urlsplit(first.lower())[:2]:  # scheme, host and port
            code = base64.b64encode(unquote(user).encode()).decode()
            request.add_header("Authorization", f"Basic {code}")
        try:
            return opener.open(request, timeout=SILENCE)
        except urllib.error.HTTPError as error:
            target = error.headers.get("Location")
            if error.code not in REDIRECTS or target is None:
                raise
            error.close()
            here = _redirected(here, urljoin(here, target))
    raise InputError(f"more than {MOST_REDIRECTS} redirects", "an address of a table", "Check the address.")


def _redirected(url: str, target: str) -> str:
    """Where a server sends the request on to, if an address may lie there; only this machine sends to itself."""
    target = _without_user(target)[1]
    safe = target.lower().startswith("https://") or (LOOPBACK.match(target) and LOOPBACK.match(url))
    if not safe or not target.isprintable() or " " in target:
        raise InputError(
            f"a redirect to {redacted(target) if target.isprintable() else 'an odd address'}",
            "one to https://",
            "Ask the host why, or copy the table here first.",
        )
    return target


def _without_user(url: str) -> tuple[str, str]:
    """User and password (empty without any) of an address, and the address without them and without its fragment."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    return user, parts._replace(netloc=host, fragment="").geturl()


def _of_store(url: str) -> Path:
    """The copies of the object at an address, or of those of a folder or pattern."""
    from pyarrow import fs

    scheme, _, path = url.partition("://")
    store = _store(scheme, path)
    wild = WILD.search(path)
    single = wild is None and is_table(path)
    if single:
        files = [store.get_file_info(path)]
    elif wild is not None:
        files = _matching_objects(store, path[: wild.start()].rpartition("/")[0], path)
    else:
        folder = path.rstrip("/")
        if store.get_file_info(f"{folder}/{DELTA_LOG}").type == fs.FileType.Directory:
            raise of_delta(redacted(url))
        files = _matching_objects(store, folder, f"{folder}/*.parquet")
    if not files:
        raise InputError(
            "a pattern that matches no object" if wild else "a folder without Parquet files",
            "at least one",
            "Check the address.",
            redacted(url),
        )
    total = sum(info.size or 0 for info in files)
    if total > LARGEST:
        raise too_much(f"{total / 2**30:.0f} GiB")
    end = time.monotonic() + LONGEST

    def write(target: Path) -> None:
        for at, info in enumerate(files):
            copy = target if single else target.with_name(f"{at:06d}-{Path(info.path).name}")
            with store.open_input_stream(info.path) as source:
                _save(source, copy, info.size or -1, end)
            _ORIGINS[str(copy)] = redacted(f"{scheme}://{info.path}")

    name = Path(path).name if single else f"*{Path(files[0].path).suffix}"
    return _copied(redacted(url), name, write)


def of_delta(where: str) -> InputError:
    """The refusal of a folder that holds the Parquet files of older versions too."""
    hint = "Write the version that you want as one Parquet file."
    return InputError("a Delta table", "a folder of Parquet files", hint, where)


def _store(scheme: str, path: str) -> Any:
    from pyarrow import fs

    if scheme == "hf":
        from huggingface_hub import HfFileSystem

        return fs.PyFileSystem(fs.FSSpecHandler(HfFileSystem()))
    if scheme == "az":
        account = os.environ.get("AZURE_STORAGE_ACCOUNT_NAME")
        return fs.AzureFileSystem(account, account_key=os.environ.get("AZURE_STORAGE_ACCOUNT_KEY"))
    return fs.FileSystem.from_uri(f"{scheme}://{path.split('/')[0]}")[0]


def _matching_objects(store: Any, folder: str, pattern: str) -> list[Any]:
    """The objects below a folder that fit a pattern, in order; `*` stays within a folder, `**` does not."""
    from pyarrow import fs

    listed = store.get_file_info(fs.FileSelector(folder, allow_not_found=True, recursive=True))
    fits = []
    for info in listed:
        as_deep = "**" in pattern or info.path.count("/") == pattern.count("/")
        if as_deep and fnmatchcase(info.path, pattern):
            fits.append(info)
    return sorted(fits, key=lambda info: info.path)


def matching(path: Path) -> list[Path] | None:
    """The files that a local pattern matches, in order; None for what is no pattern, or is itself there."""
    text = str(path)
    if not WILD.search(text) or "\0" in text or os.path.lexists(text):
        return None
    found = sorted(Path(file) for file in glob.glob(text, recursive=True) if os.path.isfile(file))
    files = [unpacked(file) for file in found]
    if not files:
        raise InputError("a pattern that matches no file", "at least one", "Check the path.", repr(text))
    return files


def named(word: str) -> tuple[str, str]:
    """Name (empty without one) and path of `NAME=FILE`: before an address, or what is there, else the last `=`."""
    match = re.search(r"(?:^|=)(?=[A-Za-z][A-Za-z0-9+.-]+://)", word)
    if match is not None:
        return word[: match.start()], word[match.end() :]
    parts = word.split("=")
    for at in reversed(range(1, len(parts))):
        path = "=".join(parts[at:])
        if os.path.lexists(path):
            return "=".join(parts[:at]), path
    return "=".join(parts[:-1]), parts[-1]


def with_column(spec: str) -> tuple[str, str]:
    """Path and column (empty without one) of `FILE:COLUMN`; the column may have colons where the file is there."""
    if os.path.lexists(spec):
        return spec, ""
    parts = spec.split(":")
    for at in range(1, len(parts)):
        path = ":".join(parts[:at])
        if os.path.lexists(path) or (is_address(path) and is_table(path)):
            return path, ":".join(parts[at:])
    path, colon, column = spec.rpartition(":")
    whole = not colon or column.startswith("//") or (SCHEME.match(spec) and re.match(r"\d+/", column))
    return (spec, "") if whole else (path, column)


def is_table(path: str) -> bool:
    """Whether a name ends as that of a table does, packed or not."""
    return path.lower().removesuffix(".gz").endswith(TABLES)
