"""The page in a headless browser: its own script runs, nothing is refused or requested, a click sorts a table.

Needs Chromium (`chromium`, `chromium-browser` or `google-chrome` on the path); skipped, and said so, without one.
"""

import re
import shutil
import subprocess

import pytest

from probtruth.report.contents import Extras, contents
from probtruth.report.html import html

pytestmark = pytest.mark.process

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
]


@pytest.fixture(scope="module")
def browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium here: the page is not tried in a browser")


@pytest.fixture
def load(browser, tmp_path):
    """The document after its scripts ran, and what the browser logged of the page."""

    def run(text: str, width: int = 1280) -> tuple[str, list[str]]:
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        where = [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900", "--dump-dom"]
        command = [browser, *FLAGS, *where, (tmp_path / "page.html").as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    return run


@pytest.fixture
def requests(browser, tmp_path):
    """The addresses that a page asked for, from the browser's own log of its network."""

    def run(text: str) -> set[str]:
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        log = tmp_path / "net.json"
        where = [f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={log}", "--dump-dom"]
        command = [browser, *FLAGS, *where, (tmp_path / "page.html").as_uri()]
        subprocess.run(command, capture_output=True, timeout=120)
        # requests of a page are kept under the key of its site, here that of files; the browser's own are not
        return set(re.findall(r"_dk_file:// file:// (https?://[^\"]+)", log.read_text("utf-8", "replace")))

    return run


def test_nothing_is_requested_and_a_request_would_be_seen(requests, odd):
    assert requests(html(odd)) == set()
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html(odd))
    asking = '<img src="http://127.0.0.1:9/asked.png">'
    assert requests(free.replace("</body>", f"{asking}</body>")) == {"http://127.0.0.1:9/asked.png"}


def column(document: str, table: str, place: int) -> list[str]:
    body = re.search(rf'aria-label="{re.escape(table)}".*?<tbody>(.*?)</tbody>', document, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", body.group(1), re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [re.sub(r"<[^>]*>", "", row[place]) for row in cells]


def test_the_script_runs_and_nothing_is_refused(load, odd):
    document, said = load(html(odd))
    assert said == []
    assert document.count('<button type="button">') > 20


def test_a_policy_that_refuses_would_be_seen(load, result):
    """The check above can fail: a changed script no longer matches its hash."""
    document, said = load(html(result).replace('"use strict";', '"use strict"; 1;'))
    assert any("Content Security Policy" in line for line in said)
    assert '<button type="button">' not in document


def clicking(text: str, clicks: int) -> str:
    """The page without its policy, and a script that clicks on the title of the first sortable column of numbers."""
    click = 'document.querySelector("table.sortable thead th.num button").click();' * clicks
    return doing(text, click)


def doing(text: str, script: str) -> str:
    """The page without its policy, and with one more script."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    return text.replace("</body>", f"<script>{script}</script></body>")


def test_a_click_sorts_and_another_turns_it_round(load, result):
    table = "Models, most probably best first"
    at_first, _ = load(html(result))
    up, _ = load(clicking(html(result), 1))
    down, _ = load(clicking(html(result), 2))
    scores = [f"{row['score']:.3f}" for row in result.comparison.ranks]
    assert column(up, table, 1) == scores
    assert column(down, table, 1) == scores[::-1]
    assert 'aria-sort="' not in at_first
    assert 'aria-sort="descending"' in down


@pytest.fixture
def measured(load, tmp_path):
    """What a script says of the page in a window of any width: a frame, since windows are at least 500 wide."""

    def run(text: str, script: str, width: int) -> str:
        page = doing(text, f"onload = () => parent.postMessage(String({script}), '*')")
        (tmp_path / "inner.html").write_text(page, encoding="utf-8")
        listen = "onmessage = (event) => { document.body.dataset.heard = event.data; }"
        frame = f'<iframe src="inner.html" width="{width}" height="900" frameborder="0"></iframe>'
        document, _ = load(f"<!doctype html><body><script>{listen}</script>{frame}</body>", 1600)
        heard = re.search(r'data-heard="([^"]*)"', document)
        return heard.group(1)

    return run


OVER = "document.documentElement.scrollWidth - innerWidth"
CUT = """(() => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  const cut = [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth + 1);
  return cut.map((box) => box.getAttribute("aria-label"));
})()"""


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_the_page_is_never_wider_than_the_window(measured, make, width):
    names = ("x" * 300, "שלום " * 60, "😀" * 150, "<b>" * 100)
    assert int(measured(html(make["demo"](names)), OVER, width)) <= 0


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_no_column_is_cut(measured, result, width):
    assert measured(html(result), CUT, width) == ""


def test_fifteen_models_fit_a_desktop_and_a_phone(measured, make):
    text = html(make["bare"](15))
    assert measured(text, CUT, 1400) == measured(text, CUT, 390) == ""


def test_items_are_searched_sorted_and_shown_with_their_text(load, result):
    item = result.analysis.listed["item"][17]
    typed = f"""
    const search = document.querySelector('input[type="search"]');
    search.value = "{item.upper()}";
    search.dispatchEvent(new Event("input"));
    """
    text = html(result, contents(result, Extras(texts={str(item): "A question <b>"})))
    document, said = load(doing(text, typed))
    assert said == []
    table = document[document.index("Items on which the two leading") :]
    rows = re.findall('<tr(?: hidden="")?>.*?</tr>', table[table.index("<tbody") : table.index("</table>")], re.DOTALL)
    (found,) = [row for row in rows if "hidden" not in row]
    assert f"<bdi>{item}</bdi>" in found
    assert "A question &lt;b&gt;" in found
    assert "1 of 200 items" in document


SEEN = '[...document.querySelectorAll(".items tbody tr")].filter((row) => row.checkVisibility()).length'


def test_ten_items_are_seen_and_a_click_shows_all(measured, result):
    text = html(result)
    assert (
        measured(text, SEEN, 1400)
        == measured(re.sub("<script>.*?</script>", "", text, flags=re.DOTALL), SEEN, 390)
        == "10"
    )
    assert measured(text, f'(document.querySelector(".more").click(), {SEEN})', 1400) == "200"


def test_hostile_items_are_shown_not_run(load, odd):
    text = {str(item): "<img src=x onerror=document.title='run'>" for item in odd.scores.items}
    document, _ = load(html(odd, contents(odd, Extras(texts=text))))
    assert "<title>run" not in document
    assert "&lt;img src=x" in document[document.index('class="content"') :]
