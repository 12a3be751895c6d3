"""Coverage with clusters of Pareto sizes, whose size goes with their difference or does not (five minutes).

A cluster has 5 u^(-1/a) items, u uniform, at most 5,000: the smaller a, the heavier the tail. Its mean difference is
the number in the second column times an exponential variable with mean 0 and sd 1: that of its size, or its own. Items
have sd 1. The mean is that over the items of new clusters. Cells: coverage of the 95% interval, the share of data
sets with a warning (few, or sizes that go with differences), and coverage where there is none.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from made_scores import make

from probtruth.comparison.compare import compare
from probtruth.comparison.results.warn import BY_SIZE

RUNS = 300
TAILS, SPREADS, COUNTS = (1.2, 1.5, 2.5), (0.0, 0.3, 1.0), (5, 10, 20, 50, 200)
LARGEST = 5000


def sizes_of(u: np.ndarray, tail: float) -> np.ndarray:
    return np.minimum(np.maximum(1, np.round(5 * u ** (-1 / tail))), LARGEST)


def data(rng: np.random.Generator, tail: float, spread: float, count: int, tied: bool) -> tuple[np.ndarray, np.ndarray]:
    """Each item's cluster, and its difference."""
    u = rng.random(count)
    own = rng.random(count)
    size = sizes_of(u, tail).astype(int)
    mean = spread * (-np.log(u if tied else own) - 1)
    unit = np.repeat(np.arange(count), size)
    return unit, mean[unit] + rng.standard_normal(len(unit))


def truth(tail: float, spread: float, tied: bool) -> float:
    """The mean over the items of new clusters, by a sum over the uniform distribution."""
    if not tied:
        return 0.0
    u = (np.arange(2_000_000) + 0.5) / 2_000_000
    size = sizes_of(u, tail)
    return spread * float((size * (-np.log(u) - 1)).sum() / size.sum())


def cell(tail: float, spread: float, count: int, tied: bool, runs: int) -> str:
    rng = np.random.default_rng([round(10 * tail), round(10 * spread), count, tied])
    true = truth(tail, spread, tied)
    held = np.zeros(runs, bool)
    warned = np.zeros(runs, bool)
    for run in range(runs):
        unit, difference = data(rng, tail, spread, count, tied)
        found = compare(make([difference, 0 * difference], "ab"), clusters=unit, engine="exact", draws=10)
        row = found.pairs[0]
        held[run] = row["low"] <= true <= row["high"]
        warned[run] = any("only" in said or BY_SIZE in said for said in found.warnings)
    silent = f"{held[~warned].mean():.3f}" if (~warned).sum() >= 20 else "-"
    return f"{held.mean():.3f} {warned.mean():.2f} {silent}"


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "clusters-pareto", ("tail", "sd between clusters", "size", *(f"{count} clusters" for count in COUNTS))
    for tail, spread, tied in product(TAILS, SPREADS, (False, True)):
        if tied and spread == 0:
            continue
        cells = [cell(tail, spread, count, tied, runs) for count in COUNTS]
        yield "clusters-pareto", (tail, spread, "goes with it" if tied else "does not", *cells)
