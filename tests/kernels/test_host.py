"""Work ahead in threads: in order, a few at a time, and never a wait when it is dropped."""

import gc
import threading
import time

import pytest

from probtruth.kernels.host import ahead


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_results_come_in_order(n, n_threads):
    assert list(ahead(lambda one: one * one, range(n), n_threads)) == [one * one for one in range(n)]


def test_only_a_few_are_begun_before_they_are_wanted():
    begun = []
    found = ahead(lambda one: begun.append(one), range(100), 2)
    next(found)
    time.sleep(0.1)
    assert len(begun) <= 3


def test_an_error_comes_where_its_result_would():
    found = ahead(lambda one: 1 / (2 - one), range(5), 2)
    assert [next(found), next(found)] == [0.5, 1.0]
    with pytest.raises(ZeroDivisionError):
        next(found)
    with pytest.raises(StopIteration):
        next(found)


def test_dropping_it_waits_for_nobody():
    """The collector may drop it in a thread that holds what the work waits for."""
    lock, waiting = threading.Lock(), threading.Event()

    def step(one: int) -> int:
        if one:
            waiting.set()
            with lock:
                pass
        return one

    found = ahead(step, range(3), 1)
    with lock:
        assert next(found) == 0
        assert waiting.wait(10)
        loop = [found]
        loop.append(loop)
        del found, loop
        gc.collect()
