"""Decisions from joint draws of the models' mean contrasts: P(best), ranks, regret, tiers, and the chosen model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp

from probtruth.comparison.evidence.evidence import Evidence
from probtruth.comparison.evidence.moments import Location, contrast_covariance, directions, square
from probtruth.comparison.posterior.joint_draws import blocks
from probtruth.kernels.ranks import first_and_last

PerModel = Float[np.ndarray, " model"]


@dataclass(frozen=True, eq=False)
class Decisions:
    """For each model: P(lowest mean loss), P(rank = r), expected rank (from 1), expected regret (score units)."""

    p_best: PerModel
    rank_probability: Float[np.ndarray, "model rank"]
    expected_rank: PerModel
    expected_regret: PerModel


def decide(contrast: Float[np.ndarray, "*batch model"], weights: Float[np.ndarray, " draw"] | None = None) -> Decisions:
    """From draws, weighted or not; models that tie in a draw share the ranks that they occupy in it equally."""
    draws = contrast.reshape(-1, contrast.shape[-1])
    share = np.full(len(draws), 1 / len(draws)) if weights is None else weights
    n_models = draws.shape[1]
    rank, regret = np.arange(n_models), np.zeros(n_models)
    probability = np.zeros((n_models, n_models))
    for some in blocks(n_models, len(draws)):
        first, last = first_and_last(draws[some])
        below, tied = first - 1, last - first + 1
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
    contrast: Float[np.ndarray, "*batch model"], share: Float[np.ndarray, " draw"], means: PerModel, rope: float = 0.0
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


LEVEL = 0.95
GRID = 5.0 * (np.arange(401) / 400) ** 2
"""Values of tau, in units of its prior: dense near 0, to where a half-normal ends."""


def credible_set(p_best: Mapping[str, float]) -> tuple[list[str], float]:
    """The fewest models that hold the best with probability 0.95, most probable first, and that probability.

    Models as probable as the last of them are in it too: nothing tells them apart.
    """
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
    r"""The models' mean contrasts with the luck taken out: drawn together as far as their noise explains their spread.

    The true contrasts are $N(0, \tau^2 I)$, their estimates have this covariance, $\tau$ has a half-normal prior of
    scale `unit` (the spread of the differences between items) and is integrated out. The best of these is not too good
    on average, whichever is chosen.

    Source: Efron 2011, "Tweedie's formula and selection bias", doi:10.1198/jasa.2011.tm11181; Dawid 1994, "Selection
    paradoxes of Bayesian inference", doi:10.1214/lnms/1215463797.
    """
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
    """`credible_set` and its probability, `chosen` with its score, `corrected_score`, and `rank_probability` rows.

    None where infinite scores leave it open.
    """
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
