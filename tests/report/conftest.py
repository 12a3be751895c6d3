"""Results without sampling, and the report of one of them."""

from html.parser import HTMLParser

import pytest
from line_results import make, odd, result

from probtruth.line.result import Result
from probtruth.report.contents import Contents, contents

__all__ = ("content", "make", "odd", "result")


VOID = {"meta", "br", "hr", "img", "input", "link", "path", "use", "rect"}


class Page(HTMLParser):
    """The tags of a page in order, and whether every one that opens closes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text.append(data)


@pytest.fixture(scope="session")
def read_page() -> type[Page]:
    return Page


@pytest.fixture(scope="session")
def content(result: Result) -> Contents:
    """What the report of `result` says; its figures take most of the time of a page, and are drawn once."""
    return contents(result)
