"""What NUTS draws of the program of votes: the posterior of all models and pairs.

Differences are the log-odds that one model's answer is preferred to the other's, by new annotators on new prompts, on
either side: what strengths say of one prompt and annotator is averaged over those that could come.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.polynomial.hermite_e import hermegauss

from probtruth.comparison.estimation.design import pair_rows_of, pairs_of
from probtruth.comparison.estimation.estimate import Estimate
from probtruth.comparison.posterior.drawn import CHAINS, Run, end_error
from probtruth.comparison.posterior.margin import Margin
from probtruth.comparison.posterior.posterior import Posterior
from probtruth.comparison.votes.fit import Pairs
from probtruth.comparison.votes.program import program
from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS, convergence, mean_with_error
from probtruth.inference.nuts import Draws, sample
from probtruth.types import Votes
from probtruth.types.pairs import Pair

DRAWS = 100  # Of each chain at first
WARMUP = 250
START = 0.1  # How far from no effects and the priors' medians chains start: from 1, one of four found no way back
WARM_DEPTH = 6  # Doublings of a trajectory in the warm-up
ACCEPT = 0.95  # Acceptance that NUTS aims at: at 0.9, one draw in a thousand diverged
MOST = 12  # Times as many are made at most
SIDES = 0.5  # Standard deviation of the prior of the left side's advantage, where all pairs stand both ways round
LARGEST = 300.0  # Half a difference beyond which nothing changes, as far as float64 can say
GRID = np.linspace(-1.0, 1.0, 129)  # Of the averages over what could come, in units of a draw's largest difference
SITES = {"of_answers", "of_pairs", "of_attention", "of_ties", "of_sides", "log_ties", "side"}
# Nodes and weights of standard normals: of attention, of ties, and of the difference
HERMITE = [[*zip(node, weight / weight.sum(), strict=True)] for node, weight in map(hermegauss, (5, 3, 7))]


def data_of(votes: Votes, place: Int[np.ndarray, " model"]) -> dict[str, np.ndarray]:
    """The data of the program; `place` is each model's among those of the estimate."""
    n_models = len(place)
    left, right = place[votes.left], place[votes.right]
    model = np.arange(n_models)
    answers = np.zeros(0, np.int64)
    if votes.prompts_named and np.ptp(votes.item) > 0:
        cells, of_cell, answers = np.unique(
            np.concatenate([left, right]) + n_models * np.tile(votes.item, 2), return_inverse=True, return_counts=True
        )
        model = cells % n_models
        left, right = np.split(of_cell, 2)
    both = np.minimum(left, right) * len(model) + np.maximum(left, right)
    met, pair, pairs = np.unique(both, return_inverse=True, return_counts=True)
    if not votes.prompts_named or len(pairs) == len(both):
        pairs = np.zeros(0, np.int64)
    toward = np.where(left < right, 1, -1)
    annotator = np.zeros_like(left) if votes.annotator is None else votes.annotator
    columns = np.stack([pair, toward, annotator, votes.outcome])
    rows, count = np.unique(np.concatenate([columns, votes.standardised.T]), axis=1, return_counts=True)
    pair, toward, annotator, outcome = rows[:4].astype(np.int64)
    return {
        "first": met // len(model),
        "second": met % len(model),
        "pair": pair,
        "toward": toward.astype(np.float64),
        "annotator": annotator,
        "outcome": outcome,
        "count": count.astype(np.float64),
        "given": rows[4:].T,
        "model": model,
        "models": np.bincount(place[votes.left], minlength=n_models)
        + np.bincount(place[votes.right], minlength=n_models),
        "answers": answers,
        "pairs": pairs,
        "annotators": np.bincount(annotator),
        "sides": np.array([SIDES * Pairs.of(votes).balance])[: int(votes.placed)],
    }


def averages(
    strength: Float[np.ndarray, "draw model"], sites: Mapping[str, np.ndarray]
) -> Float[np.ndarray, "value draw point"]:
    """For each draw, differences of strengths, and the log-odds and the probability (less one half) of preference.

    Over answers and pairs of answers (a normal), annotators' attention, habits of sides and ties, and sides.
    """
    difference = np.ptp(strength, axis=1)[:, None] * GRID
    of = dict.fromkeys(SITES, np.zeros((len(strength), 1)))
    for name in SITES & sites.keys():
        of[name] = sites[name].reshape(-1, 1)
    of_answers = 2 * of["of_answers"] ** 2 + of["of_pairs"] ** 2
    won = np.zeros_like(difference)
    lost = np.zeros_like(difference)
    for toward, of_attention, of_ties, of_difference in product((-1.0, 1.0), *HERMITE):
        attentive, attentive_weight = of_attention
        tying, tying_weight = of_ties
        apart, apart_weight = of_difference
        weight = attentive_weight * tying_weight * apart_weight
        attention = np.exp(of["of_attention"] * attentive)
        ties = np.exp(of["log_ties"] + of["of_ties"] * tying)
        spread = np.sqrt(attention**2 * of_answers + of["of_sides"] ** 2)
        half = (attention * difference + spread * apart + toward * of["side"]) / 2
        ahead = np.exp(np.clip(half, -LARGEST, LARGEST))
        behind = 1 / ahead
        share = weight / (ahead + behind + ties)
        won += ahead * share
        lost += behind * share
    return np.stack([difference, np.log(won / lost), (won - lost) / 4])


