"""Costs by item, such as tokens or seconds: draws of their means, together with those of the scores."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.comparison.boards.boards import filled
from probtruth.comparison.estimation.design import Design
from probtruth.errors import InputError
from probtruth.types import Scores
from probtruth.types.frontier import Drawn
from probtruth.types.index import positions

Values = Float[np.ndarray, "model item"]


def drawn_costs(scores: Scores, plan: Design, seed: int, costs: Scores, models: Sequence[str], losses: Drawn) -> Drawn:
    """Mean costs given draws of mean losses: what they have in common follows these, the rest is normal."""
    of_scores = _added(scores.losses, scores.models, models, plan)[1]
    of_scores -= of_scores.mean(0)  # draws of losses may have one constant more or less
    cost = _matched(costs, scores)
    size = np.nanmean(np.abs(cost), axis=1, keepdims=True)
    size[size == 0] = 1.0
    # a dear item costs every model so many times more, not so much more
    mean, of_costs = _added(cost / size, scores.models, models, plan)
    size = size[positions(scores.models, models)]
    mean = mean * size[:, 0]
    of_costs = of_costs * size
    slope = of_costs @ np.linalg.pinv(of_scores)
    rest = of_costs - slope @ of_scores
    values, vectors = np.linalg.eigh(rest @ rest.T)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    noise = np.random.default_rng(seed).standard_normal(losses.shape)
    behind = losses - losses.mean(1, keepdims=True)
    return np.asarray(mean + (behind - behind.mean(0)) @ slope.T + noise @ root.T)


def _matched(costs: Scores, scores: Scores) -> Values:
    """The costs of the models and items that were scored; NaN where a cost is missing."""
    for what, wanted, names in (("model", scores.models, costs.models), ("item", scores.items, costs.items)):
        lacking = sorted({*wanted} - {*names})
        if lacking:
            hint = "Give every model a cost on every item that it was scored on, or a price."
            raise InputError(f"no cost of {what} {check.shortlist(lacking, 3)}", f"a cost of every {what}", hint)
    rows = positions(costs.models, scores.models)
    return costs.values[np.ix_(rows, positions(costs.items, scores.items))]


def _added(
    values: Values, given: Sequence[str], models: Sequence[str], plan: Design
) -> tuple[Float[np.ndarray, " model"], Float[np.ndarray, "model unit"]]:
    """The means over the groups by their weights, and what each unit adds to them."""
    if np.isnan(values).any():
        values, *_ = filled(values, plan, given)
    values = values[positions(given, models)]
    unbiased = np.sqrt(plan.n_units / max(plan.n_units - 1, 1))
    return values @ plan.item_weights, plan.added(values) * unbiased
