"""No style, no outside reference, no clash of ids, the same bytes each time."""

import re
from xml.etree import ElementTree

import matplotlib
import pytest

from probtruth.report.plots import axes as figures
from probtruth.report.plots import comparison, svg
from probtruth.report.words.numbers import plain

PAIR = {"a": "<script>&\"'", "b": "😀 שלום", "difference": -0.2, "low": -0.3, "high": -0.1}


@pytest.fixture(scope="module")
def made():
    with svg.plain_style():
        ax = comparison.forest([PAIR], 0.01, "nats")
    return svg.picture(ax, "pair", "Title <b>", "Description & more")


def test_inline_has_nothing_that_a_strict_policy_refuses(made):
    assert "style" not in made.inline
    assert "http" not in made.inline
    assert "<script" not in made.inline
    assert "<metadata" not in made.inline
    assert "&lt;script&gt;&amp;\"'" in made.inline


def test_both_forms_are_sound_and_say_what_they_show(made):
    root = ElementTree.fromstring(made.alone)
    assert root.attrib["role"] == "img"
    names = root.attrib["aria-labelledby"].split()
    texts = {element.get("id"): element.text for element in root}
    assert [texts[name] for name in names] == ["Title <b>", "Description & more"]
    ElementTree.fromstring(made.inline.replace("<svg ", f'<svg xmlns="{svg.SVG}" xmlns:xlink="{svg.XLINK}" ', 1))


def test_ids_carry_the_name_and_every_reference_is_met(made):
    ids = re.findall(r' id="([^"]+)"', made.inline)
    assert len(ids) == len(set(ids))
    assert all(name.startswith("pair-") for name in ids)
    references = re.findall(r'(?:url\(|href=")#([^")]+)', made.inline)
    assert references
    assert set(references) <= set(ids)


def test_ink_is_the_colour_of_the_text_around(made):
    assert figures.INK not in made.inline
    assert "currentColor" in made.inline
    assert re.search(r'class="bs"', made.inline)
    assert "prefers-color-scheme" in made.alone


def test_same_figure_same_bytes(made):
    with svg.plain_style():
        ax = comparison.forest([PAIR], 0.01, "nats")
    assert svg.picture(ax, "pair", "Title <b>", "Description & more") == made


def test_the_readers_settings_are_neither_used_nor_changed(made):
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        with svg.plain_style():
            ax = comparison.forest([PAIR], 0.01, "nats")
        again = svg.picture(ax, "pair", "Title <b>", "Description & more")
        assert matplotlib.rcParams["svg.fonttype"] == "path"
        assert matplotlib.rcParams["font.size"] == 30
    assert again == made


@pytest.mark.parametrize("hostile", ["\ufffe", "\uffff", "\x1b", "\x00", "\x9b"])
def test_names_with_what_no_xml_holds(hostile):
    with svg.plain_style():
        ax = comparison.forest([{**PAIR, "a": f"a{hostile}"}], 0.01, "nats")
        ax.set_title(f"title{hostile}")  # which no function of ours has made plain
    made = svg.picture(ax, "pair", plain(f"Title{hostile}"), plain(f"More{hostile}"))
    assert "title" in "".join(ElementTree.fromstring(made.alone.encode()).itertext())
