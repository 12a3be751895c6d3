"""What NUTS draws of the program of votes: the posterior of all models and pairs.

Differences are the log-odds that one model's answer is preferred to the other's, by new annotators on new prompts, on
either side: what strengths say of one prompt and annotator is averaged over those that could come.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.polynomial.hermite_e import hermegauss

from probtruth.comparison.estimation.design import pairs_of
from probtruth.comparison.estimation.estimate import Estimate, rows_from_models
from probtruth.comparison.posterior.drawn import CHAINS, Run, largest_errors
from probtruth.comparison.posterior.margin import Margin
from probtruth.comparison.posterior.posterior import Posterior
from probtruth.comparison.votes.fit import Pairs
from probtruth.comparison.votes.program import program
from probtruth.inference.diagnostics import convergence, passes
from probtruth.inference.nuts import Draws, sample
from probtruth.types import Votes

DRAWS = 100  # Of each chain at first
WARMUP = 250
START = 0.1  # How far from no effects and the priors' medians chains start: from 1, one of four found no way back
WARM_DEPTH = 6  # Doublings of a trajectory in the warm-up
ACCEPT = 0.95  # Acceptance that NUTS aims at: at 0.9, one draw in a thousand diverged
MOST = 12  # Times as many are made at most
SIDES = 0.5  # Standard deviation of the prior of the left side's advantage, where all pairs stand both ways round
LARGEST = 300.0  # Half a difference beyond which nothing changes, as far as float64 can say
GRID = np.linspace(-1.0, 1.0, 129)  # Of the averages over what could come, in units of a draw's largest difference
# Nodes and weights of standard normals: of attention, of ties, and of the difference
HERMITE = [[*zip(node, weight / weight.sum(), strict=True)] for node, weight in map(hermegauss, (5, 3, 7))]


def data_of(votes: Votes, place: Int[np.ndarray, " model"]) -> dict[str, np.ndarray]:
    """The data of the program; `place` is each model's among those of the estimate."""
    n_models = len(place)
    left = place[votes.left]
    right = place[votes.right]
    model = np.arange(n_models)
    answers = model[:0]
    if votes.prompts_named and np.ptp(votes.item) > 0:
        both = np.concatenate([left, right]) + n_models * np.tile(votes.item, 2)
        cells, of_cell = np.unique(both, return_inverse=True)
        left, right = np.split(of_cell, 2)
        model = cells % n_models
        answers = model
    met = Pairs.of(left, right)
    n_met = len(met.size) // 2
    n_pairs = n_met if votes.prompts_named and n_met < len(left) else 0
    toward = np.where(met.of_vote < n_met, 1, -1)
    annotator = np.zeros_like(left) if votes.annotator is None else votes.annotator
    columns = [met.of_vote % n_met, toward, annotator, votes.outcome, *votes.standardised.T]
    rows, count = np.unique(np.stack(columns), axis=1, return_counts=True)
    pair, _, annotator, outcome = rows[:4].astype(np.int64)
    balance = Pairs.of(votes.left, votes.right).balance
    return {
        "first": met.left[:n_met],
        "second": met.right[:n_met],
        "pair": pair,
        "toward": rows[1].astype(np.float64),
        "annotator": annotator,
        "outcome": 1 - outcome,
        "count": count.astype(np.float64),
        "given": rows[4:].T.astype(np.float64),
        "model": model,
        "models": np.arange(n_models),
        "answers": answers,
        "pairs": met.left[:n_pairs],
        "annotators": np.arange(max(1, len(votes.annotators))),
        "sides": np.array([SIDES * balance])[: int(votes.placed)],
    }


def averages(
    strength: Float[np.ndarray, "draw model"], sites: Mapping[str, np.ndarray]
) -> Float[np.ndarray, "draw value point"]:
    """For each draw, differences of strengths, and the log-odds and the probability (less one half) of preference.

    Over answers and pairs of answers (a normal), annotators' attention, habits of sides and ties, and sides.
    """

    def of(name: str) -> np.ndarray:
        return sites.get(name, np.zeros(1)).reshape(-1, 1)

    difference = np.ptp(strength, axis=1)[:, None] * GRID
    of_answers = 2 * of("of_answers") ** 2 + of("of_pairs") ** 2
    won = np.zeros_like(difference)
    lost = np.zeros_like(difference)
    for toward, of_attention, of_ties, of_difference in product((-1.0, 1.0), *HERMITE):
        (attentive, tying, apart), weights = zip(of_attention, of_ties, of_difference, strict=True)
        weight = np.prod(weights)
        attention = np.exp(of("of_attention") * attentive)
        ties = np.exp(of("log_ties") + of("of_ties") * tying)
        spread = np.sqrt(attention**2 * of_answers + of("of_sides") ** 2)
        half = (attention * difference + spread * apart + toward * of("side")) / 2
        ahead = np.exp(np.clip(half, -LARGEST, LARGEST))
        behind = 1 / ahead
        share = weight / (ahead + behind + ties)
        won += ahead * share
        lost += behind * share
    return np.stack([difference, np.log(won / lost), (won - lost) / 4], axis=1)


