"""From scores that are held in memory to the evidence that a comparison takes from them."""

import math

import numpy as np
from jaxtyping import Float

from probtruth.comparison.companions.many_items import MOST, many_companions
from probtruth.comparison.companions.paired_tests import companions
from probtruth.comparison.evidence.design import Design
from probtruth.comparison.evidence.evidence import Evidence, Facts, Strata
from probtruth.comparison.evidence.label_variance import label_locations, label_variance
from probtruth.comparison.evidence.model_order import model_order
from probtruth.comparison.evidence.moments import moments
from probtruth.comparison.evidence.repeats import repeats_of
from probtruth.comparison.evidence.replicates import correlated_folds, repeated_locations
from probtruth.comparison.options import PLAIN, Options
from probtruth.kernels.exact_sums import weighted_mean
from probtruth.types import Scores

LARGEST = 1e100
"""Scores beyond this would overflow when cubed."""
SHOWN = 3
"""Items of infinite score that a warning names."""


def of_scores(scores: Scores, plan: Design, asked: Options = PLAIN, annotations: object = None) -> Evidence:
    """The evidence of scores under a design; `annotations` are those behind them, where their annotators matter."""
    whole = np.nonzero(np.isfinite(scores.values).all(1))[0]
    structure, item_weights = plan.structure(), plan.item_weights()
    order = whole[model_order(scores.values[whole], [scores.models[row] for row in whole], structure)]
    finite = scores.values[order] + _influence(scores, plan)[order]
    repeats = repeats_of(scores, plan, order, asked, annotations)
    parts = moments(finite, structure, reach_of(scores)) if len(order) else None
    if parts is not None and asked.fold_correlation is not None and scores.replicate_values is None:
        parts = correlated_folds(parts, asked.fold_correlation)
    again = scores.replicate_values is not None and scores.label_values is None
    return Evidence(
        Facts.of(scores),
        Strata.of(plan, len(scores.items)),
        np.array([weighted_mean(row, item_weights) for row in scores.values]),
        scores.n_infinite,
        tuple(tuple(scores.items[place] for place in np.nonzero(np.isinf(row))[0][:SHOWN]) for row in scores.values),
        order,
        parts,
        lambda a, b: _label_part(scores, plan, a, b),
        lambda: (
            repeated_locations(scores, order, item_weights, asked.fold_correlation)
            if again
            else label_locations(scores, order, item_weights)
        ),
        lambda place: (companions if len(scores.items) <= MOST else many_companions)(
            finite, structure, plan.weights, place
        ),
        repeats,
        lambda a, b: finite[a] - finite[b],
    )


def _influence(scores: Scores, plan: Design) -> Float[np.ndarray, "model item"]:
    """What each item does through fitted weights, centred in every group; items' weights are equal within a group."""
    if scores.influence is None:
        return np.zeros_like(scores.values)
    centred = scores.influence.copy()
    for items in plan.group_items:
        centred[:, items] -= centred[:, items].mean(1, keepdims=True)
    return centred


def _label_part(scores: Scores, plan: Design, a: int, b: int) -> float | None:
    """The labels' part of the variance of a mean difference; see `label_variance`.

    Where weights were fitted to uncertain classes it is what the comparison has beyond the items' own variance, which
    is that of the expected losses and of the losses around them.
    """
    item_weights = plan.item_weights()
    within = label_variance(scores, a, b, item_weights)
    if within is None or scores.influence is None:
        return within
    expected = scores.values[a] - scores.values[b]
    moved = _influence(scores, plan)
    spread = [_variance(row, item_weights) for row in (expected + moved[a] - moved[b], expected)]
    return max(spread[0] - spread[1] - within, 0.0)


def _variance(row: Float[np.ndarray, " item"], item_weights: Float[np.ndarray, " item"]) -> float:
    return weighted_mean((row - weighted_mean(row, item_weights)) ** 2, item_weights**2)


def reach_of(scores: Scores) -> float:
    """The largest difference that two scores of an item can have; 0 where that is not known."""
    sizes = np.abs(scores.values)
    return reach(scores.range, bool(((sizes == 0) | (sizes == 1)).all()))


def reach(bounds: tuple[float, float] | None, zero_or_one: bool) -> float:
    """The largest difference that two scores of an item can have; 0 where that is not known or infinite.

    Arguments: `bounds` of a loss, where they are known; else whether every score is 0, 1 or -1.
    """
    if bounds is not None:
        low, high = bounds
        return high - low if math.isfinite(high - low) else 0.0
    return float(zero_or_one)
