"""probtruth/report/numbers.py: a reader sees differences in the units and signs of the scores."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from rich.console import Console

import probtruth as pt
from probtruth.report import tables, terminal_study
from probtruth.report.numbers import turned

MARKS = {"item": [*range(8)] * 2, "model": ["a"] * 8 + ["b"] * 8}
MARKS |= {"score": [0.7, 0.6, 0.5, 0.6, 0.7, 0.6, 0.5, 0.6, 0.6, 0.6, 0.5, 0.6, 0.6, 0.5, 0.5, 0.6]}


@pytest.fixture
def made():
    def of(higher):
        scores = pt.Scores.from_frame(MARKS, higher_is_better=higher)
        return pt.Result.of(pt.compare(scores, engine="exact"))

    return of


@pytest.mark.parametrize(("higher", "favours"), [(True, "a"), (False, "b")])
def test_a_minus_b_of_the_scores_as_they_were_given(made, higher, favours):
    """By hand: means .6 and .5625, so a - b = +.0375, whichever way is better."""
    result = made(higher)
    table = tables.pairs(result)
    assert table.columns["Difference"][0].startswith("+0.03")
    assert f"{'positive' if higher else 'negative'} favours a" in table.note
    row = result.to_dict()["pairwise"][0]
    assert row["difference"] == pytest.approx(0.0375, rel=1e-12)
    assert row["favours"] == favours
    ends = [text.get_text() for text in pt.figures.plot_forest(result.comparison).texts]
    plt.close("all")
    assert ends.index("a") > ends.index("b") if higher else ends.index("a") < ends.index("b")
    assert ("negative favours a" in result.comparison.estimand) == (not higher)


def test_a_monitor_speaks_of_the_scores_as_they_were_given():
    rows = {"item": [*range(40)] * 2, "model": ["new"] * 40 + ["old"] * 40, "score": [1] * 40 + [0] * 40}
    watch = pt.monitor(rows, bounds=(0, 1), higher_is_better=True)
    assert watch.difference == 1
    console = Console(width=100)
    with console.capture() as shown:
        console.print(*terminal_study.monitor_summary(watch))
    assert "(new minus old; positive favours new)" in shown.get()


def test_what_is_not_known_stays_so_and_zero_has_no_sign():
    row = turned({"difference": None, "low": 0.0, "high": np.inf})
    assert repr(row) == "{'difference': None, 'low': -inf, 'high': 0.0}"
