"""The whole report of a result whose every name is hostile: shown, not run, in HTML, Markdown and CSV."""

import re
from csv import reader

import numpy as np
import pytest

import probtruth as pt
from probtruth.report.numbers import plain

# Markup, a formula, emoji with right-to-left text, 300 characters, LaTeX, Markdown, an attribute
NAMES = (
    "<script>alert(1)</script>",
    "=1+1",
    "😀 👩‍🔬 שלום مرحبا",
    "x" * 300,
    r"\input{a} $x_1^2$ 100% & #1 ~ [z]",
    "![i](javascript:alert(1)) | *b* `c` @all",
    '" onload="alert(1)',
    "co \u202egnp | *x* $y$",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The report of hostile models, items, labels and annotators."""
    random = np.random.default_rng(0)
    items = [f"{NAMES[place % 8]} {place}" for place in range(42)]
    labels, truth = NAMES[:3], random.integers(0, 3, 42)
    rows = {"item": [], "annotator": [], "label": []}
    for item, right in zip(items, truth, strict=True):
        for annotator in NAMES:
            said = labels[right if random.random() < 0.7 else random.integers(0, 3)]
            for key, value in (("item", item), ("annotator", annotator), ("label", said)):
                rows[key].append(value)
    probs = {name: random.dirichlet([1, 1, 1], 42) * 0.5 + np.eye(3)[truth] * 0.5 for name in NAMES}
    predictions = pt.Predictions.from_probs(probs, items=items, labels=labels)
    result = pt.evaluate(pt.Annotations.from_long(rows), predictions, engine="exact", rope=0.01)
    out = tmp_path_factory.mktemp("hostile") / "out"
    pt.write_report(result, out)
    return out


@pytest.mark.process
def test_the_page_shows_names_and_has_one_script_of_its_own(folder, read_page):
    page = read_page((folder / "report.html").read_text("utf-8"))
    for name in NAMES:
        assert plain(name) in "".join(page.text)
    assert "\u202e" not in "".join(page.text)
    assert [attributes for tag, attributes in page.tags if tag == "script"] == [{}]
    assert not [tag for tag, _ in page.tags if tag in ("img", "iframe", "object", "embed", "link", "form")]
    assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")]
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert links
    assert all(link.startswith("#") for link in links)


def test_markdown_holds_no_markup_of_theirs(folder):
    text = (folder / "report.md").read_text("utf-8")
    assert "<script" not in text
    assert not re.search(r"(?<!\\)!\[|(?<!\\)\]\(", text)
    assert "x" * 300 in text
    assert "co �gnp \\| \\*x\\* \\$y\\$" in text


@pytest.mark.parametrize("file", ["models.csv", "pairwise.csv"])
def test_no_cell_of_a_table_is_a_formula(folder, file):
    with (folder / file).open(encoding="utf-8", newline="") as lines:
        rows = list(reader(lines))
    names = {cell for row in rows[1:] for cell in row[: 1 if file == "models.csv" else 2]}
    shown = [name.replace("\u202e", r"\u202e") for name in NAMES]  # what controls a terminal is written as its escape
    assert names == {f"'{name}" if name.startswith("=") else name for name in shown}
