"""The scripts that remake Nelson's figures run, print what they reached, and write their pictures."""

import runpy
import sys
from pathlib import Path

import matplotlib
import pytest

pytestmark = pytest.mark.page

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    def script(name):
        matplotlib.use("agg")
        monkeypatch.syspath_prepend(EXAMPLES)
        monkeypatch.setattr(sys, "argv", [name, "--out", str(tmp_path / "out")])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        matplotlib.pyplot.close("all")
        assert (tmp_path / "out" / f"{name}.svg").stat().st_size > 1000
        return capsys.readouterr().out

    return script


def reached(printed, what):
    line = next(line for line in printed.splitlines() if line.startswith(what))
    return float(line[50:60])


def test_figure_7_reaches_the_published_numbers(run):
    printed = run("nelson_figure_7")
    wanted = {"model probability": 0.56, "source probability": 0.62, "divergence probability": 0.90}
    for name, published in wanted.items():
        assert round(reached(printed, f"{name}, axis"), 2) == published


@pytest.mark.parametrize(
    ("name", "what", "low", "high"),
    [
        ("nelson_figure_2", "area under the predicted", 0.84, 0.845),
        ("nelson_figure_3", "angle", 44.9, 45.1),
        ("nelson_figure_4", "area under the predicted", 0.69, 0.72),
        ("nelson_figure_5", "mean 3 (over-confident): angle", 59, 61),
        ("nelson_figure_6", "(b) variance 2: angle", 37, 39),
    ],
)
def test_figures_show_the_published_pattern(run, name, what, low, high):
    assert low < reached(run(name), what) < high


def test_figure_1_peaks_with_the_gaussian_and_holds_with_the_heavy_tail(run):
    printed = run("nelson_figure_1")
    gaussian = [reached(printed, f"kappa    0.0, {dim:2} dim") for dim in (2, 6, 10)]
    heavy = [reached(printed, f"kappa  0.162, {dim:2} dim") for dim in (2, 6, 10)]
    assert gaussian[1] > gaussian[0] > gaussian[2]
    assert min(heavy[1:]) > heavy[0]
    assert [reached(printed, f"kappa -0.095, {dim:2} dim") for dim in (2, 6, 10)] == [0, 0, 0]
