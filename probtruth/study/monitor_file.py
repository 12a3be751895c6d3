"""The state of a monitor as a JSON file, so that it can continue where it stopped."""

import json
import math
from pathlib import Path

import numpy as np

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.output.folder import whole_file
from probtruth.io.output.jsonable import dumps
from probtruth.io.tables.read import read_bytes, shown
from probtruth.study.monitor import LARGEST
from probtruth.study.monitored import Monitor
from probtruth.types.arguments import StrPath

CONTENT = "probtruth monitor, version 1"


@check.checks_itself
def write_monitor(watch: Monitor, path: StrPath) -> None:
    """Writes the state of a monitor, whole or not at all; an earlier state is replaced in one step.

    The file holds item names as 64-bit numbers and differences exactly, so a monitor that was stopped gives the same
    numbers as one that was not.

    Arguments: `watch` is what `monitor` returned; `path` is the file.

    Errors: `InputError` if the file cannot be written, or contains something else.

    >>> import pathlib, tempfile, probtruth as pt
    >>> rows = {"item": [1, 1, 2, 2], "model": ["x", "y"] * 2, "score": [0, 1, 1, 1]}
    >>> watch = pt.monitor(rows, bounds=(0, 1), higher_is_better=False)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "state.json"
    >>> pt.write_monitor(watch, path)
    >>> pt.read_monitor(path).difference
    -0.5
    """
    state = {
        "content": CONTENT,
        "a": watch.a,
        "b": watch.b,
        "bounds": watch.bounds,
        "alpha": watch.alpha,
        "rope": watch.rope,
        "higher_is_better": watch.higher_is_better,
        "largest_cluster": watch.largest_cluster,
        "closed": watch.closed,
        "clusters": None if watch.clusters is None else _hex(watch.clusters),
        "items": _hex(watch.items),
    }
    numbers = ", ".join(map(repr, watch.differences.tolist()))
    text = f'{dumps(state).rstrip()[:-2]},\n  "differences": [{numbers}]\n}}\n'
    with whole_file(path, is_state) as work:
        work.write_text(text, encoding="utf-8", newline="\n")


@check.checks_itself
def read_monitor(path: StrPath) -> Monitor:
    """The monitor whose state `write_monitor` wrote.

    Errors: `InputError` for a damaged file, or any other content.

    >>> import probtruth as pt
    >>> try:
    ...     pt.read_monitor("no-such-state.json")
    ... except pt.InputError as error:
    ...     error.got
    'no such file'
    """
    file = Path(str(path))
    data = read_bytes(file)
    try:
        state = json.loads(data, parse_constant=_no_constant)
        if not isinstance(state, dict) or state.get("content") != CONTENT:
            raise ValueError("it does not say that it is one")
        return _monitor(state)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"something that is no state of a monitor ({why})", f"what `write_monitor` writes ({CONTENT!r})",
            "Check the path; if the file is damaged, start again from the scores.", shown(file),
        ) from None  # fmt: skip


def is_state(path: Path) -> bool:
    """Whether a file is the state of a monitor."""
    try:
        with path.open("rb") as stream:
            return CONTENT.encode() in stream.read(200)
    except OSError:
        return False


def _monitor(state: dict[str, object]) -> Monitor:
    bounds = state["bounds"]
    if bounds is not None:
        if not isinstance(bounds, list) or len(bounds) != 2:
            raise ValueError("its bounds are not two numbers")
        low, high = (_number(end, "bounds", -LARGEST, LARGEST) for end in bounds)
        if not low < high:
            raise ValueError("its bounds are not in order")
    names = [state["a"], state["b"]]
    if not all(isinstance(name, str) for name in names) or names[0] == names[1]:
        raise ValueError("its models are not two names")
    flags = [state["higher_is_better"], state["closed"]]
    if not all(isinstance(flag, bool) for flag in flags):
        raise ValueError("a flag is not true or false")
    size = state["largest_cluster"]
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size < 2**31:
        raise ValueError("its largest cluster is no size")
    differences = _differences(state["differences"], 2 * LARGEST if bounds is None else high - low)
    items = _keys(state["items"], "items", len(differences))
    clusters = None if state["clusters"] is None else _keys(state["clusters"], "clusters", len(differences))
    if len(np.unique(items)) < len(items):
        raise ValueError("an item stands there twice")
    if clusters is not None and len(clusters):
        starts = np.concatenate([[True], clusters[1:] != clusters[:-1]])
        sizes = np.diff(np.append(np.nonzero(starts)[0], len(clusters)))
        if len(np.unique(clusters)) < len(sizes) or sizes.max() > size:
            raise ValueError("its clusters are in pieces or too large")
    return Monitor(
        str(names[0]),
        str(names[1]),
        None if bounds is None else (low, high),
        _number(state["alpha"], "alpha", 1e-12, 1 - 1e-12),
        None if state["rope"] is None else _number(state["rope"], "rope", 0.0, LARGEST),
        bool(flags[0]),
        size,
        differences,
        items,
        clusters,
        bool(flags[1]),
    )


def _number(value: object, what: str, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"its {what} cannot be {str(value)[:40]}")
    return float(value)


def _differences(values: object, reach: float) -> np.ndarray:
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise ValueError("its differences are not numbers")
    array = np.array(values, np.float64)
    if not (np.abs(array) <= math.nextafter(reach, math.inf)).all():
        raise ValueError("a difference is beyond the bounds")
    return array


def _hex(keys: np.ndarray) -> str:
    return str(keys.astype(">u8").tobytes().hex())


def _keys(text: object, what: str, wanted: int) -> np.ndarray:
    if not isinstance(text, str) or len(text) != 16 * wanted:
        raise ValueError(f"its {what} are not as many as its differences")
    return np.frombuffer(bytes.fromhex(text), ">u8").astype(np.uint64)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")
