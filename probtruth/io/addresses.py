"""Addresses of tables that are not local files, and the options with which a store of objects is read.

What may be secret in an address (a password, the signature in a query) is in `Address.url` alone: its text is redacted.
"""

import glob
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from probtruth import check
from probtruth.errors import InputError
from probtruth.redaction import redacted

SCHEMES = ("s3", "gs", "az", "hf", "https")
"""What an address may begin with; `http` only for this machine."""
LISTED = ("s3", "gs", "az", "hf")
"""Stores that can list their objects: these have folders and patterns."""
LOOPBACK = re.compile(r"http://([^/@]*@)?(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(/|$)")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//?)")
"""How an address begins; one letter is a drive of Windows. A `Path` of an address has lost a slash."""
WILD = re.compile(r"[*?\[]")

type Form = Literal["parquet", "arrow", "text", "folder", "delta", "iceberg", "other"]
FORMS: dict[str, Form] = {
    **dict.fromkeys((".csv", ".tsv", ".json", ".jsonl", ".ndjson"), "text"),
    **dict.fromkeys((".arrow", ".ipc", ".feather"), "arrow"),
    ".parquet": "parquet",
    "": "folder",
}
"""What an address leads to, by its extension."""
DELTA_LOG, ICEBERG = "_delta_log", ".metadata.json"
"""The folder within a Delta table, and how the file that describes an Iceberg table ends."""


@dataclass(frozen=True, repr=False)
class Address:
    """Where polars scans a table: an address, or the folder or file of a local Delta or Iceberg table.

    A Delta table is read in one `version`. As text it is without what may be secret.
    """

    url: str
    form: Form
    version: int | None = None

    def __str__(self) -> str:
        """The address as messages show it."""
        return redacted(self.url)

    def __repr__(self) -> str:
        """The same, in the form of a call."""
        return f"Address({str(self)!r}, {self.form!r}, {self.version})"

    @property
    def suffix(self) -> str:
        """The extension of its path, without query."""
        return Path(_path(self.url)).suffix

    @property
    def several(self) -> bool:
        """Whether it may stand for several files, or for a table of them."""
        return self.form in ("folder", "delta", "iceberg") or (self.listed and WILD.search(self.url) is not None)

    @property
    def listed(self) -> bool:
        """Whether its store can list objects."""
        return self.url.partition("://")[0] in LISTED

    @property
    def secret(self) -> bool:
        """Whether it holds what may be secret."""
        return str(self) != self.url


type Location = Path | Address


def location(path: str | Path | Address) -> Location:
    """Where a table is: a local path, or an address.

    Errors: `InputError` for a scheme that is not read, and for an address that became a `Path`.
    """
    if isinstance(path, Address):
        return path
    text = str(path)
    match = SCHEME.match(text)
    if match is not None and (is_address(text) or (isinstance(path, Path) and not os.path.lexists(path))):
        return _address(match[1].lower() + text[match.end(1) :], isinstance(path, Path))
    if text.lower().endswith(ICEBERG) and os.path.isfile(text):
        return Address(os.path.abspath(text), "iceberg")
    if os.path.isdir(os.path.join(text, DELTA_LOG)):
        return Address(os.path.abspath(text), "delta")
    return Path(path)


def is_address(text: str) -> bool:
    """Whether a text begins like an address."""
    match = SCHEME.match(text)
    return match is not None and match[2] == "//"


def _address(url: str, is_path: bool) -> Address:
    scheme = url.partition(":")[0]
    wanted = f"a path, or an address: {', '.join(f'{name}://' for name in SCHEMES)}"
    if scheme == "file":
        raise InputError("file://", wanted, "Write the path alone.", redacted(url))
    if scheme not in (*SCHEMES, "http"):
        raise InputError(f"the scheme {scheme}://", wanted, "Fetch the file first.", redacted(url))
    if not url.isprintable() or " " in url:
        raise InputError("an address with a blank in it", wanted, "Write %20 for a blank.", f"{scheme}://...")
    if is_path:
        raise InputError("an address as a Path, which drops a slash", wanted, "Pass it as text.", redacted(url))
    if not url.partition("://")[2].split("/")[0]:
        raise InputError("an address of nothing", "the address of a table", "Name an object.", redacted(url))
    if scheme == "http" and not LOOPBACK.match(url):
        raise InputError("http://", "https://", "Without TLS anybody on the way reads and changes it.", redacted(url))
    path = _path(url)
    form: Form = "folder" if path.endswith("/") else FORMS.get(Path(path).suffix.lower(), "other")
    if path.lower().endswith(ICEBERG):
        form = "iceberg"
    if scheme not in LISTED and (form == "folder" or WILD.search(path.partition("://")[2].partition("/")[2])):
        raise InputError(
            "a folder or a pattern", "the address of one file", "Web servers list nothing: name each file.",
            redacted(url),
        )  # fmt: skip
    if form == "folder" and WILD.search(path):
        raise InputError(
            "a pattern without an extension", "one such as *.parquet", "End it in an extension.", redacted(url)
        )
    return Address(url, form)


