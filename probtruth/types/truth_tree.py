"""A truth as an ArviZ DataTree with named dimensions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray

    from probtruth.types.truth import Truth

DIMENSIONS = {
    "marginals": ("label",),
    "confusion": ("annotator", "label", "answer"),
    "class": ("item",),
    "bias": ("annotator", "label"),
}
"""Dimensions of sampled parameters after chain and draw; those not named here are scalars."""

STATS = ("diverging", "lp", "energy", "n_steps", "acceptance_rate")
"""The sampler's statistics of every draw."""

PREDICTED = ("agreement", "agreement_spread")
"""Statistics of answers replicated from every draw."""


def build(truth: "Truth") -> "xarray.DataTree":
    """Groups: posterior, log_likelihood, sample_stats, posterior_predictive, observed_data, constant_data."""
    import xarray

    index, sampled = truth.index, truth.sampled
    coords = {
        "item": list(index.items),
        "label": list(index.labels),
        "answer": list(index.labels),
        "annotator": list(index.annotators),
    }

    def dataset(variables: Mapping[str, tuple[tuple[str, ...], np.ndarray]]) -> "xarray.Dataset":
        used = {name for dims, _ in variables.values() for name in dims}
        here: dict[str, object] = {name: values for name, values in coords.items() if name in used}
        for dims, values in variables.values():
            if dims[:2] == ("chain", "draw"):
                chains, draws = values.shape[:2]
                here |= {"chain": np.arange(chains), "draw": np.arange(draws)}
        return xarray.Dataset(dict(variables), here)

    def of_draws(names: list[str]) -> "xarray.Dataset":
        return dataset({name: (("chain", "draw", *DIMENSIONS.get(name, ())), sampled[name]) for name in names})

    named = {name: value for name, value in truth.diagnostics.items() if isinstance(value, (bool, int, float, str))}
    attributes = {name: int(value) if isinstance(value, bool) else value for name, value in named.items()}
    tree = {"/": xarray.Dataset(attrs={"method": truth.method, "estimand": truth.estimand, **attributes})}
    apart = {"log_likelihood", *STATS, *PREDICTED}
    parameters = [name for name in sampled if name not in apart]
    if parameters:
        tree["/posterior"] = of_draws(parameters)
    elif truth.draws is not None:
        tree["/posterior"] = dataset({"distribution": (("chain", "draw", "item", "label"), truth.draws[None])})
    if "log_likelihood" in sampled:
        tree["/log_likelihood"] = dataset({"annotations": (("chain", "draw", "item"), sampled["log_likelihood"])})
    for group, names in (("/sample_stats", STATS), ("/posterior_predictive", PREDICTED)):
        if any(name in sampled for name in names):
            tree[group] = of_draws([name for name in names if name in sampled])
    observed = {name: ((), np.asarray(truth.diagnostics[name])) for name in PREDICTED if name in truth.diagnostics}
    if observed:
        tree["/observed_data"] = dataset(observed)
    constant: dict[str, tuple[tuple[str, ...], np.ndarray]] = {"probs": (("item", "label"), truth.probs)}
    if truth.shares is not None:
        constant["shares"] = (("item", "label"), truth.shares)
    if truth.n_votes is not None:
        constant["n_votes"] = (("item",), truth.n_votes)
    tree["/constant_data"] = dataset(constant)
    return xarray.DataTree.from_dict(tree)
