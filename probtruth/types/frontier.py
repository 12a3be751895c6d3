"""What quality costs: which models no other one beats in both score and cost, from the joint draws of a comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

SURE = 0.95  # Probability with which the regret of the cheapest model that is good enough lies within the ROPE
AT_ONCE = 1 << 20  # Numbers worked on at once


@dataclass(frozen=True)
class Offer:
    """A model with its cost: `p_frontier` is the probability that no model is both at least as good and cheaper, or
    better and no dearer; `p_good_enough` that its mean is within the ROPE of the best one; None without a ROPE.
    """

    model: str
    cost: float
    score: float
    p_frontier: float
    expected_regret: float
    p_good_enough: float | None


@dataclass(frozen=True, repr=False)
class Frontier(Brief):
    """The models by cost, the cheapest first, and the cheapest whose mean is within the ROPE of the best, P >= 0.95."""

    offers: Sequence[Offer]
    rope: float | None
    cheapest: str | None

    def table(self) -> "polars.DataFrame":
        """A row for each model: `cost`, `score`, `p_frontier`, `expected_regret` and `p_good_enough`."""
        return frames.from_rows([vars(offer) for offer in self.offers])

    @classmethod
    def of(
        cls,
        models: Sequence[str],
        scores: Float[np.ndarray, " model"],
        losses: Float[np.ndarray, "draw model"],
        costs: Mapping[str, float],
        rope: float | None,
    ) -> "Frontier":
        """From draws of the models' mean losses, which may have one constant more or less in each draw."""
        cost = _checked(costs, models)
        on_frontier = np.zeros(len(models))
        regret = np.zeros(len(models))
        good = np.zeros(len(models))
        step = max(1, AT_ONCE // len(models))
        for start in range(0, len(losses), step):
            drawn = losses[start : start + step]
            on_frontier += _unbeaten(drawn, cost).sum(0)
            behind = drawn - drawn.min(1, keepdims=True)
            regret += behind.sum(0)
            if rope is not None:
                good += (behind <= rope).sum(0)
        n_draws = len(losses)
        offers = []
        for at in np.lexsort((np.array(models), cost)).tolist():
            p_good = None if rope is None else float(good[at] / n_draws)
            chance = float(on_frontier[at] / n_draws)
            offers.append(Offer(models[at], float(cost[at]), float(scores[at]), chance, regret[at] / n_draws, p_good))
        good_enough = [one.model for one in offers if one.p_good_enough is not None and one.p_good_enough >= SURE]
        return cls(offers, rope, good_enough[0] if good_enough else None)


def _unbeaten(losses: Float[np.ndarray, "draw model"], cost: Float[np.ndarray, " model"]) -> np.ndarray:
    """Of each draw, the models that no other beats: none is cheaper and as good, or as cheap and better."""
    order = np.argsort(cost, kind="stable")
    unbeaten = np.empty(losses.shape, bool)
    least = np.full(len(losses), np.inf)  # the least loss of all cheaper models
    for price in np.unique(cost):
        alike = order[cost[order] == price]
        best = losses[:, alike].min(1)
        for model in alike:
            unbeaten[:, model] = (losses[:, model] < least) & (losses[:, model] <= best)
        least = np.minimum(least, best)
    return unbeaten


def _checked(costs: Mapping[str, float], models: Sequence[str]) -> Float[np.ndarray, " model"]:
    for model in costs:
        check.one_of(model, tuple(models), "model")
    lacking = [model for model in models if model not in costs]
    if lacking:
        hint = "Give every model its cost, or compare fewer models."
        raise InputError(f"no cost of {check.shortlist(lacking, 3)}", "a cost for every model", hint)
    hint = "In any unit, the same for all."
    numbers = [check.number(costs[model], f"cost of {check.quote(model)}", hint, least=0) for model in models]
    return np.array(numbers)
