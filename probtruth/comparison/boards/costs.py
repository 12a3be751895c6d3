"""Costs by item, such as tokens or seconds: draws of their means, together with those of the scores."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.spatial.distance import cdist

from probtruth import check
from probtruth.comparison.boards.boards import filled
from probtruth.comparison.estimation.design import Design
from probtruth.errors import InputError
from probtruth.kernels.host import TIE
from probtruth.types import Scores
from probtruth.types.frontier import Drawn
from probtruth.types.index import positions

Values = Float[np.ndarray, "model item"]


def drawn_costs(scores: Scores, plan: Design, seed: int, costs: Scores, models: Sequence[str], losses: Drawn) -> Drawn:
    """Mean costs given draws of mean losses: what they have in common follows these, the rest is normal."""
    order = positions(scores.models, models)
    of_scores = plan.added(filled(scores.losses, plan, scores.models)[0][order])
    of_scores -= of_scores.mean(0)  # draws of losses may have one constant more or less
    cost = _matched(costs, scores)
    size = np.nanmean(np.abs(cost), axis=1, keepdims=True)
    size[size == 0] = 1.0
    # a dear item costs every model so many times more, not so much more
    cost = (size * filled(cost / size, plan, scores.models)[0])[order]
    of_costs = plan.added(cost)
    slope = of_costs @ np.linalg.pinv(of_scores)
    rest = of_costs - slope @ of_scores
    # a root of the covariance of the rest, next to 0 for a model of one price
    root = np.linalg.qr(rest.T, mode="r") * np.sqrt(plan.n_units / max(plan.n_units - 1, 1))
    noise = np.random.default_rng(seed).standard_normal((len(losses), len(root)))
    noise -= noise.mean(0)  # so that the mean costs are those of the items
    behind = losses - losses.mean(1, keepdims=True)
    shared = (behind - behind.mean(0)) @ slope.T
    drawn = cost @ plan.item_weights + shared + noise @ root
    # rounding must not say which of two models with the same costs is dearer, or that one price varies
    tie = TIE * size.max()
    first_alike = (cdist(cost, cost, "chebyshev") <= tie).argmax(1)
    return np.asarray(np.round(drawn[:, first_alike] / tie) * tie + 0.0)  # no negative zero


def _matched(costs: Scores, scores: Scores) -> Values:
    """The costs of the models and items that were scored; NaN where a cost is missing."""
    for what, wanted, names in (("model", scores.models, costs.models), ("item", scores.items, costs.items)):
        lacking = sorted({*wanted} - {*names})
        if lacking:
            hint = "Give every model a cost on every item that it was scored on, or a price."
            raise InputError(f"no cost of {what} {check.shortlist(lacking, 3)}", f"a cost of every {what}", hint)
    rows = positions(costs.models, scores.models)
    found = costs.values[np.ix_(rows, positions(costs.items, scores.items))]
    largest = np.fmax.reduce(np.abs(found), axis=1)
    unknown = [scores.models[at] for at in np.flatnonzero(~np.isfinite(largest))]
    if unknown:
        problem = f"no cost of model {check.shortlist(unknown, 3)}, or an infinite one"
        raise InputError(problem, "finite costs of every model", "Give it a cost on its items, or a price.")
    return found
