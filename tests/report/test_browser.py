"""The page in a headless browser: its own script runs, nothing is refused or requested, a click sorts a table.

Needs Chromium (`chromium`, `chromium-browser` or `google-chrome` on the path); skipped, and said so, without one.
"""

import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape

import pytest

from probtruth.report.formats.html import html
from probtruth.report.words.numbers import equals, fixed, shown

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
    click = 'document.querySelector("table.sortable thead th.num button").click();' * clicks
    return doing(text, click)


def doing(text: str, script: str) -> str:
    """The page without its policy, and with one more script."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    return text.replace("</body>", f"<script>{script}</script></body>")


def test_a_click_sorts_and_another_turns_it_round(load, result):
    table = "Models, best mean score first"
    at_first, _ = load(html(result))
    down, _ = load(clicking(html(result), 1))
    up, _ = load(clicking(html(result), 2))
    scores = [f"{row['score']:.3f}" for row in result.comparison.ranks]
    assert column(up, table, 1) == scores
    assert column(down, table, 1) == scores[::-1]
    assert 'aria-sort="ascending"' in at_first
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
        assert heard is not None
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


def test_fifteen_models_fit_a_desktop_and_scroll_beside_their_names_on_a_phone(measured, make):
    text = html(make["bare"](15))
    assert measured(text, CUT, 1400) == ""
    assert measured(text, CUT, 390) == "P(row beats column)"
    still = """(() => {
      const box = document.querySelector("[aria-label='P(row beats column)']");
      box.scrollLeft = 200;
      return document.querySelector(".matrix tbody th").getBoundingClientRect().left - box.getBoundingClientRect().left;
    })()"""
    assert float(measured(text, still, 390)) == 0


CHOICE = """
const part = (name) => document.querySelector(`#pair-explorer [data-part="${name}"]`);
const choose = (name, value) => { part(name).value = value; part(name).dispatchEvent(new Event("input")); };
"""


def answer(document: str, part: str) -> str:
    found = re.search(rf'data-part="{part}">(.*?)</p>', document, re.DOTALL)
    assert found is not None
    return unescape(re.sub(r"<[^>]*>", "", found.group(1)))


def test_the_leading_pair_is_chosen_at_first_and_agrees_with_the_tables(load, make):
    bare = make["bare"](3, rope=0.05)
    row = next(row for row in bare.comparison.pairs if (row["a"], row["b"]) == ("model-00", "model-01"))
    document, said = load(html(bare))
    assert said == []
    numbers = answer(document, "numbers")
    assert f"P(model-00 better) {equals(row['p_a_better'])}" in numbers
    assert f"P(equivalent) {equals(row['p_equivalent'])}" in numbers
    assert f"{fixed(row['low'], 2)} to {fixed(row['high'], 2)}" in numbers


def test_another_pair_and_another_rope_are_answered(load, make):
    """The normal posterior of the pair, P(|difference| <= 1) = 1 to three decimals, by its own intervals."""
    bare = make["bare"](3)
    row = next(row for row in bare.comparison.pairs if (row["a"], row["b"]) == ("model-00", "model-02"))
    turned, _ = load(doing(html(bare), CHOICE + 'choose("first", 2); choose("second", 0);'))
    assert f"P(model-02 better) {equals(row['p_b_better'])}" in answer(turned, "numbers")
    assert answer(turned, "verdict").startswith("model-00 is ")
    wide, _ = load(doing(html(bare), CHOICE + 'choose("second", 2); choose("rope", 1);'))
    assert answer(wide, "verdict") == "model-00 and model-02 are practically equivalent."
    same, _ = load(doing(html(bare), CHOICE + 'choose("second", 0);'))
    assert answer(same, "verdict") == "Choose two different models."


def test_of_accuracies_the_sign_is_that_of_the_tables(load, make):
    bare = make["bare"](2, higher_is_better=True)
    (row,) = (shown(bare.comparison, row) for row in bare.comparison.pairs)
    document, _ = load(doing(html(bare), CHOICE + 'choose("first", 0); choose("second", 1);'))
    assert f"{fixed(row['low'], 2)} to {fixed(row['high'], 2)}); positive favours" in answer(document, "numbers")


def test_items_are_searched_filtered_and_opened(load, result):
    item = result.scores.items[17]
    typed = f"""
    const search = document.querySelector('#item-explorer [data-part="search"]');
    search.value = "{item.upper()}";
    search.dispatchEvent(new Event("input"));
    const entry = document.querySelector("details.item");
    entry.open = true;
    entry.dispatchEvent(new Event("toggle"));
    """
    document, said = load(doing(html(result), typed))
    assert said == []
    assert answer(document, "count") == "1 of the 899 items"
    table = document[document.index('<details class="item"') :]
    table = table[: table.index("</table>")]
    for model, loss in zip(result.scores.models, result.scores.values[:, 17], strict=True):
        assert model in table
        assert f"{loss:.3f}" in table


def test_hostile_items_are_shown_not_run(load, odd):
    text = {str(item): "<img src=x onerror=document.title='run'>" for item in odd.scores.items}
    opened = 'const entry = document.querySelector("details.item"); entry.open = true;'
    opened += 'entry.dispatchEvent(new Event("toggle"));'
    document, _ = load(doing(html(replace(odd, item_text=text)), opened))
    assert "<title>run" not in document
    assert "&lt;img src=x" in document[document.index('class="content"') :]


def printing(text: str) -> str:
    """The page without its policy, and a script that says that it is about to be printed."""
    return doing(text, 'dispatchEvent(new Event("beforeprint"))')


def test_what_is_folded_is_open_on_paper(load, make):
    text = html(make["bare"](12))
    folded, said = load(text)
    assert said == []
    n = len(re.findall("<details>", folded))
    assert n >= 2
    printed, _ = load(printing(text))
    assert len(re.findall(r"<details open=\"\">", printed)) == n
