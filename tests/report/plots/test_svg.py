"""No script, no outside reference, no clash of ids, the same bytes each time."""

import re
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.figure import Figure

from probtruth.report.numbers import plain
from probtruth.report.plots import axes as figures
from probtruth.report.plots import comparison, svg

PAIR = {"a": "a", "b": "b", "difference": -0.2, "low": -0.3, "high": -0.1}
NAMES = ('<script>&"\' id="x', "😀 שלום #y")


def drawn(name=NAMES[0]):
    with svg.plain_style():
        ax = comparison.intervals(
            Figure().add_subplot(), [PAIR], [(name, NAMES[1])], ("", ""), "nats", 0.01, (figures.BLUE,) * 2
        )
    return ax


@pytest.fixture(scope="module")
def made():
    return svg.picture(drawn(), "pair", "Title <b>", "Description & more")


def test_inline_holds_no_script_and_nothing_from_elsewhere(made):
    for word in ("<style", "http", "<script", "<metadata", "<image"):
        assert word not in made.inline
    assert '&lt;script&gt;&amp;"\' id="x' in made.inline  # what stands between tags is left as it is


def test_both_forms_are_sound_and_say_what_they_show(made):
    root = ElementTree.fromstring(made.alone.encode())
    assert root.attrib["role"] == "img"
    texts = {element.get("id"): element.text for element in root}
    assert [texts[name] for name in root.attrib["aria-labelledby"].split()] == ["Title <b>", "Description & more"]
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ElementTree.fromstring(made.inline.replace("<svg ", f"<svg {spaces} ", 1))


def test_ids_carry_the_name_and_every_reference_is_met(made):
    tags = " ".join(re.findall(r"<[^>]*>", made.inline))
    ids = re.findall(r' id="([^"]+)"', tags)
    assert len(ids) == len(set(ids))
    assert all(name.startswith("pair-") for name in ids)
    references = re.findall(r'(?:url\(|href=")#([^")]+)', tags)
    assert references
    assert set(references) <= set(ids)


def test_colours_follow_the_page(made):
    assert figures.INK not in made.inline
    assert "currentColor" in made.inline
    assert f"var(--blue, {figures.BLUE})" in made.inline
    assert "prefers-color-scheme" in made.alone


def test_same_figure_same_bytes_whatever_the_users_settings(made):
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        again = svg.picture(drawn(), "pair", "Title <b>", "Description & more")
        assert matplotlib.rcParams["svg.fonttype"] == "path"
        assert matplotlib.rcParams["font.size"] == 30
    assert again == made


@pytest.mark.parametrize("hostile", ["\ufffe", "\uffff", "\x1b", "\x00", "\x9b"])
def test_names_with_what_no_xml_holds(hostile):
    with svg.plain_style():
        ax = drawn()
        ax.set_title(f"title{hostile}")  # which no function of ours has made plain
    made = svg.picture(ax, "pair", plain(f"Title{hostile}"), plain(f"More{hostile}"))
    assert "title" in "".join(ElementTree.fromstring(made.alone.encode()).itertext())
