"""Compiled code is shared among the tests, shapes are checked on demand, real data is found through PROBTRUTH_DATA."""

import gc
import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

PACKAGE = Path(__file__).parents[1] / "probtruth"
CHECK_SHAPES = "PROBTRUTH_CHECK_SHAPES"
"""Environment variable: set, annotations of shapes are checked at run time: imports take 6 s longer, calls a third."""
INNERMOST = {"probtruth.report.numbers", "probtruth.report.names"}
"""Modules whose functions are called so often that checking every call takes most of the time of the tests."""
COMPILED = "JAX_COMPILATION_CACHE_DIR"
"""Environment variable of JAX: the folder of compiled code. All processes of a run of the tests share one."""

QUICK_TO_COMPILE = " ".join(
    (
        "--xla_backend_optimization_level=0",
        "--xla_llvm_disable_expensive_passes=true",
        "--xla_cpu_parallel_codegen_split_count=1",
    )
)  # Flags of XLA. Nearly all time of the tests is compilation of programs that run once: code need not be quick.

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "gw0")  # Name of this process among those that run the tests: gw0, gw1,


def modules() -> list[str]:
    """The modules of the package that are checked.

    Left out: packages, which hold nothing but names of modules; and the command line, whose annotations are typer's own
    language: it reads them and hands over other classes than they name.
    """
    files = (path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
    paths = (path.with_suffix("") for path in files if path.parts[1] != "cli")
    return sorted({".".join(path.parts) for path in paths} - INNERMOST)


if os.environ.get(CHECK_SHAPES):
    install_import_hook(modules(), "shape_checks.checked").__enter__()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so starts what a shell puts into the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Without bytecode, every worker would rewrite the assertions of all tests, and every process that a test starts would
# compile the sources of the package.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_configure(config: pytest.Config) -> None:
    """Before the workers start and before JAX loads, both of which read the environment."""
    gc.disable()  # until the tests are collected: nearly all that their modules make stays
    os.environ.setdefault("XLA_FLAGS", QUICK_TO_COMPILE)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of several workers wait for one another
    if COMPILED not in os.environ:
        folder = tempfile.mkdtemp(prefix="probtruth-tests-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ[COMPILED] = folder


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Every other worker collects from the end: each reads the rewritten modules that its neighbour wrote meanwhile.

    In a fresh copy, rewriting the assertions takes more than a third of the time of the collection.
    """
    report = yield
    if isinstance(collector, pytest.Directory | pytest.Session) and int(WORKER.removeprefix("gw")) % 2:
        report.result.reverse()
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All workers have to have one order."""
    items.sort(key=lambda item: item.path)


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end, so the collector of garbage need not walk through them again and again."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 50, 50)


@pytest.fixture(scope="session")
def data() -> Path:
    folder = os.environ.get("PROBTRUTH_DATA")
    if not folder:
        pytest.skip("PROBTRUTH_DATA is not set: no real data here")
    return Path(folder)


@dataclass(frozen=True)
class Outcome:
    """What a command left: its status, standard output and standard error."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        return json.loads(self.out)

    @property
    def text(self) -> str:
        return self.err + self.out


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Runs `probtruth WORDS...` in this process; one text is what a shell would be given."""
    from probtruth.cli import main

    def call(*words: object) -> Outcome:
        typed = shlex.split(words[0]) if len(words) == 1 and isinstance(words[0], str) else map(str, words)
        monkeypatch.setattr(sys, "argv", ["probtruth", *typed])
        capsys.readouterr()
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        printed = capsys.readouterr()
        return Outcome(status, printed.out, printed.err)

    return call


@pytest.fixture
def compiled() -> Iterator[list[str]]:
    """An entry for each program that JAX compiles, or finds compiled on disk, while the test runs."""
    import jax

    programs: list[str] = []

    def hear(event: str, _: float, **about: str) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            programs.append(about.get("fun_name", "?"))

    jax.monitoring.register_event_duration_secs_listener(hear)
    jax.jit(lambda x: x + 1)(0)
    assert programs, "JAX no longer says what it compiles"
    programs.clear()
    yield programs
    jax.monitoring.unregister_event_duration_listener(hear)
