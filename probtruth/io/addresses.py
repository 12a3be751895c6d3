"""Addresses of tables that are no local files: these are copied to a temporary folder, and read from there.

Credentials are those of the environment. What may be secret in an address (a password, the signature in a query) is
redacted wherever an address is shown.
"""

import base64
import glob
import hashlib
import os
import re
import shutil
import tempfile
import urllib.error
import urllib.request
from fnmatch import fnmatchcase
from http.client import HTTPException
from pathlib import Path
from typing import Any

from probtruth.errors import InputError, MissingExtraError
from probtruth.redaction import redacted

SCHEMES = ("s3", "gs", "az", "hf", "https")  # What an address may begin with; `http` only for this machine
LOOPBACK = re.compile(r"http://([^/@]*@)?(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(/|$)")
# How an address begins; one letter is a drive of Windows. A `Path` of an address has lost a slash.
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//?)")
WILD = re.compile(r"[*?\[]")
DELTA_LOG, ICEBERG = "_delta_log", ".metadata.json"  # The folder in a Delta table; how an Iceberg table's file ends
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".ipc", ".feather")
# What brings the packages that some addresses need.
EXTRAS = {
    "deltalake": "'probtruth[delta]'",
    "pyiceberg": "'probtruth[iceberg]'",
    "huggingface_hub": "huggingface-hub",
}

_ORIGINS: dict[str, str] = {}  # What was copied, and the address from which, as it is shown
_COPIES: dict[tuple[object, ...], Path] = {}  # The copy of each version of what lies at an address
_FOLDERS: list["tempfile.TemporaryDirectory[str]"] = []  # Removed when the process ends


def location(path: str | Path) -> Path:
    """The local path of a table; what lies at an address, and a Delta or Iceberg table, is copied to one."""
    text = str(path)
    match = SCHEME.match(text)
    if match is not None and (is_address(text) or (isinstance(path, Path) and not os.path.lexists(path))):
        url = match[1].lower() + text[match.end(1) :]
        _check(url, isinstance(path, Path))
        try:
            return _copied(url)
        except InputError:
            raise
        except ImportError as error:
            raise _missing(error, redacted(url)) from None
        except urllib.error.HTTPError as error:
            error.close()
            raise unreached(error, redacted(url)) from None
        except (OSError, ValueError, HTTPException) as error:
            raise unreached(error, redacted(url)) from None
    if text.lower().endswith(ICEBERG) and os.path.isfile(text):
        return _lake(os.path.abspath(text))
    return _lake(os.path.abspath(text)) if os.path.isdir(os.path.join(text, DELTA_LOG)) else Path(path)


def origin(path: str | Path) -> str:
    """The path as it is shown: of a copy, the address that it was copied from."""
    return _ORIGINS.get(str(path)) or redacted(str(path))


def is_address(text: str) -> bool:
    """Whether a text begins like an address."""
    match = SCHEME.match(text)
    return match is not None and match[2] == "//"


def _check(url: str, is_path: bool) -> None:
    """Raises for an address that cannot be read, in words that hold nothing secret."""
    scheme, shown = url.partition(":")[0], redacted(url)
    wanted = f"a path, or an address: {', '.join(f'{name}://' for name in SCHEMES)}"
    if scheme == "file":
        raise InputError("file://", wanted, "Write the path alone.", shown)
    if scheme not in (*SCHEMES, "http"):
        raise InputError(f"the scheme {scheme}://", wanted, "Fetch the file first.", shown)
    if not url.isprintable() or " " in url:
        raise InputError("an address with a blank in it", wanted, "Write %20 for a blank.", f"{scheme}://...")
    if is_path:
        raise InputError("an address as a Path, which drops a slash", wanted, "Pass it as text.", shown)
    if not url.partition("://")[2].split("/")[0]:
        raise InputError("an address of nothing", "the address of a table", "Name an object.", shown)
    if scheme == "http" and not LOOPBACK.match(url):
        raise InputError("http://", "https://", "Without TLS anybody on the way reads and changes it.", shown)
    path = _path(url)
    if scheme in ("http", "https") and (path.endswith("/") or WILD.search(path.partition("://")[2].partition("/")[2])):
        raise InputError(
            "a folder or a pattern", "the address of one file", "Web servers list nothing: name each file.", shown
        )
    suffix = Path(path).suffix.lower()
    if not suffix and WILD.search(path):
        raise InputError("a pattern without an extension", "one such as *.parquet", "End it in an extension.", shown)
    if suffix and suffix not in TABLES and not re.fullmatch(r"\.\d+", suffix) and not path.endswith("/"):
        raise InputError(
            f"the extension {suffix!r} at an address", f"one of {', '.join(TABLES)}", "Copy it here first.", shown
        )


