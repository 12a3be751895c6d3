"""The line and the points are the plan's rows."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import probtruth as pt

LOSS = np.random.default_rng(0).normal([0.5, 0.55], 0.3, (60, 2))
ROWS = {"item": [*range(60)] * 2, "model": ["x"] * 60 + ["y"] * 60, "score": LOSS.T.ravel()}
SCORES = pt.Scores.from_frame(ROWS, higher_is_better=False)
PLAN = pt.plan(SCORES, n_items=300, costs={"item": 1}, width=0.1)


@pytest.mark.parametrize(("show", "column"), [("chance", "p_certain"), ("width", "width")])
def test_line_and_points(show, column):
    ax = Figure().subplots()
    assert pt.figures.plot_plan(PLAN, show, ax=ax) is ax
    line = next(line for line in ax.lines if len(line.get_xdata()) == len(PLAN.sizes))
    np.testing.assert_array_equal(line.get_ydata(), PLAN.curve()[column].to_numpy())
    points = {tuple(line.get_xydata()[0]) for line in ax.lines if line.get_marker() == "o"}
    assert points == {(row["n_items"], row[column]) for row in PLAN.designs if row["design"] != "pilot again"}
    assert {"study", "items × 2", "cheapest"} <= {entry.get_text() for entry in ax.texts}


def test_errors():
    with pytest.raises(pt.InputError, match="a Plan"):
        pt.figures.plot_plan(SCORES)
    with pytest.raises(pt.InputError, match="show 'cost'"):
        pt.figures.plot_plan(PLAN, "cost")
