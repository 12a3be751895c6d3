"""The default for one true class: the mean of two views, perceived classes and tempered abilities."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from scipy.special import betaincinv

from probtruth import check
from probtruth.truth.fit import INDEPENDENT, MethodFit, MethodRequest, class_draws, evenly
from probtruth.truth.flat import flatten
from probtruth.truth.methods.ability import confusion_of, fit_anchored
from probtruth.truth.methods.perceived_class import PerceptionSettings, fit_perceived

RHO_WEIGHT = 6.0  # How sharp the prior on rho is: Beta(6 rho, 6 (1 - rho))

NODES = 20  # Equally likely values of rho over which tempering is averaged


def pooled(
    request: MethodRequest,
    *,
    rho: float = 0.4,
    epsilon: float = 0.3,
    delta: float = 1.0,
    sweeps: int | None = None,
    chains: int = 2,
) -> MethodFit:
    """The mean of perceived-class and tempered ability; the latter pi_k (q_ik / pi_k)^(1 / (1 + (n_i - 1) rho))."""
    settings = PerceptionSettings(epsilon, delta, sweeps, chains)
    mean_rho, flat = check.number(rho, "rho", above=0, below=1, hint="The default is 0.4."), flatten(request)
    ability = fit_anchored(request, flat)
    perceived = fit_perceived(request, flat, ability, settings)
    n_votes = np.bincount(flat.item, flat.weight, flat.n_items)
    tempered = temper(ability.probs, np.exp(ability.log_marginals), n_votes, mean_rho)
    if perceived.draws is not None:
        other = class_draws(tempered, len(perceived.draws) // 2, request.seed)
        if other is not None:
            perceived.draws[evenly(len(perceived.draws), len(other))] = other
    return replace(
        perceived,
        probs=(perceived.probs + tempered) / 2,
        confusion=(perceived.confusion + confusion_of(ability)) / 2,
        evidence={INDEPENDENT: ability.probs},
    )


def temper(
    probs: Float[np.ndarray, "item label"],
    marginals: Float[np.ndarray, " label"],
    n_votes: Float[np.ndarray, " item"],
    rho: float,
) -> Float[np.ndarray, "item label"]:
    """Class probabilities as if an item's annotations were correlated by rho, averaged over the prior of rho."""
    with np.errstate(divide="ignore"):
        logs, base = np.log(probs) - np.log(marginals), np.log(marginals)
    total = np.zeros_like(probs)
    for level in betaincinv(RHO_WEIGHT * rho, RHO_WEIGHT * (1 - rho), (np.arange(NODES) + 0.5) / NODES):
        tempered = logs / (1 + np.maximum(n_votes - 1, 0) * level)[:, None] + base
        powers = np.exp(tempered - tempered.max(1, keepdims=True))
        total += powers / powers.sum(1, keepdims=True)
    return total / NODES
