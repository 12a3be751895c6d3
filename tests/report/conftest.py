"""Results without sampling, and the report of one of them."""

import pytest
from line_results import make, odd, result

from probtruth.line.result import Result
from probtruth.report.contents import Contents, contents

__all__ = ("content", "make", "odd", "result")


@pytest.fixture(scope="session")
def content(result: Result) -> Contents:
    """What the report of `result` says; its figures take most of the time of a page, and are drawn once."""
    return contents(result)
