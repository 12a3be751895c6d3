"""What is loaded only when it is needed, and what a second run need not do again."""

import os
import subprocess
import sys

import pytest

from probtruth.cli.console import cache_compiled_code

COMPARED = """
import probtruth as pt
rows = {"item": [*range(6)] * 3, "model": [*"a" * 6, *"b" * 6, *"c" * 6], "loss": [x * x % 7 for x in range(18)]}
comparison = pt.compare(pt.Scores.from_frame(rows, score="loss", higher_is_better=False))
assert comparison.diagnostics["engine"] == "exact"
repr(comparison), repr(comparison.scored)
"""
TYPED = """
from probtruth.cli import main
for more in ([], ["--json"]):
    sys.argv = ["probtruth", "compare", "scores.csv", "--lower-is-better", *more]
    try:
        main()
    except SystemExit as end:
        assert not end.code
    print()
"""
NOT_LOADED = {  # after this code these modules are not loaded
    "the command line": (
        "import probtruth, probtruth.cli",
        "jax jaxtyping numpy polars pandas matplotlib arviz numpyro",
    ),
    "a report": ("import probtruth.report.write", "matplotlib.pyplot"),
    "a comparison without groups": (COMPARED, "jax numpyro arviz arviz_stats matplotlib"),
    "the same on the command line": (TYPED, "jax numpyro arviz arviz_stats matplotlib"),
}


@pytest.mark.process
@pytest.mark.parametrize(("code", "modules"), NOT_LOADED.values(), ids=NOT_LOADED)
def test_nothing_is_loaded_that_is_not_needed(code, modules, files, tmp_path):
    code = f"import sys\n{code}\nprint([name for name in {modules.split()} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]"


COUNTED = """
import sys
import jax
from probtruth.cli import main

counted = {"/jax/compilation_cache/cache_misses": 0, "/jax/compilation_cache/cache_hits": 0}

def count(event, **_):
    if event in counted:
        counted[event] += 1

jax.monitoring.register_event_listener(count)
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
print(*counted.values())
"""


def compiled(words, cache):
    """How many programs were compiled, and how many were found compiled."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, *map(str, words), "--json"],
        env={**os.environ, "JAX_COMPILATION_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    misses, hits = map(int, done.stdout.splitlines()[-1].split())
    return misses, hits


@pytest.mark.process
def test_the_second_run_of_a_command_compiles_nothing(files, tmp_path):
    predictions = (f"--predictions={name}={files[name]}" for name in ("sharp", "flat"))
    words = ["run", "--annotations", files["labels"], *predictions, "--engine", "nuts", "--out"]
    first = compiled([*words, tmp_path / "one"], tmp_path / "cache")
    second = compiled([*words, tmp_path / "two"], tmp_path / "cache")
    assert first[0] > 0
    assert second == (0, first[0] + first[1])


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a container runs a number that no user has: nothing is kept, and the command runs."""

    def unknown(*_: object) -> None:
        raise KeyError("no such user")

    for name in ("HOME", "XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    cache_compiled_code()
    assert "JAX_COMPILATION_CACHE_DIR" not in os.environ
