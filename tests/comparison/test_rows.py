import math

import numpy as np
import pytest
from made_scores import make

from probtruth.comparison.design import Structure
from probtruth.comparison.evidence import Facts
from probtruth.comparison.groups import Population
from probtruth.comparison.location import moments
from probtruth.comparison.margin import Margin
from probtruth.comparison.rows import PairRows, pair_rows, population_rows, rank_rows
from probtruth.types import RuleFacts


def test_pairs_stand_once_by_name_whatever_the_order_of_the_posterior():
    scores = make([[1.0, 2.0], [4.0, 4.0]], "yx")
    ((row, *_),) = pair_rows(Facts.of(scores), np.array([0, 1]), [Margin(-2.5, 0.5, 1.0)], 0.1, scores.values.mean(1))
    assert (row["a"], row["b"], row["difference"]) == ("x", "y", 2.5)
    assert row["p_a_better"] == pytest.approx(math.atan2(1, 5) / math.pi, rel=1e-12)  # Cauchy: t with one df
    assert row["p_b_better"] == pytest.approx(1 - row["p_a_better"], rel=1e-12)
    ((reverse, *_),) = pair_rows(
        Facts.of(scores), np.array([1, 0]), [Margin(2.5, 0.5, 1.0)], 0.1, scores.values.mean(1)
    )
    assert row == reverse


def test_no_rope_no_equivalence():
    scores = make([[1.0, 2.0], [4.0, 4.0]], "ab")
    ((row, *_),) = pair_rows(Facts.of(scores), np.array([0, 1]), [Margin(-2.5, 0.5, 1.0)], None, scores.values.mean(1))
    assert row["p_equivalent"] is None


def test_models_come_best_first_and_in_the_orientation_given():
    scores = make([[-1.0, -2.0], [-4.0, -4.0]], "ab", higher_is_better=True)
    own = [Margin(-1.5, 0.5, 1.0), Margin(-4.0, 0.0, 1.0)]
    first, second = rank_rows(Facts.of(scores), np.array([0, 1]), own, None, scores.values.mean(1))
    assert (first["model"], first["score"]) == ("b", 4.0)
    assert (second["model"], second["score"]) == ("a", 1.5)
    assert second["low"] < second["score"] < second["high"]


def test_divergence_is_what_lies_above_the_entropy():
    scores = make([[1.0, 2.0], [4.0, 4.0]], "ab", known=RuleFacts(entropy=0.5))
    rows = rank_rows(
        Facts.of(scores), np.array([0, 1]), [Margin(1.5, 0.5, 1.0), Margin(4.0, 0.0, 1.0)], None, scores.values.mean(1)
    )
    assert [row["divergence"] for row in rows] == [1.0, 3.5]


def test_population_rows_are_in_units_of_the_score():
    # model 0 is b, model 1 is a: the pair's own difference is b minus a
    rng = np.random.default_rng(0)
    differences = np.repeat([3.0, 3.6, 2.4], 30) + rng.normal(0, 0.1, 90)
    parts = moments(np.stack([differences, np.zeros(90)]), Structure.of(np.repeat([0, 1, 2], 30), None))
    population = Population.of(parts)
    rows = population_rows(["b", "a"], population, 0.5)
    (row,), (new,) = rows["population of groups"], rows["one new group"]
    assert (row["a"], row["b"]) == ("a", "b")
    assert row["difference"] == pytest.approx(-float(population.differences(False).average()[0]))
    assert row["low"] < row["difference"] < row["high"] < 0
    assert new["high"] > row["high"]
    assert row["p_a_better"] > new["p_a_better"] > 0.9
    assert row["p_equivalent"] < 0.05


def test_rows_held_by_columns_read_as_the_list_of_dicts_that_they_were_made_of():
    plain = [
        {"a": "x", "difference": -0.5, "low": None, "reason": None},
        {"a": "y", "difference": math.inf, "low": 1.0},
    ]
    plain[1]["reason"] = "no spread"
    rows = PairRows(iter(plain))
    assert (list(rows), len(rows), rows[-1], rows[:1], rows == plain) == (plain, 2, plain[1], plain[:1], True)
    assert repr(rows) == repr(plain)
    assert list(PairRows([])) == []
    with pytest.raises(IndexError):
        rows[2]
