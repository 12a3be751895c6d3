"""One page, no request, no markup from data, everything that matters in it."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from probtruth.report.formats.html import html
from probtruth.types import Audit

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


FAILING = {"max_rhat": 1.5, "min_ess": 10.0, "divergences": 2, "engines_agree": False}


@pytest.fixture(scope="module")
def text(result, drawn):
    return html(result, drawn)


@pytest.fixture(scope="module")
def failing(make, drawn):
    return html(make["demo"](diagnostics=FAILING), drawn)


@pytest.fixture(scope="module")
def many(make):
    """Twelve models, without figures."""
    return html(make["bare"](12), {})


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_every_element_is_closed(page):
    assert page.open == []


def test_nothing_is_loaded_from_anywhere(text, page):
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", re.sub(r"//.*\n", "", text))
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert "style" not in attributes
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")


def test_policy_allows_the_style_and_the_script_by_hash_and_nothing_else(text, page):
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["base-uri"] == parts["form-action"] == "'none'"
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        bodies = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(bodies) == 1
        digest = base64.b64encode(hashlib.sha256(bodies[0].encode()).digest()).decode()
        assert parts[directive] == f"'sha256-{digest}'"


def test_odd_names_are_shown_not_run(odd, text):
    raw = html(odd)
    page = Page(raw)
    assert page.open == []
    assert [attributes.get("type") for tag, attributes in page.tags if tag == "script"] == ["application/json", None]
    shown = "".join(page.text)
    for name in ("<script>alert(1)</script>", "שלום עולם", "😀 👩‍🔬 & co | *x* $y$", "=1+1�gnp.exe"):
        assert name in shown
    assert "\u202e" not in raw
    names = re.findall(r"<bdi[^>]*>", raw)
    assert len(names) > 20


def test_a_long_name_is_whole_in_the_table_of_models_and_short_elsewhere(make, drawn):
    name = "long " * 60
    raw = html(make["demo"]((name, "b", "c", "d")), drawn)
    assert raw.count(f">{name}</bdi>") == 1
    assert f'title="{name}">' in raw


def test_first_screen_says_verdict_note_and_estimand(text):
    head = text[: text.index("</header>")]
    for said in ("is almost certainly the best", "annotators are simulated", "Estimand:", "come", "<svg"):
        assert said in head


def test_failing_diagnostics_stand_in_the_first_screen(failing):
    head = failing[: failing.index("</header>")]
    assert "No verdict" in head
    assert 'role="alert"' in head
    assert "R-hat is 1.500" in head


def test_warnings_once_each_and_sampling_ones_with_the_diagnostics(result, drawn):
    said = replace(result, warnings=("only 4 items & so on", "only 4 items & so on", "sampling: R-hat"))
    text = html(said, drawn)
    assert text.count("only 4 items &amp; so on") == 1
    assert "sampling: R-hat" not in text


def test_every_figure_has_words(page):
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert len(pictures) == 14
    for attributes in pictures:
        assert attributes["role"] == "img"
        assert set((attributes["aria-labelledby"] or "").split()) <= ids


def test_ids_are_unique(page):
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_tables_have_captions_and_scopes(text):
    tables = re.findall(r"<table.*?</table>", text, re.DOTALL)
    assert len(tables) >= 8
    for table in tables:
        assert "<caption>" in table
        assert 'scope="col"' in table
        assert 'scope="row"' in table


def test_command_audit_settings_and_citation(result, drawn):
    scores = replace(result.scores, audit=Audit(("x",), (), (("logistic", 1, 0),)))
    audited = replace(result, scores=scores, command="probtruth run --out '<o>'")
    shown = "".join(Page(html(audited, drawn)).text)
    for said in (
        "probtruth run --out '<o>'",
        "1 item took no part",
        "seed",
        "How to cite",
        "doi:10.1198/016214506000001437",
    ):
        assert said in shown


def test_groups_get_tables_of_their_own(result, make, drawn):
    grouped = make["rewrite"](result, group_results={"one new group": result.comparison.pairs})
    assert "Differences, one new group" in html(grouped, drawn)


def test_bare_scores_make_a_page_without_labels(make):
    shown = "".join(Page(html(make["bare"](3))).text)
    assert "labels disagree" not in shown
    assert "soft label" not in shown


def test_one_sentence_stands_under_the_verdict_and_the_rest_opens(text):
    head = text[: text.index("</header>")]
    lead = re.findall(r'<p class="lead">(.*?)</p>', head)
    assert len(lead) == 1
    assert "lower than that of" in lead[0]
    opened = head[head.index('<details class="how">') :]
    assert "How this was decided" in opened
    for words in ("Estimand:", "The standard is", "Of the variance"):
        assert words in opened
        assert words not in head[: head.index('<details class="how">')]


def test_accuracy_stands_beside_the_loss_and_terms_have_their_meaning(result, text):
    """Expected accuracy by hand: the mean share of votes for the label that the model finds most probable."""
    aligned = result.labelled.aligned
    top = aligned.log_probs[0].argmax(-1)
    share = float(aligned.truth[range(len(top)), top].mean())
    assert result.analysis.accuracy[aligned.models[0]] == pytest.approx(share, abs=1e-12)
    assert f">{share:.3f}</td>" in text
    for term in ("Accuracy (expected)", "Divergence", "Expected regret", "Typical probability given"):
        assert re.search(rf'title="[^"]+"[^>]*><span class="term">{re.escape(term)}<', text)


def test_without_script_it_says_where_the_numbers_are(text):
    said = re.findall(r"<noscript>(.*?)</noscript>", text, re.DOTALL)
    assert len(said) == 2
    assert all("JavaScript" in words for words in said)
    assert text.count('class="explorer" hidden') == 2


def test_data_cannot_end_its_element(odd, drawn):
    raw = html(replace(odd, item_text={str(item): "</script><b>&\u2028" for item in odd.scores.items}), drawn)
    inside = raw[raw.index('id="data">') + 10 :]
    inside = inside[: inside.index("</script>")]
    assert not re.search("[<>&\u2028]", inside)
    assert json.loads(inside)["items"]["text"][0] == "</script><b>&�"


def test_failing_diagnostics_leave_no_verdict_to_choose(failing):
    assert 'pair-explorer" class' not in failing
    assert '"curves":' not in failing


def test_same_result_same_page(result, drawn, text):
    assert html(result, drawn) == text


def test_sort_keys_are_numbers_unknown_blank(make, result, drawn):
    inf = float("inf")
    pairs = [{**row, "difference": inf, "p_a_better": None} for row in result.comparison.pairs]
    text = html(make["rewrite"](result, pairs=pairs), drawn)
    assert re.search(r'data-sort="Infinity"[^>]*>\+∞', text)
    assert re.search(r'data-sort=""[^>]*>–', text)


def test_contents_lead_to_every_section(text, page):
    anchors = [(attributes.get("href") or "")[1:] for tag, attributes in page.tags if tag == "a"]
    headings = [attributes["id"] for tag, attributes in page.tags if tag == "h2" and attributes["id"] != "warnings"]
    assert anchors == headings
    assert len(anchors) == 10


def test_long_tables_open_at_a_click_short_ones_stand_open(many, text):
    assert re.search(r"<summary>Differences of all pairs <span[^>]*>66 rows</span></summary>", many)
    assert "<summary>Differences" not in text


def test_many_models_are_numbered_above_the_matrix(many):
    matrix = re.search(r'aria-label="P\(row beats column\)".*?</table>', many, re.DOTALL)
    assert matrix is not None
    assert 'data-sort="model-03">4 <bdi' in matrix.group()
    assert len(re.findall(r'<th scope="col" class="num">\d+</th>', matrix.group())) == 12


def test_a_large_result_is_a_page_of_less_than_a_megabyte(make):
    assert len(html(make["bare"](40)).encode()) < 1_000_000


def test_the_page_names_its_sources_and_how_to_cite(page):
    shown = "".join(page.text)
    for said in ("@software{probtruth,", "doi:10.3390/e19060286", "Krippendorff's alpha", "Annotators, best first"):
        assert said in shown
