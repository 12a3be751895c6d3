"""The examples in the docstrings of every module run."""

import doctest
import importlib

import pages
import polars
import pytest

SOURCES = sorted((pages.REPOSITORY / "probtruth").rglob("*.py"))
NAMES = [
    ".".join(path.relative_to(pages.REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCES
    if ">>> " in path.read_text(encoding="utf-8")
]  # Modules with an example


@pytest.mark.page
@pytest.mark.parametrize("name", NAMES)
def test_examples_in_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with polars.Config():
        failed, attempted = doctest.testmod(importlib.import_module(name))
    assert attempted > 0
    assert failed == 0
