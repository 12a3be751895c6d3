"""Scores of items by annotators (cells): new items and new annotators are both parts of the variance."""

import re

import made_scores
import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.errors import InputError

DIFFERENCE = -0.1


def cells(
    rng: np.random.Generator, n_items: int, n_annotators: int, each: int, of_annotators: float, of_items: float
) -> polars.DataFrame:
    return made_scores.cells(rng, np.full(n_annotators, DIFFERENCE), n_items, each, of_annotators, of_items)


def compared(frame: polars.DataFrame, **options: object) -> pt.Comparison:
    return pt.compare(pt.read_scores(frame, annotator="annotator", higher_is_better=False), **options)


def without_annotators(frame: polars.DataFrame) -> pt.Comparison:
    scores = pt.read_scores(frame, replicate="annotator", higher_is_better=False)
    return pt.compare(scores, replicates="independent")


def test_the_answer_is_about_new_items_and_new_annotators() -> None:
    frame = cells(np.random.default_rng(0), 200, 30, 5, 0.3, 0.3)
    found = compared(frame)
    assert "new items like these, new annotators like these" in found.estimand
    shares = found.uncertainty
    assert shares["annotators"] > 0.4
    assert shares["items"] + shares["annotators"] == pytest.approx(1.0)
    by_items = without_annotators(frame)
    assert found.pairs[0].difference == by_items.pairs[0].difference
    assert found.pairs[0].high - found.pairs[0].low > 1.3 * (by_items.pairs[0].high - by_items.pairs[0].low)


def test_it_is_the_crossed_rule_of_replicates() -> None:
    frame = cells(np.random.default_rng(1), 60, 10, 4, 0.3, 0.3)
    crossed = pt.compare(pt.read_scores(frame, replicate="annotator", higher_is_better=False), replicates="crossed")
    for name in ("difference", "low", "high", "p_a_better"):
        assert compared(frame).pairs[0][name] == crossed.pairs[0][name]


def test_one_annotator_an_item_still_has_annotators() -> None:
    frame = cells(np.random.default_rng(2), 300, 8, 1, 1.0, 0.0)
    assert compared(frame).uncertainty["annotators"] > 0.3


def test_errors() -> None:
    frame = cells(np.random.default_rng(4), 10, 4, 2, 0.3, 0.3).with_columns(polars.lit("s").alias("seed"))
    with pytest.raises(InputError, match="a column of annotators and one of replicates"):
        pt.read_scores(frame, annotator="annotator", replicate="seed", higher_is_better=False)
    scores = pt.read_scores(frame, annotator="annotator", higher_is_better=False)
    with pytest.raises(InputError, match=re.escape("replicates='independent' with scores by annotator")):
        pt.compare(scores, replicates="independent")
