"""What a second run need not do again."""

import os
import subprocess
import sys

import pytest

from probtruth.cli.console import cache_compiled_code

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
