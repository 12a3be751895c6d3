"""The house stays small and typed: names on top, types of public parameters, one meaning of a class name, folders."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("house", Path(__file__).with_name("house.py"))
assert SPEC is not None
assert SPEC.loader is not None
house = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(house)


def test_at_most_a_tenth_of_the_public_parameters_are_untyped() -> None:
    untyped, total = house.untyped_parameters()
    assert total > 400
    assert 10 * len(untyped) <= total, untyped


def test_at_most_45_names_on_top() -> None:
    assert len(house.top_level_names()) <= 45


def test_a_class_name_has_one_meaning() -> None:
    assert sorted(name for name, number in house.classes().items() if number > 1) == []


def test_no_folder_holds_more_than_20_modules() -> None:
    assert {name: number for name, number in house.folders().items() if number > 20} == {}


def test_what_it_counts_as_untyped(monkeypatch: pytest.MonkeyPatch) -> None:
    def bare(one, two: object, three: int, *rest: str) -> None: ...

    monkeypatch.setattr(house, "public_functions", lambda: iter([("bare", bare)]))
    assert house.untyped_parameters() == (["bare(one)", "bare(two)"], 4)
