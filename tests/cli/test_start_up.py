"""What a second run need not do again, and on which device."""

import os
import subprocess
import sys

import jax
import pytest

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
        env={**os.environ, "PROBTRUTH_CACHE": str(cache)}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    misses, hits = map(int, done.stdout.splitlines()[-1].split())
    return misses, hits


@pytest.mark.process
def test_the_second_run_of_a_command_compiles_nothing(files, tmp_path):
    predictions = (f"--predictions={name}={files[name]}" for name in ("sharp", "flat"))
    words = ["run", "--annotations", files["labels"], *predictions, "--out"]
    first = compiled([*words, tmp_path / "one"], tmp_path / "cache")
    second = compiled([*words, tmp_path / "two"], tmp_path / "cache")
    assert first[0] > 0
    assert second == (0, first[0] + first[1])


@pytest.fixture
def default_device():
    before = jax.config.jax_default_device
    yield
    jax.config.update("jax_default_device", before)


@pytest.mark.usefixtures("default_device")
def test_a_device_that_is_named(run, files, tmp_path):
    words = ("truth", files["labels"], "--method", "majority", "--out")
    assert run(*words, tmp_path / "one.csv", "--device", "cpu").status == 0
    assert jax.config.jax_default_device == jax.devices("cpu")[0]
    unknown = run(*words, tmp_path / "two.csv", "--device", "abacus")
    assert unknown.status == 2
    assert "--device" in unknown.err
    if all(device.platform == "cpu" for device in jax.devices()):
        absent = run(*words, tmp_path / "two.csv", "--device", "gpu")
        assert absent.status == 2
        assert "got --device gpu where JAX finds none" in absent.err
