"""Which items to send to an expert: with probabilities that follow the doubt about the models' difference."""

from collections.abc import Mapping, Sequence

import numpy as np

from probtruth import check
from probtruth.comparison.estimation.design import partition_of
from probtruth.comparison.estimation.rectified import FEWEST
from probtruth.errors import InputError
from probtruth.kernels.arrays import moments_around_mean
from probtruth.kernels.shapes import ChosenInts, ItemFloats, ItemInts
from probtruth.study.pilot import two_models
from probtruth.types import Scores

# Every item is as likely as its doubt and this share of the mean doubt say, so that none stands for too many.
FLOOR = 0.5
# Of every item's inferred class so much is doubted beyond its own probabilities: annotators err together.
MISTAKEN = 0.1


def choose_gold(
    scores: Scores,
    n: int,
    a: str | None = None,
    b: str | None = None,
    groups: Mapping[str, str] | None = None,
    seed: int = 0,
) -> list[dict[str, object]]:
    """The chosen items with their inclusion probabilities, by name of the item; see `Result.choose_gold`."""
    size = check.whole(n, FEWEST, "the number of items")
    if size > len(scores.items):
        raise InputError(f"{size} of {len(scores.items)} items", "at most all of them", "Ask for fewer.")
    named = scores.models if a is None and b is None else two_models(scores.models, a, b)
    models = []
    for name in named:
        models.append(scores.models.index(check.one_of(name, scores.models, "model")))
    doubt = _doubt(scores, models)
    probability = inclusion(doubt + FLOOR * doubt.mean(), size)
    grouped = scores.groups if groups is None else partition_of(groups, scores.items, "group")
    strata = np.zeros(len(scores.items), np.int64) if grouped is None else grouped.codes
    chosen = systematic(probability, strata, seed)
    return [{"item": scores.items[row], "probability": float(probability[row])} for row in chosen.tolist()]


def _doubt(scores: Scores, rows: Sequence[int]) -> ItemFloats:
    """The posterior sd of the item's difference over its class."""
    behind = scores.labels
    if behind is None or behind.estimand != "class":
        raise InputError(
            "scores without inferred classes behind them" if behind is None else "the estimand 'distribution'",
            "scores against inferred classes (estimand='class')",
            "Where nothing says which items are in doubt, take a uniform sample.",
        )
    average = behind.truth.mean(0)
    truth = (1 - MISTAKEN) * behind.truth + MISTAKEN * average
    losses = behind.losses[list(rows)]
    losses = np.where(truth > 0, losses, 0.0)
    if not np.isfinite(losses).all():
        raise InputError("an infinite loss under a class that may be true", "finite losses", "Score with a floor.")
    if len(losses) > 1:
        losses = losses - losses.mean(0)
    variances = [moments_around_mean(of_model, truth)[0] for of_model in losses]
    return np.sqrt(np.sum(variances, axis=0))


def inclusion(size: ItemFloats, n: int) -> ItemFloats:
    """Probabilities in proportion to the sizes that add up to n; where they would pass 1 they are 1."""
    if n >= len(size):
        return np.ones(len(size))
    size = size if size.any() else np.ones(len(size))
    probability = np.zeros(len(size))
    free = np.ones(len(size), bool)
    while True:
        left = size * free
        certain = (~free).sum()
        probability = np.where(free, (n - certain) * left / left.sum(), 1.0)
        if not (probability > 1).any():
            return probability
        free &= probability < 1


def systematic(probability: ItemFloats, strata: ItemInts, seed: int) -> ChosenInts:
    """A sample of exactly these inclusion probabilities, by equal steps through the items in random order."""
    rng = np.random.default_rng(check.whole(seed, 0, "seed"))
    order = np.lexsort((rng.random(len(probability)), strata))
    ends = np.cumsum(probability[order])
    last = float(ends[-1])
    ends *= round(last) / last  # a whole number, but for rounding
    steps = np.floor(ends - rng.random())
    before = np.r_[-1.0, steps[:-1]]
    return np.sort(order[steps > before])