def _path(url: str) -> str:
    """The address without its query: behind `?` in a store, which lists objects, only where it has an `=`."""
    cut = re.search(r"[?#]" if url.startswith("http") else r"\?.*=|#", url)
    return url if cut is None else url[: cut.start()]


def _copied(url: str) -> Path:
    """The copy of what lies at an address; made again where that has changed."""
    if url.startswith("http"):
        return _downloaded(url)
    if url.lower().endswith(ICEBERG):
        return _lake(url)
    from pyarrow import fs

    store, path = _store(url)
    wild = WILD.search(path)
    if wild is None and Path(path).suffix.lower() in TABLES:
        return _copy([store.get_file_info(path)], store, url, Path(path).name)
    folder = path[: wild.start()].rpartition("/")[0] if wild else path.rstrip("/")
    if wild is None and store.get_file_info(f"{folder}/{DELTA_LOG}").type == fs.FileType.Directory:
        return _lake(url)
    pattern = path if wild else f"{folder}/*.parquet"
    listed = store.get_file_info(
        fs.FileSelector(folder, allow_not_found=True, recursive="/" in pattern[len(folder) + 1 :])
    )
    depth = None if "**" in pattern else pattern.count("/")
    files = sorted(
        (one for one in listed if fnmatchcase(one.path, pattern) and depth in (None, one.path.count("/"))),
        key=lambda one: one.path,
    )
    if not files:
        what = "a pattern that matches no object" if wild else "a folder without Parquet files"
        raise InputError(what, "at least one", "Check the address.", redacted(url))
    return _copy(files, store, url, None)


def _store(url: str) -> tuple[Any, str]:
    """The store of an address, with the credentials of the environment, and the path in it."""
    from pyarrow import fs

    scheme, _, path = url.partition("://")
    known = os.environ.get
    if scheme == "s3":
        endpoint = known("AWS_ENDPOINT_URL_S3") or known("AWS_ENDPOINT_URL")
        if not endpoint:
            return fs.FileSystem.from_uri(f"s3://{path.split('/')[0]}")[0], path
        region = known("AWS_REGION") or known("AWS_DEFAULT_REGION") or "us-east-1"
        protocol, _, host = endpoint.rpartition("://")
        return fs.S3FileSystem(endpoint_override=host, scheme=protocol or "https", region=region), path
    if scheme == "gs":
        return fs.GcsFileSystem(), path
    if scheme == "az":
        account = known("AZURE_STORAGE_ACCOUNT_NAME") or known("AZURE_STORAGE_ACCOUNT") or ""
        return fs.AzureFileSystem(account, account_key=known("AZURE_STORAGE_ACCOUNT_KEY")), path
    from huggingface_hub import HfFileSystem

    return fs.PyFileSystem(fs.FSSpecHandler(HfFileSystem())), path


def _copy(files: list[Any], store: Any, url: str, name: str | None) -> Path:
    """The copies of objects: that of the one of this name, else the folder of all."""
    key = (url, *((info.path, info.size, info.mtime_ns) for info in files))
    if key in _COPIES:
        return _COPIES[key]
    folder = _new_folder()
    for at, info in enumerate(files):
        target = folder / (name or f"{at:06d}-{Path(info.path).name}")
        with store.open_input_stream(info.path) as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 24)
        if not info.size or target.stat().st_size != info.size:
            raise ConnectionError
        _ORIGINS[str(target)] = redacted(url if name else f"{url.partition('://')[0]}://{info.path}")
    _COPIES[key] = folder / name if name else folder / f"*{Path(files[0].path).suffix}"
    _ORIGINS[str(_COPIES[key])] = redacted(url)
    return _COPIES[key]


