"""Compact letters: two models share a letter exactly where their interval holds 0."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import probtruth as pt
from probtruth.line.letters import letters_of, told_apart
from probtruth.types.pairs import Pair


def letters(apart: str, n: int) -> dict[str, str]:
    """The letters of models T1, T2, ... where the pairs that are written `1-2 ...` are told apart."""
    scores = np.random.default_rng(0).normal(size=(n, 9)) + np.arange(n)[:, None]
    models = tuple(f"T{k}" for k in range(1, n + 1))
    rows = {"item": [*range(9)] * n, "model": np.repeat(models, 9).tolist(), "score": scores.ravel().tolist()}
    compared = pt.compare(pt.Scores.from_frame(rows, higher_is_better=False), engine="exact")
    told = {frozenset(pair.split("-")) for pair in apart.split()}
    pairs = []
    for row in compared.pairs:
        high = -0.1 if {row.a[1:], row.b[1:]} in told else 0.5
        pairs.append(replace(row, difference=-0.2, low=-0.5, high=high))
    ranks = [replace(row, p_best=None, expected_rank=int(row.model[1:])) for row in compared.ranks]
    return letters_of(replace(compared, pairs=pairs, ranks=ranks))


@pytest.mark.parametrize(
    ("apart", "expected"),
    [
        ("", ["a", "a", "a", "a"]),
        ("1-2 1-3 1-4 2-3 2-4 3-4", ["a", "b", "c", "d"]),
        ("1-3 1-4 2-4", ["a", "ab", "bc", "c"]),
        ("1-4", ["a", "ab", "ab", "b"]),
        ("1-2", ["a", "b", "ab", "ab"]),
    ],
)
def test_by_hand(apart, expected):
    assert list(letters(apart, 4).values()) == expected


def assert_shared(found, told):
    for one, two in combinations(found, 2):
        shares = bool(set(found[one]) & set(found[two]))
        assert shares == (frozenset((one[1:], two[1:])) not in told), (one, two)


def test_any_pattern_of_pairs():
    rng = np.random.default_rng(3)
    for _ in range(20):
        told = {frozenset((str(a), str(b))) for a, b in combinations(range(1, 7), 2) if rng.random() < 0.4}
        found = letters(" ".join("-".join(sorted(pair)) for pair in told), 6)
        assert_shared(found, told)
        columns = {
            letter: {model for model in found if letter in found[model]} for letter in set("".join(found.values()))
        }
        assert not any(one < two for one in columns.values() for two in columns.values()), "no letter too many"


def test_what_is_not_known_is_not_told_apart():
    assert not told_apart(Pair("x", "y", -1.0))
    assert not told_apart(Pair("x", "y", -1.0, -1.0, 0.0))
    assert told_apart(Pair("x", "y", -1.0, -2.0, -0.5))


def test_two_models_need_no_letters():
    assert letters("1-2", 2) == {}
