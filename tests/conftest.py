"""Shapes and types in annotations are checked at run time in the tests; real data is found through PROBTRUTH_DATA."""

import os
import signal
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

PACKAGE = Path(__file__).parents[1] / "probtruth"
INNERMOST = {"probtruth.truth.gibbs", "probtruth.report.words.numbers"}
"""Modules whose functions are called so often that checking every call takes most of the time of the tests."""


def modules() -> list[str]:
    """The modules of the package that are checked; packages themselves hold nothing but names of modules."""
    paths = (path.relative_to(PACKAGE.parent).with_suffix("") for path in PACKAGE.rglob("*.py"))
    return sorted({".".join(path.parts) for path in paths if path.name != "__init__"} - INNERMOST)


install_import_hook(modules(), "beartype.beartype").__enter__()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so starts what a shell puts into the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data() -> Path:
    folder = os.environ.get("PROBTRUTH_DATA")
    if not folder:
        pytest.skip("PROBTRUTH_DATA is not set: no real data here")
    return Path(folder)
