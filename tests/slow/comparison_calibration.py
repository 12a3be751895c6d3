"""Simulation-based calibration of the comparison program under NUTS (half an hour).

Parameters from the prior (the population's mean, whose prior is flat, is 0), five groups' means of two pairs from the
parameters, and the rank of each true value among 99 draws, one in 8 of a chain; p-values of chi-squared over 20 bins.
Plug-in quantities (variances within groups, degrees of freedom, the root of the covariance, where the prior of the sd
between groups bends) are held. `location` observes nothing else, so its rows test only whether NUTS draws from the
program as written; the last rows test whether the closed form gives uniform probabilities to the truth of 10,000 normal
data sets.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from coverage_study import fitted
from scipy.stats import chisquare, kstest

from probtruth.comparison import program
from probtruth.comparison.groups import Groups, Prior, from_draws
from probtruth.inference import nuts

RUNS, GROUPS = 1000, 5
KEPT, THIN, BINS = 99, 8, 20
Ranks = dict[str, list[int]]


def draws(data: Mapping[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """One chain, thinned."""
    sites = nuts.sample(program.comparison, data, seed, draws=KEPT * THIN, chains=1).sites
    return {name: values[0, ::THIN][:KEPT] for name, values in sites.items()}


def note(ranks: Ranks, name: str, drawn: np.ndarray, truth: float) -> None:
    ranks.setdefault(name, []).append(int((drawn < truth).sum()))


def hierarchy(many: int) -> Ranks:
    """The sds between groups from their prior, the groups' means from those; the prior of the centre is flat, so that
    its rank is even at every true centre: 0 is as good as any. The prior itself and how unsure each mean is stay."""
    rng, ranks = np.random.default_rng(1), Ranks()
    variance = np.outer([0.05, 0.05, 0.05, 0.3, 1.0], [1.3, 0.7])  # three sizes
    prior = Prior(np.array([0.2, 0.5]), np.array([4.0, 2.0]))
    for seed in range(many):
        between = prior.scale * np.expm1(rng.uniform(size=2) * prior.log_range)
        mean = np.sqrt(variance + between**2) * rng.standard_normal((GROUPS, 2))
        groups = Groups(mean, variance)
        drawn = draws({**vars(groups), "prior_scale": prior.scale, "log_range": prior.log_range}, seed)
        drawn["centre"] = from_draws(groups, drawn["between"]).draws(KEPT, seed)[0].T
        for pair, word in enumerate(("first", "second")):
            note(ranks, f"between, {word} pair", drawn["between"][:, pair], between[pair])
            note(ranks, f"centre, {word} pair", drawn["centre"][:, pair], 0.0)
    return ranks


def location(many: int) -> Ranks:
    """Nothing is observed but what is plugged in: the draws themselves are from the distribution that is written."""
    rng, ranks = np.random.default_rng(2), Ranks()
    root, df = np.array([[1.0, 0.0], [0.6, 0.8]]), 7.0
    for seed in range(many):
        scale, innovation = rng.gamma(df / 2, 2 / df), rng.standard_normal(2)
        drawn = draws({"root": root, "df": np.asarray(df)}, seed)
        note(ranks, "scale", drawn["scale"], scale)
        true = root @ innovation / scale**0.5
        for step, word in enumerate(("first", "second")):
            note(ranks, f"shift, {word} step", drawn["shift"][:, step], true[step])
    return ranks


def matching(many: int, n_items: int) -> float:
    """p-value: of the plain t, P(difference < the true one) is uniform for normal differences, as the prior is flat."""
    _, plain = fitted(np.random.default_rng(3).standard_normal((many, n_items)), 1, 0.0)
    return float(kstest([one.below(0.0) for one in plain], "uniform").pvalue)


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "comparison_programs", ("program", "ranked", "p")
    for simulate in (location, hierarchy):
        for what, ranks in simulate(runs).items():
            counts = np.bincount(np.asarray(ranks) * BINS // (KEPT + 1), minlength=BINS)
            yield "comparison_programs", (f"`{simulate.__name__}`", what, f"{chisquare(counts).pvalue:.3f}")
    for n in (5, 20, 100):
        p = matching(10 * runs, n)
        yield "comparison_programs", (f"closed form, {n} normal differences", "P(true difference)", f"{p:.3f}")
