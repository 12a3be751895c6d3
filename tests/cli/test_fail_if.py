"""A condition of three words, read and never evaluated."""

import json

import numpy as np
import pytest

from probtruth.cli.fail_if import Condition, gate_of, parse
from probtruth.errors import InputError
from probtruth.types.pairs import Pair

ROWS = [
    {"a": "new", "b": "old", "difference": 0.3, "low": 0.1, "high": 0.5, "p_a_better": 0.04, "p_equivalent": None,
     "p_b_better": 0.96},
    {"a": "old", "b": "other", "difference": 0.2, "low": 0.0, "high": 0.4, "p_a_better": 0.2, "p_equivalent": None,
     "p_b_better": None},
    {"a": "new", "b": "other", "difference": 0.2, "low": 0.0, "high": 0.4, "p_a_better": 0.2, "p_equivalent": None,
     "p_b_better": 0.8},
]  # fmt: skip
PAIRS = [Pair(**row) for row in ROWS]
MODELS = ("old", "new", "other")


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("p_worse > 0.9", Condition("p_worse", ">", 0.9)),
        ("p_worse>.9", Condition("p_worse", ">", 0.9)),
        ("  difference >= -1e-3 ", Condition("difference", ">=", -0.001)),
        ("high<0", Condition("high", "<", 0.0)),
        ("low <= +2.", Condition("low", "<=", 2.0)),
    ],
)
def test_read(text, condition):
    assert parse(text) == condition


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "--fail-if ''"),
        ("p_worse", "a name, one of"),
        ("p_worse = 0.9", "a name, one of"),
        ("p_worse > nan", "a name, one of"),
        ("p_worse > 0.9 or 1", "a name, one of"),
        ("0.9 < p_worse", "a name, one of"),
        ("__import__('os').system('x') > 0", "a name, one of"),
        ("p_wors > 0.9", "p_worse"),
        ("p_equivalent > 0.9", "without --rope"),
        ("p_worse > 90", "above 0 and below 1. Hint: Write .* 90 per cent are 0.9."),
        ("p_better < -0.1", "above 0 and below 1"),
        ("p_worse > 1", "above 0 and below 1"),
        ("p_better < 0", "above 0 and below 1"),
        ("p_worse >= 0", "above 0 and below 1"),
        ("difference > 1e999", "a finite number"),
    ],
)
def test_not_read(text, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        parse(text)


@pytest.mark.parametrize(
    ("text", "value", "fails"),
    [
        ("p_worse > 0.9", 0.96, True),
        ("p_worse > 0.96", 0.96, False),
        ("p_worse >= 0.96", 0.96, True),
        ("p_better < 0.05", 0.04, True),
        ("difference > 0", 0.3, True),
        ("low > 0.2", 0.1, False),
        ("high <= 0.5", 0.5, True),
    ],
)
def test_new_against_old_by_hand(text, value, fails):
    found = judged(text)[0]
    assert (found["model"], found["baseline"], found["value"], found["fails"]) == ("new", "old", value, fails)


def judged(text, baseline=None):
    return gate_of([text], baseline, None).judged(PAIRS, MODELS, None)["models"]


def test_the_other_way_round_signs_and_ends_change():
    values = {name: judged(f"{name} > 0.5", "new")[0]["value"] for name in ("difference", "low", "p_worse")}
    assert values == {"difference": -0.3, "low": -0.5, "p_worse": 0.04}


def test_what_is_not_known_fails():
    gate = gate_of(["p_better > 0.9"], None, None)
    found = gate.judged(PAIRS, MODELS, None)
    assert (found["models"][1]["value"], found["models"][1]["fails"]) == (None, True)
    assert "not known" in found["words"][1]


def test_an_unknown_baseline():
    with pytest.raises(InputError, match="--baseline 'odl'"):
        judged("p_worse > 0.9", "odl")


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        f"q{item},{model},{rng.normal() + worse:.4f}" for item in range(60) for model, worse in (("old", 0), ("new", 1))
    ]
    path = tmp_path / "scores.csv"
    path.write_text("item,model,score\n" + "\n".join(rows) + "\n")
    return path


def test_the_command_ends_with_status_1_and_has_written_the_report(run, scores, tmp_path):
    where = ("--engine", "exact", "--out", tmp_path / "out")
    outcome = run("compare", scores, "--lower-is-better", "--fail-if", "p_worse > 0.9", *where)
    assert outcome.status == 1
    assert "fails: p_worse of 'new' against 'old'" in outcome.out
    assert (tmp_path / "out" / "report.md").exists()
    outcome = run(
        "compare", scores, "--lower-is-better", "--fail-if", "p_worse > 0.9", "--baseline", "new", "--json", *where
    )
    assert outcome.status == 0
    gate = json.loads(outcome.out)["fail_if"]
    assert gate["condition"] == "p_worse > 0.9"
    assert [(row["model"], row["fails"]) for row in gate["models"]] == [("old", False)]


@pytest.mark.parametrize(
    "options", [("--fail-if", "p_worse = 1"), ("--fail-if", "low > 0", "--baseline", "x"), ("--baseline", "old")]
)
def test_bad_use_is_status_2_and_writes_nothing(run, scores, tmp_path, options):
    outcome = run("compare", scores, "--lower-is-better", *options, "--out", tmp_path / "out")
    assert outcome.status == 2
    assert not (tmp_path / "out").exists()


def test_no_verdict_has_a_status_of_its_own(run, scores, tmp_path):
    """In `scores` new is worse by 1 (its interval is far from 0); in the other table both models are alike."""
    alike = tmp_path / "alike.csv"
    rows = [f"q{item},{model},{(item * 7 + shift) % 5}" for item in range(40) for model, shift in (("x", 0), ("y", 1))]
    alike.write_text("item,model,score\n" + "\n".join(rows) + "\n")
    words = ("--lower-is-better", "--engine", "exact", "--fail-if", "inconclusive")
    decided = run("compare", scores, *words)
    assert (decided.status, "passes: there is a verdict on every model against 'old'" in decided.out) == (0, True)
    no_verdict = run("compare", alike, *words)
    assert no_verdict.status == 3
    assert "inconclusive: the interval of 'y' against 'x'" in no_verdict.out
    both = run("compare", alike, *words, "--fail-if", "difference > -9", "--json")
    assert both.status == 1  # a condition that a model meets comes first
    assert [row["model"] for row in both.json["fail_if"]["inconclusive"]] == ["y"]
    assert both.json["fail_if"]["condition"] == "difference > -9; inconclusive"
    assert run("compare", alike, "--lower-is-better", "--engine", "exact").status == 0


def test_run_is_a_gate_too(run, files, models):
    words = ["run", "--annotations", files["labels"], *models, "--engine", "exact"]
    assert run(*words, "--fail-if", "p_worse > 0.5", "--baseline", "sharp").status == 1
    assert run(*words, "--fail-if", "p_worse > 0.5", "--baseline", "flat").status == 0
