"""The simulation does what its docstring says, and the embedded files came from it."""

import importlib.util
from pathlib import Path

import numpy as np
import polars
import pytest

from probtruth import demo

pytest.importorskip("sklearn")

SPEC = importlib.util.spec_from_file_location("make_demo", Path(__file__).parents[2] / "docs" / "make_demo.py")
assert SPEC is not None
assert SPEC.loader is not None
make = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make)


@pytest.fixture(scope="module")
def simulated():
    digits = np.repeat(np.arange(10), 2000)
    looks = np.full((len(digits), 10), 0.4 / 9)
    looks[np.arange(len(digits)), digits] = 0.6
    return digits, *make.simulate_annotations(digits, looks, seed=1)


@pytest.mark.long
def test_annotations_are_those_of_the_seed():
    _, digits = make.images()
    item, annotator, label = make.simulate_annotations(digits[make.N_TRAIN :], make.looks_like())
    table = polars.read_parquet(demo.paths()[0])
    assert table["item"].str.slice(6).cast(int).to_list() == (item + make.N_TRAIN).tolist()
    assert table["annotator"].to_list() == np.array(make.ANNOTATORS)[annotator].tolist()
    assert np.mean(table["label"].to_numpy() == label) > 0.999  # another build of BLAS may move a rare borderline draw


def test_accuracy_of_each_annotator_is_the_stated_one(simulated):
    digits, item, annotator, label = simulated
    for j in range(make.SPAMMER):
        right = label[annotator == j] == digits[item[annotator == j]]
        expected = 1 / (1 + np.exp(make.HARDNESS_COST * 0.4 - make.SKILL[j]))
        error = np.sqrt(expected * (1 - expected) / len(right))
        assert abs(right.mean() - expected) < 5 * error


def test_errors_on_one_item_agree_more_often_than_chance(simulated):
    digits, item, _, label = simulated
    wrong = label != digits[item]
    first = np.flatnonzero(wrong[:-1] & wrong[1:] & (item[:-1] == item[1:]))
    assert np.mean(label[first] == label[first + 1]) > 0.5  # nine wrong digits look equally likely: chance is 1/9


def test_nobody_annotates_an_item_twice(simulated):
    _, item, annotator, _ = simulated
    assert len(np.unique(item * len(make.ANNOTATORS) + annotator)) == len(item)


def test_predictions_are_positive_distributions():
    for path in demo.paths()[1].values():
        probs = polars.read_parquet(path).drop("item").to_numpy()
        assert (probs > 0).all()
        assert np.abs(probs.sum(1, dtype=np.float64) - 1).max() < 1e-6  # ten float32 values: 10 x 2^-24
