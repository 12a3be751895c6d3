"""Workers that are none, die, pause, lack memory or have another probtruth: one message, soon."""

import os
import subprocess
import sys
import time
from functools import partial

import pytest

from probtruth.errors import InputError
from probtruth.kernels import host
from probtruth.streaming import dask_workers
from probtruth.streaming.dask_workers import NoAnswer, Workers, code_version, within, workers_of

distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # those of Dask about a busy machine


@pytest.fixture
def threads(monkeypatch):
    """A client of one worker that is a thread of this process."""
    monkeypatch.setattr(dask_workers, "QUIET", 0.1)
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    options["memory_limit"] = 0  # else the worker decides itself whether it pauses
    with distributed.LocalCluster(**options, silence_logs=50) as cluster, distributed.Client(cluster) as client:
        yield client


def test_what_workers_make_and_their_versions(threads):
    workers = workers_of(threads)
    futures = [workers.submit(abs, -number) for number in range(3)]
    assert sorted(workers.results(futures)) == [0, 1, 2]
    assert [future.status for future in workers.finished(futures)] == ["finished"] * 3
    assert workers.versions(futures) == host.versions()


def test_no_worker(threads):
    threads.cluster.scale(0)
    while threads.scheduler_info()["workers"]:
        time.sleep(0.02)
    with pytest.raises(InputError, match=r"no worker for 0\.2 s.*Start workers"):
        workers_of(threads, seconds=0.2)


def test_the_only_worker_dies(threads):
    workers = Workers(threads, seconds=0.2)
    future = workers.submit(time.sleep, 1)
    threads.cluster.scale(0)
    with pytest.raises(InputError, match=r"no worker for 0\.2 s"):
        list(workers.finished([future]))


def test_the_only_worker_pauses(threads):
    workers = Workers(threads, seconds=0.2)
    threads.run(lambda dask_worker: setattr(dask_worker, "status", distributed.core.Status.paused))
    with pytest.raises(InputError, match=r"1 paused worker for 0\.2 s.*memory"):
        list(workers.results([workers.submit(abs, -1)]))


def raised(error):
    raise error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("so it is"), r"worker that failed \(MemoryError.*--memory"),
        (ImportError("so it is"), "Install the caller's version"),
        (AttributeError("Can't get attribute 'f' on <module 'probtruth.line' from 'x.py'>"), "the caller's version"),
    ],
)
def test_what_is_no_fault_of_the_input(threads, error, words):
    with pytest.raises(InputError, match=words):
        list(Workers(threads).finished([Workers(threads).submit(raised, error)]))


@pytest.mark.parametrize("error", [ZeroDivisionError(), AttributeError("'NoneType' object has no attribute 'items'")])
def test_an_error_of_ours_is_not_dressed_up(threads, error):
    with pytest.raises(type(error)):
        list(Workers(threads).results([Workers(threads).submit(raised, error)]))


SCHEDULER = """
from distributed import LocalCluster
with LocalCluster(n_workers=1, processes=False, dashboard_address=None, silence_logs=50, host="127.0.0.1",
                  protocol="tcp://") as cluster:
    print(cluster.scheduler_address, flush=True)
    input()
"""


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.skipif(sys.platform == "win32", reason="stops a process")
def test_the_scheduler_dies_or_stops(monkeypatch, stopped):
    monkeypatch.setattr(dask_workers, "QUIET", 0.3)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", SCHEDULER], stderr=subprocess.DEVNULL, **pipes)
    try:
        with distributed.Client(process.stdout.readline().strip(), timeout=30) as client:
            workers = Workers(client, seconds=0.5)
            future = workers.submit(time.sleep, 30)
            os.kill(process.pid, 19 if stopped else 9)
            with pytest.raises(InputError, match="answers no longer"):
                list(workers.results([future]))
            process.kill()
    finally:
        process.kill()
        process.communicate()


def test_a_worker_with_another_probtruth_refuses(client):
    one, own = next(iter(client.scheduler_info()["workers"])), code_version()

    def put(version):
        dask_workers.code_version = version

    workers = workers_of(client)
    client.run(put, lambda: "0.0.9 (abcdef01)", workers=[one])
    try:
        futures = [workers.submit(time.sleep, 0.2) for _ in range(8)]  # enough for both
        with pytest.raises(InputError) as refused:
            list(workers.finished(futures))
    finally:
        client.run(put, lambda: own, workers=[one])
    assert f"{one}: got a worker with probtruth 0.0.9 (abcdef01), expected {own}" in str(refused.value)


def test_a_worker_that_dies_of_a_task_again_and_again(client, cluster):
    before, cluster.scheduler.allowed_failures = cluster.scheduler.allowed_failures, 0
    try:
        with pytest.raises(InputError, match=r"worker that failed \(KilledWorker.*memory"):
            list(workers_of(client).finished([workers_of(client).submit(os._exit, 1)]))
    finally:
        cluster.scheduler.allowed_failures = before


def test_a_call_that_does_not_return():
    with pytest.raises(NoAnswer):
        within(0.05, partial(time.sleep, 5))
    assert within(5, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 / 0)
