"""Posterior predictive check of a pair: differences replicated under the default program, beside the real ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from probtruth.streaming.compare_files import Streamed
from probtruth.types import Comparison, Scores
from probtruth.types.comparison import leading_pair

REPLICATED, MOST, KEPT = 400, 20_000, 100_000
"""Replicated data sets, the most items of each, and the replicated differences that are kept."""
FAR = 3.0
"""Standard deviations beyond which a difference counts as far."""
STATISTICS: Mapping[str, str] = {
    "mean": "Mean difference",
    "ties": "Share of items without a difference",
    "far": "Share beyond three standard deviations",
    "skewness": "Skewness",
    "largest": "Largest difference, in standard deviations",
}


def replicated(
    differences: Float[np.ndarray, " item"], seed: int = 0
) -> tuple[list[dict[str, object]], Float[np.ndarray, " value"]]:
    r"""Statistics of the real differences beside those of replicated ones; and replicated differences, for a histogram.

    The replicated items are normal, as in the default program: $\sigma^2 = (n-1) s^2 / \chi^2_{n-1}$, $\mu$ normal
    about the mean with variance $\sigma^2/n$, and n new differences.

    Returns: rows of `statistic`, `observed`, `low`, `high` (95 per cent of the replicated) and `p`, the share of
    replicated statistics above the observed one, ties counted half; and up to 100,000 replicated differences. No rows
    where the differences do not vary, or are infinite, or fewer than three.

    Source: Gelman, Meng and Stern 1996, Posterior predictive assessment of model fitness, Statistica Sinica 6.
    """
    real = differences
    if len(real) < 3 or not np.isfinite(real).all() or np.ptp(real) == 0:
        return [], np.empty(0)
    random = np.random.default_rng(seed)
    n, centre, spread = len(real), real.mean(), real.std(ddof=1)
    size = min(n, MOST)
    if size < n:
        real = random.choice(real, size, replace=False)
    statistics, replicated = [], []
    for _ in range(REPLICATED):
        sigma = spread * np.sqrt((n - 1) / random.chisquare(n - 1))
        mean = centre + sigma / np.sqrt(n) * random.standard_normal()
        values = mean + sigma * random.standard_normal(size)
        statistics.append(_statistics(values, centre, spread))
        replicated.append(values[: max(1, KEPT // REPLICATED)])
    shown, wanted = np.array(statistics), np.array(_statistics(real, centre, spread))
    low, high = np.quantile(shown, [0.025, 0.975], axis=0)
    above = (shown > wanted).mean(0) + (shown == wanted).mean(0) / 2
    rows: list[dict[str, object]] = [
        {"statistic": name, "observed": float(o), "low": float(lo), "high": float(hi), "p": float(p)}
        for name, o, lo, hi, p in zip(STATISTICS, wanted, low, high, above, strict=True)
    ]
    return rows, np.concatenate(replicated)


def _statistics(values: Float[np.ndarray, " item"], centre: float, spread: float) -> list[float]:
    away = (values - values.mean()) / (values.std() or 1.0)
    size = np.abs(values - centre) / spread
    return [
        float(values.mean()),
        float((values == 0).mean()),
        float((size > FAR).mean()),
        float((away**3).mean()),
        float(size.max()),
    ]


@dataclass(frozen=True, eq=False)
class ReplicatedDifferences:
    """Differences `a` minus `b` on each item, in the scores' own orientation, replicated ones, and statistics of both.

    Nothing is replicated of fewer than three items, or of differences that never vary: `rows` is empty then. See
    `replicated`.
    """

    a: str
    b: str
    higher_is_better: bool
    differences: Float[np.ndarray, " item"]
    rows: Sequence[Mapping[str, Any]]
    replicated: Float[np.ndarray, " value"]


def replicates_of(scores: Scores | Streamed, comparison: Comparison) -> ReplicatedDifferences | None:
    """Those of the two leading models, by name; None of one model, infinite differences or streamed scores."""
    if not isinstance(scores, Scores) or len(scores.models) < 2:
        return None
    a, b = sorted(leading_pair(comparison.ranks))
    first, second = (scores.values[scores.models.index(name)] for name in (a, b))
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return None
    differences = second - first if scores.higher_is_better else first - second
    return ReplicatedDifferences(a, b, scores.higher_is_better, differences, *replicated(differences, comparison.seed))
