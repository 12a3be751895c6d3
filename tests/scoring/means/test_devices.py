import os
import re
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import probtruth as pt
from probtruth.scoring.means import devices
from probtruth.scoring.means.state import MeanOptions, exactly

QUICK = ("log", "brier", "quadratic", "linear", "spherical")

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


@pytest.mark.parametrize(
    ("n_labels", "log_probs"),  # sums over labels written out, and in a loop
    [(10, False), (40, True), *(pytest.param(*each, marks=pytest.mark.long) for each in ((10, True), (40, False)))],
)
def test_one_pass_gives_the_means_of_the_host(n_labels, log_probs):
    rng = np.random.default_rng(n_labels)
    probs, truth = (rng.dirichlet(np.ones(n_labels), 300).astype(np.float32) for _ in range(2))
    probs[7], truth[7] = 0, np.eye(n_labels)[1]
    probs[7, :2] = 1, 1e-41  # subnormal: costs 94.3, not infinity
    probs[9], truth[9] = np.eye(n_labels)[0], np.eye(n_labels)[2]
    forecast = probs
    if log_probs:
        with np.errstate(divide="ignore"):
            forecast = np.log(probs.astype(np.float64)).astype(np.float32)
    powers = (1.0, 0.0, -0.5)
    means = pt.streaming.RunningMeans(QUICK, powers, n_labels=n_labels, parts=False, log_probs=log_probs)
    assert devices.in_one_pass(means)
    got = means.finalize(devices.fold_there(means, jnp.asarray(forecast), jnp.asarray(truth)))
    exact = (array.astype(np.float64) for array in (forecast, truth))
    want = pt.streaming.mean_scores(*exact, QUICK, powers, confusion=True, log_probs=log_probs)
    assert got.n_infinite.tolist() == [1, 0, 0, 0, 0]
    for part in ("means", "power_means", "n_impossible", "counts"):
        # each loss is rounded to float32, off by less than K eps times its size; 40 eps = 2.4e-6
        np.testing.assert_allclose(getattr(got, part), getattr(want, part), rtol=1e-5, err_msg=part)


@pytest.mark.parametrize(
    ("items", "n_labels", "log_probs"),
    [
        (2048, 10, True),
        (256, 200, False),
        *(pytest.param(*each, marks=pytest.mark.long) for each in ((2048, 10, False), (256, 200, True))),
    ],
)
def test_rules_and_powers_together_read_both_arrays_once(items, n_labels, log_probs):
    options = MeanOptions(QUICK, (1.0, 0.0, -2 / 3), parts=False, log_probs=log_probs)
    table = jax.ShapeDtypeStruct((items, n_labels), np.float32)
    number = jax.ShapeDtypeStruct((), np.int32)
    compiled = devices.fold_here.lower(options, table, table, number, "gpu").compile()
    read = compiled.cost_analysis()["bytes accessed"] / (2 * 4 * items * n_labels)
    assert 1 <= read <= 1.15
    assert "while" not in compiled.as_text()  # of a loop one step alone would be counted


@pytest.mark.parametrize(("n_labels", "log_probs"), [(10, False), pytest.param(40, True, marks=pytest.mark.long)])
def test_with_counts_blocks_are_taken_from_both_arrays_once(n_labels, log_probs):
    """Counts are products of matrices, and so loops of their own: they read the block again, and not the arrays."""
    options = MeanOptions(QUICK, (1.0, 0.0), n_labels=n_labels, parts=False, log_probs=log_probs)
    size = devices.CELLS["cpu"] // n_labels
    items = 3 * size + 7  # a few are left over
    table = jax.ShapeDtypeStruct((items, n_labels), np.float32)
    compiled = devices.fold_here.lower(options, table, table, jax.ShapeDtypeStruct((), np.int32), "cpu").compile()
    taken = []
    for computation in compiled.as_text().split("\n\n"):
        if "fused_computation" not in computation.split(" ", 1)[0]:
            continue
        for name in re.findall(rf"(%\S+) = f32\[{items},{n_labels}\]\S* parameter", computation):
            uses = re.findall(rf"= f32\[(\d+),(\d+)\]\S* ([\w-]+)\([^)]*{re.escape(name)}\b", computation)
            assert uses
            taken += uses
    kinds = [kind for _, _, kind in taken]
    assert set(kinds) == {"dynamic-slice", "slice"}  # nothing reads a whole array
    assert kinds.count("dynamic-slice") == 2  # in the loop, once from each array
    read = sum(int(rows) * int(labels) * (3 if kind == "dynamic-slice" else 1) for rows, labels, kind in taken)
    assert 1 <= read / (2 * items * n_labels) <= 1.15


def test_counts_beyond_one_float():
    count = exactly(jnp.int32(2**24 + 1), np.dtype(np.float32))  # float32 goes in steps of 2 there
    assert float(count.high) + float(count.low) == 2**24 + 1


@pytest.mark.process
def test_eight_devices_give_the_means_of_one_and_only_states_travel():
    flags = {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SHARDED)],
        env={**os.environ, **flags, "JAX_PLATFORMS": "cpu"}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "passed", done.stderr[-3000:]
