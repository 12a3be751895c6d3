import numpy as np
import pytest

from probtruth.streaming.dask_store import as_range


@pytest.mark.parametrize("values", [[4], [4, 5, 6], [9, 6, 3, 0], [0, 1, 3], [2, 1, 0]])
def test_rows_that_follow_one_another_are_a_range(values):
    found = as_range(np.array(values, np.int32))
    assert list(found) == values
    assert isinstance(found, range) == (values != [0, 1, 3])
