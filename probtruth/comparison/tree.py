"""The posterior as an ArviZ DataTree."""

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from probtruth.comparison.estimate import Estimate
from probtruth.comparison.pairs import LEADING
from probtruth.comparison.posterior import Posterior

if TYPE_CHECKING:
    import xarray

# Pairs up to which their differences stand draw by draw; all follow from the contrasts.
STORED_PAIRS = math.comb(LEADING, 2)


def tree_of(estimate: Estimate, post: Posterior, seed: int) -> "xarray.DataTree":
    """Draws in the score's own units and sign, the ranks' probabilities, and what NUTS says of itself."""
    import xarray

    about = estimate.about
    models, attributes = list(estimate.names), {"rule": about.rule, "seed": seed}
    unit = -1.0 if about.higher_is_better else 1.0  # draws are of losses
    means, ranking = np.zeros((1, 1, len(models))), np.eye(len(models))
    pairs, constant = list(combinations(range(len(models)), 2)), dict[str, np.ndarray]()
    if post.means is not None and post.estimate is not None and post.decisions is not None:
        means, (ranking, _) = unit * post.means, post.decisions
        constant = {"score": unit * post.estimate.mean[: len(models), 0]}
    shape = means.shape[:2]
    first, second = (list(side) for side in zip(*pairs, strict=True)) if pairs else ([], [])
    centre = means.sum(-1, keepdims=True) / max(len(models), 1)  # no model is left where all means are infinite
    draws = {"contrast": (("chain", "draw", "model_name"), means - centre)}
    of_pair = ("chain", "draw", "pair")
    if len(pairs) <= STORED_PAIRS:
        draws["difference"] = (of_pair, means[..., first] - means[..., second])
        if post.population is not None:
            difference, between = post.population.draws(shape, seed)
            draws["population_difference"] = (of_pair, unit * difference)
            draws["between_group_sd"] = (of_pair, between)
    coordinates = {"chain": np.arange(shape[0]), "draw": np.arange(shape[1])}
    names = {"model_name": models, "pair": [f"{models[a]} - {models[b]}" for a, b in pairs]}
    sides = {f"model_{side}": ("pair", [models[pair[at]] for pair in pairs]) for at, side in enumerate("ab")}
    tree = {
        "/": xarray.Dataset(attrs=attributes),
        "/posterior": xarray.Dataset(draws, {**coordinates, **names}, attributes),
        "/constant_data": xarray.Dataset(
            {**{name: ("model_name", value) for name, value in constant.items()}, **sides}, names
        ),
        "/ranking": xarray.Dataset(
            {"rank_probability": (("model", "rank"), ranking)},
            {"model": models, "rank": np.arange(1, len(models) + 1)},
        ),
    }
    if post.run is not None:
        tree["/sample_stats"] = xarray.Dataset(
            {name: (("chain", "draw"), values) for name, values in post.run.stats.items()}
        )
    return xarray.DataTree.from_dict(tree)
