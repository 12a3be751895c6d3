"""The glossary explains every term that stands over a column, or in the sentences, of the page and the terminal."""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pages
import pytest
from line_results import bare_result, demo_result, rewrite
from made_scores import side_by_side

import probtruth as pt
from probtruth import demo
from probtruth.line.labelled import truth_dict
from probtruth.report import terminal, terminal_study
from probtruth.report.contents import Block, Fold, contents
from probtruth.report.html import html
from probtruth.report.names import MARKED
from probtruth.report.tables import Table
from probtruth.types.arguments import METHOD_WORDS

GLOSSARY = pages.REPOSITORY / "docs" / "glossary.md"
# Heads of columns by the term that explains them; a head that has one's name needs no entry.
EXPLAINED = {
    "a": "difference",
    "b": "difference",
    "P(b better)": "P(a better)",
    "Mean log loss (nats)": "nats",
    "Mean seconds": "loss",
    "Mean, distribution": "distribution",
    "P(best), distribution": "distribution",
    "Mean, class": "class",
    "P(best), class": "class",
    "Infinite on": "loss",
    "Expected rank": "rank",
    "Error by chance alone": "calibration error",
    "The same, recalibrated": "typical probability",
    "Ratio of the two": "typical probability",
    "Information (nats)": "information",
    "Diagnostic": "diagnostics",
    "t": "model-free test",
    **dict.fromkeys(("p (t)", "p (sign flips)", "p (Wilcoxon)"), "model-free test"),
    **dict.fromkeys(("Holm p (t)", "Holm p (sign flips)", "Holm p (Wilcoxon)"), "model-free test"),
    "95% holds it": "coverage",
    "true difference": "difference",
    "exaggerates": "exaggeration",
    "decides": "power",
    "design": "pilot",
    "agreement": "Krippendorff's alpha",
    "skill": "skill (kappa)",
}
# Heads that say what any reader knows.
LABELS = demo.load()[0].index.labels
PLAIN = {"Value", "Passes if", "Setting", "cost", "probability", "truth", "wrong sign"}
# Terms that sentences of the page use, whether or not a column has them.
IN_SENTENCES = (
    "distribution", "class", "P(best)", "95% set", "miscalibration", "discrimination", "gold", "crossed", "ROPE",
    "estimand", "inconclusive", "overconfident", "underconfident", "assumptions", "e-value", "vote share", "replicate",
    "nats", "entropy", "divergence", "Krippendorff's alpha",
)  # fmt: skip


@pytest.fixture(scope="module")
def terms() -> set[str]:
    """The terms of the glossary: the lines before definitions."""
    found: set[str] = set()
    for line in re.findall(r"^(\S.*)\n: ", GLOSSARY.read_text("utf-8"), re.MULTILINE):
        found |= {line, *line.split(", ")}
    return found


def tables(blocks: tuple[Block, ...]) -> Iterator[Table]:
    for block in blocks:
        if isinstance(block, Fold):
            yield from tables(block.blocks)
        elif isinstance(block, Table):
            yield block


def every_table() -> Iterator[Table]:
    """Those of a page with everything on it, of bare scores, and of the terminal's studies and truths."""
    shown = demo_result()
    more = {"sign_flip_p": 0.04, "sign_flip_p_holm": 0.1}
    tests = [{**row, **more} for row in shown.comparison.model_free]
    rows = [replace(row, group="g", n_items=9) for row in shown.comparison.pairs]
    for result in (rewrite(shown, tests=lambda: tests, of_groups=lambda: rows), bare_result(12)):
        yield from tables(contents(result).sections)
    x, y = np.random.default_rng(0).integers(0, 2, (2, 40))
    pilot = pt.Scores.from_frame(side_by_side(x=x, y=y), higher_is_better=True)
    yield terminal_study.plan_table(pt.plan(pilot, costs={"item": 1.0}))
    yield terminal_study.validation_table(pt.validate(pilot, replications=20))
    truth = truth_dict(pt.infer_truth(shown.annotations, "dawid-skene-em", draws=0), None)
    truth["annotators"] = {"ada": {"n_annotations": 3, "agreement": 0.5, "skill": 0.4}}
    yield from terminal.truth_tables(truth)


def test_every_head_of_a_column_is_explained(terms):
    lower = {term.lower() for term in terms}
    for table in every_table():
        for head in table.heads:
            if MARKED.search(head) or head in PLAIN or head in LABELS:
                continue
            explained = EXPLAINED.get(head, head)
            singular = explained.removesuffix("s")
            assert {explained.lower(), singular.lower()} & lower, f"{head!r} of {table.caption!r}"


def test_every_term_of_the_sentences_is_explained(terms):
    for term in IN_SENTENCES:
        assert term in terms, term
    page = html(demo_result()).lower()
    used = [term for term in IN_SENTENCES if term.lower() in page]
    assert len(used) > 12, "they are the page's"


def test_no_method_stands_without_its_plain_name():
    """`ability`, `dirichlet`: the plain name stands before each, in the verdict, the tables and the warnings."""
    annotations, predictions = demo.load()
    result = pt.evaluate(annotations, predictions, engine="exact")
    text = re.sub("<svg.*?</svg>|<script.*?</script>|<style.*?</style>", "", html(result), flags=re.DOTALL)
    found = 0
    for method in ("dirichlet", "ability"):
        for place in re.finditer(rf"\b{method}\b", text):
            found += 1
            assert text[: place.start()].endswith(f"{METHOD_WORDS[method]} ("), text[place.start() - 60 : place.end()]
    assert found > 3
