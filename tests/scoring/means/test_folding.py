import os
import subprocess
import sys
import textwrap

import jax.numpy as jnp
import numpy as np
import pytest

from probtruth.kernels import sums
from probtruth.scoring.means import folding
from probtruth.scoring.means.metric import NO_POSITION

SHARDED = """
import re
import sys

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

import probtruth as pt
from probtruth.scoring.means import folding

assert jax.device_count() == 8
rng = np.random.default_rng(0)
probs, truth = (rng.dirichlet(np.ones(4), 8 * 5003).astype(np.float32) for _ in range(2))
probs[30_077], truth[30_077] = np.eye(4)[0], np.eye(4)[1]
log = pt.streaming.StreamScores("log")
several = pt.streaming.StreamTogether((
    log, pt.streaming.StreamCounts(n_labels=4), pt.streaming.StreamRanks(n_labels=4, events="top", resolution=3)
))
for metric, shape, names, spec in (
    (several, (8,), ("x",), ("x",)),
    (log, (2, 4), ("x", "y"), (("x", "y"),)),
    (log, (4, 2), ("x", "y"), ("x",)),
):
    whole = metric.update(metric.init(), probs, truth)
    spread = NamedSharding(jax.make_mesh(shape, names), PartitionSpec(*spec))
    arrays = [jax.device_put(array, spread) for array in (probs, truth)]
    found = metric.update(metric.init(), *arrays)
    assert all(np.array_equal(*pair) for pair in zip(jax.tree.leaves(found), jax.tree.leaves(whole)))
    items = folding.item_sharding(arrays[0])
    text = folding._sharded.lower(metric, items, metric.init(), *arrays, None).compile().as_text()
    moved = re.findall(r"= (\\w+)\\[([\\d,]*)\\]\\S* (?:all-gather|all-reduce|all-to-all|collective-permute)", text)
    assert moved and {kind for kind, _ in moved} == {"s32"}, moved
    assert max(np.prod([int(size) for size in dims.split(",") if size]) for _, dims in moved) < probs.size // 4
scores = log.finalize(whole)
assert scores.infinite_items == ((30_077,),)
assert pt.streaming.mean_score(*arrays) == scores.expected[0] == np.inf
asked = {"rules": ("brier", "spherical"), "powers": (1.0, -0.5), "confusion": True}
here, there = pt.streaming.mean_scores(probs, truth, **asked), pt.streaming.mean_scores(*arrays, **asked)
for part in ("means", "power_means", "counts"):
    np.testing.assert_allclose(getattr(there, part), getattr(here, part), rtol=1e-5)  # float32 chunks against exact
wrong = NamedSharding(jax.make_mesh((4,), ("x",)), PartitionSpec(None, "x"))
try:
    metric.update(metric.init(), jax.device_put(probs, wrong), truth)
except pt.InputError as error:
    assert "over the items alone" in str(error)
    print("passed")
"""


@pytest.mark.process
def test_eight_devices_give_the_same_bits_and_only_states_travel():
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SHARDED)],
        env={**os.environ, **flags}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "passed", done.stderr[-3000:]


@pytest.mark.parametrize(
    ("labels", "platform", "size"),
    [(2, "cpu", 4096), (10, "cpu", 4096), (1000, "cpu", 256), (10**6, "cpu", 64), (10, "gpu", 1 << 19)],
)
def test_block_size_depends_on_labels_and_device_alone(labels, platform, size):
    assert folding.block_size(labels, platform) == size


@pytest.mark.parametrize(("n", "place"), [(0, 0), (10**6, 10**6), (2**31 - 1, NO_POSITION), (2**40, NO_POSITION)])
def test_positions_beyond_31_bits_are_not_kept(n, place):
    digits = np.array([(n >> (sums.WIDTH * at)) & (2**sums.WIDTH - 1) for at in range(sums.COUNT_DIGITS)], np.int32)
    assert int(folding.next_position(jnp.asarray(digits))) == place
