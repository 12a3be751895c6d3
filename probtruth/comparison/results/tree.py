"""The posterior as an ArviZ DataTree."""

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from probtruth.comparison.estimation.design import LEADING, pairs_of
from probtruth.comparison.estimation.estimate import Estimate
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
    pairs = list(combinations(models, 2))
    unit = about.sign  # draws are of losses
    n_models = len(models)
    means = np.zeros((1, 1, n_models))
    ranking = np.eye(n_models)
    constant: dict[str, tuple[str, object]] = {}
    if post.means is not None and post.decisions is not None:
        means = unit * post.means
        ranking, _ = post.decisions
        constant["score"] = ("model_name", unit * post.estimate.mean[:n_models, 0])
    if post.of_groups is not None:
        means = means[:, : post.of_groups.draws]  # as many as the population has, where these are more
    n_chains, n_draws, _ = means.shape
    total = means.sum(-1, keepdims=True)
    centre = total / max(n_models, 1)  # no model is left where all means are infinite
    draws = {"contrast": (("chain", "draw", "model_name"), means - centre)}
    if len(pairs) <= STORED_PAIRS:
        first, second = pairs_of(np.arange(n_models)).T
        draws["difference"] = (("chain", "draw", "pair"), means[..., first] - means[..., second])
    coordinates: dict[str, object] = {"chain": np.arange(n_chains), "draw": np.arange(n_draws)}
    names = {"model_name": models, "pair": [f"{a} - {b}" for a, b in pairs]}
    constant["model_a"] = ("pair", [a for a, _ in pairs])
    constant["model_b"] = ("pair", [b for _, b in pairs])
    attributes = {"rule": about.rule, "seed": seed}
    tree = {
        "/": xarray.Dataset(attrs=attributes),
        "/posterior": xarray.Dataset(draws, {**coordinates, **names}, attributes),
        "/constant_data": xarray.Dataset(constant, names),
        "/ranking": xarray.Dataset(
            {"rank_probability": (("model", "rank"), ranking)},
            {"model": models, "rank": np.arange(1, n_models + 1)},
        ),
    }
    population = post.population
    if post.of_groups is not None and population is not None:
        from probtruth.comparison.posterior.drawn import groups_of_tree  # with JAX and NumPyro

        varying = [name for name, varies in zip(names["pair"], population.varies, strict=True) if varies]
        tree |= groups_of_tree(
            population, post.of_groups, varying, estimate.design.group_names, unit, tree["/posterior"], seed
        )
    if post.run is not None:
        stats = {}
        for name, value in post.run.runs[0].stats.items():
            stats[name] = (("chain", "draw"), value[:, :n_draws])
        tree["/sample_stats"] = xarray.Dataset(stats)
    return xarray.DataTree.from_dict(tree)
