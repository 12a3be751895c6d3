"""That annotations of shapes are checked where the tests ask for it, and which ones are left out."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from jaxtyping import Float, TypeCheckError, install_import_hook
from shape_checks import has_shape, names, type_checking_names

MODULE = """
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    import polars.lazyframe
    from somewhere import Absent as Missing


def total(
    one: Float[np.ndarray, "item label"], other: Float[np.ndarray, " item"], table: "Missing | None" = None
) -> Float[np.ndarray, " item"]:
    return one.sum(1) * other


def wrong(one: Float[np.ndarray, "item label"]) -> Float[np.ndarray, " item"]:
    return one.sum(0)


def tables(kept: Mapping[str, "polars.DataFrame"], made: Callable[["Missing"], int], text: str) -> "Missing":
    return text
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "made_for_checks.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    with install_import_hook(["made_for_checks"], "shape_checks.checked"):
        import made_for_checks
    yield made_for_checks
    del sys.modules["made_for_checks"]
    type_checking_names.cache_clear()


def test_a_wrong_axis_raises(module) -> None:
    np.testing.assert_array_equal(module.total(np.ones((2, 3)), np.ones(2)), [3, 3])
    with pytest.raises(TypeCheckError, match="other"):
        module.total(np.ones((2, 3)), np.ones(3))
    with pytest.raises(TypeCheckError, match="return value"):
        module.wrong(np.ones((2, 3)))


def test_what_names_no_axes_is_left_out(module) -> None:
    assert type_checking_names("made_for_checks") == {"polars", "Missing"}
    assert module.tables({"a": 1}, len, 3) == 3


def test_names_in_annotations() -> None:
    assert set(names("dict[str, Absent] | None")) == {"dict", "str", "Absent"}
    assert set(names(dict[str, "Absent"])) == {"Absent"}  # noqa: F821
    assert set(names(Float[np.ndarray, "item label"])) == set()
    assert has_shape(dict[str, Float[np.ndarray, "item label"] | None])
    assert not has_shape(dict[str, "Absent"])  # noqa: F821


@pytest.mark.process
def test_a_kernel_on_a_wrong_axis_raises_under_the_hook() -> None:
    """The environment variable, through the conftest of all tests, to a kernel."""
    code = """
import conftest, numpy as np, pytest
from jaxtyping import TypeCheckError
from probtruth.truth.annotators import information

with pytest.raises(TypeCheckError, match="confusion"):
    information(np.full(3, 1 / 3), np.full((2, 2, 2), 0.5))
print(information(np.full(2, 0.5), np.full((2, 2, 2), 0.5)).shape)
"""
    path = os.pathsep.join([*map(str, Path(__file__).parents[:2]), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PROBTRUTH_CHECK_SHAPES": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.strip() == "(2,)", done.stderr[-2000:]