@dataclass(frozen=True, eq=False)
class Shown:
    """What the draws of a run say of new prompts and annotators."""

    table: Float[np.ndarray, "draw value point"]
    log_odds: Float[np.ndarray, "draw pair"]
    preference: Float[np.ndarray, "draw pair"]  # less one half
    score: Float[np.ndarray, "draw model"]  # each model against all that votes connect it with
    convergence: tuple[float, float]

    @classmethod
    def of(cls, run: Draws, connected: Bool[np.ndarray, " pair"]) -> "Shown":
        chains, n_draws, n_models = run.sites["strength"].shape
        strength = run.sites["strength"].reshape(-1, n_models)
        table = averages(strength, run.sites)
        apart = rows_from_models(strength.T)[n_models:].T
        log_odds = np.empty_like(apart)
        preference = np.empty_like(apart)
        for draw, (points, odds, shares) in enumerate(table):
            log_odds[draw] = np.interp(apart[draw], points, odds)
            preference[draw] = np.interp(apart[draw], points, shares)
        # zero-sum, and in the order of the strengths
        sign = rows_from_models(np.eye(n_models))[n_models:] * connected[:, None]
        score = log_odds @ sign / (1 + np.abs(sign).sum(0))
        shown = np.concatenate([score, log_odds[:, connected]], axis=1)
        found = convergence({"shown": shown.reshape(chains, n_draws, -1)})
        return cls(table, log_odds, preference, score, found)


def draw_votes(
    votes: Votes, estimate: Estimate, seed: int
) -> tuple[Estimate, Posterior, Callable[[float], float], Mapping[str, np.ndarray]]:
    """The estimate with the program's means, its posterior, the log-odds at points, and the draws of all sites."""
    names = estimate.names
    n_models = len(names)
    place = np.argsort(estimate.order)
    first, second = pairs_of(np.arange(n_models)).T
    connected = np.isfinite(estimate.mean[n_models:, 0])
    latest: list[Shown] = []

    def enough(run: Draws) -> bool:
        latest.clear()
        strength = run.sites["strength"]
        if passes(*convergence({"apart": strength[..., first] - strength[..., second]})):
            latest.append(Shown.of(run, connected))  # which takes longer
        return bool(latest) and passes(*latest[0].convergence)

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
    shown = latest[0] if latest else Shown.of(run, connected)
    losses = -np.concatenate([shown.score, shown.log_odds], axis=1)
    mean = losses.mean(0)
    margins = [Margin(float(row.mean()), float(row.std()), np.inf, draws=row) for row in losses.T]
    mean[n_models:][~connected] = np.nan
    ends = np.quantile(shown.preference, [0.025, 0.975], axis=0)
    shares = 0.5 + np.stack([shown.preference.mean(0), *ends], axis=1)
    share_of = dict(zip(combinations(names, 2), shares.tolist(), strict=True))
    about = replace(estimate.about, means=mean[:n_models][place], preference=lambda row: share_of[row.models])
    leader = mean[:n_models].argmin()
    of_leader = connected & ((first == leader) | (second == leader))
    errors = largest_errors(shown.log_odds[:, of_leader].reshape(CHAINS, -1, of_leader.sum()))
    means = -shown.score.reshape(CHAINS, -1, n_models) if connected.all() else None
    estimate = replace(estimate, about=about, mean=mean[:, None])
    post = Posterior(estimate, margins, means, means, run=Run([run], *errors, [shown.convergence]))

    def difference_at(points: float) -> float:
        """The log-odds at a preference of one half and so many points, the median of the draws."""
        return float(np.median([np.interp(points, shares, odds) for _, odds, shares in shown.table]))

    return estimate, post, difference_at, run.sites
