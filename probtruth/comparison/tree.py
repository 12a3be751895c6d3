"""The comparison as an ArviZ DataTree with named dimensions."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from probtruth.comparison.evidence.sweeps import LEADING

if TYPE_CHECKING:
    import xarray


STORED_PAIRS = math.comb(LEADING, 2)
"""Pairs up to which their differences stand draw by draw; all follow from the contrasts."""


def build(
    models: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    contrast: Float[np.ndarray, "chain draw model"],
    stats: Mapping[str, Float[np.ndarray, "chain draw"]],
    constant: Mapping[str, Float[np.ndarray, " model"]],
    rank_probability: Float[np.ndarray, "model rank"],
    population: Mapping[str, np.ndarray] | None,
    densities: Mapping[str, tuple[np.ndarray, np.ndarray]],
    attributes: Mapping[str, object],
) -> "xarray.DataTree":
    """Groups: `posterior`, `sample_stats`, `constant_data` (mean scores, the two models of each pair), `ranking`; and
    `log_prior` of each program, which `arviz_stats.psense` reads.

    The programs see means and variances, not items, so their log-likelihood is one number a draw: it stands among the
    `sample_stats`. There is no group `log_likelihood`, which `arviz.loo` would take for a single observation.

    The posterior has `contrast` by model and, with groups, each pair's `population_difference` and `between_group_sd`,
    every pair drawn by itself; up to `STORED_PAIRS` it has `difference` by pair too, one contrast minus the other. Its
    dimension is called `model_name`, because ArviZ keeps `model` for statistical models side by side.
    """
    import xarray

    chains, draws = np.arange(contrast.shape[0]), np.arange(contrast.shape[1])
    sampled = {"chain": chains, "draw": draws}
    names = [f"{models[a]} - {models[b]}" for a, b in pairs]
    coords = {**sampled, "model_name": list(models), "pair": names}
    sides = {"model_a": ("pair", [models[a] for a, _ in pairs]), "model_b": ("pair", [models[b] for _, b in pairs])}
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    variables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {
        "contrast": (("chain", "draw", "model_name"), contrast),
    }
    if len(pairs) <= STORED_PAIRS:
        variables["difference"] = (("chain", "draw", "pair"), contrast[..., first] - contrast[..., second])
    if population is not None:
        variables["population_difference"] = (("chain", "draw", "pair"), population["difference"])
        variables["between_group_sd"] = (("chain", "draw", "pair"), population["between"])
    tree = {
        "/": xarray.Dataset(attrs=dict(attributes)),
        "/posterior": xarray.Dataset(variables, coords, dict(attributes)),
        "/constant_data": xarray.Dataset(
            {**{name: ("model_name", value) for name, value in constant.items()}, **sides},
            {"model_name": list(models), "pair": names},
        ),
        "/ranking": xarray.Dataset(
            {"rank_probability": (("model", "rank"), rank_probability)},
            {"model": list(models), "rank": np.arange(1, len(models) + 1)},
        ),
    }
    known = {name: both for name, both in densities.items() if np.isfinite(both).all()}
    likelihoods = {f"log_likelihood_{name}": likelihood for name, (_, likelihood) in known.items()}
    groups = {
        "sample_stats": {**stats, **likelihoods},
        "log_prior": {name: prior for name, (prior, _) in known.items()},
    }
    for group, values in groups.items():
        if values:
            of_draw = {name: (("chain", "draw"), value) for name, value in values.items()}
            tree[f"/{group}"] = xarray.Dataset(of_draw, sampled)
    return xarray.DataTree.from_dict(tree)
