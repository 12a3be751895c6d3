"""probtruth/report/plots/study.py and terminal_watching.py: the figure and the words are the monitor's numbers."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import probtruth as pt
from probtruth.report.terminal_study import monitor_headline, monitor_notes

RNG = np.random.default_rng(1)
ROWS = {
    "item": [*range(300)] * 2,
    "model": ["$x$"] * 300 + ["y"] * 300,
    "score": np.concatenate([RNG.uniform(0, 0.7, 300), RNG.uniform(0.2, 1, 300)]),
}
WATCH = pt.monitor(ROWS, bounds=(0, 1), rope=0.02, higher_is_better=False)


def test_the_line_is_the_mean_and_ends_now():
    ax = pt.figures.plot_monitor(WATCH)
    mean = ax.lines[-1]
    assert mean.get_xdata()[-1] == 300
    assert mean.get_ydata()[-1] == pytest.approx(WATCH.difference, rel=1e-12)
    band = ax.collections[0].get_paths()[0].vertices
    assert set(WATCH.interval) <= set(band[:, 1].tolist())
    assert "below 0: $x$ better" in [entry.get_text() for entry in ax.texts]
    assert not any(entry.get_parse_math() for entry in ax.texts)


def test_evidence_and_its_bar():
    ax = Figure().subplots()
    assert pt.figures.plot_monitor(WATCH, "evidence", ax=ax) is ax
    bar, first, second = ax.lines
    assert bar.get_ydata()[0] == 40
    assert first.get_ydata()[-1] == min(WATCH.e_a_better, 1e8)
    assert second.get_ydata()[-1] == max(WATCH.e_b_better, 1e-4)


def test_unbounded_scores_begin_where_something_is_known():
    rows = {"item": [*range(150)] * 2, "model": ["x"] * 150 + ["y"] * 150, "score": RNG.normal(size=300)}
    ax = pt.figures.plot_monitor(pt.monitor(rows, method="asymptotic", higher_is_better=False))
    assert np.isfinite(ax.get_ylim()).all()
    assert ax.collections[0].get_paths()[0].vertices[:, 0].min() >= 100


@pytest.mark.parametrize("show", ["difference", "evidence"])
def test_one_item(show):
    rows = {"item": [1, 1], "model": ["x", "y"], "score": [0, 0]}
    pt.figures.plot_monitor(pt.monitor(rows, bounds=(0, 1), higher_is_better=False), show).figure.canvas.draw()


def test_words():
    assert monitor_headline(WATCH) == "$x$ is better than y."
    empty = pt.monitor({"item": [1], "model": ["x"], "score": [1]}, a="x", b="y", bounds=(0, 1), higher_is_better=False)
    assert monitor_headline(empty).startswith("No decision yet")
    assert list(monitor_notes(empty)) == ["1 item left for later: only one of the two models has a score"]
    same = {**ROWS, "score": [0.5] * 600}
    assert (
        monitor_headline(pt.monitor(same, bounds=(0, 1), rope=0.5, higher_is_better=False))
        == "$x$ and y are equivalent: they differ by 0.5 at most."
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pt.figures.plot_monitor(ROWS), "a Monitor"),
        (lambda: pt.figures.plot_monitor(WATCH, "p"), "show 'p'"),
        (
            lambda: pt.figures.plot_monitor(
                pt.monitor(
                    {"item": [1], "model": ["x"], "score": [1]}, a="x", b="y", bounds=(0, 1), higher_is_better=False
                )
            ),
            "without items",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(pt.InputError, match=message):
        call()
