"""Mutations of sound files: bytes edited anywhere, and values of the JSON replaced by hostile ones."""

import copy
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from probtruth.errors import InputError

LONGEST_MESSAGE = 9000
"""Characters: four parts of bounded length."""
MUTATIONS = int(os.environ.get("PROBTRUTH_MUTATIONS", "100"))
"""How many mutations of each file are read."""
TOKENS = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b",", b"nan", b"NaN", b"-Infinity", b"1e999", b"-", b"{}"),
    *(b"[", b"9" * 30, b"\\ud800", b"null", b"\\u0000", b"{", b"}", b"true", b'""', b"PK\x03\x04", b"\xff\xff\xff\xff"),
)  # fmt: skip
HOSTILE = (
    *(None, True, -1, 0, 10**400, 2**63, 1.5, float("nan"), float("inf"), -1e308, "", " ", "\0", "\ud800", "x" * 9999),
    *("../../x", "=1+1", "<b>", [], {}, [[]], [None], {"": None}, ["a", 1], "1e5", "-1", "NaN", "C", "I"),
)


def byte_edits(data: bytes, draw: random.Random) -> bytes:
    """The bytes after one to eight edits."""
    edited = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        if not edited:
            break
        at, size, edit = draw.randrange(len(edited)), draw.choice((1, 2, 4, 16)), draw.randrange(5)
        if edit == 0:
            edited[at] = draw.randrange(256)
        elif edit == 1:
            edited[at] ^= 1 << draw.randrange(8)
        elif edit == 2:
            del edited[at : at + size]
        elif edit == 3:
            edited[at:at] = draw.choice(TOKENS)
        else:
            edited[at:at] = edited[at : at + 8 * size]
    return bytes(edited)


def value_edits(value: Any, draw: random.Random) -> Any:
    """The JSON value with some value anywhere in it replaced, left out, doubled or renamed."""
    holder = [copy.deepcopy(value)]
    for _ in range(draw.choice((1, 1, 2, 4))):
        inside: Any = holder
        while True:
            keys = list(range(len(inside))) if isinstance(inside, list) else list(inside)
            key = draw.choice(keys)
            deeper = inside[key]
            if not isinstance(deeper, (list, dict)) or not deeper or draw.random() < 0.1:
                break
            inside = deeper
        edit = draw.randrange(4)
        if edit == 0 and inside is not holder:
            del inside[key]
        elif edit == 1 and isinstance(inside, list) and inside is not holder:
            inside.append(copy.deepcopy(inside[key]))
        elif edit == 2 and isinstance(inside, dict):
            inside[draw.choice(keys)] = inside.pop(key)
        else:
            inside[key] = copy.deepcopy(draw.choice(HOSTILE))
    return holder[0]


def json_edits(data: bytes, draw: random.Random) -> bytes:
    """A JSON document, or one line of JSON lines, with some value replaced."""
    rows = data.split(b"\n") if data.count(b"\n{") else [data]
    at = draw.randrange(len(rows))
    if not rows[at].strip():
        return data
    rows[at] = json.dumps(value_edits(json.loads(rows[at]), draw)).encode()
    return b"\n".join(rows)


def survives(read: Callable[[], object]) -> bool:
    """Whether the reader took the file; only an `InputError` of one line may leave it."""
    try:
        read()
    except InputError as error:
        message = str(error)
        sound = "\n" not in message and len(message) < LONGEST_MESSAGE and "Hint: " in message
        assert sound, message[:LONGEST_MESSAGE]
        return False
    return True


@pytest.fixture
def fuzz(tmp_path: Path) -> Callable[..., int]:
    """Reads `n` mutations of sound bytes; the number of those that were read in spite of it."""

    def run(
        data: bytes,
        name: str,
        read: Callable[[Path], object],
        n: int = MUTATIONS,
        edits: tuple[Callable[[bytes, random.Random], bytes], ...] = (byte_edits, json_edits),
    ) -> int:
        path = tmp_path / name
        taken = 0
        for seed in range(n):
            draw = random.Random(seed)
            path.write_bytes(edits[seed % len(edits)](data, draw))
            taken += survives(lambda: read(path))
        for size in range(0, len(data), max(1, len(data) // 50)):
            path.write_bytes(data[:size])
            survives(lambda: read(path))
        return taken

    run.byte_edits = byte_edits  # type: ignore[attr-defined]
    return run


@pytest.fixture
def files() -> Path:
    """The folder of small files that the tools themselves wrote."""
    return Path(__file__).parent / "files"
