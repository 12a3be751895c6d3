"""Losses on disk, read in parts: few of them stay in memory, as one part."""

import numpy as np
import pytest

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import moments_of
from probtruth.comparison.evidence.parts import gathered, itself
from probtruth.streaming import disk_store
from probtruth.streaming.disk_store import DiskParts, NumberFile

VALUES = np.random.default_rng(0).gamma(2, 1, (3, 500))
VALUES[1, 7] = np.nan  # an item that a model lacks


@pytest.fixture
def parts(tmp_path):
    tables = []
    for model, values in enumerate(VALUES):
        tables.append(NumberFile(tmp_path / f"losses-{model}", len(values), 1))
        tables[-1].write(np.arange(len(values)), values[:, None])
    return lambda: DiskParts("abc", Structure(np.array([499])), tables, 64)


def test_few_numbers_are_read_once(parts, monkeypatch):
    read, times = NumberFile.read, []
    monkeypatch.setattr(NumberFile, "read", lambda self, start, *more: times.append(start) or read(self, start, *more))
    some = parts()
    for _ in range(3):
        assert len(list(some.each(itself))) == 1
    assert times == [0, 0, 0]  # each model's table once
    whole = gathered(some)
    monkeypatch.setattr(disk_store, "TOGETHER", VALUES.shape[1] - 1)
    several = parts()
    for _ in range(3):
        assert len(list(several.each(itself))) == 8
    assert len(times) == 3 + 8 * 3
    times.clear()
    monkeypatch.setattr(disk_store, "HELD", VALUES.size - 1)
    many = parts()
    for _ in range(2):
        assert len(list(many.each(itself))) == 8
    assert len(times) == 2 * 8 * 3
    np.testing.assert_array_equal(gathered(many).values, whole.values)
    assert whole.item.tolist() == [item for item in range(500) if item != 7]


def test_they_give_the_bits_of_many(parts, monkeypatch):
    found = []
    for held in (disk_store.HELD, 0):
        monkeypatch.setattr(disk_store, "HELD", held)
        made = moments_of(parts(), np.arange(3), np.nanmax(VALUES, 1), 0.0)
        found.append([made.pairs.mean, made.pairs.variance, made.pairs.third, made.levels.variance])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
