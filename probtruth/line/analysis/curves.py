"""The posterior of each pair's difference as quantiles, for a reader who asks for another pair, group or ROPE."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from probtruth.check import as_float
from probtruth.types import Comparison
from probtruth.types.comparison import leaders

POINTS = 201
"""Quantiles of a difference; evenly spaced they would be of a normal one."""
FURTHEST = 3.5
"""Standard deviations of a normal difference at which the quantiles end."""
MOST_CURVES = 300
"""Differences that are kept: of more models and groups, those of the best models."""


@dataclass(frozen=True, eq=False)
class DifferenceCurve:
    """Mean and quantiles of the difference a minus b of losses, over all items (`where` ""), groups, or one `group`."""

    where: str
    group: str | None
    a: str
    b: str
    mean: float
    values: Float[np.ndarray, " point"]


@dataclass(frozen=True, eq=False)
class DifferenceCurves:
    """The curves, the probabilities of their points, and the models that they are of, the best first.

    `error` is the largest distance of P(a better) as read off a curve, by straight lines between its points, from the
    reported one.
    """

    probabilities: Float[np.ndarray, " point"]
    curves: Sequence[DifferenceCurve]
    models: tuple[str, ...]
    error: float


def curves_of(comparison: Comparison) -> DifferenceCurves | None:
    """The curves of the best models; None where no difference has a posterior."""
    models = [str(row["model"]) for row in leaders(comparison.ranks)]
    places = 1 + (len(comparison.groups) // max(1, len(comparison.pairs)) + 2 if comparison.group_results else 0)
    while len(models) > 2 and len(models) * (len(models) - 1) // 2 * places > MOST_CURVES:
        models.pop()
    pairs = {(min(pair), max(pair)) for pair in combinations(models, 2)}
    probabilities = ndtr(np.linspace(-FURTHEST, FURTHEST, POINTS))
    rows = comparison.quantiles(probabilities, pairs)
    reported = _reported(comparison, pairs)
    made, gaps = [], []
    for row in rows:
        where, group, a, b = (row[key] for key in ("where", "group", "a", "b"))
        of_row = reported[where, group, a, b]
        mean, p = as_float(of_row["difference"]), as_float(of_row["p_a_better"])
        if mean is None or p is None or not np.isfinite(mean):
            continue
        group_name = None if group is None else str(group)
        curve = DifferenceCurve(str(where), group_name, str(a), str(b), mean, np.asarray(row["values"], np.float64))
        gaps.append(abs(chance_below(curve, probabilities, 0.0) - p))
        made.append(curve)
    return DifferenceCurves(probabilities, made, tuple(models), max(gaps)) if made else None


def chance_below(curve: DifferenceCurve, probabilities: Float[np.ndarray, " point"], value: float) -> float:
    """P(difference < value) + P(difference = value)/2, by straight lines between the quantiles.

    What lies beyond the last quantile is taken to be there: it is not told apart from 0 or 1.
    """
    low, high = float(curve.values[0]), float(curve.values[-1])
    if low == high:
        return 0.5 if value == low else float(low < value)
    return float(np.interp(value, curve.values, probabilities, left=0.0, right=1.0))


def _reported(
    comparison: Comparison, pairs: Collection[tuple[str, str]]
) -> dict[tuple[object, object, object, object], Mapping[str, Any]]:
    """The rows of the tables of these pairs, by what their differences are of."""
    row_of: dict[tuple[object, object, object, object], Mapping[str, Any]] = {}
    for where, rows in {"": comparison.pairs, **comparison.group_results}.items():
        row_of |= {(where, None, row["a"], row["b"]): row for row in rows if (row["a"], row["b"]) in pairs}
    return row_of | {("group", row["group"], row["a"], row["b"]): row for row in comparison.groups}
