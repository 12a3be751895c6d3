"""probtruth/report/plots/comparison.py and annotators.py: axes that are given are used, what is drawn was found."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import probtruth as pt
from probtruth.errors import InputError
from probtruth.report.plots import comparison

FIGURES = (pt.figures.plot_forest, pt.figures.plot_matrix, pt.figures.plot_ranks)


def words(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("plot", FIGURES)
def test_axes_that_are_given_are_used(result, plot):
    ax = Figure().add_subplot()
    assert plot(result.comparison, ax=ax) is ax


@pytest.mark.parametrize("plot", FIGURES)
def test_a_whole_result_is_as_good_and_anything_else_is_an_error(result, plot):
    assert words(plot(result)) == words(plot(result.comparison))
    with pytest.raises(InputError, match="a Comparison"):
        plot([1, 2])


@pytest.mark.parametrize("plot", FIGURES)
def test_names_are_never_mathematics(odd, plot):
    ax = plot(odd.comparison)
    assert any("$y$" in text for text in words(ax))
    assert not any(text.get_parse_math() for text in ax.texts)


def test_the_matrix_says_p_of_row_over_column(result):
    found = words(pt.figures.plot_matrix(result.comparison))
    models = [str(row["model"]) for row in result.comparison.ranks]
    cells = found[2 * len(models) :]
    assert len(cells) == len(models) * (len(models) - 1)
    pair = next(row for row in result.comparison.pairs if {row["a"], row["b"]} == set(models[:2]))
    p = pair["p_a_better"] if pair["a"] == models[0] else pair["p_b_better"]
    assert cells[0] == (">0.999" if p > 0.999 else f"{p:.2f}")


def test_many_models_keep_to_the_best(make):
    many = make["bare"](25).comparison
    matrix = words(pt.figures.plot_matrix(many))
    assert sum(text.startswith("model-") for text in matrix) == comparison.MOST_MODELS
    assert matrix[:20] == [str(place) for place in range(1, 21)]
    assert len(words(pt.figures.plot_forest(many))) <= 2 * comparison.MOST_PAIRS + 2
    assert len([text for text in words(pt.figures.plot_ranks(many)) if text.startswith("model-")]) == 20


def test_ranks_need_joint_draws(result, make):
    import xarray

    with pytest.raises(InputError, match="without ranks"):
        pt.figures.plot_ranks(make["rewrite"](result, tree=xarray.DataTree).comparison)


def test_of_many_ranks_those_that_no_drawn_model_may_have_are_left_out():
    chance = np.zeros((2, 300))
    chance[0, 0] = chance[1, 11] = 1.0
    ax = comparison.rank_probabilities(["a", "b"], chance, Figure().add_subplot())
    assert ax.get_xlim() == (0.5, 12.5)
    few = comparison.rank_probabilities(["a", "b"], chance[:, :15], Figure().add_subplot())
    assert few.get_xlim() == (0.5, 15.5)


def test_annotators_best_first_with_their_flags(result):
    truth = pt.infer_truth(result.annotations, "dawid-skene-em", draws=0)
    ax = pt.figures.plot_annotators(truth, ax=(own := Figure().add_subplot()))
    assert ax is own
    table = truth.annotators().sort("accuracy", descending=True)
    assert set(words(ax)) - {""} == set(table["annotator"])
    flagged = replace(truth, annotator_results={**truth.annotator_results, **_own(truth)})
    assert "spammer" in words(pt.figures.plot_annotators(flagged))


def _own(truth):
    import numpy as np

    n = len(truth.index.annotators)
    flags = np.array(["spammer"] + [""] * (n - 1))
    return {"skill": np.linspace(0, 1, n), "skill_low": np.zeros(n), "skill_high": np.ones(n), "flag": flags}


def test_annotators_need_a_truth_that_knows_them(result):
    for given in (result.truth, None):
        with pytest.raises(InputError):
            pt.figures.plot_annotators(given)
