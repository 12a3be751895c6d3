"""The rows of the tables that a reader gets: pairs, models, and the population of groups."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from probtruth.comparison.decisions import Decisions
from probtruth.comparison.design import Design
from probtruth.comparison.exact import Mixture
from probtruth.comparison.margins import Margin, infinite_margin
from probtruth.comparison.posterior import Population
from probtruth.comparison.sufficient import moments
from probtruth.types import Scores

Row = dict[str, object]


def weighted_mean(values: Float[np.ndarray, " item"], weights: Float[np.ndarray, " item"]) -> float:
    """The weighted mean in a correctly rounded sum; infinite where a value of positive weight is."""
    with np.errstate(invalid="ignore"):
        terms = np.where(weights > 0, weights * values, 0.0)
    if np.isinf(terms).any():
        return float(terms[np.isinf(terms)].sum())
    return math.fsum(terms.tolist())


def pair_rows(
    scores: Scores,
    order: np.ndarray,
    pairs: Sequence[tuple[int, int]],
    margins: Sequence[Margin],
    rope: float | None,
    item_weights: Float[np.ndarray, " item"],
) -> list[Row]:
    """Each unordered pair once, a before b by name."""
    known = {}
    for (a, b), margin in zip(pairs, margins, strict=True):
        known[int(order[a]), int(order[b])] = margin
        known[int(order[b]), int(order[a])] = Margin(-margin.centre, margin.scale, margin.df)
    by_name = sorted(range(len(scores.models)), key=scores.models.__getitem__)
    rows = []
    for a, b in combinations(by_name, 2):
        if (a, b) in known:
            margin = known[a, b]
            low, high = margin.interval()
            values: Row = {
                "difference": margin.centre,
                "low": low,
                "high": high,
                "p_a_better": margin.below(0.0),
                "p_equivalent": None if rope is None else margin.within(rope),
                "p_b_better": margin.above(0.0),
            }
        else:
            means = [weighted_mean(scores.values[row], item_weights) for row in (a, b)]
            difference, p = infinite_margin(*means)
            values = {
                "difference": difference,
                "low": difference,
                "high": difference,
                "p_a_better": p,
                "p_equivalent": None if rope is None or p is None else 0.0,
                "p_b_better": None if p is None else 1.0 - p,
            }
        rows.append({"a": scores.models[a], "b": scores.models[b], **values})
    return rows


def rank_rows(
    scores: Scores,
    plan: Design,
    order: np.ndarray,
    decisions: Decisions | None,
    item_weights: Float[np.ndarray, " item"],
) -> list[Row]:
    """One row for each model, best mean score first; models of infinite mean loss share what is left."""
    place = {int(model): row for row, model in enumerate(order)}
    n_finite, n_models = len(order), len(scores.models)
    rows = []
    for model, name in enumerate(scores.models):
        mean = weighted_mean(scores.values[model], item_weights)
        low, high = _own_interval(scores, plan, model) if model in place else (mean, mean)
        row: Row = {
            "model": name,
            "score": _oriented(mean, scores),
            "low": _oriented(high if scores.higher_is_better else low, scores),
            "high": _oriented(low if scores.higher_is_better else high, scores),
            "entropy": scores.entropy,
            "divergence": None if scores.entropy is None else mean - scores.entropy,
        }
        if decisions is not None and model in place:
            at = place[model]
            row |= {
                "p_best": float(decisions.p_best[at]),
                "expected_rank": float(decisions.expected_rank[at]),
                "expected_regret": float(decisions.expected_regret[at]),
            }
        elif model in place:
            row |= {"p_best": 1.0, "expected_rank": 1.0, "expected_regret": 0.0}
        elif n_finite:
            row |= {"p_best": 0.0, "expected_rank": (n_finite + 1 + n_models) / 2, "expected_regret": math.inf}
        else:
            row |= {"p_best": None, "expected_rank": None, "expected_regret": None}
        rows.append((mean, name, row))
    return [row for _, _, row in sorted(rows, key=lambda entry: entry[:2])]


def _oriented(value: float, scores: Scores) -> float:
    return -value if scores.higher_is_better else value


def _own_interval(scores: Scores, plan: Design, model: int) -> tuple[float, float]:
    """The 95 per cent t interval of a model's own mean score, with the design of the comparison."""
    values = scores.values[[model]]
    total, variance, spread, df = 0.0, 0.0, 0.0, 0.0
    for weight, items in zip(plan.weights, plan.group_items, strict=True):
        part = moments(values[:, items], None if plan.clusters is None else plan.clusters[items])
        total += weight * float(part.level_mean[0])
        if part.df > 0:
            own = weight**2 * float(part.level_variance[0])
            variance, spread, df = variance + own, spread + own**2 / part.df, df + part.df
        else:
            return -math.inf, math.inf
    df = variance**2 / spread if spread > 0 else df
    half = float(stdtrit(df, 0.975)) * math.sqrt(variance) if variance > 0 else 0.0
    return total - half, total + half


def population_rows(
    scores: Scores, order: np.ndarray, pairs: Sequence[tuple[int, int]], population: Population, rope: float | None
) -> dict[str, list[Row]]:
    """The pairs again under the population of groups and for one new group, by quadrature over the pooling."""
    results: dict[str, list[Row]] = {}
    for name, new_group in (("population of groups", False), ("one new group", True)):
        rows = []
        for a, b in pairs:
            first, second = (a, b) if scores.models[order[a]] < scores.models[order[b]] else (b, a)
            direction = population.unit * (population.basis[first] - population.basis[second])
            mixture = population.quadrature.mixture(direction, new_group)
            rows.append(
                {"a": scores.models[order[first]], "b": scores.models[order[second]], **_of_mixture(mixture, rope)}
            )
        results[name] = sorted(rows, key=lambda row: (row["a"], row["b"]))
    return results


def _of_mixture(mixture: Mixture, rope: float | None) -> Row:
    if not mixture.sd.any():
        low = high = mixture.average()
        p = 0.5
    else:
        low, high, p = mixture.quantile(0.025), mixture.quantile(0.975), mixture.below(0.0)
    return {
        "difference": mixture.average(),
        "low": low,
        "high": high,
        "p_a_better": p,
        "p_equivalent": None if rope is None else mixture.below(rope) - mixture.below(-rope),
        "p_b_better": 1.0 - p,
    }
