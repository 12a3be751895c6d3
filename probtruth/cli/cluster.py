"""The Dask cluster that `--dask` names: one that runs somewhere, or workers of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from probtruth.errors import InputError, MissingExtraError
from probtruth.kernels.cores import n_cores

LOCAL = "local"
ONE_CORE = {"POLARS_MAX_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
"""What limits a worker, and the process that decodes for it, to one core: there is a worker for each."""
SECONDS = 10
"""How long a scheduler may take to answer."""


@contextmanager
def client(address: str | None) -> Iterator[Any]:
    """A client of the scheduler at an address, of a worker for each core of this machine (`local`), or None."""
    if address is None:
        yield None
        return
    try:
        import distributed
    except ImportError:
        raise MissingExtraError(
            "got --dask without the package distributed, expected it installed. Hint: pip install 'probtruth[dask]'"
        ) from None
    if address == LOCAL:
        with (
            distributed.LocalCluster(
                n_workers=n_cores(),
                threads_per_worker=1,
                env=ONE_CORE,
                dashboard_address="127.0.0.1:0",
                silence_logs=40,
            ) as cluster,
            distributed.Client(cluster) as connected,
        ):
            yield connected
        return
    try:
        connected = distributed.Client(address, timeout=SECONDS)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        reason = str(error).split("\n")[0]
        raise InputError(
            f"--dask {address} ({reason})", f"the address of a Dask scheduler, or {LOCAL!r}", "Write tcp://HOST:8786."
        ) from None
    with connected:
        yield connected
