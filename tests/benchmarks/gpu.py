"""Scores on a GPU against what the device's memory allows; prints one Markdown table.

By hand, on a machine with JAX for its device: `python -m tests.benchmarks.gpu [ITEMS]`; it falls back to the CPU.
"""

import statistics
import sys
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp

import probtruth as pt


def seconds(work: Callable[[], object]) -> float:
    """The median of seven runs after one that compiles."""
    taken = []
    for _ in range(8):
        start = time.perf_counter()
        jax.block_until_ready(work())
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:])


def main() -> None:
    """Prints the table."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    drawn = [jax.random.exponential(jax.random.key(seed), (items, 10), jnp.float32) + 1e-6 for seed in range(3)]
    truth, one, other = (values / values.sum(1, keepdims=True) for values in drawn)
    copy = jax.jit(lambda values: values + 1)
    copied = seconds(lambda: copy(one))
    bandwidth = 2 * one.nbytes / copied
    log = jax.jit(lambda p, t: pt.log_score(p, t).mean())
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}, {items:,} x 10, float32\n")
    print("| work | time | share of the bandwidth of a copy |\n|---|---|---|")
    print(f"| a copy | {1e3 * copied:.2f} ms | 1.00 |")
    taken = seconds(lambda: log(one, truth))
    print(f"| **log_score** under jit | {1e3 * taken:.2f} ms | {2 * one.nbytes / taken / bandwidth:.2f} |")
    whole = seconds(
        lambda: pt.evaluate(pt.Truth.from_probs(truth), {"a": one, "b": other}, engine="exact").scores.values
    )
    print(f"| **evaluate**, two models, to the verdict | {whole:.2f} s | |")


if __name__ == "__main__":
    main()
