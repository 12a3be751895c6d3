"""Stopped and resumed is uninterrupted, bit for bit; a damaged state is one error."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probtruth as pt
from probtruth.study.monitor_state import is_state


def rows(start, stop):
    draw = np.random.default_rng(7).normal(0.5, 0.2, 400).clip(0, 1)
    items = list(range(start, stop))
    return {
        "item": [f"i{k}" for k in items for _ in range(2)],
        "model": ["a=1", "b,\n\U0001f600"] * len(items),
        "score": [float(draw[2 * k + side]) for k in items for side in range(2)],
        "cluster": [k // 5 for k in items for _ in range(2)],
    }


@pytest.mark.parametrize("options", [{"bounds": (0, 1)}, {"method": "asymptotic"}])
@pytest.mark.parametrize("clusters", [{}, {"cluster": "cluster", "largest_cluster": 5}])
def test_stopped_and_resumed_is_uninterrupted(options, clusters, tmp_path):
    first = {**options, **clusters, "alpha": 0.1, "rope": 0.01, "higher_is_better": True}
    whole = pt.monitor(rows(0, 200), **first, close=True)
    path = tmp_path / "state.json"
    pt.monitor(rows(0, 13), **first).save(path)
    for start, stop in ((13, 57), (57, 58), (58, 200)):
        watch = pt.monitor(rows(start, stop), path, cluster=clusters.get("cluster"))
        watch.save(path)
    watch = pt.monitor(rows(0, 200), path, cluster=clusters.get("cluster"), close=True)
    assert watch.to_dict() | {"skipped": 0} == whole.to_dict()
    watch.save(path)
    whole.save(tmp_path / "whole.json")
    assert path.read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["state.json", "whole.json"]


def test_only_states_are_replaced(tmp_path):
    watch = pt.monitor(rows(0, 3), bounds=(0, 1), higher_is_better=False)
    path = tmp_path / "thesis.json"
    path.write_text('{"title": "mine"}')
    with pytest.raises(pt.InputError, match="a file that probtruth did not write"):
        watch.save(path)
    assert path.read_text() == '{"title": "mine"}'
    assert not is_state(tmp_path)


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    path = tmp_path_factory.mktemp("state") / "state.json"
    watch = pt.monitor(rows(0, 6), bounds=(0, 1), cluster="cluster", largest_cluster=5, higher_is_better=False)
    watch.save(path)
    return json.loads(path.read_text())


@pytest.mark.parametrize("change", [{"content": "diary"}, {"alpha": 0.04}, b"", b"\xff\xfe{}", b"[1]", b"[" * 200_000])
def test_damaged_states_are_refused(change, state, tmp_path):
    path = tmp_path / "state.json"
    path.write_bytes(change if isinstance(change, bytes) else json.dumps({**state, **change}).encode())
    with pytest.raises(pt.InputError, match="no state of a monitor"):
        pt.monitor(earlier=path)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(change=st.data())
def test_any_changed_byte_is_refused_or_changes_nothing(state, tmp_path_factory, change):
    sound = json.dumps(state).encode()
    text = bytearray(sound)
    for _ in range(change.draw(st.integers(1, 3))):
        text[change.draw(st.integers(0, len(text) - 1))] = change.draw(st.integers(0, 255))
    folder = tmp_path_factory.mktemp("fuzz")
    for name, content in (("sound", sound), ("changed", text)):
        (folder / name).write_bytes(content)
    try:
        watch = pt.monitor(earlier=folder / "changed")
    except pt.InputError:
        return
    assert watch.to_dict() == pt.monitor(earlier=folder / "sound").to_dict()
