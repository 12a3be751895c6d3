"""Results are those that were frozen; see `freeze.py`. Private cases need PROBTRUTH_DATA."""

import functools

import freeze
import pytest
from closeness import differing
from golden_cases import CASES
from golden_entries import Result
from golden_values import differences, flat


@functools.cache
def in_memory(name: str) -> Result:
    return freeze.result_of(CASES[name])


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.long
def test_result_is_the_frozen_one(name: str, request: pytest.FixtureRequest) -> None:
    if CASES[name].private:
        request.getfixturevalue("data")  # skips without real data
    lines = freeze.compare(name, in_memory(name))
    assert not lines, "\n".join([f"{name}, before -> after:", *lines])


@pytest.mark.parametrize(("name", "way"), [(name, way) for name in CASES for way in CASES[name].same])
def test_other_ways_give_the_same_numbers(name: str, way: str) -> None:
    lines = differences(flat(in_memory(name)), flat(freeze.result_of(CASES[name], way)))
    assert not lines, "\n".join([f"{name}, in memory -> {way}:", *lines])


RESULT = {"models": [{"score": 0.5, "low": None, "p_best": 0.9}], "pairwise": [], "versions": {"jax": "1"}}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"low": 0.0}, ["models/0/low: None -> 0.0"]),
        ({"score": 0.5 * (1 + 1e-8)}, ["models/0/score: 0.5 -> 0.500000005"]),
        ({"score": 0.5 * (1 + 1e-10), "p_best": 0.91}, []),
        ({"p_best": 0.95}, ["models/0/p_best: 0.9 -> 0.95"]),
    ],
)
def test_a_difference_names_the_path_and_both_values(row: dict, said: list[str]) -> None:
    after = RESULT | {"models": [RESULT["models"][0] | row], "versions": {}}
    assert differences(flat(RESULT), flat(after)) == said


INTERVAL = {"difference": 0.0, "low": -0.5, "high": 0.5, "p_a_better": 0.5}


@pytest.mark.parametrize(
    ("name", "value", "other", "same"),
    [
        ("p_a_better", 1.2160699e-24, 1.2160694e-24, True),
        ("p_a_better", 0.975, 0.975001, False),
        ("p_a_better", 1e-5, 3e-5, False),
        ("difference", 1e-13, -1e-13, True),
        ("difference", 1e-5, -1e-5, False),
        ("share", 1.0, 1.0 + 1e-6, False),
        ("favours", "a", "b", False),
        ("favours", None, 0.0, False),
    ],
)
def test_numbers_are_compared_by_what_a_reader_sees(name: str, value: object, other: object, same: bool) -> None:
    lines = differing(INTERVAL | {name: value}, INTERVAL | {name: other}, 1e-7)
    assert (lines == []) is same
