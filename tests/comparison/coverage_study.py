"""Realistic paired score differences whose true mean is known; how often intervals hold it, and how wide they are.

Each generator makes (replication, item) differences. Means that are not exact are expectations over the label, averaged
over 1.6e7 items: -.010895 with standard error 1e-5 for the log loss, -.005825 with 6e-6 for Brier.
"""

from collections.abc import Callable
from dataclasses import dataclass

import made_scores
import numpy as np

from probtruth.comparison.posterior.margin import Margin

BLOCK = 2_000_000
Shape = tuple[int, int]


@dataclass(frozen=True)
class Generator:
    name: str
    draw: Callable[[np.random.Generator, Shape], np.ndarray]
    mean: float
    cluster_size: int = 1
    reach: float = 0.0


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _two_models(rng: np.random.Generator, shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth, an overconfident model and a blunt one, three labels."""
    logits = 2 * rng.standard_normal((*shape, 3))
    sharp = _softmax(1.4 * logits + 0.5 * rng.standard_normal(logits.shape))
    blunt = _softmax(0.9 * logits + 0.5 * rng.standard_normal(logits.shape))
    return _softmax(logits), sharp, blunt


def _votes(rng: np.random.Generator, truth: np.ndarray, n_votes: int) -> np.ndarray:
    """Vote shares of so many annotators."""
    shares = np.zeros_like(truth)
    for _ in range(n_votes):
        label = (truth.cumsum(-1) < rng.random(truth.shape[:-1])[..., None]).sum(-1).clip(max=truth.shape[-1] - 1)
        np.put_along_axis(shares, label[..., None], np.take_along_axis(shares, label[..., None], -1) + 1, -1)
    return shares / n_votes


def log_loss(n_votes: int) -> Callable[[np.random.Generator, Shape], np.ndarray]:
    def draw(rng: np.random.Generator, shape: Shape) -> np.ndarray:
        truth, sharp, blunt = _two_models(rng, shape)
        return (_votes(rng, truth, n_votes) * np.log(sharp / blunt)).sum(-1)

    return draw


def brier(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    truth, sharp, blunt = _two_models(rng, shape)
    votes = _votes(rng, truth, 1)
    return ((sharp - votes) ** 2 - (blunt - votes) ** 2).sum(-1)


def zero_one(ties: float, first_better: float) -> Callable[[np.random.Generator, Shape], np.ndarray]:
    def draw(rng: np.random.Generator, shape: Shape) -> np.ndarray:
        side = np.where(rng.random(shape) < first_better, -1.0, 1.0)
        return np.where(rng.random(shape) < ties, 0.0, side)

    return draw


def zero_inflated(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return np.where(rng.random(shape) < 0.7, 0.0, rng.lognormal(size=shape))


def contaminated(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return np.where(rng.random(shape) < 0.05, 5 + 5 * rng.standard_normal(shape), rng.standard_normal(shape))


def clustered(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Five items a cluster, correlation .3 within."""
    shared = np.repeat(rng.standard_normal((shape[0], shape[1] // 5)), 5, axis=1)
    return np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.standard_normal(shape)


def clustered_skew(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    shared = np.repeat(rng.exponential(size=(shape[0], shape[1] // 5)), 5, axis=1)
    return np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.exponential(size=shape)


LOG, BRIER = -0.010895, -0.005825

GENERATORS = (
    Generator("normal", lambda rng, shape: rng.standard_normal(shape), 0.0),
    Generator("Student t, 3 df", lambda rng, shape: rng.standard_t(3, shape), 0.0),
    Generator("exponential", lambda rng, shape: rng.exponential(size=shape), 1.0),
    Generator("log-normal", lambda rng, shape: rng.lognormal(size=shape), float(np.exp(0.5))),
    Generator("log loss, hard labels", log_loss(1), LOG),
    Generator("log loss, 3 annotators", log_loss(3), LOG),
    Generator("log loss, 5 annotators", log_loss(5), LOG),
    Generator("Brier, hard labels", brier, BRIER),
    Generator("right or wrong, 60% ties", zero_one(0.6, 0.6), -0.08, reach=1.0),
    Generator("right or wrong, 95% ties", zero_one(0.95, 0.6), -0.01, reach=1.0),
    Generator("zero-inflated skew", zero_inflated, 0.3 * float(np.exp(0.5))),
    Generator("5% contamination", contaminated, 0.25),
    Generator("clusters of 5, correlation .3", clustered, 0.0, cluster_size=5),
    Generator("skewed clusters of 5", clustered_skew, float(np.sqrt(0.3) + np.sqrt(0.7)), cluster_size=5),
)


def located(differences: np.ndarray, cluster_size: int, reach: float) -> list[made_scores.Rows]:
    """The moments of every row, each row a data set of its own."""
    n_items = differences.shape[1]
    clusters = None if cluster_size == 1 else np.arange(n_items) // cluster_size
    none = np.zeros(n_items)
    return [made_scores.located(np.stack([row, none]), None, clusters, reach) for row in differences]


def fitted(differences: np.ndarray, cluster_size: int, reach: float) -> tuple[list[Margin], list[Margin]]:
    """The reported margin and the paired t's of every row."""
    places = located(differences, cluster_size, reach)
    plain = [Margin(float(one.mean[0]), float(one.plain_variance[0]) ** 0.5, float(one.df[0])) for one in places]
    return [one.margins[0] for one in places], plain


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
