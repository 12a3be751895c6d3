"""Where the small files of the tools are."""

from pathlib import Path

import pytest


@pytest.fixture
def files() -> Path:
    """The folder of small files that the tools themselves wrote."""
    return Path(__file__).parent / "files"
