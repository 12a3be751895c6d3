"""Tables at addresses, scanned by polars in the process that decodes, and one message where that fails."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import polars

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError, MissingExtraError
from probtruth.io import addresses
from probtruth.io.addresses import Address
from probtruth.io.tables import binary, decoder, decoding
from probtruth.io.tables.handed import Decoded

PATIENCE = 600.0
"""Seconds that a question may take: all attempts through a slow network."""
NETWORK = re.compile(
    r"object-store error|error sending request|error decoding|error reading a body|timed out|(?i:http)"
)
"""What polars says of a store or a network."""
EXTRAS = {"deltalake": "delta", "pyiceberg": "iceberg"}
"""The packages that tables of several files need, and the extras that bring them."""
FORM_WORDS = {
    "parquet": "Parquet",
    "arrow": "Arrow",
    "text": "text",
    "delta": "Delta table",
    "iceberg": "Iceberg table",
}


class Unreached(InputError):
    """What lies at an address cannot be had now: nothing is known of it."""


@dataclass(frozen=True)
class Extent:
    """Rows and columns of a table."""

    rows: int
    columns: tuple[str, ...]


def ask(kind: bytes, address: Address, size: int = 0, **question: object) -> Decoded:
    """The decoder's answer about a table at an address; `size` is what the answer may take.

    Errors: `Unreached` where the object cannot be had, `InputError` where it is not sound, `MissingExtraError`.
    """
    if not hasattr(polars, "scan_lines"):
        raise InputError(
            f"an address with polars {polars.__version__}", "1.38 or later", "pip install -U polars", str(address)
        )
    options = addresses.in_use()
    asked = {
        "path": address.url,
        "form": address.form,
        "version": address.version,
        "storage_options": dict(options.values),
        "own": options.own,
        **question,
    }
    try:
        return decoding.decode(kind, json.dumps(asked).encode(), size or None, PATIENCE, options.environment())
    except decoding.DecodingError as error:
        raise _failure(error, address) from None


def members(address: Address) -> list[Address]:
    """The files that an address stands for, in order; a Delta or Iceberg table stands for itself.

    Errors: `InputError` where a folder or pattern holds nothing.
    """
    if not address.several or address.form == "iceberg" or address.version is not None:
        return [address]
    answer = json.loads(ask(b"g", address).data)
    if "version" in answer:
        return [replace(address, form="delta", version=answer["version"])]
    if not answer["files"]:
        what = "a folder without Parquet files" if address.form == "folder" else "a pattern that matches no object"
        raise Unreached(what, "at least one", "Check the address.", str(address))
    return [addresses.Address(url, addresses.FORMS[addresses.Address(url, "other").suffix.lower()])
            for url in answer["files"]]  # fmt: skip


def extent(address: Address) -> Extent:
    """Rows and columns.

    Errors: `InputError` for a table without any.
    """
    answer = json.loads(ask(b"e", address).data)
    if not (answer["rows"] and answer["columns"]):
        raise InputError("a table without rows", "at least one row", "Check the file.", str(address))
    return Extent(answer["rows"], tuple(answer["columns"]))


def ends(address: Address) -> tuple[int, str]:
    """The number of rows, and a digest of the first and last of them: a store tells polars nothing else to go by."""
    answer = json.loads(ask(b"h", address).data)
    return answer["rows"], answer["ends"]


def frame(address: Address) -> tuple[polars.DataFrame, Source]:
    """A whole table, if it fits into the memory that is free."""
    address = members(address)[0] if address.form == "delta" else address  # one version of it
    known = extent(address)
    binary.check_fits(known.rows, len(known.columns), str(address))
    need = binary.need(known.rows, len(known.columns))
    return rows(address, 0, known.rows, known.columns, need).frame(), Source(str(address))


def rows(address: Address, start: int, n_rows: int, columns: Sequence[str], size: int = 0) -> Decoded:
    """Some columns of some rows."""
    return ask(b"r", address, size, start=start, rows=n_rows, columns=[*columns])


def text(address: Address) -> bytes:
    """All of a text; a line's end is a line feed.

    Errors: `InputError` for what is no text of a table.
    """
    if address.form != "text" or address.several:
        raise InputError(
            f"{check.quote(address.suffix)} at an address" if address.suffix else "a folder at an address",
            "a table (Parquet, Arrow, CSV, TSV, JSONL)",
            "Copy it to this machine first.",
            str(address),
        )
    return ask(b"t", address).data


def notes(address: Address) -> dict[str, Any]:
    """The metadata of a Parquet file; nothing for other tables."""
    found: dict[str, Any] = json.loads(ask(b"m", address).data) if address.form == "parquet" else {}
    return found


def _failure(error: decoding.DecodingError, address: Address) -> Exception:
    """One message, in our words: those of a store may hold keys."""
    words, failed = str(error), partial(Unreached, where=str(address))
    absent = re.match(r".*No module named '?(\w+)", words)
    if absent and absent[1] in EXTRAS:
        extra = EXTRAS[absent[1]]
        return MissingExtraError(
            f"{address}: got {FORM_WORDS[extra]} without the package {absent[1]}, expected it installed. "
            f"Hint: pip install 'probtruth[{extra}]'"
        )
    if error.status == decoder.MISSING or "No such file" in words or re.search(r"\b404\b", words):
        return failed("no such object", "the address of an object", "Check the address.")
    if error.status == decoder.REFUSED or re.search(r"\b40[13]\b", words):
        return failed(
            "no permission to read it (a missing or wrong key, or none for this object)",
            "an object that may be read",
            "Check the credentials in the environment (AWS_ACCESS_KEY_ID and the like), or [storage_options] of the "
            "settings.",
        )
    if error.status == decoder.UNREACHED or NETWORK.search(words):
        return failed(
            "no answer, or one that broke off",
            "a store that can be reached",
            "Check the network and the address of the store (AWS_ENDPOINT_URL and the like), and repeat the command: "
            "streamed work goes on behind its last batch.",
        )
    return binary.damaged(FORM_WORDS.get(address.form, "table"), words, str(address))
