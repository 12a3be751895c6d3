"""Simulation-based calibration of the comparison program under NUTS (five minutes).

Parameters from the prior (a flat one of a mean is as good at 0 as anywhere; the logarithm of the typical variance,
which the prior of the sd between groups does not follow, is even over a wide range), the means and variances of five
groups, or of one, from these, and the rank of each true value among 99 draws, one in 6 of a chain;
p-values of chi-squared over 20 bins. The last rows test whether the closed form gives uniform probabilities to the
truth of 10,000 normal data sets.
"""

from collections.abc import Iterator

import numpy as np
from coverage_study import fitted
from scipy.stats import chisquare, kstest

from probtruth.comparison.posterior.program import integrated, program
from probtruth.inference import nuts

RUNS = 1000
KEPT, THIN, BINS = 99, 6, 20
WIDE = 8.0  # Logarithms of the typical variance lie between less this and this
SIZES = np.array([4.0, 5.0, 8.0, 20.0, 60.0])
Ranks = dict[str, list[int]]


def note(ranks: Ranks, name: str, drawn: np.ndarray, truth: float) -> None:
    """The rank of the truth among thinned draws of one chain."""
    ranks.setdefault(name, []).append(int((drawn[0, ::THIN].ravel()[:KEPT] < truth).sum()))


def of_groups(many: int) -> Ranks:
    rng, ranks = np.random.default_rng(1), Ranks()
    scale, log_range = np.array([0.2]), np.array([3.0])
    df = SIZES - 1
    for seed in range(many):
        between = scale[0] * np.expm1(rng.random() * log_range[0])
        spread = abs(rng.standard_normal())
        typical = rng.uniform(-WIDE, WIDE)
        true = np.exp(typical + spread * rng.standard_normal(len(SIZES)))
        mean = between * rng.standard_normal(len(SIZES)) + np.sqrt(true / SIZES) * rng.standard_normal(len(SIZES))
        seen = true * rng.chisquare(df) / df
        data = {"mean": mean[:, None], "variance": (seen / SIZES)[:, None], "df": df[:, None], "n_items": SIZES}
        data |= {"prior_scale": scale, "log_range": log_range}
        sites = nuts.sample(integrated, data, seed, draws=KEPT * THIN, chains=1, target_accept=0.9).sites
        note(ranks, "sd between groups", sites["between"], between)
        note(ranks, "mean of the population", sites["difference"], 0.0)
        note(ranks, "spread of the groups' variances", sites["spread"], spread)
        note(ranks, "typical variance", sites["typical"], typical)
    return ranks


def of_one(many: int) -> Ranks:
    rng, ranks = np.random.default_rng(2), Ranks()
    root = np.array([[1.0, 0.0], [0.6, 0.8]])
    for seed in range(many):
        seen = rng.chisquare(7.0) / 7.0
        mean = root @ rng.standard_normal(2)
        data = {"mean": mean[None], "variance": np.full((1, 2), seen), "df": np.full((1, 2), 7.0), "root": root}
        sites = nuts.sample(program, data, seed, draws=KEPT * THIN, chains=1).sites
        for pair, word in enumerate(("first", "second")):
            note(ranks, f"mean difference, {word} pair", sites["difference"][..., pair], 0.0)
    return ranks


def matching(many: int, n_items: int) -> float:
    """p-value: of the plain t, P(difference < the true one) is uniform for normal differences, as the prior is flat."""
    _, plain = fitted(np.random.default_rng(3).standard_normal((many, n_items)), 1, 0.0)
    return float(kstest([one.below(0.0) for one in plain], "uniform").pvalue)


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "comparison_programs", ("program", "ranked", "p")
    for name, simulate in (("groups", of_groups), ("one group", of_one)):
        for what, ranks in simulate(runs).items():
            counts = np.bincount(np.asarray(ranks) * BINS // (KEPT + 1), minlength=BINS)
            yield "comparison_programs", (name, what, f"{chisquare(counts).pvalue:.3f}")
    for n in (5, 20, 100):
        yield "comparison_programs", ("closed form", f"{n} items", f"{matching(10 * runs, n):.3f}")
