"""Decisions from joint draws of the models' mean contrasts: P(best), ranks and expected regret, ties drawn as ties.

Tiers: where the order of the models is cut because the joint draws tell the two sides apart.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import rankdata

from probtruth.comparison.evidence.moments import Location, square
from probtruth.comparison.posterior.joint_draws import blocks


@dataclass(frozen=True, eq=False)
class Decisions:
    """For each model: P(lowest mean loss), P(rank = r), expected rank (from 1), expected regret (score units)."""

    p_best: Float[np.ndarray, " model"]
    rank_probability: Float[np.ndarray, "model rank"]
    expected_rank: Float[np.ndarray, " model"]
    expected_regret: Float[np.ndarray, " model"]


def decide(contrast: Float[np.ndarray, "*batch model"], weights: Float[np.ndarray, " draw"] | None = None) -> Decisions:
    """From draws, weighted or not; models that tie in a draw share the ranks that they occupy in it equally."""
    draws = contrast.reshape(-1, contrast.shape[-1])
    share = np.full(len(draws), 1 / len(draws)) if weights is None else weights
    n_models = draws.shape[1]
    rank, regret = np.arange(n_models), np.zeros(n_models)
    probability = np.zeros((n_models, n_models))
    for some in blocks(n_models, len(draws)):
        below, tied = (rankdata(draws[some], method, axis=1).astype(np.int64) for method in ("min", "max"))
        below, tied = below - 1, tied - below + 1
        for further in range(int(tied.max())):
            chance = np.where(further < tied, share[some, None] / tied, 0.0)
            cell = rank * n_models + np.minimum(below + further, n_models - 1)
            probability += np.bincount(cell.ravel(), chance.ravel(), n_models**2).reshape(probability.shape)
        regret += share[some] @ (draws[some] - draws[some].min(1, keepdims=True))
    probability /= probability.sum(1, keepdims=True)  # shares add up to 1 but for rounding
    return Decisions(probability[:, 0], probability, probability @ (rank + 1.0), regret)


def symmetric(decisions: Decisions, classes: Int[np.ndarray, " model"]) -> Decisions:
    """Models of one class cannot be told apart by the posterior: each gets the average of its class."""
    same = (classes[:, None] == classes).astype(np.float64)
    share = same / same.sum(1, keepdims=True)
    return Decisions(
        np.minimum(share @ decisions.p_best, 1.0),  # shares add up to 1 but for rounding
        np.minimum(share @ decisions.rank_probability, 1.0),
        share @ decisions.expected_rank,
        share @ decisions.expected_regret,
    )


def interchangeable(location: Location, n_models: int) -> Int[np.ndarray, " model"]:
    """For each model the first that it can change places with, while means, variances and third moments stay."""
    signed = np.stack([square(location.mean, n_models, -1.0), square(location.third, n_models, -1.0)])
    plain = np.stack([square(location.variance, n_models), square(location.df, n_models)])
    stats = np.concatenate([signed, plain])
    home = np.arange(n_models)
    alike = np.triu((stats == stats.transpose(0, 2, 1)).all(0), 1)
    for a, b in np.argwhere(alike).tolist():
        swap = np.arange(n_models)
        swap[[a, b]] = b, a
        if home[b] == b and (stats[:, a] == stats[:, b][:, swap]).all():
            home[b] = home[a]
    return home


CUT = 0.975
"""Probability that every model above a cut is better than every model below it, from which the cut is made."""


def tiers(
    contrast: Float[np.ndarray, "*batch model"],
    share: Float[np.ndarray, " draw"],
    means: Float[np.ndarray, " model"],
    rope: float = 0.0,
) -> Int[np.ndarray, " model"]:
    """The tier of each model, from 1, in the order of the mean scores.

    Two neighbours in that order part if P(all models above are better than all below, by more than the ROPE) >= CUT.
    Models of equal means are never parted. A cut says that the order of its two sides is known, so that two equal
    models are parted in about 2 (1 - CUT) of data sets, and more models, which must all be in order at once, more
    rarely (`docs/validity/tiers.md`). Inside a tier the order as a whole is open, though two of its models may be told
    apart.
    """
    draws = contrast.reshape(-1, contrast.shape[-1])
    order = np.argsort(means, kind="stable")
    chance = np.zeros(len(means) - 1)
    for some in blocks(len(means), len(draws)):
        sorted_draws = draws[some][:, order]
        above = np.maximum.accumulate(sorted_draws, axis=1)[:, :-1]
        below = np.minimum.accumulate(sorted_draws[:, ::-1], axis=1)[:, ::-1][:, 1:]
        chance += share[some] @ (below - above > rope)
    apart = (chance >= CUT) & (np.diff(means[order]) > 0)
    tier = np.empty(len(means), np.int64)
    tier[order] = 1 + np.concatenate([[0], np.cumsum(apart)])
    return tier
