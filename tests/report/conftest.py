"""Results without sampling, and the figures of one of them."""

from collections.abc import Mapping

import pytest
from line_results import make, odd, result
from probtruth.report.plots.pictures import pictures

from probtruth.line.result import Result
from probtruth.report.plots.svg import Picture

__all__ = ("drawn", "make", "odd", "result")


@pytest.fixture(scope="session")
def drawn(result: Result) -> Mapping[str, Picture]:
    """The figures of `result`, which take most of the time of a page: tests of its words take these."""
    return pictures(result)
