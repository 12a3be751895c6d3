"""The workers of a Dask client: all run the caller's version of probtruth.

Whatever becomes of them ends in a result or in one message, never in a wait without end.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import probtruth
from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.host import versions

SECONDS = 30.0
"""How long there may be no worker before that is an error, unless the caller says otherwise."""
QUIET = 2.0
"""Seconds without a result after which the workers are counted."""
POLL = 0.005
"""Seconds between two looks at what is ready."""


class NoAnswer(Exception):
    """A call that has not returned in time."""


def within[T](seconds: float, call: Callable[[], T]) -> T:
    """What a call returns or raises; `NoAnswer` after so many seconds, and its thread is left behind.

    For calls of Dask, which wait for ever where the other side is stopped, or no server of Dask.
    """
    outcome: Future[T] = Future()

    def answer() -> None:
        try:
            outcome.set_result(call())
        except Exception as error:
            outcome.set_exception(error)

    threading.Thread(target=answer, daemon=True).start()
    wait([outcome], seconds)
    if not outcome.done():
        raise NoAnswer
    return outcome.result()


@cache
def code_version() -> str:
    """The version of probtruth, and a digest of its code: a changed copy may compute something else."""
    digest = hashlib.sha256()
    for path in sorted(Path(probtruth.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return f"{probtruth.__version__} ({digest.hexdigest()[:8]})"


@dataclass(frozen=True, eq=False)
class Workers:
    """The workers of a client; `seconds` is how long there may be none of them."""

    client: Any
    seconds: float = SECONDS

    def submit[A](self, work: Callable[[A], Any], argument: A) -> Any:
        """The future of what a worker makes of an argument (also a future); it refuses under another probtruth."""
        return self.client.submit(_with_same_code, code_version(), work, argument, pure=False)

    def finished(self, futures: Sequence[Any]) -> Iterator[Any]:
        """The futures as they are done; what they hold stays with the workers.

        Errors: `InputError` of the first that failed, where no worker is left, and where the scheduler is gone.
        """
        from distributed import as_completed

        done = as_completed(futures, loop=self.client.loop)
        for future in self._each(done, len(futures)):
            yield self._sound(future)

    def results(self, futures: Sequence[Any]) -> Iterator[Any]:
        """What the futures hold, as they are done. Errors: as `finished`."""
        from distributed import as_completed

        done = as_completed(futures, loop=self.client.loop, with_results=True, raise_errors=False)
        for future, result in self._each(done, len(futures)):
            self._sound(future)
            yield result

    def versions(self, futures: Sequence[Any]) -> dict[str, str]:
        """The versions on the workers that hold the futures; where workers differ, all of them."""
        seen = list(self.results([self.submit(_versions_beside, future) for future in futures]))
        return {name: ", ".join(sorted({one[name] for one in seen})) for name in versions()}

    def _each(self, done: Any, number: int) -> Iterator[Any]:
        for _ in range(number):
            looked = monotonic()
            while not done.has_ready():
                sleep(POLL)
                if monotonic() - looked > QUIET:
                    self.wait()
                    looked = monotonic()
            yield next(done)

    def wait(self) -> None:
        """Returns once a worker is running.

        Errors: `InputError` where there is none for so many seconds, or the scheduler does not answer.
        """
        try:
            within(self.seconds + QUIET, partial(self.client.wait_for_workers, 1, timeout=self.seconds))
        except NoAnswer:
            raise self._no_scheduler() from None
        except TimeoutError:
            raise self._no_worker() from None
        except OSError:
            raise self._no_scheduler() from None
        if self.client.status != "running":
            raise self._no_scheduler()

    def _no_worker(self) -> InputError:
        paused = len(self.client.scheduler_info()["workers"])
        what = check.count(paused, "paused worker") if paused else "no worker"
        return InputError(
            f"a Dask scheduler with {what} for {self.seconds:g} s",
            "at least one that runs",
            "They pause when memory runs out: give them more, or smaller batches (--memory; Python: memory=)."
            if paused
            else "Start workers (dask worker ADDRESS), or wait longer for them (--dask-timeout).",
            self.address,
        )

    def _no_scheduler(self) -> InputError:
        return InputError(
            "a Dask scheduler that answers no longer",
            "one that runs until the end",
            "Start it and its workers again, then repeat the command.",
            self.address,
        )

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return str(self.client.scheduler.address)

    def _sound(self, future: Any) -> Any:
        """The future, if it is finished."""
        if future.status == "finished":
            return future
        if future.status != "error":
            raise self._no_scheduler()
        error = future.exception()
        if isinstance(error, InputError):
            raise error
        known = [hint for kind, hint in FAILURES.items() if kind in {one.__name__ for one in type(error).__mro__}]
        if not known or (isinstance(error, AttributeError) and LACKS not in str(error)):
            raise error
        raise InputError(f"a worker that failed ({type(error).__name__}: {error})", *known[0], self.address) from None


MEMORY = ("workers that live", "They ran out of memory, it seems: give them more, or smaller batches (--memory).")
CODE = (f"workers with probtruth {probtruth.__version__}", "Install the caller's version of probtruth on every worker.")
FAILURES = {"MemoryError": MEMORY, "KilledWorker": MEMORY, "ImportError": CODE, "AttributeError": CODE}
"""What a task fails with that is no fault of its input: what was expected, and what to do."""
LACKS = "module 'probtruth"
"""In an AttributeError of a worker whose probtruth lacks what the caller's has; any other is a fault of the code."""


def _with_same_code[A](caller: str, work: Callable[[A], Any], argument: A) -> Any:
    """Runs on a worker."""
    own = code_version()
    if own != caller:
        from distributed import get_worker

        raise InputError(
            f"a worker with probtruth {own}",
            f"{caller}, which the caller has",
            "Install the same version on every worker.",
            get_worker().address,
        )
    return work(argument)


def _versions_beside(part: object) -> dict[str, str]:
    """The versions where a part is."""
    return versions()


def workers_of(client: object, seconds: float = SECONDS) -> Workers:
    """The workers of a client, once one of them runs.

    Errors: `InputError` for what is no client of Dask, and as `Workers.wait`.
    """
    if isinstance(client, Workers):
        workers = client
    elif all(hasattr(client, name) for name in ("submit", "map", "scheduler_info")):
        workers = Workers(client, seconds)
    else:
        raise InputError(
            f"a client of type {type(client).__name__}", "a dask.distributed.Client", "Make one: Client(address)."
        )
    workers.wait()
    return workers
