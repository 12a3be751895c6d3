"""What public objects show of themselves: a short `repr`; results HTML, a figure and a report too."""

import dataclasses
import functools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from line_results import ODD_NAMES
from made_scores import side_by_side
from matplotlib.axes import Axes

import probtruth as pt
from probtruth import demo
from probtruth.line.result import Result

N = 40


@functools.cache
def made() -> dict[str, Any]:
    """One of each class that a caller holds."""
    rng = np.random.default_rng(0)
    annotations, predictions = demo.load()
    truth = pt.infer_truth(annotations, draws=0)
    result = pt.evaluate(annotations, predictions, engine="exact")
    x, y = rng.integers(0, 2, (2, N))
    rows = side_by_side(x=x, y=y)
    bare = pt.Scores.from_frame(rows, higher_is_better=True)
    return {
        "annotations": annotations,
        "predictions": predictions,
        "truth": truth,
        "classes": pt.infer_truth(annotations, "dawid-skene-em", draws=0),
        "scores": result.scores,
        "result": result,
        "comparison": result.comparison,
        "bare scores": bare,
        "bare comparison": pt.compare(bare, engine="exact"),
        "one model": pt.evaluate([0, 1, 1, 0, 1] * 6, {"m": np.tile([[0.6, 0.4], [0.3, 0.7]], (15, 1))}),
        "rule": pt.rules.brier,
        "plan": pt.plan(bare),
        "monitor": pt.monitor(rows, bounds=(0, 1), higher_is_better=True),
        "risk": pt.nelson.risk_profile(predictions, truth),
        "confusion": pt.expected_confusion(predictions, truth),
        "curves": pt.confusion.roc_curves(predictions, truth),
        "index": annotations.index,
        "labels": result.scores.labels,
        "labelled": result.labelled,
        "analysis": result.analysis,
        "other": result.other,
    }


def test_a_repr_has_ten_lines_at_most() -> None:
    for name, shown in made().items():
        text = repr(shown)
        assert text.count("\n") < 10, name
        assert len(text) < 1500, name
        assert "array(" not in text, name


def test_a_result_shows_verdict_ranking_warnings_and_figure(read_page: Any) -> None:
    result, comparison = made()["result"], made()["comparison"]
    for shown in (result, comparison):
        lines = repr(shown).split("\n")
        assert lines[0].startswith(f"{type(shown).__name__}: 4 models, 899 items, ")
        assert lines[0].endswith("log loss in nats, lower is better")
        assert lines[1] == "nearest-neighbours is almost certainly the best of the 4 models."
        assert lines[3].split()[0] == "nearest-neighbours"
        page = shown._repr_html_()
        assert read_page(page).open == []
        assert "<script" not in page
        assert "<svg" in page
        assert page.count("<tr>") == 5
        assert "almost certainly the best" in page
        assert isinstance(shown.plot(), Axes)
    assert result.warnings
    assert result.standing is not None
    assert result.verdicts_computed
    assert f"{len(set(result.warnings))} warning" in repr(result)
    assert result.warnings[0] in repr(result)


def test_a_plan_shows_what_its_study_would_find(read_page: Any) -> None:
    plan = made()["plan"]
    lines = repr(plan).split("\n")
    assert lines[0] == "Plan: x against y"
    assert lines[1].startswith(
        "A study of 40 items says with certainty 0.95 which is better, x or y, with probability "
    )
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [
        "design",
        "same",
        "study",
        "items",
        "enough",
    ]
    page = plan._repr_html_()
    assert read_page(page).open == []
    assert page.count("<tr>") == 5
    assert plan.plot().get_ylabel() == "probability that the study decides"


def test_one_model_shows_its_reliability() -> None:
    alone = made()["one model"]
    assert "observed frequency" in alone.plot().get_ylabel()
    assert "<svg" not in alone._repr_html_()
    bare = dataclasses.replace(alone, labelled=None)
    with pytest.raises(pt.InputError, match="one model without labels"):
        bare.plot()


