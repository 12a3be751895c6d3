import numpy as np
import pytest
from cut_parts import cut
from made_scores import make

from probtruth.comparison.companions import many_items
from probtruth.comparison.compare import compare, conclude
from probtruth.comparison.evidence.design import design
from probtruth.comparison.evidence.evidence import Facts
from probtruth.comparison.evidence.from_scores import evidence_of
from probtruth.comparison.evidence.label_variance import FixedLabels
from probtruth.comparison.options import checked_options
from probtruth.errors import InputError
from probtruth.types import RuleFacts


def random_scores(kind, n_items=120):
    rng = np.random.default_rng(4)
    values = rng.gamma(1.0, 1.0, (4, n_items)) * rng.choice([1.0, 1e3], (4, 1))
    if kind == "classifiers":
        values = (values < 1).astype(float)
        values[1] = values[0][::-1]
    if kind == "rare":
        values = np.zeros((3, n_items))
        values[0, :4], values[1, 7] = 1.0, 1.0
    if kind == "infinite":
        values[2, [5, 80]], values[0, 3] = np.inf, -np.inf
    if kind == "copies":
        values[2], values[3] = values[0], values[0] + 0.25
    return make(values, "abcd"[: len(values)], known=RuleFacts(range=(0.0, 1.0)) if kind == "rare" else RuleFacts())


STRUCTURES = {
    "plain": {},
    "groups": {"groups": np.arange(120) % 3},
    "clusters": {"clusters": np.arange(120) // 4},
    "both": {"groups": np.arange(120) // 40, "clusters": np.arange(120) // 8},
}


def streamed(scores, seed, rope=None, **structure):
    plan = design(scores, structure.get("groups"), structure.get("clusters"), None)
    parts = cut(scores, plan, np.random.default_rng(seed))
    found = evidence_of(
        parts,
        facts=Facts.of(scores),
        design=plan,
        name=scores.items.__getitem__,
        fixed_items=FixedLabels(scores, plan.item_weights()),
    )
    return conclude(found, checked_options("exact", "new-items", rope, 500, 0, False))


@pytest.mark.parametrize("kind", ["losses", "classifiers", "rare", "infinite", "copies"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_parts_in_any_order_conclude_what_the_whole_does_bit_for_bit(kind, structure):
    scores = random_scores(kind)
    whole = compare(scores, engine="exact", draws=500, rope=0.1, **STRUCTURES[structure])
    for seed in (0, 1):
        comparison = streamed(scores, seed, 0.1, **STRUCTURES[structure])
        for table in ("pairs", "ranks", "companions", "group_results", "warnings", "uncertainty", "settings"):
            assert repr(getattr(comparison, table)) == repr(getattr(whole, table)), table


@pytest.mark.parametrize("kind", ["losses", "classifiers", "rare", "copies"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_tests_of_many_items_are_those_of_the_whole_bit_for_bit(kind, structure, monkeypatch):
    monkeypatch.setattr(many_items, "MOST", 100)
    scores = random_scores(kind)
    whole = compare(scores, engine="exact", draws=500, **STRUCTURES[structure])
    for seed in (0, 1):
        assert repr(streamed(scores, seed, **STRUCTURES[structure]).companions) == repr(whole.companions)
    assert any(row["wilcoxon_p_error"] is not None for row in whole.companions)


def test_what_cannot_be_used_is_named():
    for value, words in ((np.nan, "NaN"), (1e101, "size 1e\\+101")):
        values = np.ones((2, 120))
        values[1, 9] = value
        with pytest.raises(InputError, match=words):
            streamed(make(values, "ab"), 0)
