"""Decisions from joint draws of the models' mean contrasts: P(best), ranks, regret, and tiers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.draws import blocks
from probtruth.comparison.pairs import first_and_last

PerModel = Float[np.ndarray, " model"]


@dataclass(frozen=True, eq=False)
class Decisions:
    """For each model: P(lowest mean loss), P(rank = r), expected rank (from 1), expected regret (score units)."""

    p_best: PerModel
    rank_probability: Float[np.ndarray, "model rank"]
    expected_rank: PerModel
    expected_regret: PerModel


def decide(means: Float[np.ndarray, "*batch model"]) -> Decisions:
    """From draws; models that tie in a draw share the ranks that they occupy in it equally."""
    draws = means.reshape(-1, means.shape[-1])
    n_models = draws.shape[1]
    rank, regret = np.arange(n_models), np.zeros(n_models)
    probability = np.zeros((n_models, n_models))
    for some in blocks(n_models, len(draws)):
        first, last = first_and_last(draws[some])
        below, tied = first - 1, last - first + 1
        for further in range(int(tied.max())):
            chance = np.where(further < tied, 1 / tied, 0.0)
            cell = rank * n_models + np.minimum(below + further, n_models - 1)
            probability += np.bincount(cell.ravel(), chance.ravel(), n_models**2).reshape(probability.shape)
        regret += (draws[some] - draws[some].min(1, keepdims=True)).sum(0)
    probability /= len(draws)
    return Decisions(probability[:, 0], probability, probability @ (rank + 1.0), regret / len(draws))


CUT = 0.975  # Probability that every model above a cut is better than every model below it, from which the cut is made


def tiers(drawn: Float[np.ndarray, "*batch model"], means: PerModel, rope: float = 0.0) -> Int[np.ndarray, " model"]:
    """The tier of each model, from 1, in the order of the mean scores."""
    draws = drawn.reshape(-1, drawn.shape[-1])
    order = np.argsort(means, kind="stable")
    chance = np.zeros(len(means) - 1)
    for some in blocks(len(means), len(draws)):
        sorted_draws = draws[some][:, order]
        above = np.maximum.accumulate(sorted_draws, axis=1)[:, :-1]
        below = np.minimum.accumulate(sorted_draws[:, ::-1], axis=1)[:, ::-1][:, 1:]
        chance += (below - above > rope).sum(0)
    apart = (chance >= CUT * len(draws)) & (np.diff(means[order]) > 0)
    tier = np.empty(len(means), np.int64)
    tier[order] = 1 + np.concatenate([[0], np.cumsum(apart)])
    return tier


LEVEL = 0.95


def credible_set(p_best: Mapping[str, Any]) -> tuple[list[str], float]:
    """The fewest models that hold the best with probability 0.95, most probable first, and that probability."""
    mass, last = 0.0, 0.0
    chosen: list[str] = []
    for name in sorted(p_best, key=lambda name: (-p_best[name], name)):
        if mass >= LEVEL - 1e-12 and p_best[name] < last:
            break
        mass, last = mass + p_best[name], p_best[name]
        chosen.append(name)
    return chosen, min(mass, 1.0)