def test_two_results_on_one_page_share_no_identifiers() -> None:
    pages = [made()[name]._repr_html_() for name in ("result", "bare comparison")]
    first, second = (set(re.findall(r'id="([^"]+)"', page)) for page in pages)
    assert first
    assert not first & second


def test_names_are_no_markup(read_page: Any) -> None:
    rows = {"item": [*range(9)] * len(ODD_NAMES), "model": np.repeat(ODD_NAMES, 9).tolist()}
    rows["score"] = np.random.default_rng(0).normal(size=9 * len(ODD_NAMES)).tolist()
    comparison = pt.compare(pt.read_scores(rows, higher_is_better=False), engine="exact")
    page = comparison._repr_html_()
    assert "<script" not in page
    assert read_page(page).open == []
    assert "\u202e" not in repr(comparison)


@pytest.mark.long
def test_a_comparison_has_a_report(tmp_path: Path) -> None:
    comparison = made()["bare comparison"]
    pt.write_report(comparison, tmp_path / "one")
    pt.write_report(Result.of(pt.compare(made()["bare scores"], engine="exact")), tmp_path / "two")
    pages = [(tmp_path / name / "report.html").read_text() for name in ("one", "two")]
    assert pages[0] == pages[1]
    assert "Items on which the two leading models differ most" in pages[0]
    with pytest.raises(pt.InputError, match="got Scores, expected a Result or a Comparison"):
        pt.write_report(made()["bare scores"], tmp_path / "five")


def test_a_comparison_without_its_scores_still_shows_itself(tmp_path: Path) -> None:
    bare = dataclasses.replace(made()["bare comparison"], scored=None)
    assert repr(bare).split("\n")[1] == repr(made()["bare comparison"]).split("\n")[1]
    pt.write_report(bare, tmp_path / "out")


def test_a_quick_look_computes_no_other_verdict() -> None:
    """The verdict under the other estimand takes most of the time of an evaluation, and `repr` took as long."""
    annotations, predictions = demo.load()
    fresh = pt.evaluate(annotations, predictions, engine="exact")
    lines = repr(fresh).split("\n")
    assert not fresh.verdicts_computed
    assert lines[1] == "nearest-neighbours is almost certainly the best of the 4 models."
    assert lines[-1] == "verdicts under the other estimand are computed when they are read (.other)"
    assert fresh.standing is not None
    assert fresh.warnings
    assert fresh.verdicts_computed
    assert repr(fresh).split("\n")[-1].startswith("1 warning (.warnings); the first: the choice of estimand matters")


def test_the_paragraph_of_a_paper_has_every_figure() -> None:
    result = made()["result"]
    text = result.paragraph()
    pair = result.standing.gap
    assert pair.a == "nearest-neighbours"
    for said in (
        "We compared 4 models on 899 items (10 labels; 12 annotators; reference: how annotators would answer, by vote",
        "log loss in nats, lower is better). nearest-neighbours is almost certainly the best of the 4 models.",
        "inferred from annotations: vote shares with their uncertainty (dirichlet)",
        f"−{abs(pair.difference):.3f} nats (95% interval −{abs(pair.low):.3f} to −{abs(pair.high):.3f})",
        "P(nearest-neighbours is best): 0.999",
        "Estimand: mean paired difference (a minus b, negative favours a) of expected log scores over new items",
        f"with probtruth {pt.__version__} (seed 0).",
    ):
        assert said in text
    in_latex = result.paragraph(latex=True)
    assert "95\\% interval $-$" in in_latex
    assert "nearest-{}neighbours" in in_latex
    alone = made()["one model"].paragraph()
    assert alone.startswith("We evaluated 1 model on 30 items (")
    assert "We compared 2 models on 40 items" in pt.Result.of(made()["bare comparison"]).paragraph()
    tolerant = pt.compare(made()["bare scores"], engine="exact", rope=0.25)
    assert "Counting differences up to 0.25 as equivalent, P(" in pt.Result.of(tolerant).paragraph()
