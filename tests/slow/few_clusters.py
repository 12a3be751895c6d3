"""Coverage of the mean difference with few clusters of equal, unequal and tied sizes (four minutes).

Items are normal with sd 1 around the mean of their cluster; the means of the clusters have the sd in the first column.
A cluster has 20 items, 20 exp(z) items with z standard normal (unequal), or that number with z the cluster's own mean
(tied: the true mean weighs clusters by their items). Cells: coverage of the 95% interval, in brackets its median width
relative to the first method's.

- linearised: the ratio estimator with the factor C/(C - 1), t with C - 1 degrees of freedom;
- linearised, skew: the same with the correction for skewness;
- CR2, BM: residuals over the root of 1 - n_c/n, t with the degrees of freedom of Bell and McCaffrey;
- jackknife: one cluster left out at a time, t with C - 1 degrees of freedom;
- ours: CR2 and Bell-McCaffrey with the correction for skewness.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from made_scores import estimated
from scipy.special import stdtrit

from probtruth.comparison.estimation.design import Design
from probtruth.comparison.posterior.margin import Margin, margins

RUNS = 1000
COUNTS, SPREADS, TYPICAL = (3, 4, 5, 8, 12, 20), (0.0, 0.1, 0.3, 1.0, 10.0), 20
METHODS = ("linearised", "linearised, skew", "CR2, BM", "jackknife", "ours")


def world(rng: np.random.Generator, sizes: str, count: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Each item's cluster, and its difference."""
    own = rng.standard_normal(count)
    log = {"equal": np.zeros(count), "unequal": rng.standard_normal(count), "tied": own}[sizes]
    unit = np.repeat(np.arange(count), np.maximum(1, np.round(TYPICAL * np.exp(log))).astype(int))
    return unit, spread * own[unit] + rng.standard_normal(len(unit))


def truth(sizes: str, spread: float) -> float:
    """The mean over items of new clusters, by a sum over the normal distribution."""
    if sizes != "tied":
        return 0.0
    z = np.linspace(-9, 9, 2_000_001)
    weight = np.maximum(1, np.round(TYPICAL * np.exp(z))) * np.exp(-(z**2) / 2)
    return spread * float((weight * z).sum() / weight.sum())


def intervals(unit: np.ndarray, difference: np.ndarray) -> list[tuple[float, float]]:
    """The interval of each method."""
    sizes, n, count = np.bincount(unit), len(unit), int(unit.max()) + 1
    share, mean = sizes / n, float(difference.mean())
    residual = np.bincount(unit, difference - mean)
    plain = count / (count - 1) * float((residual**2).sum()) / n**2
    jackknife = (count - 1) / count * float((residual**2 / (1 - share) ** 2).sum()) / n**2
    third = count**2 / ((count - 1) * (count - 2)) * float((residual**3).sum()) / n**3
    skewness = third / plain**1.5 if count > 3 else 0.0
    plan = Design.of(np.zeros(n, int), unit)
    ours = margins(estimated(np.stack([difference, np.zeros(n)]), plan))[2]
    half = float(stdtrit(ours.df, 0.975)) * ours.scale
    return [
        Margin(mean, plain**0.5, count - 1.0).interval(),
        Margin(mean, plain**0.5, count - 1.0, skewness).interval(),
        (ours.centre - half, ours.centre + half),
        Margin(mean, jackknife**0.5, count - 1.0).interval(),
        ours.interval(),
    ]


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    for table, sizes in (("clusters", "equal"), ("clusters-unequal", "unequal"), ("clusters-tied", "tied")):
        yield table, ("sd between clusters", "clusters", *METHODS)
        for spread, count in product(SPREADS, COUNTS):
            rng, true = np.random.default_rng([count, round(100 * spread)]), truth(sizes, spread)
            ends = np.array([intervals(*world(rng, sizes, count, spread)) for _ in range(runs)])
            covered = ((ends[..., 0] <= true) & (true <= ends[..., 1])).mean(0)
            width = np.median(ends[..., 1] - ends[..., 0], axis=0)
            cells = [f"{c:.3f} ({w:.2f})" for c, w in zip(covered, width / width[0], strict=True)]
            yield table, (f"{spread:g}", count, *cells)
