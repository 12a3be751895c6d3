"""probtruth/types/orientation.py: which way a score counts is known or said, never assumed."""

import inspect
import re
from pathlib import Path

import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.scores import read_scores
from probtruth.types.orientation import HIGHER, LOWER, known, upward

MARKS = {"item": [*range(6)] * 2, "model": ["good"] * 6 + ["bad"] * 6, "score": [1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]}


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        *[
            (name, True)
            for name in ("accuracy", "f1", "exact_match", "bleu", "auc", "reward", "ROC AUC", "exact-match")
        ],
        *[(name, False) for name in ("loss", "nll", "brier", "error", "perplexity", "Log-Loss", "brier score")],
        *[("neg_log_loss", True), ("neg_accuracy", False), ("exact_match,strict-match", True)],
        *[(name, None) for name in ("score", "value", "neg_score", "judge", "", "accuracy_of_nothing", "neg_")],
    ],
)
def test_known_names_of_issue_16(name, answer):
    assert known(name) is answer


def test_no_metric_counts_both_ways_and_names_are_plain():
    assert not HIGHER & LOWER
    assert all(known(name) is (name in HIGHER) for name in HIGHER | LOWER)


def test_what_is_said_goes_before_the_name():
    assert upward("accuracy", False) is False
    with pytest.raises(InputError, match="higher_is_better='yes', expected True or False"):
        upward("accuracy", "yes")


def test_the_argument_has_no_default():
    parameter = inspect.signature(pt.Scores.from_frame).parameters["higher_is_better"]
    assert (parameter.default, parameter.kind) == (inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY)
    with pytest.raises(TypeError, match="higher_is_better"):
        pt.Scores.from_frame(MARKS)


BOTH = "--higher-is-better or --lower-is-better"


def test_a_bare_score_is_refused_and_a_known_one_is_not(tmp_path: Path):
    path = tmp_path / "marks.csv"
    rows = zip(MARKS["item"], MARKS["model"], MARKS["score"], strict=True)
    path.write_text("item,model,score\n" + "".join(f"{item},{model},{score}\n" for item, model, score in rows))
    for read in (
        lambda: read_scores(path),
        lambda: pt.Scores.from_frame(MARKS, higher_is_better=None),
        lambda: pt.monitor(MARKS, bounds=(0, 1)),
        lambda: pt.read_scores({"item": ["x"], "a": [1], "b": [0]}, models=[]),
    ):
        with pytest.raises(InputError, match=BOTH):
            read()
    named = {"item": MARKS["item"], "model": MARKS["model"], "accuracy": MARKS["score"]}
    assert pt.Scores.from_frame(named, score="accuracy", higher_is_better=None).higher_is_better
    assert pt.monitor(named, score="accuracy", bounds=(0, 1)).higher_is_better
    path.write_text(path.read_text().replace("score", "accuracy"))
    better = pt.compare(read_scores(path, score="accuracy"), engine="exact").ranking()["model"][0]
    assert better == "good"


def test_the_documented_list_is_the_list():
    page = Path(__file__).parents[2].joinpath("docs", "formats.md").read_text(encoding="utf-8")
    listed = page.split("Higher is better for")[1].split(";\n")[0], page.split("lower is better for")[1].split(".\n")[0]
    assert [set(re.findall("`([^`]+)`", part)) for part in listed] == [HIGHER, LOWER]
