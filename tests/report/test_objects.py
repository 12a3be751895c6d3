"""What public objects show of themselves: `repr`, `summary`, HTML, a figure, a report."""

import dataclasses
import functools
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from line_results import ODD_NAMES
from matplotlib.axes import Axes

import probtruth as pt
from probtruth import demo
from probtruth.line.result import Result

N = 40


NAMES = (
    "annotations", "predictions", "truth", "classes", "several labels", "scores", "result", "comparison", "bare scores",
    "bare comparison", "one model", "rule", "plan", "monitor", "validation", "risk", "confusion", "curves",
)  # fmt: skip
INNER = ("index", "audit", "labels", "labelled", "aligned", "analysis", "other")


@functools.cache
def made() -> dict[str, Any]:
    """One of each class that a caller holds."""
    rng = np.random.default_rng(0)
    annotations, predictions = demo.load()
    truth = pt.infer_truth(annotations, draws=0)
    result = pt.evaluate(annotations, predictions, engine="exact")
    rows = {"item": [*range(N)] * 2, "model": ["x"] * N + ["y"] * N, "score": rng.integers(0, 2, 2 * N)}
    bare = pt.Scores.from_frame(rows, higher_is_better=True)
    sets = {"item": list("aaabbb"), "annotator": list("pqqpqr"), "label": ["x", "x", "y", "y", "y", "x"]}
    return {
        "annotations": annotations,
        "predictions": predictions,
        "truth": truth,
        "classes": pt.infer_truth(annotations, "dawid-skene-em", draws=0),
        "several labels": pt.infer_multilabel(pt.Annotations.from_long(sets, replicate="label"), "vote-share"),
        "scores": result.scores,
        "result": result,
        "comparison": result.comparison,
        "bare scores": bare,
        "bare comparison": pt.compare(bare, engine="exact"),
        "one model": pt.evaluate([0, 1, 1, 0, 1] * 6, {"m": np.tile([[0.6, 0.4], [0.3, 0.7]], (15, 1))}),
        "rule": pt.rules.brier,
        "plan": pt.plan(bare),
        "monitor": pt.monitor(rows, bounds=(0, 1), higher_is_better=True),
        "validation": pt.validate(bare, replications=60),
        "risk": pt.risk_profile(predictions, truth),
        "confusion": pt.expected_confusion(predictions, truth),
        "curves": pt.confusion.roc_curves(predictions, truth),
    }


@functools.cache
def inner() -> dict[str, Any]:
    """One of each class that these hold."""
    rows = {"item": ["a", "b", "a"], "model": list("xxy"), "loss": [1, 2, 3]}
    result = made()["result"]
    return {
        "index": made()["annotations"].index,
        "audit": pt.Scores.from_frame(rows, score="loss", higher_is_better=None).audit,
        "labels": made()["scores"].labels,
        "labelled": result.labelled,
        "aligned": result.labelled.aligned,
        "analysis": result.analysis,
        "other": result.other,
    }


def test_all_are_tested() -> None:
    assert tuple(made()) == NAMES
    assert tuple(inner()) == INNER


@pytest.mark.parametrize("name", [*NAMES, *INNER])
def test_repr_has_ten_lines_at_most(name: str) -> None:
    text = repr({**made(), **inner()}[name])
    assert text.count("\n") < 10
    assert len(text) < 1500
    assert "array(" not in text


@pytest.mark.parametrize("name", NAMES)
def test_summary_html_and_figure(name: str) -> None:
    shown = made()[name]
    summary = shown.summary()
    assert summary
    assert max(map(len, summary.split("\n"))) <= 120
    Balanced().feed(shown._repr_html_())
    assert isinstance(shown.plot(), Axes)


