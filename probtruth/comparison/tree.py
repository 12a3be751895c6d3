"""The comparison as an ArviZ DataTree with named dimensions."""

import math
from typing import TYPE_CHECKING

import numpy as np

from probtruth.comparison.evidence.evidence import Evidence
from probtruth.comparison.evidence.moments import contrasts
from probtruth.comparison.evidence.sweeps import LEADING
from probtruth.comparison.posterior.posterior import Posterior
from probtruth.comparison.rows import named_pairs

if TYPE_CHECKING:
    import xarray


STORED_PAIRS = math.comb(LEADING, 2)
"""Pairs up to which their differences stand draw by draw; all follow from the contrasts."""


def tree_of(evidence: Evidence, post: Posterior, seed: int) -> "xarray.DataTree":
    """Groups: `posterior`, `sample_stats`, `constant_data` (mean scores, the two models of each pair), `ranking`; and
    `log_prior` of each program, which `arviz_stats.psense` reads.

    The programs see means and variances, not items, so their log-likelihood is one number a draw: it stands among the
    `sample_stats`. There is no group `log_likelihood`, which `arviz.loo` would take for a single observation.

    The posterior has `contrast` by model and, with groups, each pair's `population_difference` and `between_group_sd`,
    every pair drawn by itself; up to `STORED_PAIRS` it has `difference` by pair too, one contrast minus the other. Its
    dimension is called `model_name`, because ArviZ keeps `model` for statistical models side by side.
    """
    import xarray

    models, attributes = evidence.names, {"rule": evidence.facts.rule, "seed": seed}
    contrast, ranking = np.zeros((1, 1, len(models))), np.eye(len(models))
    pairs, constant = [], dict[str, np.ndarray]()
    if post.sampled is not None and post.pairs is not None and post.levels is not None and post.decisions is not None:
        contrast, ranking, pairs = post.sampled.sites["contrast"], post.decisions.rank_probability, named_pairs(models)
        constant = {"score": post.levels.mean, "mean_contrast": contrasts(post.pairs.mean, len(models))}
    sampled = {"chain": np.arange(contrast.shape[0]), "draw": np.arange(contrast.shape[1])}
    names = {"model_name": models, "pair": [f"{a} - {b}" for a, b, *_ in pairs]}
    variables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {"contrast": (("chain", "draw", "model_name"), contrast)}
    position = {name: at for at, name in enumerate(models)}
    first, second = [position[a] for a, *_ in pairs], [position[b] for _, b, *_ in pairs]
    of_pair = ("chain", "draw", "pair")
    if len(pairs) <= STORED_PAIRS:
        variables["difference"] = (of_pair, contrast[..., first] - contrast[..., second])
    if post.population is not None:
        difference, between = post.population.draws()
        *_, at, sign = zip(*pairs, strict=True)
        variables["population_difference"] = (of_pair, np.array(sign) * difference[..., list(at)])
        variables["between_group_sd"] = (of_pair, between[..., list(at)])
    sides = {f"model_{side}": ("pair", [pair[at] for pair in pairs]) for at, side in enumerate("ab")}
    tree = {
        "/": xarray.Dataset(attrs=attributes),
        "/posterior": xarray.Dataset(variables, {**sampled, **names}, attributes),
        "/constant_data": xarray.Dataset(
            {**{name: ("model_name", value) for name, value in constant.items()}, **sides}, names
        ),
        "/ranking": xarray.Dataset(
            {"rank_probability": (("model", "rank"), ranking)},
            {"model": models, "rank": np.arange(1, len(models) + 1)},
        ),
    }
    stats: dict[str, np.ndarray] = next((dict(run.stats) for run in post.runs.values() if run.stats), {})
    priors: dict[str, np.ndarray] = {}
    for name, run in post.runs.items():
        prior, likelihood = run.log_prior, run.log_likelihood
        if prior is not None and likelihood is not None and np.isfinite([prior, likelihood]).all():
            priors[name], stats[f"log_likelihood_{name}"] = prior, likelihood
    for group, values in (("sample_stats", stats), ("log_prior", priors)):
        if values:
            of_draw = {name: (("chain", "draw"), value) for name, value in values.items()}
            tree[f"/{group}"] = xarray.Dataset(of_draw, sampled)
    return xarray.DataTree.from_dict(tree)
