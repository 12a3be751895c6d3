"""One model alone: its score with an interval, decomposition, calibration and a report, and nothing of a ranking."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats
from simulated_annotations import answered

import probtruth as pt
from probtruth.report.names import unmarked
from probtruth.report.verdict import verdict

N = 60
RNG = np.random.default_rng(3)
PROBS = RNG.dirichlet([1, 1, 1], N)
HARD = np.array([RNG.choice(3, p=row) for row in PROBS])
LOSSES = -np.log(PROBS[np.arange(N), HARD])
ITEMS = [f"i{number:02d}" for number in range(N)]
VOTES = {
    "item": ITEMS * 3,
    "annotator": ["u"] * N + ["v"] * N + ["w"] * N,
    "label": ["abc"[RNG.choice(3, p=row)] for _ in range(3) for row in PROBS],
}
MODEL = {"bert": pl.DataFrame(PROBS, schema=list("abc")).with_columns(item=pl.Series(ITEMS))}


@pytest.fixture(scope="module")
def alone() -> pt.Result:
    return pt.evaluate(VOTES, MODEL, engine="exact")


def test_the_score_is_the_mean_with_its_interval() -> None:
    row = pt.evaluate(HARD, {"bert": PROBS}).comparison.ranks[0]
    assert row["score"] == pytest.approx(LOSSES.mean(), rel=1e-12)
    # The interval is at least Student's, which the correction for skewness widens on the side of the long tail.
    low, high = stats.t.interval(0.95, N - 1, LOSSES.mean(), LOSSES.std(ddof=1) / np.sqrt(N))
    assert row["low"] == pytest.approx(low, abs=0.1 * (high - low))
    assert float(str(row["high"])) >= high - 1e-12


def test_nothing_of_a_ranking(alone: pt.Result) -> None:
    found = alone.to_dict()
    assert found["pairwise"] == []
    assert [found["models"][0][key] for key in ("p_best", "expected_rank", "expected_regret", "tier")] == [None] * 4
    assert found["decisions"]["credible_set"] is None
    assert found["estimand"].startswith("mean of expected log scores over new items like these")
    assert alone.comparison.pairwise().is_empty()
    assert alone.comparison.ranking().height == 1


def test_decomposition_and_calibration(alone: pt.Result) -> None:
    row = alone.decomposition[0]
    assert row["expected"] == pytest.approx(row["entropy"] + row["divergence"], rel=1e-9)
    assert alone.analysis.calibration.models == ("bert",)


def test_the_report_names_no_pair_and_no_best(alone: pt.Result, tmp_path: Path) -> None:
    said = verdict(alone)
    assert unmarked(said.headline).startswith("The mean log loss of bert is ")
    assert said.level == "one-model"
    pt.write_report(alone, tmp_path / "out")
    for name in ("report.html", "report.md", "report.tex"):
        text = (tmp_path / "out" / name).read_text()
        for word in ("P(best)", "row is better than column", "Differences of all pairs", "Expected rank"):
            assert word not in text, (name, word)
    assert (tmp_path / "out" / "pairwise.csv").exists()
    assert json.loads((tmp_path / "out" / "result.json").read_text())["models"][0]["p_best"] is None


@pytest.mark.long
def test_one_model_does_not_inform_the_truth_that_judges_it() -> None:
    result = pt.evaluate(VOTES, MODEL, estimand="class", engine="exact")
    assert result.to_dict()["truth"]["evidence"] == "annotators"
    with pytest.raises(pt.InputError, match="evidence of one model for the truth that judges it"):
        pt.evaluate(VOTES, MODEL, estimand="class", evidence="annotators-and-models")


def test_an_infinite_loss_is_said() -> None:
    said = verdict(pt.evaluate([0, 1, 1], {"m": [[1.0, 0.0], [1.0, 0.0], [0.2, 0.8]]}))
    assert unmarked(said.headline) == "The mean log loss of m is infinite."
    assert "infinite on 1 item of 3" in said.details[0]


def test_compare_still_wants_two_and_says_where_one_goes() -> None:
    with pytest.raises(pt.InputError, match=r"one model only \('a'\).*evaluate \(command line: run\)"):
        pt.compare(pt.score({"a": PROBS}, HARD))


def judged(right: float, n_annotators: int) -> pt.Result:
    """One good model of 300 items of three classes, and annotators who are right so often."""
    random = np.random.default_rng(4)
    truth = random.integers(0, 3, 300)
    other = (truth[:, None] + random.integers(1, 3, (300, n_annotators))) % 3
    label = np.where(random.random(other.shape) < right, truth[:, None], other)
    forecasts = np.where(np.eye(3)[truth] > 0, 0.9, 0.05)
    mine = pt.Predictions.from_probs({"mine": forecasts}, items=range(300), labels=range(3))
    return pt.evaluate(answered(label), mine, method="ability", engine="exact")


def test_annotators_who_leave_classes_open_are_said_to() -> None:
    """The loss is -log 0.9 = 0.105 on every item; classes from annotators alone put it at more than twice that."""
    result = judged(0.8, 5)
    assert result.comparison.ranks[0]["low"] > 0.2
    assert [line for line in result.warnings if "as evidence of the classes its score would be 0.118" in line]


def test_annotators_who_know_are_not() -> None:
    assert not [line for line in judged(0.97, 5).warnings if "as evidence of the classes" in line]


def test_a_mean_is_known_where_its_interval_is_not():
    # a uniform forecast of four labels loses log 4 on every item: no spread, and so no interval
    result = pt.evaluate(np.eye(4)[[0, 1, 2, 3, 0]], {"flat": np.full((5, 4), 0.25)})
    assert "The mean log loss of flat is 1.386 nats (interval not known)." in str(result)
