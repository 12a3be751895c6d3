import numpy as np
import pytest

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.from_scores import model_order
from probtruth.comparison.evidence.parts import held


def ordered(values, names=None, groups=None, clusters=None):
    within = Structure.of(np.zeros(values.shape[1], int) if groups is None else groups, clusters)
    return model_order(held(values, within, names), np.arange(len(values)))


def test_models_come_by_their_mean():
    assert ordered(np.array([[3.0, 4.0], [1.0, 0.0], [2.0, 2.0]])).tolist() == [1, 2, 0]


@pytest.mark.parametrize("seed", range(5))
def test_equal_means_are_told_apart_by_how_models_differ_from_the_others(seed):
    # three classifiers of the same accuracy on 12 items; each pair agrees on another number of items
    rng = np.random.default_rng(seed)
    rows = np.zeros((3, 12))
    rows[0, :6], rows[1, 1:7], rows[2, 4:10] = 1, 1, 1
    rows = rows[:, rng.permutation(12)]
    # agreements: (0, 1) 5 items, (0, 2) 2, (1, 2) 3: no two models are alike, and names must not matter
    first = rows[ordered(rows, ["x", "y", "z"])]
    mixed = rng.permutation(3)
    again = rows[mixed][ordered(rows[mixed], ["x", "y", "z"])]
    assert np.array_equal(first, again)


def test_groups_and_clusters_tell_models_apart():
    rows = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]])  # the same accuracy, symmetric without structure
    for structure in ({"groups": np.array([0, 0, 1, 2])}, {"clusters": np.array([0, 1, 0, 2])}):
        chosen = rows[ordered(rows, ["x", "y"], **structure)]
        assert np.array_equal(chosen, rows[::-1][ordered(rows[::-1], ["x", "y"], **structure)])


def test_names_decide_among_models_that_nothing_tells_apart():
    rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert ordered(rows, ["y", "x"]).tolist() == [1, 0]
