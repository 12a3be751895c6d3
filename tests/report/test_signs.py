"""A reader sees differences in the units and signs of the scores, with the leading model first."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from made_scores import side_by_side
from rich.console import Console

import probtruth as pt
from probtruth.report import tables, terminal_study
from probtruth.report.contents import contents
from probtruth.report.names import unmarked
from probtruth.report.verdict import verdict
from probtruth.types.pairs import Pair

MARKS = side_by_side(a=[0.7, 0.6, 0.5, 0.6, 0.7, 0.6, 0.5, 0.6], b=[0.6, 0.6, 0.5, 0.6, 0.6, 0.5, 0.5, 0.6])


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
    lead, sign = ("a", "+") if higher else ("b", "−")
    assert unmarked(table.columns["a"][0]) == lead
    assert table.columns["Difference"][0].startswith(f"{sign}0.03")
    assert f"{'positive' if higher else 'negative'} favours a" in table.note
    assert numbers_of(result).startswith(f"{sign}0.03")
    assert result.paragraph().count(f": {sign}0.03") == 1
    leader = contents(result).figure.draw()
    assert [line.get_xdata()[0] for line in leader.lines if line.get_marker() == "o"][1] == pytest.approx(
        0.0375 if higher else -0.0375
    )
    row = result.to_dict()["pairwise"][0]
    assert row["difference"] == pytest.approx(0.0375, rel=1e-12)
    assert row["favours"] == favours
    ends = [text.get_text() for text in pt.figures.plot_forest(result.comparison).texts]
    plt.close("all")
    assert ends.index("b") < ends.index("a"), "below 0 favours b: of marks as the lower, of losses as the better one"
    assert ("negative favours a" in result.comparison.estimand) == (not higher)


def test_a_monitor_speaks_of_the_scores_as_they_were_given():
    watch = pt.monitor(side_by_side(new=[1] * 40, old=[0] * 40), bounds=(0, 1), higher_is_better=True)
    assert watch.difference == 1
    console = Console(width=100)
    with console.capture() as shown:
        console.print(*terminal_study.monitor_summary(watch))
    assert "(new minus old; positive favours new)" in shown.get()


def numbers_of(result):
    """The size of the lead in the verdict."""
    return verdict(result).numbers[0][1]


def test_a_pair_from_the_other_side():
    """Unknown stays so, 0 has no sign, and each side takes the other's chances."""
    pair = Pair("x", "y", low=0.0, high=np.inf, p_a_better=0.9, p_b_better=0.1, favours="a")
    other = pair.seen_from("y")
    assert repr((other.difference, other.low, other.high)) == "(None, -inf, 0.0)"
    assert (other.a, other.b, other.p_a_better, other.favours) == ("y", "x", 0.1, "b")
    assert other.seen_from("x") == pair
    assert other.seen_from("y") is other
