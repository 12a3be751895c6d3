"""One page, no request, no markup from data, everything that matters in it."""

import base64
import hashlib
import re
from dataclasses import replace
from html import escape

import pytest

import probtruth as pt
from probtruth.report.contents import Extras, Figure, Panels, contents
from probtruth.report.html import html
from probtruth.report.latex import latex
from probtruth.report.markdown import markdown
from probtruth.types import Audit

MOST_CALLS = 11_500
FAILING = {"max_rhat": 1.5, "min_ess": 10.0, "divergences": 2}


@pytest.fixture(scope="module")
def text(result, content):
    return html(result, content)


def undrawn(result, extras=None):
    """The page without its figures, which take most of its time."""
    made = contents(result, extras)
    kept = [[block for block in section.blocks if not isinstance(block, Figure | Panels)] for section in made.sections]
    sections = [replace(section, blocks=tuple(blocks)) for section, blocks in zip(made.sections, kept, strict=True)]
    return html(result, replace(made, figure=None, sections=tuple(sections)))


@pytest.fixture(scope="module")
def page(text, read_page):
    return read_page(text)


def test_the_first_screen_says_about_which_items_and_annotators(make):
    for over in ("new items like these, these annotators", "these very items, scored again, new annotators like these"):
        made = make["rewrite"](make["demo"](), estimand=f"mean paired difference of log scores over {over}")
        assert f"<span>about {over}</span>" in undrawn(made).split("<h1>")[0]


def test_elements_are_closed_and_nothing_is_loaded_from_anywhere(text, page):
    assert page.open == []
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", re.sub(r"//.*\n", "", text))
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")


def test_policy_allows_the_style_and_the_script_by_hash_and_controls_are_those_of_the_script(text, page):
    assert not re.search("<(button|input|select|textarea)", text[: text.index("<script")])
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["base-uri"] == parts["form-action"] == "'none'"
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        bodies = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(bodies) == 1
        digest = base64.b64encode(hashlib.sha256(bodies[0].encode()).digest()).decode()
        assert parts[directive] == f"'sha256-{digest}'"


def test_failing_diagnostics_stand_in_the_first_screen(make):
    failing = undrawn(make["demo"](diagnostics=FAILING))
    head = failing[: failing.index("</header>")]
    assert "No verdict" in head
    assert 'role="alert"' in head
    assert "R-hat: 1.500" in head


def test_warnings_once_each_three_stand_open_and_the_rest_is_folded(result):
    said = replace(
        result, warned=("only 4 items & so on", "only 4 items & so on", "second one", "third one", "a.csv: fourth")
    )
    text = undrawn(said)
    assert text.count("Only 4 items &amp; so on") == 1
    alert = text[text.index('class="alert"') : text.index("Assumptions")]
    stands, folded = alert.split("<details>")[:2]
    assert [line in stands for line in ("Second one", "Third one", "a.csv: fourth")] == [True, True, False]
    assert "<summary>1 more</summary>" in folded
    assert "a.csv: fourth" in folded


def test_every_figure_has_words_and_ids_are_unique(page):
    figures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(figures) == 11
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in figures)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_tables_have_captions_and_scopes(text):
    tables = re.findall(r"<table.*?</table>", text, re.DOTALL)
    assert len(tables) >= 8
    for table in tables:
        assert "<caption>" in table
        assert 'scope="col"' in table
        assert 'scope="row"' in table


def test_command_audit_settings_and_citation(result, read_page):
    scores = replace(result.scores, audit=Audit(("x",), (), (("logistic", 1, 0),)))
    audited = replace(result, scores=scores)
    shown = "".join(read_page(undrawn(audited, Extras("probtruth run --out '<o>'"))).text)
    for said in (
        "probtruth run --out '<o>'",
        "left out for all models: 1 (1 that some model lacks ('x')); logistic lacks 1",
        "seed",
        "How to cite",
        "@software{probtruth,",
    ):
        assert said in shown


def test_groups_get_tables_of_their_own(result, make):
    grouped = make["rewrite"](result, group_results={"one new group": result.comparison.pairs})
    assert "Differences, one new group" in undrawn(grouped)


def test_bare_scores_make_a_page_without_labels(make, read_page):
    shown = "".join(read_page(html(make["bare"](3))).text)
    assert "labels disagree" not in shown
    assert "Annotators" not in shown


def test_the_page_opens_with_a_sentence_a_figure_and_three_numbers(text):
    head = text[: text.index("</header>")]
    for said in ("is almost certainly the best", "annotators are simulated", "What to do next"):
        assert said in head
    assert head.count("<h1>") == head.count("<svg") == 1
    assert head.count("<dt>") == 3
    rest = text[text.index("Assumptions") :]
    for words in ("Estimand:", "Reference:", "Of the variance"):
        assert words in rest
        assert words not in head


def test_the_list_of_items_opens_to_their_text_which_is_no_markup(odd):
    said = "</script><b>&\u2028"
    raw = undrawn(odd, Extras(texts={str(item): said for item in odd.scores.items}))
    opened = f'<p class="content">{escape(said)}</p></details></th>'
    assert raw.count(opened) == odd.analysis.listed.height
    assert "<b>" not in raw


def test_contents_lead_to_every_section(text, page):
    anchors = [(attributes.get("href") or "")[1:] for tag, attributes in page.tags if tag == "a"]
    headings = [attributes["id"] for tag, attributes in page.tags if tag == "h2" and attributes["id"] != "warnings"]
    assert anchors == headings
    assert len(anchors) == 7
    for said in ("Krippendorff&#x27;s alpha", "Annotators, best first"):
        assert said in text


def test_long_tables_open_at_a_click_short_ones_stand_open(make, text):
    assert "<summary>Models, most probably best first (16 rows)</summary>" in undrawn(make["bare"](16))
    assert "<summary>Models" not in text


def test_a_large_result_is_a_page_of_less_than_a_megabyte(make):
    assert len(html(make["bare"](40)).encode()) < 1_000_000


def test_a_report_makes_few_calls(make):
    """Calls of the package's own functions while a report's words and page are made, counted by a profiler."""
    import sys
    from pathlib import Path

    root = str(Path(pt.__file__).parent)
    calls = 0

    def count(frame, event, _):
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.startswith(root)

    fresh = make["demo"]()
    sys.setprofile(count)
    try:
        content = contents(fresh)
        html(fresh, content)
        markdown(fresh, content)
        latex(fresh)
    finally:
        sys.setprofile(None)
    assert calls < MOST_CALLS, calls
