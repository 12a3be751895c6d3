"""The page of sources: every call on it exists, every file and heading it links to is there, no entry is missing."""

import re
from functools import reduce

import pages

import probtruth as pt

TEXT = (pages.REPOSITORY / "docs" / "sources.md").read_text(encoding="utf-8")


def words(pattern: str) -> set[str]:
    """What a pattern finds on the page, each once."""
    found = set(re.findall(pattern, TEXT))
    assert found, pattern
    return found


def anchor(heading: str) -> str:
    """The address of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def leads_nowhere(link: str) -> bool:
    """Whether a link within the documentation names a page or a heading that does not exist."""
    name, _, heading = link.partition("#")
    page = pages.REPOSITORY / "docs" / (name or "sources.md")
    if not page.exists():
        return True
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return heading not in {"", *map(anchor, headings)}


def test_all_entries_are_there_once():
    entries = re.findall(r"^\| (\w[\w ]*?) \|", TEXT, re.MULTILINE)
    assert [entry for entry in entries if entry != "entry"] == [*map(str, range(1, 50)), "Figure 1", "Figure 7"]


def test_every_row_has_its_columns():
    rows = [line for line in TEXT.splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in rows} == {5}


def test_calls_resolve():
    missing = object()
    calls = words(r"\bpt((?:\.[A-Za-z_]\w*)+)")
    things = {
        call: reduce(lambda thing, name: getattr(thing, name, missing), call.split(".")[1:], pt) for call in calls
    }
    assert [call for call, thing in things.items() if thing is missing] == []


def test_links_lead_somewhere():
    links = {link for link in words(r"\]\(([^)\s]+)\)") if "://" not in link}
    links |= {f"{name}.md" for name in words(r"{doc}`([^`]+)`")}
    assert sorted(filter(leads_nowhere, links)) == []
    assert leads_nowhere("no-such-page.md")
    assert leads_nowhere("sources.md#no-such-heading")


def test_examples_exist():
    assert [path for path in words(r"`(examples/[\w.]+)`") if not (pages.REPOSITORY / path).exists()] == []