@dataclass(frozen=True, eq=False)
class Shown:
    """What the draws of a run say of new prompts and annotators."""

    run: Draws
    table: Float[np.ndarray, "value draw point"]
    log_odds: Float[np.ndarray, "draw pair"]
    preference: Float[np.ndarray, "draw pair"]  # less one half
    score: Float[np.ndarray, "draw model"]  # each model against all that votes connect it with
    convergence: tuple[float, float]

    @classmethod
    def of(cls, run: Draws, connected: Bool[np.ndarray, " pair"]) -> "Shown":
        chains, n_draws, n_models = run.sites["strength"].shape
        strength = run.sites["strength"].reshape(-1, n_models)
        first, second = pairs_of(np.arange(n_models)).T
        table = averages(strength, run.sites)
        apart = strength[:, first] - strength[:, second]
        log_odds = np.empty_like(apart)
        preference = np.empty_like(apart)
        for draw, (points, odds, shares) in enumerate(np.moveaxis(table, 1, 0)):
            log_odds[draw] = np.interp(apart[draw], points, odds)
            preference[draw] = np.interp(apart[draw], points, shares)
        # zero-sum, and in the order of the strengths
        identity = np.eye(n_models)
        sign = (identity[first] - identity[second]) * connected[:, None]
        score = log_odds @ sign / (1 + np.abs(sign).sum(0))
        shown = np.concatenate([score, log_odds[:, connected]], axis=1)
        found = convergence({"shown": shown.reshape(chains, n_draws, -1)})
        return cls(run, table, log_odds, preference, score, found)


def draw_votes(
    votes: Votes, estimate: Estimate, seed: int
) -> tuple[Estimate, Posterior, Callable[[float], float], Mapping[str, np.ndarray]]:
    """The estimate with the program's means, its posterior, the log-odds at points, and the draws of all sites."""
    names = estimate.names
    n_models = len(names)
    place = np.array([names.index(name) for name in votes.models])
    first, second = pairs_of(np.arange(n_models)).T
    connected = np.isfinite(estimate.mean[n_models:, 0])
    found: list[Shown] = []

    def enough(run: Draws) -> bool:
        strength = run.sites["strength"]
        rhat, ess = convergence({"apart": strength[..., first] - strength[..., second]})
        if rhat > MAX_RHAT or ess < MIN_ESS:  # what is shown takes longer to make
            return False
        found.append(Shown.of(run, connected))
        rhat, ess = found[-1].convergence
        return rhat <= MAX_RHAT and ess >= MIN_ESS

    run = sample(
        program,
        data_of(votes, place),
        seed,
        draws=DRAWS,
        warmup=WARMUP,
        chains=CHAINS,
        target_accept=ACCEPT,
        start_width=START,
        warm_depth=WARM_DEPTH,
        enough=enough,
        most=MOST,
    )
    if not found or found[-1].run is not run:
        found.append(Shown.of(run, connected))
    shown = found[-1]
    losses = -np.concatenate([shown.score, shown.log_odds], axis=1)
    mean = losses.mean(0)
    mean[n_models:][~connected] = np.nan
    margins = [Margin(float(row.mean()), float(row.std()), np.inf, draws=row) for row in losses.T]
    ends = np.quantile(shown.preference, [0.025, 0.975], axis=0)
    shares = 0.5 + np.stack([shown.preference.mean(0), *ends])

    def preferred(row: Pair) -> tuple[float, float, float]:
        (pair,) = pair_rows_of(np.array([[names.index(row.a), names.index(row.b)]]), n_models)
        share, low, high = shares[:, pair].tolist()
        return share, low, high

    about = replace(estimate.about, means=mean[:n_models][place], preference=preferred)
    estimate = replace(estimate, about=about)
    leader = mean[:n_models].argmin()
    of_leader = connected & ((first == leader) | (second == leader))
    chance_error = 0.0
    end = 0.0
    for row in shown.log_odds[:, of_leader].T:
        draws = row.reshape(CHAINS, -1)
        chance_error = max(chance_error, mean_with_error((draws > 0) * 1.0)[1])
        end = max(end, end_error(draws))
    means = -shown.score.reshape(CHAINS, -1, n_models) if connected.all() else None
    figures = Run([run], chance_error, end, [shown.convergence])
    post = Posterior(n_models, replace(estimate, mean=mean[:, None]), margins, means, means, run=figures)

    def difference_at(points: float) -> float:
        """The log-odds at a preference of one half and so many points, the median of the draws."""
        of_draws = [np.interp(points, shares, odds) for _, odds, shares in np.moveaxis(shown.table, 1, 0)]
        return float(np.median(of_draws))

    return estimate, post, difference_at, run.sites
