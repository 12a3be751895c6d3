"""The page in a headless browser: its own script runs, nothing is refused or requested, a click sorts a table.

Needs Chromium (`chromium`, `chromium-browser` or `google-chrome` on the path); skipped, and said so, without one.
"""

import re
import shutil
import subprocess

import pytest

from probtruth.report.formats.html import html

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
    assert body is not None
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
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    click = 'document.querySelector("table.sortable thead th.num button").click();' * clicks
    return text.replace("</body>", f"<script>{click}</script></body>")


def test_a_click_sorts_and_another_turns_it_round(load, result):
    table = "Models, best mean score first"
    up, _ = load(clicking(html(result), 1))
    down, _ = load(clicking(html(result), 2))
    scores = [f"{row['score']:.3f}" for row in result.comparison.ranks]
    assert column(up, table, 1) == scores
    assert column(down, table, 1) == scores[::-1]
    assert 'aria-sort="descending"' in down


def measuring(text: str) -> str:
    """The page without its policy, and a script that writes how much wider than the window it is."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    script = "document.documentElement.dataset.over = document.documentElement.scrollWidth - innerWidth"
    return text.replace("</body>", f"<script>{script}</script></body>")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_never_wider_than_the_window(load, make, width):
    names = ("x" * 300, "שלום " * 60, "😀" * 150, "<b>" * 100)
    document, _ = load(measuring(html(make["demo"](names))), width)
    over = re.search(r'data-over="(-?\d+)"', document)
    assert over is not None
    assert int(over.group(1)) <= 0


def printing(text: str) -> str:
    """The page without its policy, and a script that says that it is about to be printed."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    return text.replace("</body>", '<script>dispatchEvent(new Event("beforeprint"))</script></body>')


def test_what_is_folded_is_open_on_paper(load, make):
    text = html(make["bare"](12))
    folded, said = load(text)
    assert said == []
    n = len(re.findall("<details>", folded))
    assert n >= 2
    printed, _ = load(printing(text))
    assert len(re.findall(r"<details open=\"\">", printed)) == n
