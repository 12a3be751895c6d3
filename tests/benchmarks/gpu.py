"""Scores and Dawid-Skene on a GPU against what the device's memory allows; prints one Markdown table.

Run by hand, on a machine with JAX for its device: `python -m tests.benchmarks.gpu [--scale S] [--annotations N ...]`.
Without a GPU it measures the CPU: `--scale 0.01 --annotations 100000` takes a minute.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import probtruth as pt
from probtruth.scoring.means import devices
from probtruth.scoring.means.streaming import RunningMeans
from probtruth.truth import em
from probtruth.truth.methods import dawid_skene

SIZES = ((10_000_000, 10), (100_000, 1_000))
CLASSES = 4
REPEATS = 7


def seconds(work: Callable[[], object]) -> float:
    """The median of repeats, after one that compiles."""
    jax.block_until_ready(work())
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        jax.block_until_ready(work())
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


@partial(jax.jit, static_argnums=(1, 2))
def simplex_rows(key: jax.Array, n_items: int, n_labels: int) -> jax.Array:
    """Random distributions, made on the device."""
    weights = jax.random.exponential(key, (n_items, n_labels), jnp.float32) + 1e-6
    return weights / weights.sum(1, keepdims=True)


def copy_bandwidth(array: jax.Array) -> float:
    """Bytes a second of reading the array and writing it elsewhere."""
    copy = jax.jit(lambda values: values + 1)
    return 2 * array.nbytes / seconds(lambda: copy(array))


def scoring(n_items: int, n_labels: int) -> list[list[str]]:
    """Mean scores of float32 arrays that lie on the device, and the whole line from them to the verdict."""
    truth, one, other = (simplex_rows(jax.random.key(seed), n_items, n_labels) for seed in (0, 1, 2))
    bandwidth = copy_bandwidth(one)
    size = f"{n_items:,} x {n_labels:,}"
    rows = [["copy (read + write)", size, "", f"{bandwidth / 1e9:,.1f} GB/s", "100 %", ""]]
    logs = jnp.log(one)
    three = ("log", "brier", "spherical")
    cases = {
        "log": (one, RunningMeans("log", parts=False)),
        "log, from log-probabilities": (logs, RunningMeans("log", parts=False, log_probs=True)),
        "brier": (one, RunningMeans("brier", parts=False)),
        "log + brier + spherical": (one, RunningMeans(three, parts=False)),
        "these + powers (1, 0, -2/3)": (one, RunningMeans(three, (1, 0, -2 / 3), parts=False)),
    }
    some = slice(0, min(n_items, 100_000))
    for name, (forecast, means) in cases.items():
        taken = seconds(lambda: devices.fold_there(means, forecast, truth))  # noqa: B023
        rate = (forecast.nbytes + truth.nbytes) / taken
        result = means.finalize(devices.fold_there(means, forecast[some], truth[some])).means
        wide = means.finalize(means.of(*(np.asarray(array[some], np.float64) for array in (forecast, truth)))).means
        error = f"{np.max(np.abs(result / wide - 1)):.0e}"
        rows.append(
            [
                f"mean {name}",
                size,
                f"{1e3 * taken:.2f} ms",
                f"{rate / 1e9:,.1f} GB/s",
                f"{100 * rate / bandwidth:.0f} %",
                error,
            ]
        )

    def verdict() -> pt.Result:
        return pt.evaluate(pt.Truth.from_probs(truth), {"a": one, "b": other}, engine="exact")

    taken = seconds(lambda: verdict().scores.values)
    better = verdict().comparison.pairwise()["p_a_better"][0]
    rows.append(["evaluate, two models, to the verdict", size, f"{taken:.2f} s", "", "", f"P(a better) {better:.3f}"])
    return rows


def truth_by_em(n_annotations: int) -> list[str]:
    """One iteration of Dawid-Skene EM in float64: the difference of two runs of fixed length, per iteration."""
    n_items, n_annotators = n_annotations // 5, max(n_annotations // 200, 5)
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(n_items), 5)
    annotator = rng.integers(0, n_annotators, n_annotations)
    true = rng.integers(0, CLASSES, n_items)
    right = rng.random(n_annotations) < 0.7
    label = np.where(right, true[item], rng.integers(0, CLASSES, n_annotations))
    cell = annotator * CLASSES + label
    with jax.enable_x64(True):
        indices = (jnp.asarray(part, jnp.int32) for part in (item, annotator, label, cell))
        data = em.SparseAnnotations(*indices, jnp.ones(n_annotations), jnp.zeros((n_items, CLASSES)))
        start = jnp.full((n_items, CLASSES), 0.1).at[item, label].add(1.0)
        start = start / start.sum(1, keepdims=True)
        nothing = jnp.zeros((n_annotators, CLASSES, CLASSES))
        fixed = data, (nothing,), (nothing,), jnp.zeros(CLASSES), jnp.asarray(-1.0)

        def run(iterations: int) -> jax.Array:
            return em.climb(dawid_skene.MODEL, start, *fixed, jnp.asarray(iterations)).probs

        taken = (seconds(lambda: run(12)) - seconds(lambda: run(2))) / 10
        wrong = float((np.asarray(run(12)).argmax(1) != true).mean())
    size = f"{n_annotations:,} annotations"
    return [
        "Dawid-Skene EM, one iteration",
        size,
        f"{1e3 * taken:.1f} ms",
        "",
        "",
        f"{100 * wrong:.1f} % of classes wrong",
    ]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="factor for the number of items")
    parser.add_argument("--annotations", type=int, nargs="*", default=[1_000_000, 10_000_000, 100_000_000])
    options = parser.parse_args()
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}, medians of {REPEATS}\n")
    print("| work | size | time | bytes read a second | of copy bandwidth | relative error, or result |")
    print("|---|---|---|---|---|---|")
    rows = [row for items, labels in SIZES for row in scoring(max(int(items * options.scale), 1), labels)]
    rows += [truth_by_em(number) for number in options.annotations]
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
