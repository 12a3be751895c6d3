"""What quality costs: which models no other one beats in both score and cost, from the joint draws of a comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from probtruth import check, frames
from probtruth.check import MaybeNumber, MaybeText
from probtruth.errors import InputError
from probtruth.kernels.shapes import ModelFloats
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

SURE = 0.95  # Probability with which the regret of the cheapest model that is good enough lies within the ROPE

Drawn = Float[np.ndarray, "draw model"]


@dataclass(frozen=True)
class Offer:
    """A model with its cost: `p_frontier` is the probability that no model is both at least as good and cheaper, or
    better and no dearer; `p_good_enough` that its mean is within the ROPE of the best one; None without a ROPE.
    `cost_low` to `cost_high` is the 95% interval of a mean cost; None of a price.
    """

    model: str
    cost: float
    cost_low: MaybeNumber
    cost_high: MaybeNumber
    score: float
    p_frontier: float
    expected_regret: float
    p_good_enough: MaybeNumber


@dataclass(frozen=True, repr=False)
class Frontier(Brief):
    """The models by cost, the cheapest first, and the cheapest whose mean is within the ROPE of the best, P >= 0.95."""

    offers: Sequence[Offer]
    rope: MaybeNumber
    cheapest: MaybeText

    def table(self) -> "polars.DataFrame":
        """A row for each model, with the columns of `Offer`."""
        return frames.from_rows([vars(offer) for offer in self.offers])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `result.json`."""
        return {"rope": self.rope, "cheapest": self.cheapest, "models": [dict(vars(offer)) for offer in self.offers]}

    @classmethod
    def of(
        cls, models: Sequence[str], scores: ModelFloats, losses: Drawn, costs: Drawn, rope: MaybeNumber
    ) -> "Frontier":
        """From draws of the models' mean losses, which may have one constant more or less, and of their mean costs."""
        on_frontier = unbeaten(losses, costs).mean(0)
        behind = losses - losses.min(1, keepdims=True)
        regret = behind.mean(0)
        good = None if rope is None else (behind <= rope).mean(0)
        mean = costs.mean(0)
        low, high = np.quantile(costs, [0.025, 0.975], axis=0)
        offers = []
        for at in np.lexsort((np.array(models), mean)).tolist():
            known = low[at] == high[at]
            offer = Offer(
                model=models[at],
                cost=float(low[at] if known else mean[at]),
                cost_low=None if known else float(low[at]),
                cost_high=None if known else float(high[at]),
                score=float(scores[at]),
                p_frontier=float(on_frontier[at]),
                expected_regret=float(regret[at]),
                p_good_enough=None if good is None else float(good[at]),
            )
            offers.append(offer)
        good_enough = [one.model for one in offers if one.p_good_enough is not None and one.p_good_enough >= SURE]
        return cls(offers, rope, good_enough[0] if good_enough else None)


def unbeaten(losses: Drawn, costs: Drawn) -> Bool[np.ndarray, "draw model"]:
    """Of each draw, the models that no other beats: none is cheaper and as good, or as cheap and better."""
    found = np.empty(losses.shape, bool)
    for at in range(losses.shape[1]):
        loss = losses[:, [at]]
        cost = costs[:, [at]]
        no_worse = (losses <= loss) & (costs <= cost)
        better = (losses < loss) | (costs < cost)
        found[:, at] = ~(no_worse & better).any(1)
    return found


def prices(costs: Mapping[str, float], models: Sequence[str]) -> ModelFloats:
    """The price of each model."""
    for model in costs:
        check.one_of(model, tuple(models), "model")
    lacking = [model for model in models if model not in costs]
    if lacking:
        hint = "Give every model its cost, or compare fewer models."
        raise InputError(f"no cost of {check.shortlist(lacking, 3)}", "a cost for every model", hint)
    hint = "In any unit, the same for all."
    numbers = [check.number(costs[model], f"cost of {check.quote(model)}", hint, least=0) for model in models]
    return np.array(numbers)
