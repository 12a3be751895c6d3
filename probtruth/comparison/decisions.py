"""Decisions from joint draws of the models' mean contrasts: P(best), ranks, regret, tiers, and the chosen model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp

from probtruth.comparison.draws import blocks
from probtruth.comparison.evidence import Evidence
from probtruth.comparison.location import Location
from probtruth.comparison.pairs import contrast_covariance, directions
from probtruth.kernels.ranks import first_and_last

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
# Values of tau, in units of its prior: dense near 0, to where a half-normal ends.
GRID = 5.0 * (np.arange(401) / 400) ** 2


def credible_set(p_best: Mapping[str, float]) -> tuple[list[str], float]:
    """The fewest models that hold the best with probability 0.95, most probable first, and that probability."""
    ranked = sorted(p_best, key=lambda name: (-p_best[name], name))
    mass, last = 0.0, 0.0
    chosen: list[str] = []
    for name in ranked:
        if mass >= LEVEL - 1e-12 and p_best[name] < last:
            break
        mass, last = mass + p_best[name], p_best[name]
        chosen.append(name)
    return chosen, min(mass, 1.0)


def shrunk(contrast: PerModel, covariance: Float[np.ndarray, "model model"], unit: float) -> PerModel:
    """The models' mean contrasts with the luck taken out."""
    variance, basis = directions(covariance)
    if not len(variance) or unit <= 0:
        return contrast
    along = contrast @ basis
    tau = unit * GRID[:, None]
    total = tau**2 + variance
    log = -0.5 * (np.log(total) + along**2 / total).sum(1) - GRID**2 / 2 + np.log(np.gradient(GRID))
    weight = np.exp(log - logsumexp(log))
    shift = weight @ (tau**2 / total)
    return np.asarray(contrast - basis @ along + basis @ (shift * along))


def chosen_score(
    scores: Sequence[float], covariance: Float[np.ndarray, "model model"], unit: float
) -> tuple[int, float, float]:
    """Which of the models has the lowest mean loss, that mean, and the same without the winner's luck."""
    means = np.asarray(scores, np.float64)
    centre = float(means.mean())
    best = int(means.argmin())
    return best, float(means[best]), centre + float(shrunk(means - centre, covariance, unit)[best])


def decisions_of(
    evidence: Evidence, location: Location | None, decided: Decisions | None, ranks: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """`credible_set` and its probability, `chosen` with its score, `corrected_score`, and `rank_probability` rows."""
    p_best = {str(row["model"]): row["p_best"] for row in ranks}
    known = {name: float(str(p)) for name, p in p_best.items() if p is not None}
    held, mass = credible_set(known) if len(known) == len(p_best) else (None, None)
    decisions: dict[str, object] = {"credible_set": held, "credible_set_probability": mass}
    decisions |= dict.fromkeys(("chosen", "score", "corrected_score"))
    models, finite = evidence.facts.models, len(evidence.order) > 1 and not (evidence.means == -math.inf).any()
    if location is not None and finite and not np.isnan(evidence.means).any():
        unit = math.sqrt(float(location.variance.mean()) * location.n_units)
        best, score, corrected = chosen_score(
            evidence.means[evidence.order].tolist(), contrast_covariance(location.variance, len(evidence.order)), unit
        )
        sign = -1.0 if evidence.facts.higher_is_better else 1.0
        named = {"chosen": models[evidence.order[best]], "score": sign * score, "corrected_score": sign * corrected}
        decisions |= named
    if decided is not None and len(evidence.order) == len(models):
        rows = zip([models[row] for row in evidence.order], decided.rank_probability.tolist(), strict=True)
        decisions["rank_probability"] = [{"model": name, "probability": chances} for name, chances in sorted(rows)]
    return decisions
