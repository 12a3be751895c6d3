"""The posterior as an ArviZ DataTree."""

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from probtruth.comparison.estimation.estimate import Estimate
from probtruth.comparison.estimation.pairs import LEADING, pairs_of
from probtruth.comparison.posterior.posterior import Posterior

if TYPE_CHECKING:
    import xarray

# Pairs up to which their differences stand draw by draw; all follow from the contrasts.
STORED_PAIRS = math.comb(LEADING, 2)


def tree_of(estimate: Estimate, post: Posterior, seed: int) -> "xarray.DataTree":
    """Draws in the score's own units and sign, the ranks' probabilities, and what NUTS says of itself.

    Where NUTS ran, draws are the sampler's own, of as many as every pair has.
    """
    import xarray

    about = estimate.about
    models = list(estimate.names)
    pairs = list(combinations(range(len(models)), 2))
    unit = about.sign  # draws are of losses
    means = np.zeros((1, 1, len(models)))
    ranking = np.eye(len(models))
    constant: dict[str, tuple[str, object]] = {}
    if post.means is not None and post.estimate is not None and post.decisions is not None:
        means = unit * post.means
        ranking = post.decisions[0]
        constant["score"] = ("model_name", unit * post.estimate.mean[: len(models), 0])
    if post.of_groups is not None:
        means = means[:, : post.of_groups.draws]  # as many as the population has, where these are more
    shape = means.shape[:2]
    centre = means.sum(-1, keepdims=True) / max(len(models), 1)  # no model is left where all means are infinite
    draws = {"contrast": (("chain", "draw", "model_name"), means - centre)}
    of_pair = ("chain", "draw", "pair")
    if len(pairs) <= STORED_PAIRS:
        first, second = pairs_of(np.arange(len(models))).T
        draws["difference"] = (of_pair, means[..., first] - means[..., second])
    coordinates: dict[str, object] = {"chain": np.arange(shape[0]), "draw": np.arange(shape[1])}
    names = {"model_name": models, "pair": [f"{models[a]} - {models[b]}" for a, b in pairs]}
    for at, side in enumerate("ab"):
        constant[f"model_{side}"] = ("pair", [models[pair[at]] for pair in pairs])
    attributes = {"rule": about.rule, "seed": seed}
    tree = {
        "/": xarray.Dataset(attrs=attributes),
        "/posterior": xarray.Dataset(draws, {**coordinates, **names}, attributes),
        "/constant_data": xarray.Dataset(constant, names),
        "/ranking": xarray.Dataset(
            {"rank_probability": (("model", "rank"), ranking)},
            {"model": models, "rank": np.arange(1, len(models) + 1)},
        ),
    }
    population = post.population
    if post.of_groups is not None and population is not None:
        from probtruth.comparison.posterior.drawn import groups_of_tree  # with JAX and NumPyro

        varying = [name for name, varies in zip(names["pair"], population.varies, strict=True) if varies]
        tree |= groups_of_tree(
            population, post.of_groups, varying, estimate.design.group_names, unit, tree["/posterior"], seed
        )
    elif population is not None and len(pairs) <= STORED_PAIRS:
        difference, between = population.draws(shape, seed)
        tree["/posterior"]["population_difference"] = (of_pair, unit * difference)
        tree["/posterior"]["between_group_sd"] = (of_pair, between)
    if post.run is not None:
        stats: dict[str, object] = {}
        for name, value in post.run.runs[0].stats.items():
            stats[name] = (("chain", "draw"), value[:, : shape[1]])
        tree["/sample_stats"] = xarray.Dataset(stats)
    return xarray.DataTree.from_dict(tree)