def _downloaded(url: str) -> Path:
    """The copy of a file of a web server, which is loaded once for each version that it names."""
    user, host = re.match(r"https?://(?:([^/@]*)@)?(.*)", url).groups()  # type: ignore[union-attr]
    request = urllib.request.Request(f"{url.partition('://')[0]}://{host.partition('#')[0]}")
    if user:
        request.add_header("Authorization", f"Basic {base64.b64encode(urllib.parse.unquote(user).encode()).decode()}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        stamp = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
        key = (hashlib.sha256(url.encode()).digest(), stamp, answer.headers.get("Content-Length"))
        if stamp and key in _COPIES:
            return _COPIES[key]
        target = _new_folder() / Path(_path(url)).name
        _save(answer, target)
    _COPIES[key] = target
    _ORIGINS[str(target)] = redacted(url)
    return target


def _save(answer: Any, target: Path) -> None:
    with target.open("wb") as sink:
        shutil.copyfileobj(answer, sink, 1 << 20)
    wanted = answer.headers.get("Content-Length")
    if wanted and target.stat().st_size != int(wanted):
        raise ConnectionError


def _lake(table: str) -> Path:
    """One version of a Delta or Iceberg table, written as Parquet."""
    import polars

    form = "iceberg" if table.lower().endswith(ICEBERG) else "delta"
    try:
        if form == "delta":
            import deltalake

            key: tuple[object, ...] = (table, deltalake.DeltaTable(table).version())
            lazy = polars.scan_delta(table, version=key[1])  # type: ignore[arg-type]
        else:
            key, lazy = (table, form), polars.scan_iceberg(table)
        if key not in _COPIES:
            target = _new_folder() / "table.parquet"
            lazy.sink_parquet(target)
            _ORIGINS[str(target)], _COPIES[key] = redacted(table), target
    except ImportError as error:
        raise _missing(error, redacted(table)) from None
    except Exception as error:  # each package has its own, none of them a common one
        raise unreached(error, redacted(table)) from None
    return _COPIES[key]


def _new_folder() -> Path:
    if not _FOLDERS:
        _FOLDERS.append(tempfile.TemporaryDirectory(prefix="probtruth-"))
    return Path(tempfile.mkdtemp(dir=_FOLDERS[0].name))


def _missing(error: ImportError, where: str) -> MissingExtraError:
    package = (error.name or "").partition(".")[0]
    return MissingExtraError(
        f"{where}: got a table that needs the package {package}, expected it installed. "
        f"Hint: pip install {EXTRAS.get(package, package)}"
    )


def unreached(error: Exception, where: str) -> InputError:
    """One message in our words for what a store or a server says, which may hold keys."""
    words, status = str(error).lower(), getattr(error, "code", None)
    if status in (404, 410) or isinstance(error, FileNotFoundError) or re.search(r"\b404\b|not found|no such", words):
        return InputError("no such object", "the address of an object", "Check the address.", where)
    if status in (401, 403) or isinstance(error, PermissionError) or re.search(r"denied|forbidden|\b40[13]\b", words):
        return InputError(
            "no permission to read it (a missing or wrong key, or none for this object)",
            "an object that may be read",
            "Check the credentials in the environment (AWS_ACCESS_KEY_ID and the like).",
            where,
        )
    return InputError(
        "no answer, or one that broke off",
        "a store that can be reached",
        "Check the network and the address of the store (AWS_ENDPOINT_URL and the like), and repeat the command.",
        where,
    )


def matching(path: Path) -> list[Path] | None:
    """The files that a local pattern matches, in order; None for what is no pattern, or is itself there."""
    text = str(path)
    if not WILD.search(text) or "\0" in text or os.path.lexists(text):
        return None
    files = sorted(Path(file) for file in glob.glob(text, recursive=True) if os.path.isfile(file))
    if not files:
        raise InputError("a pattern that matches no file", "at least one", "Check the path.", repr(text))
    return files


def named(word: str) -> tuple[str, str]:
    """Name (empty without one) and path of `NAME=FILE`: the last `=`, or the one before an address."""
    match = re.search(r"(?:^|=)(?=[A-Za-z][A-Za-z0-9+.-]+://)", word)
    if match is not None:
        return word[: match.start()], word[match.end() :]
    name, _, path = word.rpartition("=")
    return name, path


def with_column(spec: str) -> tuple[str, str]:
    """Path and column (empty without one) of `FILE:COLUMN`, split at the last colon that is not of the address."""
    path, colon, column = spec.rpartition(":")
    whole = not colon or column.startswith("//") or (SCHEME.match(spec) and re.match(r"\d+/", column))
    return (spec, "") if whole else (path, column)


def refuse(path: object) -> None:
    """Raises for an address where only a local path will do."""
    if isinstance(path, str) and is_address(path):
        raise InputError("an address", "a local path", "Write it here, and copy it afterwards.", redacted(path))
