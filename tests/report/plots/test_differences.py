"""Bars are the shares of items, names are words, edges are counted."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import probtruth as pt


@pytest.fixture(scope="module")
def scores(result):
    return result.scores


def test_axes_that_are_given_are_used_and_bars_are_shares(scores):
    ax = Figure().add_subplot()
    assert pt.figures.plot_differences(scores, "logistic", "nearest-neighbours", ax=ax) is ax
    found = np.subtract(*(scores.values[scores.models.index(name)] for name in ("logistic", "nearest-neighbours")))
    low, high = ax.get_xlim()
    within = ((found >= low) & (found <= high)).mean()
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(within, abs=0.5 / len(found))
    said = " ".join(text.get_text() for text in ax.texts)
    assert "favours logistic" in said
    assert "favours nearest-neighbours" in said
    assert f"{int((found < low).sum())} beyond" in said


def test_names_are_never_mathematics(odd):
    ax = pt.figures.plot_differences(odd.scores, *odd.scores.models[2:])
    assert any("$y$" in text.get_text() for text in ax.texts)
    assert not any(text.get_parse_math() for text in ax.texts)


def test_errors(scores):
    with pytest.raises(pt.InputError, match="got list, expected Scores"):
        pt.figures.plot_differences([1.0], "a", "b")
    with pytest.raises(pt.InputError, match="logistic"):
        pt.figures.plot_differences(scores, "logistics", "nearest-neighbours")
    with pytest.raises(pt.InputError, match="never vary"):
        pt.figures.plot_differences(scores, "logistic", "logistic")
    values = scores.values.copy()
    values[0, 0] = np.inf
    with pytest.raises(pt.InputError, match="infinite"):
        pt.figures.plot_differences(replace(scores, values=values), *scores.models[:2])
