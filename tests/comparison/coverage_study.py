"""How often intervals hold the true mean, how wide they are, and whether probabilities mean what they say."""

from dataclasses import dataclass

import numpy as np
from score_generators import Generator

from probtruth.comparison.design import Structure
from probtruth.comparison.location import GroupMeans, Location, combine, means_of
from probtruth.comparison.margin import Margin, margins

BLOCK = 2_000_000


def located(differences: np.ndarray, cluster_size: int, reach: float) -> Location:
    """The moments of every row, each row a data set of its own."""
    n_items = differences.shape[1]
    clusters = None if cluster_size == 1 else np.arange(n_items) // cluster_size
    within = Structure.of(np.zeros(n_items, int), clusters)
    means = means_of(differences, np.abs(differences).max(1), within, reach)
    return combine(GroupMeans.of(within, means, means), means, np.ones(1))


def fitted(differences: np.ndarray, cluster_size: int, reach: float) -> tuple[list[Margin], list[Margin]]:
    """The reported margin and the paired t's of every row."""
    place = located(differences, cluster_size, reach)
    plain = [
        Margin(float(mean), float(variance) ** 0.5, float(df))
        for mean, variance, df in zip(place.mean, place.plain_variance, place.df, strict=True)
    ]
    return margins(place), plain


@dataclass(frozen=True)
class Coverage:
    """Share of intervals that hold the mean, those wholly below and above it, and their mean width."""

    holds: float
    below: float
    above: float
    width: float


def coverage(generator: Generator, n_items: int, replications: int, seed: int) -> tuple[Coverage, Coverage]:
    """Of the reported margin and of the paired t (with clusters, both know them)."""
    ends: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    rng = np.random.default_rng(seed)
    step = max(1, BLOCK // n_items)
    for start in range(0, replications, step):
        rows = generator.draw(rng, (min(step, replications - start), n_items))
        for kept, found in zip(ends, fitted(rows, generator.cluster_size, generator.reach), strict=True):
            kept.extend(margin.interval() for margin in found)
    return _covered(np.array(ends[0]), generator.mean), _covered(np.array(ends[1]), generator.mean)


def _covered(ends: np.ndarray, mean: float) -> Coverage:
    below, above = ends[:, 1] < mean, ends[:, 0] > mean
    return Coverage(
        float((~below & ~above).mean()), *map(float, (below.mean(), above.mean(), np.ptp(ends, axis=1).mean()))
    )


def calibration(generator: Generator, n_items: int, replications: int, seed: int) -> tuple[float, float, float]:
    """Expected calibration error of P(a better), and how often it is above .975 and then wrong.

    True differences are drawn from N(0, (2 SE)^2), SE that of the generator at this size; ten bins of equal width.
    """
    rng = np.random.default_rng(seed)
    rows = generator.draw(rng, (replications, n_items))
    spread = float(rows.mean(1).std())
    truth = rng.normal(0, 2 * spread, replications)
    moved = rows - generator.mean + truth[:, None]
    p = np.array([margin.below(0.0) for margin in fitted(moved, generator.cluster_size, generator.reach)[0]])
    better = truth < 0
    place = np.minimum((p * 10).astype(int), 9)
    size = np.bincount(place, minlength=10)
    gap = np.abs(np.bincount(place, p, 10) - np.bincount(place, better, 10)) / replications
    sure = np.maximum(p, 1 - p) > 0.975
    return float(gap[size > 0].sum()), float(sure.mean()), float(((p > 0.5) != better)[sure].mean())
