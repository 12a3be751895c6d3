import copy
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

from probtruth.kernels.arrays import reordered, some_items
from probtruth.kernels.later import Later, as_held, made_later

CELLS = np.arange(2 * 5000 * 3, dtype=np.float64).reshape(2, 5000, 3)


@made_later("table")
@dataclass(frozen=True, eq=False)
class Holder:
    name: str
    table: np.ndarray | None = None


@pytest.fixture
def calls():
    return []


@pytest.fixture
def later(calls):
    def rows(model, items):
        calls.append((model, items))
        return CELLS[model, items]

    return Later(CELLS.shape, rows)


def test_some_rows_do_not_make_the_table(later, calls):
    np.testing.assert_array_equal(later.rows(1, slice(2, 7)), CELLS[1, 2:7])
    np.testing.assert_array_equal(some_items(later, np.array([4, 0])), CELLS[:, [4, 0]])
    assert reordered(later, np.arange(5000), np.arange(3)) is later
    assert len(calls) == 3


def test_the_table_is_made_once_and_rows_are_then_its_own(later, calls):
    table = later.whole()
    made = len(calls)
    np.testing.assert_array_equal(table, CELLS)
    assert later.whole() is table
    np.testing.assert_array_equal(later.rows(0, np.array([3, 1])), CELLS[0, [3, 1]])
    np.testing.assert_array_equal(reordered(later, np.array([7, 2]), np.array([2, 0])), CELLS[:, [7, 2]][..., [2, 0]])
    assert len(calls) == made


def test_a_reader_of_the_field_finds_the_table(later, calls):
    holder = Holder("a", later)
    assert as_held(replace(holder, name="b", table=as_held(holder, "table")), "table") is later
    assert calls == []
    np.testing.assert_array_equal(holder.table, CELLS)
    assert replace(holder, name="b").table is holder.table
    assert Holder("a").table is None
    assert Holder("a", CELLS).table is CELLS
    with pytest.raises(AttributeError):
        holder.table = CELLS


@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_have_the_table(later, again):
    holder = again(Holder("a", later))
    assert isinstance(as_held(holder, "table"), np.ndarray)
    np.testing.assert_array_equal(holder.table, CELLS)
