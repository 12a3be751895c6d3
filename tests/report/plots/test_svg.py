"""No script, no outside reference, no clash of ids, the same bytes each time."""

import re
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.figure import Figure

from probtruth.report.plots import axes as figures
from probtruth.report.plots import comparison, svg
from probtruth.types.pairs import Pair

PAIR = Pair("a", "b", -0.2, -0.3, -0.1)
NAMES = ('<script>&"\' id="x', "😀 שלום #y")


def drawn():
    with svg.plain_style():
        ax = Figure().add_subplot()
        ax = comparison.intervals(ax, [PAIR], [NAMES], ("", ""), "nats", 0.01, (figures.BLUE,) * 2)
        return svg.inline(ax, "pair", 'Title <b> "x" > y')


@pytest.fixture(scope="module")
def made():
    return drawn()


def test_inline_holds_no_script_and_nothing_from_elsewhere(made):
    for word in ("<style", "http", "<script", "<metadata", "<image"):
        assert word not in made
    assert '&lt;script&gt;&amp;"\' id="x' in made  # what stands between tags is left as it is


def test_alone_it_is_sound_says_what_it_shows_and_follows_the_colour_scheme(made):
    text = svg.alone(made)
    root = ElementTree.fromstring(text.encode())
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == 'Title <b> "x" > y'
    assert "prefers-color-scheme" in text
    assert f'[style*="stroke: {figures.BLUE}"]{{stroke:var(--blue,{figures.BLUE})' in text
    assert f"stroke: {figures.BLUE}" in made  # the colour as Matplotlib writes it, which the style is of


def test_ids_are_unique_and_every_reference_is_met(made):
    tags = " ".join(re.findall(r"<[^>]*>", made))
    ids = re.findall(r' id="([^"]+)"', tags)
    assert len(ids) == len(set(ids))
    references = re.findall(r'(?:url\(|href=")#([^")]+)', tags)
    assert references
    assert set(references) <= set(ids)


def test_same_figure_same_bytes_whatever_the_users_settings(made):
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        assert drawn() == made
        assert matplotlib.rcParams["svg.fonttype"] == "path"
        assert matplotlib.rcParams["font.size"] == 30
