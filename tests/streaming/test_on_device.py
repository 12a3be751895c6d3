"""Files scored on a device that is not the host's own: the losses of the host, within rounding."""

import os
import subprocess
import sys

import numpy as np
import polars
import pytest

TOLERANCE = 4 * np.finfo(float).eps
"""Three terms a sum and a logarithm, relative to the largest loss."""

COMPARED = """
import sys
from contextlib import nullcontext
import jax, numpy as np, polars, probtruth as pt
from probtruth.scoring import device_losses

truth, files = "truth.parquet", {name: f"{name}.parquet" for name in "ab"}
other, used = jax.devices()[1], []
for name in ("_of_cells", "_losses"):
    def watched(*values, program=getattr(device_losses, name)):
        used.append((program.__name__, {device for value in values[-2:] for device in value.devices()}))
        return program(*values)
    setattr(device_losses, name, watched)

def losses(memory, chosen, **options):
    with jax.default_device(other) if chosen else nullcontext():
        pt.score(files, truth, out="losses.parquet", memory=memory, **options)
    return polars.read_parquet("losses.parquet")["score"].to_numpy()

for rule in ("log", "brier"):
    for memory, program in ((1e3, "_of_cells"), (None, "_losses")):
        for options in ({}, {"floor": 0.01}):
            used.clear()
            host = losses(memory, False, rule=rule, **options)
            assert not used
            device = losses(memory, True, rule=rule, **options)
            assert used and all(one == (program, {other}) for one in used), used
            np.testing.assert_allclose(device, host, rtol=float(sys.argv[1]), atol=float(sys.argv[1]))
with jax.default_device(other):
    both = [pt.evaluate(truth, files, engine="exact", floor=0.01, memory=memory) for memory in (1e3, None)]
difference = [result.to_dict()["pairwise"][0]["difference"] for result in both]
np.testing.assert_allclose(*difference, rtol=1e-12)
print("passed")
"""


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(3)
    for name in ("truth", "a", "b"):
        probs = rng.dirichlet(np.full(3, 0.5), 3000)
        if name == "a":
            probs[:5] = [0, 0.25, 0.75]
        columns = dict(zip("xyz", probs.T, strict=True))
        polars.DataFrame({"item": [f"q{row}" for row in range(3000)]} | columns).write_parquet(
            tmp_path / f"{name}.parquet"
        )
    return tmp_path


@pytest.mark.process
def test_losses_of_the_host(folder):
    flags = {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"}
    done = subprocess.run(
        [sys.executable, "-c", COMPARED, str(TOLERANCE)],
        env={**os.environ, **flags, "JAX_PLATFORMS": "cpu"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.strip() == "passed", done.stderr[-3000:]