class Balanced(HTMLParser):
    """Raises where a tag that was opened is closed by another."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag != "script"
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None: ...

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_result_shows_verdict_ranking_and_forest() -> None:
    result, comparison = made()["result"], made()["comparison"]
    for shown in (result, comparison):
        lines = repr(shown).split("\n")
        assert lines[0].startswith(f"{type(shown).__name__}: 4 models on 899 items, log loss (nats), lower is better")
        assert lines[1] == "nearest-neighbours is almost certainly the best of the 4 models."
        assert lines[3].split()[0] == "nearest-neighbours"
        page = shown._repr_html_()
        assert "<svg" in page
        assert page.count("<tr>") == 5
        assert "almost certainly the best" in page
        assert "Differences of all pairs" in shown.summary()


def test_two_results_on_one_page_share_no_identifiers() -> None:
    pages = [made()[name]._repr_html_() for name in ("result", "bare comparison")]
    first, second = (set(re.findall(r'id="([^"]+)"', page)) for page in pages)
    assert first
    assert not first & second


def test_names_are_no_markup() -> None:
    rows = {"item": [*range(9)] * len(ODD_NAMES), "model": np.repeat(ODD_NAMES, 9).tolist()}
    rows["score"] = np.random.default_rng(0).normal(size=9 * len(ODD_NAMES)).tolist()
    comparison = pt.compare(rows, higher_is_better=False, engine="exact")
    for page in (comparison._repr_html_(), comparison.scored._repr_html_()):
        assert "<script" not in page
        Balanced().feed(page)
    assert "\u202e" not in repr(comparison) + comparison.summary()
    assert repr(comparison).count("\n") < 10


@pytest.mark.long
def test_a_comparison_has_a_report(tmp_path: Path) -> None:
    comparison = made()["bare comparison"]
    comparison.report(tmp_path / "one")
    pt.write_report(comparison, tmp_path / "two")
    pt.write_report(Result.of_scores(made()["bare scores"], engine="exact"), tmp_path / "three")
    pages = [(tmp_path / name / "report.html").read_text() for name in ("one", "two", "three")]
    assert pages[0] == pages[1] == pages[2]
    assert "Items on which the two leading models differ most" in pages[0]
    made()["result"].report(tmp_path / "four")
    assert "Calibration" in (tmp_path / "four" / "report.html").read_text()
    with pytest.raises(pt.InputError, match="got Scores, expected a Result or a Comparison"):
        pt.write_report(made()["bare scores"], tmp_path / "five")


def test_a_comparison_without_its_scores_still_shows_itself(tmp_path: Path) -> None:
    bare = dataclasses.replace(made()["bare comparison"], scored=None)
    assert repr(bare).split("\n")[1] == repr(made()["bare comparison"]).split("\n")[1]
    bare.report(tmp_path / "out")


def test_streamed_scores_are_known_to_their_comparison(tmp_path: Path) -> None:
    import polars

    rows = {"item": [*range(N)] * 2, "model": ["x"] * N + ["y"] * N, "loss": np.arange(2.0 * N) % 7}
    polars.DataFrame(rows).write_parquet(tmp_path / "scores.parquet")
    comparison = pt.compare(tmp_path / "scores.parquet", score="loss", memory=1, engine="exact")
    assert f"2 models on {N} items" in repr(comparison)
    comparison.report(tmp_path / "out")


def test_what_has_no_figure_says_so() -> None:
    from probtruth.report import objects

    with pytest.raises(pt.InputError, match="got a Index, expected an object with a figure"):
        objects.plot(made()["annotations"].index)


@pytest.mark.process
def test_matplotlib_is_loaded_for_a_figure_only() -> None:
    code = """
import sys
import probtruth as pt
rows = {"item": [0, 1, 2] * 2, "model": ["a"] * 3 + ["b"] * 3, "score": [0.1, 0.3, 0.2, 0.5, 0.4, 0.6]}
comparison = pt.compare(rows, higher_is_better=False, engine="exact")
repr(comparison), comparison.summary(), repr(comparison.scored)
assert "matplotlib.figure" not in sys.modules and "jinja2" not in sys.modules
comparison.plot()
assert "matplotlib.figure" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
