import os
import subprocess
import sys
import textwrap

import pytest

SHARDED = """
import re
import sys

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

import probtruth as pt
from probtruth.scoring.means import devices

assert jax.device_count() == 8
rng = np.random.default_rng(0)
probs, truth = (rng.dirichlet(np.ones(4), 8 * 5003).astype(np.float32) for _ in range(2))
probs[30_077], truth[30_077] = np.eye(4)[0], np.eye(4)[1]
log = pt.streaming.RunningMeans("log")
several = pt.streaming.RunningMeans(("log", "brier"), (1.0, -0.5), n_labels=4)
for means, shape, names, spec in (
    (several, (8,), ("x",), ("x",)),
    (log, (2, 4), ("x", "y"), (("x", "y"),)),
    (log, (4, 2), ("x", "y"), ("x",)),
):
    whole = means.finalize(means.of(probs, truth))
    spread = NamedSharding(jax.make_mesh(shape, names), PartitionSpec(*spec))
    arrays = [jax.device_put(array, spread) for array in (probs, truth)]
    parts = means.finalize(means.of(*arrays))
    np.testing.assert_allclose(parts.divergence, whole.divergence, rtol=1e-6)  # float32 kernels in other shapes
    np.testing.assert_allclose(parts.entropy, whole.entropy, rtol=1e-6)
    assert parts.infinite_items == whole.infinite_items
    assert parts.infinite_items[0] == (30_077,)
    items = devices.item_sharding(arrays[0])
    text = devices.fold_sharded.lower(means, items, *arrays, np.int32(0)).compile().as_text()
    moved = re.findall(r"= (\\w+)\\[([\\d,]*)\\]\\S* (?:all-gather|all-reduce|all-to-all|collective-permute)", text)
    assert moved
    assert max(np.prod([int(size) for size in dims.split(",") if size]) for _, dims in moved) < probs.size // 4
assert pt.streaming.mean_score(*arrays) == whole.means[0] == np.inf
options = {"rules": ("brier", "spherical"), "powers": (1.0, -0.5), "confusion": True}
here, there = pt.streaming.mean_scores(probs, truth, **options), pt.streaming.mean_scores(*arrays, **options)
for part in ("means", "power_means", "counts"):
    np.testing.assert_allclose(getattr(there, part), getattr(here, part), rtol=1e-5)  # float32 chunks against pairs
wrong = NamedSharding(jax.make_mesh((4,), ("x",)), PartitionSpec(None, "x"))
try:
    log.of(jax.device_put(probs, wrong), truth)
except pt.InputError as error:
    assert "over the items alone" in str(error)
    print("passed")
"""


@pytest.mark.process
def test_eight_devices_give_the_means_of_one_and_only_states_travel():
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SHARDED)],
        env={**os.environ, **flags}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "passed", done.stderr[-3000:]
