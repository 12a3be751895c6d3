"""The Dask cluster that `--dask` names: one that runs somewhere, or workers of this machine."""

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from probtruth.cli import options as opt
from probtruth.cli.console import Console
from probtruth.errors import InputError, MissingExtraError
from probtruth.kernels.host import n_cores

LOCAL = "local"
LOOPBACK = "127.0.0.1"
ONE_CORE = {"POLARS_MAX_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
"""What limits a worker, and the process that decodes for it, to one core: there is a worker for each."""
OWN_MEMORY, LEAST_BATCHES = 4e8, 1e8
"""What a worker takes with the process that decodes for it, without any input; and what its batches have at least."""
PAUSE = 0.8
"""Of its limit, what a worker of Dask takes before it pauses."""


@dataclass(frozen=True)
class Crew:
    """How many workers there are of this machine (0: none), with how many bytes each, and what batches may take."""

    n: int
    each: float
    batches: float

    @classmethod
    def of(cls, machine: opt.Machine, memory: float) -> "Crew":
        """Of the bytes that input may take; without `--memory` there is at least one worker, whatever is free.

        Errors: `InputError` where `--memory` has no room for a worker.
        """
        if machine.dask != LOCAL:
            return cls(0, 0.0, memory)
        least = OWN_MEMORY + LEAST_BATCHES
        if memory < least and machine.memory is not None:
            raise InputError(
                f"--memory {machine.memory} with --dask {LOCAL}",
                f"{(least - memory) / 1e9:.2g} GB more",
                f"A worker takes some {least / 1e9:g} GB; or leave --dask out.",
            )
        n = max(min(n_cores(), int(memory / least)), 1)
        each = max(memory / n, least)
        return cls(n, each, each - OWN_MEMORY)


@contextmanager
def workers(machine: opt.Machine, crew: Crew, console: Console) -> Iterator[Any]:
    """Workers of the scheduler that `--dask` names, or one for each core of this machine (`local`); None without it.

    Errors: `InputError` where there is no scheduler of Dask, no worker, or no package to speak with them.
    """
    if machine.dask is None:
        yield None
        return
    if not 0 < machine.dask_timeout < math.inf:
        raise InputError(f"--dask-timeout {machine.dask_timeout:g}", "seconds above 0", "Leave it out for 30.")
    try:
        import distributed
    except ImportError:
        raise MissingExtraError(
            "got --dask without the package distributed, expected it installed. Hint: pip install 'probtruth[dask]'"
        ) from None
    from probtruth.streaming.dask_workers import Workers

    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)  # what it says, one message says
    try:
        with _local(distributed, crew, console) if crew.n else _at(distributed, machine) as connected:
            yield Workers(connected, machine.dask_timeout)
    finally:
        logger.setLevel(level)


@contextmanager
def _local(distributed: Any, crew: Crew, console: Console) -> Iterator[Any]:
    """A client of workers of this machine, which listen on loopback and ask for a certificate made for this run."""
    try:
        security = distributed.Security.temporary()
    except ImportError:
        security = None
        console.note(
            "any user of this machine can connect to the workers while they run, and run code as you: "
            "pip install 'probtruth[dask]' brings the package cryptography, which closes them"
        )
    with (
        distributed.LocalCluster(
            n_workers=crew.n,
            threads_per_worker=1,
            memory_limit=int(crew.each / PAUSE),
            env=ONE_CORE,
            host=LOOPBACK,
            protocol="tcp://" if security is None else "tls://",
            security=security,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as connected,
    ):
        yield connected


@contextmanager
def _at(distributed: Any, machine: opt.Machine) -> Iterator[Any]:
    """A client of the scheduler at an address, with Dask's own settings of security."""
    from probtruth.streaming.dask_workers import NoAnswer, within

    address, seconds = str(machine.dask), machine.dask_timeout
    try:
        if address.startswith("tls://"):
            _check_certificates(distributed)
        connected = within(seconds + 1, partial(distributed.Client, address, timeout=seconds, set_as_default=False))
    except (NoAnswer, OSError, ValueError, TypeError, RuntimeError, ImportError) as error:  # TimeoutError is an OSError
        raise _no_scheduler(address, str(error).split("\n")[0]) from None
    with connected:
        yield connected


CERTIFICATES = "distributed.comm.tls"
"""Dask's settings of certificates."""
SCHEDULER = f"the address of a Dask scheduler, or {LOCAL!r}"
REASONS = {
    "certificate does not match": f"the authority of {CERTIFICATES}.ca-file did not sign the scheduler's certificate",
    "EOF occurred": f"it does not take the certificate of {CERTIFICATES}.client",
    "alert": f"it does not take the certificate of {CERTIFICATES}.client",
    "not idle": "",
    "WRONG_VERSION": "",
}
"""What a word of Dask's about TLS means; empty where it means that nobody there speaks it."""


def _check_certificates(distributed: Any) -> None:
    """Raises `ValueError` where Dask has no certificates that it could use."""
    security = distributed.Security()
    files = security.get_tls_config_for_role("client")
    for name, option in (("ca_file", "ca-file"), ("cert", "client.cert"), ("key", "client.key")):
        file = files[name]
        if file is None and name != "key":  # which the certificate's file may hold
            raise ValueError(f"Dask's settings have no {CERTIFICATES}.{option}")
        if file is not None and "\n" not in file and not Path(file).is_file():
            raise ValueError(f"{CERTIFICATES}.{option} names {file}, which is no file")
    try:
        security.get_connection_args("client")
    except OSError as error:  # those of TLS are such
        raise ValueError(f"the files of {CERTIFICATES} are no certificates with their key: {error}") from None


def _no_scheduler(address: str, said: str) -> InputError:
    """The error where no scheduler takes this client; of what TLS says the library's own words are left out."""
    tls = address.startswith("tls://")
    meant = [reason for word, reason in REASONS.items() if tls and word in said]
    silent = f"what is there does not answer as a scheduler {'that speaks TLS ' if tls else ''}does"
    reason = (meant[0] if meant else said) or silent
    hint = "Write tcp://HOST:8786; tls:// needs the certificates that Dask's settings name (distributed.comm.tls)."
    return InputError(f"--dask {address} ({reason})", SCHEDULER, hint)
