"""The examples in the docstrings of every module run."""

import doctest
import importlib
import pkgutil

import polars
import pytest

import probtruth

MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(probtruth.__path__, "probtruth.")
    if found.name != "probtruth.__main__" and not found.name.startswith("probtruth.streaming")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with polars.Config():
        failed = doctest.testmod(importlib.import_module(name)).failed
    assert failed == 0
