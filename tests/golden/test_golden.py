"""Results are those that were frozen; see `freeze.py`. Private cases need PROBTRUTH_DATA."""

import functools
import os
import subprocess
import sys

import freeze
import pytest
from golden_cases import CASES
from golden_entries import Result
from golden_values import LAST_DIGIT, differences, digests, flat, without_draws


def _marked(name: str, way: str = "") -> object:
    marks = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")] if way == "dask" else []  # of a busy machine
    return pytest.param(*filter(None, (name, way)), marks=marks, id="-".join(filter(None, (name, way))))


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBTRUTH_CACHE", "off")


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


@pytest.mark.parametrize(("name", "way"), [_marked(name, way) for name in CASES for way in CASES[name].same])
def test_other_ways_give_the_same_bits(name: str, way: str) -> None:
    if way == "dask":
        pytest.importorskip("distributed", reason="needs the extra `dask`")
    lines = freeze.compare_ways(in_memory(name), freeze.result_of(CASES[name], way))
    assert not lines, "\n".join([f"{name}, in memory -> {way}:", *lines])


@pytest.mark.process
def test_draws_are_the_frozen_ones_with_the_flags_of_users() -> None:
    """The other tests compile with other flags, see `tests/conftest.py`: what is drawn is not compared there."""
    drawn = [name for name, case in CASES.items() if case.drawn]
    assert drawn
    env = {name: value for name, value in os.environ.items() if name not in ("XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR")}
    done = subprocess.run(
        [sys.executable, freeze.__file__, *drawn], env=env, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


RESULT = {"rule": "log", "models": [{"score": 0.5, "low": None}], "seed": 0, "versions": {"jax": "1"}}


def changed(**keys: object) -> Result:
    return RESULT | keys


def test_a_difference_names_the_path_and_both_values() -> None:
    after = changed(rule="brier", models=[{"score": 0.25, "low": 0.0}], seed=False, versions={}, new=[])
    assert differences(flat(RESULT), flat(after), LAST_DIGIT) == [
        "models/0/low: None -> 0.0",
        "models/0/score: 0.5 -> 0.25 (relative 5.0e-01)",
        "new: new -> 'empty list'",
        "rule: 'log' -> 'brier'",
        "seed: 0 -> False",
    ]
    assert differences(flat(RESULT), {}, LAST_DIGIT)[0] == "models/0/low: None -> gone"


@pytest.mark.parametrize(("factor", "equal"), [(1 + 1e-13, True), (1 + 1e-10, False)])
def test_numbers_agree_to_twelve_digits(factor: float, equal: bool) -> None:
    after = changed(models=[{"score": 0.5 * factor, "low": None}])
    assert (not differences(flat(RESULT), flat(after), LAST_DIGIT)) == equal
    assert bool(freeze.compare_ways(RESULT, after))


def test_draws_are_left_out_by_their_path() -> None:
    values = {"diagnostics/max_rhat": 1.0, "models/0/expected_regret": 0.1, "models/0/score": 0.5}
    assert without_draws(values) == {"models/0/score": 0.5}


def test_a_digest_tells_words_from_numbers() -> None:
    def differing(**keys: object) -> set[str]:
        before, after = digests(RESULT), digests(changed(**keys))
        return {key for key in {*before, *after} if before.get(key) != after.get(key)}

    assert differing(versions={}) == set()
    assert differing(rule="brier") == {"rule (words)", "everything"}
    assert differing(models=[{"score": 0.5 + 1e-8, "low": None}]) == {"models (numbers)", "everything"}
    assert differing(models=[{"score": 0.5 + 1e-11, "low": None}]) == set()


def test_private_numbers_are_printed_where_they_are_at_hand(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, path in (("VALUES", tmp_path), ("PRIVATE", tmp_path / "private"), ("DIGESTS", tmp_path / "digests.json")):
        monkeypatch.setattr(freeze, name, path)
    name = "gpqa_diamond"
    freeze.write(name, RESULT)
    assert freeze.compare(name, RESULT) == []
    after = changed(seed=1)
    said = ["everything: digest differs", "seed (numbers): digest differs"]
    assert freeze.compare(name, after) == [*said, "seed: 0 -> 1"]
    (tmp_path / "private" / f"{name}.json").unlink()
    lines = freeze.compare(name, after)
    assert lines[:-1] == said
    assert "--write gpqa_diamond" in lines[-1]
