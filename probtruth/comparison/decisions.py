"""Decisions from joint draws of the models' mean contrasts: P(best), ranks and expected regret, ties drawn as ties."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Decisions:
    """For each model: P(lowest mean loss), P(rank = r), expected rank (from 1), expected regret (score units)."""

    p_best: Float[np.ndarray, " model"]
    rank_probability: Float[np.ndarray, "model rank"]
    expected_rank: Float[np.ndarray, " model"]
    expected_regret: Float[np.ndarray, " model"]


def decide(contrast: Float[np.ndarray, "chain draw model"]) -> Decisions:
    """Models that tie in a draw share the ranks that they occupy in it equally."""
    draws = contrast.reshape(-1, contrast.shape[-1])
    n_models = draws.shape[1]
    below = np.zeros(draws.shape, np.int64)
    tied = np.zeros(draws.shape, np.int64)
    for other in range(n_models):
        below += draws[:, [other]] < draws
        tied += draws[:, [other]] == draws
    rank = np.arange(n_models)
    probability = np.empty((n_models, n_models))
    for model in range(n_models):
        first, size = below[:, [model]], tied[:, [model]]
        probability[model] = (((rank >= first) & (rank < first + size)) / size).mean(0)
    return Decisions(
        probability[:, 0], probability, probability @ (rank + 1.0), (draws - draws.min(1, keepdims=True)).mean(0)
    )
