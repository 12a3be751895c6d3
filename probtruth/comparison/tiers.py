"""Tiers: where the order of the models is cut because the joint draws tell the two sides apart."""

import numpy as np
from jaxtyping import Float, Int

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
    sorted_draws = draws[:, order]
    above = np.maximum.accumulate(sorted_draws, axis=1)[:, :-1]
    below = np.minimum.accumulate(sorted_draws[:, ::-1], axis=1)[:, ::-1][:, 1:]
    apart = (share @ (below - above > rope) >= CUT) & (np.diff(means[order]) > 0)
    tier = np.empty(len(means), np.int64)
    tier[order] = 1 + np.concatenate([[0], np.cumsum(apart)])
    return tier
