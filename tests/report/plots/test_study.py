"""Lines and words are the numbers of the plan and of the monitor."""

import numpy as np
import pytest
from made_scores import side_by_side
from matplotlib.figure import Figure

import probtruth as pt
from probtruth.report.terminal_study import monitor_headline, monitor_notes

RNG = np.random.default_rng(1)
ROWS = side_by_side(**{"$x$": RNG.uniform(0, 0.7, 300), "y": RNG.uniform(0.2, 1, 300)})
WATCH = pt.monitor(ROWS, bounds=(0, 1), rope=0.02, higher_is_better=False)
EMPTY = pt.monitor(side_by_side(x=[1]), a="x", b="y", bounds=(0, 1), higher_is_better=False)


def test_the_line_of_a_plan_and_its_designs():
    scores = pt.Scores.from_frame(ROWS, higher_is_better=False)
    made = pt.plan(scores, n_items=300, costs={"item": 1}, width=0.1)
    ax = Figure().subplots()
    assert pt.figures.plot_plan(made, ax) is ax
    line = next(line for line in ax.lines if len(line.get_xdata()) == len(made.sizes))
    np.testing.assert_array_equal(line.get_ydata(), made.curve()["p_certain"].to_numpy())
    points = {tuple(line.get_xydata()[0]) for line in ax.lines if len(line.get_xdata()) == 1}
    assert points == {(row["n_items"], row["p_certain"]) for row in made.designs if row["design"] != "same design"}
    assert {"study", "items × 2", "cheapest"} <= {entry.get_text() for entry in ax.get_legend().get_texts()}


def test_the_line_of_a_monitor_is_the_mean_and_ends_now():
    ax = pt.figures.plot_monitor(WATCH)
    mean = ax.lines[-1]
    assert mean.get_xdata()[-1] == 300
    assert mean.get_ydata()[-1] == pytest.approx(WATCH.difference, rel=1e-12)
    band = ax.collections[0].get_paths()[0].vertices
    assert set(WATCH.interval) <= set(band[:, 1].tolist())
    assert "above 0: y better" in [entry.get_text() for entry in ax.texts]
    assert not any(entry.get_parse_math() for entry in ax.texts)


def test_unbounded_scores_begin_where_something_is_known():
    x, y = RNG.normal(size=(2, 150))
    ax = pt.figures.plot_monitor(pt.monitor(side_by_side(x=x, y=y), method="asymptotic", higher_is_better=False))
    assert np.isfinite(ax.get_ylim()).all()
    assert ax.collections[0].get_paths()[0].vertices[:, 0].min() >= 100


def test_one_item():
    watch = pt.monitor(side_by_side(x=[0], y=[0]), bounds=(0, 1), higher_is_better=False)
    pt.figures.plot_monitor(watch).figure.canvas.draw()


def test_words():
    assert monitor_headline(WATCH) == "$x$ is better than y."
    assert monitor_headline(EMPTY).startswith("No decision yet")
    assert list(monitor_notes(EMPTY)) == ["1 item left for later: only one of the two models has a score"]
    same = pt.monitor({**ROWS, "score": [0.5] * 600}, bounds=(0, 1), rope=0.5, higher_is_better=False)
    assert monitor_headline(same) == "$x$ and y are equivalent: they differ by 0.5 at most."


@pytest.mark.parametrize(
    ("plot", "given", "message"),
    [
        (pt.figures.plot_plan, ROWS, "a Plan"),
        (pt.figures.plot_monitor, ROWS, "a Monitor"),
        (pt.figures.plot_monitor, EMPTY, "without items"),
    ],
)
def test_errors(plot, given, message):
    with pytest.raises(pt.InputError, match=message):
        plot(given)
