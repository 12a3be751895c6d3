"""Scores and Dawid-Skene on a GPU against what the device's memory allows; prints one Markdown table.

Run by hand, on a machine with JAX for its device: `python tests/benchmarks/gpu.py [--items N] [--annotations N ...]`.
Needs numpy, scipy, jax and jaxtyping only. Without a GPU it measures the CPU (choose smaller sizes).
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from probtruth.scoring.means.arrays import mean_scores
from probtruth.truth import em
from probtruth.truth.methods import dawid_skene

LABELS = 10
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


@partial(jax.jit, static_argnums=1)
def simplex_rows(key: jax.Array, n_items: int) -> jax.Array:
    """Random distributions, made on the device."""
    weights = jax.random.exponential(key, (n_items, LABELS), jnp.float32) + 1e-6
    return weights / weights.sum(1, keepdims=True)


def copy_bandwidth(array: jax.Array) -> float:
    """Bytes a second of reading the array and writing it elsewhere."""
    copy = jax.jit(lambda values: values + 1)
    return 2 * array.nbytes / seconds(lambda: copy(array))


def scoring(n_items: int) -> list[list[str]]:
    """Mean scores of n_items x 10 float32 that lie on the device."""
    truth, probs = (simplex_rows(jax.random.key(seed), n_items) for seed in (0, 1))
    bandwidth = copy_bandwidth(probs)
    rows = [["copy (read + write)", f"{n_items:,} x {LABELS}", "", f"{bandwidth / 1e9:,.0f} GB/s", "100 %", ""]]
    logs = jnp.log(probs)
    cases = {
        "log": (probs, ("log",), False),
        "log, from log-probabilities": (logs, ("log",), True),
        "brier": (probs, ("brier",), False),
        "log + brier + spherical": (probs, ("log", "brier", "spherical"), False),
    }
    some = slice(0, min(n_items, 1_000_000))
    for name, (forecast, rules, is_log) in cases.items():
        taken = seconds(lambda: mean_scores(forecast, truth, rules, log_probs=is_log).means)  # noqa: B023
        rate = (forecast.nbytes + truth.nbytes) / taken
        found = mean_scores(forecast[some], truth[some], rules, log_probs=is_log).means
        wide = mean_scores(*(np.asarray(a[some], np.float64) for a in (forecast, truth)), rules, log_probs=is_log).means
        error = f"{np.max(np.abs(found / wide - 1)):.0e}"
        share = f"{100 * rate / bandwidth:.0f} %"
        rows.append(
            [
                f"mean {name}",
                f"{n_items:,} x {LABELS}",
                f"{1e3 * taken:.2f} ms",
                f"{rate / 1e9:,.0f} GB/s",
                share,
                error,
            ]
        )
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
    parser.add_argument("--items", type=int, default=100_000_000)
    parser.add_argument("--annotations", type=int, nargs="*", default=[1_000_000, 10_000_000, 100_000_000])
    options = parser.parse_args()
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}, medians of {REPEATS}\n")
    print("| work | size | time | bytes read a second | of copy bandwidth | relative error, or result |")
    print("|---|---|---|---|---|---|")
    rows = scoring(options.items)
    rows += [truth_by_em(number) for number in options.annotations]
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
