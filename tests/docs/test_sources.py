"""The page of sources: every call on it exists, every file and heading it links to is there, no entry is missing."""

import re

import pages
import pytest

import probtruth as pt

TEXT = (pages.REPOSITORY / "docs" / "sources.md").read_text(encoding="utf-8")
CALLS = sorted(set(re.findall(r"\bpt((?:\.[A-Za-z_]\w*)+)", TEXT)))
LINKS = sorted(set(re.findall(r"\]\(([^)\s]+)\)", TEXT)))
DOCS = sorted(set(re.findall(r"{doc}`([^`]+)`", TEXT)))
EXAMPLES = sorted(set(re.findall(r"`(examples/[\w.]+)`", TEXT)))


def anchor(heading: str) -> str:
    """The address of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_all_entries_are_there_once():
    entries = re.findall(r"^\| (\w[\w ]*?) \|", TEXT, re.MULTILINE)
    assert [entry for entry in entries if entry != "entry"] == [*map(str, range(1, 50)), "Figure 1", "Figure 7"]


def test_every_row_has_its_columns():
    rows = [line for line in TEXT.splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in rows} == {5}


@pytest.mark.parametrize("call", CALLS)
def test_calls_resolve(call):
    thing = pt
    for name in call.removeprefix(".").split("."):
        assert hasattr(thing, name), f"pt{call}"
        thing = getattr(thing, name)


@pytest.mark.parametrize("link", [*LINKS, *(f"{name}.md" for name in DOCS)])
def test_links_lead_somewhere(link):
    if "://" in link:
        return
    name, _, heading = link.partition("#")
    page = pages.REPOSITORY / "docs" / (name or "sources.md")
    assert page.exists()
    if heading:
        headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert heading in map(anchor, headings)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_exist(example):
    assert (pages.REPOSITORY / example).exists()