def _path(url: str) -> str:
    """The address without its query: behind `?` in a store that lists objects only where it has an `=`."""
    cut = re.search(r"\?.*=|#" if url.partition("://")[0] in LISTED else r"[?#]", url)
    return url if cut is None else url[: cut.start()]


def matching(path: Path) -> list[Path] | None:
    """The files that a local pattern matches, in order; None for what is no pattern, or is itself there.

    Errors: `InputError` for a pattern that matches nothing.
    """
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


HARMLESS = re.compile(
    r"(aws_)?(default_)?region|(aws_)?skip_signature|(aws_)?request_payer|(azure_(storage_)?)?account_name|max_retries"
)
"""Options of a store that do not say where a credential goes."""
PLAIN = re.compile(r"[A-Za-z0-9-]*")
"""The values that these may have: none of them makes another host of an address."""
OWN_KEY = re.compile(r".*(secret_access_key|account_key|sas_token|sas_key|service_account_key|client_secret|token)")
"""Options that are a credential themselves."""
READ_WITH = re.compile(r"(AWS|AZURE|GOOGLE|GCS|GCP|HF|HUGGING_?FACE|MSI|IDENTITY|BOTO|CLOUDSDK)_|HOME$|USERPROFILE$")
"""Variables of the environment that hold credentials, or lead to some."""


@dataclass(frozen=True)
class StoreOptions:
    """The `storage_options` of a file of settings; `own`: credentials from elsewhere are not used with them."""

    values: Mapping[str, str | int] = field(default_factory=dict, repr=False)
    own: bool = False

    @classmethod
    def of(cls, table: object, where: str) -> "StoreOptions":
        """The options of a table of settings.

        Errors: `InputError` for what is no table of text, and for a table that says where the store is but has no key
        of its own: nobody's key goes where a file says.
        """
        if not isinstance(table, Mapping):
            raise InputError(check.quote(table), "a table", "Write [storage_options].", where)
        values: dict[str, str | int] = {}
        for key, value in table.items():
            if not isinstance(value, str | int | bool):
                raise InputError(type(value).__name__, "text", "Write it in quotation marks.", f"{where}, {key!r}")
            values[str(key).lower()] = str(value).lower() if isinstance(value, bool) else value
        own = any(not (HARMLESS.fullmatch(key) and PLAIN.fullmatch(str(value))) for key, value in values.items())
        unsigned = any(key.endswith("skip_signature") and value == "true" for key, value in values.items())
        if own and not unsigned and not any(map(OWN_KEY.fullmatch, values)):
            raise InputError(
                f"{check.shortlist(values)} without a key",
                "the key beside it, or skip_signature = true",
                "A key from the environment never goes where a file of settings says. Set the address of the store in "
                "the environment too (AWS_ENDPOINT_URL).",
                where,
            )
        return cls(values, own)

    def words(self) -> str:
        """The options as they are shown: values only of those that are not secret."""
        shown = (
            f"{key} = {redacted(str(value))}" if HARMLESS.fullmatch(key) or key.endswith(("endpoint", "url")) else key
            for key, value in self.values.items()
        )
        return ", ".join(shown)

    def environment(self) -> dict[str, str | None]:
        """The variables that the process which reads depends on: no credential where the options have their own."""
        there = {key: value for key, value in os.environ.items() if READ_WITH.match(key.upper())}
        if not self.own:
            return {**there}
        return {**dict.fromkeys(there), "HOME": os.devnull, "USERPROFILE": os.devnull}  # where credentials are stored


class _Chosen:
    """The options of this process: a command sets them once, from its file of settings."""

    options = StoreOptions()


def use(options: StoreOptions) -> None:
    """From here on, addresses are read with these options."""
    _Chosen.options = options


def in_use() -> StoreOptions:
    """The options with which addresses are read."""
    return _Chosen.options
