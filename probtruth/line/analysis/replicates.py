"""The differences of the two leading models, item by item, beside replicated ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from probtruth.comparison.posterior.predictive_check import replicated
from probtruth.line.analysis.leading import leading_pair
from probtruth.streaming.compare_files import Streamed
from probtruth.types import Comparison, Scores


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
    a, b = sorted(leading_pair(comparison))
    first, second = (scores.values[scores.models.index(name)] for name in (a, b))
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return None
    differences = second - first if scores.higher_is_better else first - second
    return ReplicatedDifferences(a, b, scores.higher_is_better, differences, *replicated(differences, comparison.seed))
