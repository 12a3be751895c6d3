"""What is frozen of a result, and how two results are compared."""

import json
import math
import os
import platform
from collections import defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import numpy as np

LEFT_OUT = ("versions",)
DIGITS = 12
"""Significant digits of the numbers that are frozen."""
DIGEST_DIGITS = 9
"""Significant digits in a digest, which allows no tolerance: few enough that no rounding error of a sum turns one."""
LAST_DIGIT = 1e-11
"""Closed forms and quadrature: one unit of the twelfth digit, since a number may be rounded either way."""
COMPILED = 1e-8
"""Groups: roots and small differences of probabilities magnify the rounding of compiled code.

Instructions of 2008 (XLA, NumPy and OpenBLAS kept to SSE4.2) in place of AVX-512 changed them by up to 4.8e-9.
"""
DRAWN = ("/expected_rank", "/expected_regret", "/rank_probability", "diagnostics/", "sensitivity/")
"""What a sampler's draws decide. One last digit sends a chain elsewhere: on another machine these are other draws."""

Leaf = str | float | bool | None
Flat = dict[str, Leaf]


def flat(result: Mapping[str, Any], digits: int | None = DIGITS) -> Flat:
    """Every value of a result by its path, `models/0/score`; numbers rounded, all of their digits with None."""
    kept = {key: value for key, value in result.items() if key not in LEFT_OUT}
    return {path: _rounded(value, digits) for path, value in _leaves(kept, "")}


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if entries is None:
        yield path, value
        return
    if not value:
        yield path, f"empty {type(value).__name__}"
    for key, entry in entries:
        yield from _leaves(entry, f"{path}/{key}" if path else str(key))


def _rounded(value: Any, digits: int | None) -> Leaf:
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return str(value)
    return value if digits is None else float(f"{value:.{digits}g}") + 0.0  # no negative zero


def frozen(result: Mapping[str, Any]) -> str:
    """The text of a file of golden values."""
    return json.dumps(flat(result), indent=0, sort_keys=True) + "\n"


def digests(result: Mapping[str, Any]) -> dict[str, str]:
    """A digest for each top-level key, of its numbers and of its words apart, and one of everything."""
    parts: dict[str, Flat] = defaultdict(dict)
    for path, value in flat(result, DIGEST_DIGITS).items():
        kind = "words" if isinstance(value, str) else "numbers"
        parts[f"{path.split('/')[0]} ({kind})"][path] = value
        parts["everything"][path] = value
    return {key: sha256(json.dumps(part, sort_keys=True).encode()).hexdigest() for key, part in parts.items()}


def differences(before: Mapping[str, Leaf], after: Mapping[str, Leaf], within: float) -> list[str]:
    """One line for each path whose value is another, gone or new."""
    lines = []
    for path in sorted({*before, *after}):
        if path not in after:
            lines.append(f"{path}: {before[path]!r} -> gone")
        elif path not in before:
            lines.append(f"{path}: new -> {after[path]!r}")
        elif not same(before[path], after[path], within):
            lines.append(f"{path}: {before[path]!r} -> {after[path]!r}{_apart(before[path], after[path])}")
    return lines


def same(one: Leaf, other: Leaf, within: float) -> bool:
    """Whether two values are equal; two fractions up to a part of their size."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= within * max(abs(one), abs(other))
    return type(one) is type(other) and one == other


def without_draws(values: Flat) -> Flat:
    """The values that do not depend on a sampler's draws."""
    return {path: value for path, value in values.items() if not any(part in path for part in DRAWN)}


def machine() -> dict[str, Any]:
    """What decides the last digits of compiled code: the processor's instructions, the libraries, flags of XLA."""
    features = np._core._multiarray_umath.__cpu_features__
    versions = {name: version(name) for name in ("jax", "jaxlib", "numpy", "numpyro", "scipy")}
    instructions = sorted(name for name, there in features.items() if there)
    flags = os.environ.get("XLA_FLAGS")
    own = {"flags": flags} if flags else {}
    return {"machine": platform.machine(), "instructions": instructions, **versions, **own}


def _apart(one: Leaf, other: Leaf) -> str:
    if isinstance(one, float) and isinstance(other, float):
        return f" (relative {abs(one - other) / max(abs(one), abs(other)):.1e})"
    return ""
