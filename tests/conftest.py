"""Shapes and types in annotations are checked at run time in the tests; real data is found through PROBTRUTH_DATA."""

import os
import signal
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

install_import_hook("probtruth", "beartype.beartype").__enter__()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so starts what a shell puts into the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data() -> Path:
    folder = os.environ.get("PROBTRUTH_DATA")
    if not folder:
        pytest.skip("PROBTRUTH_DATA is not set: no real data here")
    return Path(folder)
