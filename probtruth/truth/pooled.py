"""The default for one true class: perceived classes and tempered abilities, mixed equally."""

import numpy as np
from jaxtyping import Float
from scipy.stats import beta

from probtruth.errors import InputError
from probtruth.truth.ability import fit_ability
from probtruth.truth.fit import Fit, Request, affordable, class_draws
from probtruth.truth.flat import flatten
from probtruth.truth.perceived_class import as_fit, sample_perceived

RHO_WEIGHT = 6.0
"""How sharp the prior on rho is: Beta(6 rho, 6 (1 - rho))."""

NODES = 20
"""Equally likely values of rho over which tempering is averaged."""


def pooled(
    request: Request,
    *,
    rho: object = 0.4,
    epsilon: object = 0.3,
    delta: object = 1.0,
    sweeps: object = None,
    chains: object = 2,
) -> Fit:
    """q_i = (perceived-class + tempered ability) / 2; the latter q_ik^(1 / (1 + (n_i - 1) rho)), averaged over rho.

    Two views of errors that annotators make together: perceived classes model them, tempering takes n_i annotations
    that are correlated by rho for the n_i / (1 + (n_i - 1) rho) independent ones that they are worth. Where either is
    confidently wrong, the mixture is not.

    Arguments: `rho` is the mean of its Beta prior, between 0 and 1; the others are those of `perceived-class`.

    Returns what `perceived-class` does; a draw is of one view or the other, with equal chances.

    Source: this package; see the study of truth methods in the documentation. The effective number is that of cluster
    sampling (Kish 1965, Survey Sampling).
    """
    level, flat = _between(rho), flatten(request)
    probs, ability, diagnostics = fit_ability(request, flat)
    found = sample_perceived(request, flat, ability, epsilon, delta, sweeps, chains)
    n_votes = np.bincount(flat.item, flat.weight, flat.n_items)
    tempered = temper(probs, n_votes, level)
    first = as_fit(request, flat, found, diagnostics)
    mixed = (found.probs + tempered) / 2
    draws = _mixed_draws(first.draws, tempered, request)
    confusion = (found.confusion + np.exp(ability[-1])) / 2
    columns, items = first.annotator_results, first.item_results
    return Fit(mixed, draws, first.marginals, confusion, first.diagnostics, columns, items)


def temper(
    probs: Float[np.ndarray, "item label"], n_votes: Float[np.ndarray, " item"], rho: float
) -> Float[np.ndarray, "item label"]:
    """Class probabilities as if an item's annotations were correlated by rho, averaged over the prior of rho."""
    with np.errstate(divide="ignore"):
        logs = np.log(probs)
    logs -= logs.max(1, keepdims=True)
    total = np.zeros_like(probs)
    for level in beta.ppf((np.arange(NODES) + 0.5) / NODES, RHO_WEIGHT * rho, RHO_WEIGHT * (1 - rho)):
        powers = np.exp(logs / (1 + np.maximum(n_votes - 1, 0) * level)[:, None])
        total += powers / powers.sum(1, keepdims=True)
    return total / NODES


def _mixed_draws(
    perceived: Float[np.ndarray, "draw item label"] | None, tempered: Float[np.ndarray, "item label"], request: Request
) -> Float[np.ndarray, "draw item label"] | None:
    """Every other draw of perceived classes is replaced by one of the tempered view."""
    if perceived is None:
        return None
    other = class_draws(tempered, affordable(len(perceived) // 2, *tempered.shape), request.seed)
    if other is not None and len(perceived) > 1:
        perceived[1 : 2 * len(other) : 2] = other
    return perceived


def _between(rho: object) -> float:
    if isinstance(rho, (int, float, np.integer, np.floating)) and 0 < rho < 1:
        return float(rho)
    raise InputError(f"rho {rho!r}", "a number between 0 and 1", "The default is 0.4.")
