"""From scores that are held in memory to the evidence that a comparison takes from them."""

import math

import numpy as np

from probtruth.comparison.companions import companions
from probtruth.comparison.design import Design
from probtruth.comparison.evidence import Evidence, Facts, Strata
from probtruth.comparison.labels import label_locations, label_variance
from probtruth.comparison.ordering import model_order
from probtruth.comparison.sufficient import moments
from probtruth.comparison.sums import weighted_mean
from probtruth.types import Scores

LARGEST = 1e100
"""Scores beyond this would overflow when cubed."""
SHOWN = 3
"""Items of infinite score that a warning names."""


def of_scores(scores: Scores, plan: Design) -> Evidence:
    """The evidence of scores under a design."""
    whole = np.nonzero(np.isfinite(scores.values).all(1))[0]
    structure, item_weights = plan.structure(), plan.item_weights()
    order = whole[model_order(scores.values[whole], [scores.models[row] for row in whole], structure)]
    finite = scores.values[order]
    return Evidence(
        Facts.of(scores),
        Strata.of(plan, len(scores.items)),
        np.array([weighted_mean(row, item_weights) for row in scores.values]),
        scores.n_infinite,
        tuple(tuple(scores.items[place] for place in np.nonzero(np.isinf(row))[0][:SHOWN]) for row in scores.values),
        order,
        moments(finite, structure, _reach(scores)) if len(order) else None,
        lambda a, b: label_variance(scores, a, b, item_weights),
        lambda: label_locations(scores, order, item_weights),
        lambda place: companions(finite, structure, plan.weights, place),
    )


def _reach(scores: Scores) -> float:
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
