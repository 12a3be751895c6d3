"""Strict JSON, the same bytes for the same value."""

import json
import math
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probtruth.io.output.jsonable import dumps, jsonable


@dataclass
class Point:
    x: float
    y: object


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (float("nan"), None),
        (np.float32("nan"), None),
        (float("inf"), "inf"),
        (-np.inf, "-inf"),
        (np.float64(0.1), 0.1),
        (np.int64(2**62), 2**62),
        (np.bool_(True), True),
        (True, True),
        (np.str_("x"), "x"),
        ((1, [2.5, "a"]), [1, [2.5, "a"]]),
        (np.array([[1.0, np.nan], [np.inf, -0.0]]), [[1.0, None], ["inf", -0.0]]),
        (np.array(3), 3),
        (OrderedDict(b=1, a=np.array([True])), {"b": 1, "a": [True]}),
        ({1: "x", np.int32(2): "y"}, {"1": "x", "2": "y"}),
        (Point(1.5, Point(math.nan, None)), {"x": 1.5, "y": {"x": None, "y": None}}),
    ],
)
def test_values(value: object, expected: object) -> None:
    assert jsonable(value) == expected
    assert type(jsonable(value)) is type(expected)


@pytest.mark.parametrize("value", [{1, 2}, Path("x"), b"x", object(), 1j, Point, {1.5: 0}, {None: 0}, {True: 0}])
def test_what_has_no_one_written_form_is_an_error(value: object) -> None:
    with pytest.raises(TypeError, match="JSON"):
        jsonable(value)


def test_keys_keep_their_order_and_text_stays_readable() -> None:
    assert dumps({"b": "é<", "a": 1}) == '{\n  "b": "é<",\n  "a": 1\n}\n'
    halves = dumps({"a": "\ud800", "b": "é"})  # of surrogate pairs
    assert json.loads(halves.encode()) == {"a": "\ud800", "b": "é"}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(values)
def test_text_is_strict_and_reads_back(value: object) -> None:
    def refuse(token: str) -> None:
        pytest.fail(f"the token {token} is not JSON")

    assert json.loads(dumps(value), parse_constant=refuse) == jsonable(value)
    assert dumps(jsonable(value)) == dumps(value)


def test_what_controls_a_terminal_or_has_no_place_in_the_encoding_is_escaped():
    name = "\x1b[31m\x9b2J\x7fα\u202eb\u2066c\u2028"
    for encoding in ("utf-8", "latin-1", "ascii"):
        text = dumps({"name": name}, encoding)
        assert not set(text) & {"\x1b", "\x9b", "\x7f", "\u202e", "\u2066", "\u2028"}
        assert json.loads(text.encode(encoding).decode(encoding)) == {"name": name}
    assert "α" in dumps({"name": name})
