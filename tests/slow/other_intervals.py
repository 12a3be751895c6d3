"""The default interval beside bootstraps: a table in Markdown.

    PYTHONPATH=tests/comparison python tests/slow/other_intervals.py

takes about half an hour. 2,000 replications: a coverage of 0.95 has a standard error of 0.005.
"""

import sys

import numpy as np
from best import best_draws, highest_density
from coverage_study import GENERATORS, Generator, fitted
from scipy.special import ndtr, ndtri

QUICK = "--quick" in sys.argv
REPLICATIONS, SAMPLED, RESAMPLES = (100, 20, 200) if QUICK else (2_000, 1_000, 1_000)
SIZES = (20, 50, 200)
LEVELS = np.array([0.025, 0.975])

OPENING = f"""# The default interval beside others

The tables are what `tests/slow/other_intervals.py` prints. Coverage of 95% intervals for the mean difference, from
{REPLICATIONS:,} data sets each ({RESAMPLES:,} resamples of each); in brackets the mean width as a multiple of the
paired t's. The Bayesian t-test of one data set in baycomp has the paired t's interval. BEST (Kruschke 2013; its
highest-density interval by MCMC, on the first {SAMPLED:,} data sets) estimates the location of a symmetric Student t,
which is not the mean if differences are skewed. The study has no clusters, because neither method supports them.
"""


def bootstrap_means(rng: np.random.Generator, row: np.ndarray) -> np.ndarray:
    return row[rng.integers(0, len(row), (RESAMPLES, len(row)))].mean(1)


def percentile(row: np.ndarray, means: np.ndarray) -> np.ndarray:
    return np.quantile(means, LEVELS)


def bca(row: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Efron (1987), doi:10.1080/01621459.1987.10478410; for a mean the acceleration is the skewness over 6 sqrt(n)."""
    centred = row - row.mean()
    spread = (centred**2).sum()
    if spread == 0:
        return np.full(2, row.mean())
    acceleration = (centred**3).sum() / (6 * spread**1.5)
    bias = ndtri(np.clip((means < row.mean()).mean() + (means == row.mean()).mean() / 2, 1e-6, 1 - 1e-6))
    moved = bias + ndtri(LEVELS)
    return np.quantile(means, ndtr(bias + moved / (1 - acceleration * moved)))


def bayesian(rng: np.random.Generator, row: np.ndarray) -> np.ndarray:
    """Rubin (1981), doi:10.1214/aos/1176345338."""
    weights = rng.standard_exponential((RESAMPLES, len(row)))
    return np.quantile(weights @ row / weights.sum(1), LEVELS)


def intervals(rng: np.random.Generator, row: np.ndarray) -> tuple[np.ndarray, ...]:
    means = bootstrap_means(rng, row)
    return percentile(row, means), bca(row, means), bayesian(rng, row)


def beside(generator: Generator, n_items: int) -> list[str]:
    rng = np.random.default_rng(n_items)
    rows = generator.draw(rng, (REPLICATIONS, n_items))
    ours, plain = (np.array([m.interval() for m in found]) for found in fitted(rows, 1, generator.reach))
    others = np.array([intervals(rng, row) for row in rows]).swapaxes(0, 1)
    width = np.ptp(plain, axis=1).mean()
    best = highest_density(best_draws(rng, rows[:SAMPLED]))
    cells = [_cell(ends, generator.mean, width) for ends in (ours, plain, *others)]
    return [*cells, _cell(best, generator.mean, np.ptp(plain[:SAMPLED], axis=1).mean())]


def _cell(ends: np.ndarray, mean: float, width: float) -> str:
    holds = ((ends[:, 0] <= mean) & (mean <= ends[:, 1])).mean()
    return f"{holds:.3f} ({np.ptp(ends, axis=1).mean() / width:.2f})"


def main() -> None:
    print(OPENING)
    print("| differences | n | default | paired t | percentile bootstrap | BCa bootstrap | Bayesian bootstrap | BEST |")
    print("|---|---|---|---|---|---|---|---|")
    for generator in GENERATORS:
        if generator.cluster_size == 1:
            for n_items in SIZES:
                print(f"| {generator.name} | {n_items} | " + " | ".join(beside(generator, n_items)) + " |", flush=True)


if __name__ == "__main__":
    main()
