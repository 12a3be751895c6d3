"""Simulation-based calibration of the comparison programs under NUTS, as a table in Markdown.

    python tests/slow/comparison_calibration.py 1000

takes some half an hour on a free core with 1,000 simulations.
"""

import sys
from collections.abc import Callable, Mapping

import numpy as np
from scipy.stats import chisquare, kstest

from probtruth.comparison import program
from probtruth.comparison.design import Design
from probtruth.comparison.groups import Groups, Prior, from_draws
from probtruth.comparison.location import Sums, combine, means_from
from probtruth.comparison.margin import margins
from probtruth.inference import nuts

KEPT, THIN, BINS = 99, 8, 20
"""Draws whose ranks are taken, one in so many of a chain, and bins of the 100 ranks."""
GROUPS = 5
Ranks = dict[str, list[int]]


def draws(
    data: Mapping[str, np.ndarray], seed: int, target_accept: float = 0.8, thin: int = THIN
) -> dict[str, np.ndarray]:
    """One chain, thinned."""
    sites = nuts.sample(program.comparison, data, seed, draws=KEPT * thin, chains=1, target_accept=target_accept).sites
    return {name: values[0, ::thin][:KEPT] for name, values in sites.items()}


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
    rows = np.random.default_rng(3).standard_normal((many, n_items))
    plan = Design.of(np.zeros(n_items, np.int64))
    place = combine(means_from(Sums.of(rows, plan), plan, np.abs(rows).max(1)), np.ones(1))
    plain = [type(one)(one.centre, one.scale, one.df) for one in margins(place)]
    return float(kstest([one.below(0.0) for one in plain], "uniform").pvalue)


def main(many: int) -> None:
    print(OPENING.format(many=f"{many:,}", kept=KEPT, thin=THIN, bins=BINS))
    print("| program | ranked | p |\n|---|---|---|")
    found = []
    simulated: dict[str, Callable[[int], Ranks]] = {
        "location": location,
        "hierarchy": hierarchy,
    }
    for name, simulate in simulated.items():
        for what, ranks in simulate(many).items():
            counts = np.bincount(np.asarray(ranks) * BINS // (KEPT + 1), minlength=BINS)
            found.append(float(chisquare(counts).pvalue))
            print(f"| `{name}` | {what} | {found[-1]:.3f} |".replace("| 0.", "| ."), flush=True)
    for n_items in (5, 20, 100):
        found.append(matching(10_000, n_items))
        print(
            f"| closed form, {n_items} normal differences | P(true difference) | {found[-1]:.3f} |".replace(
                "| 0.", "| ."
            )
        )
    least, bound = min(found), 0.05 / len(found)
    print(CLOSING.format(least=f"{least:.3f}", many=len(found), bound=f"{bound:.4f}"))


OPENING = """# Validity of the comparison programs

Written by `tests/slow/comparison_calibration.py`. Simulation-based calibration (Talts et al. 2018,
doi:10.48550/arXiv.1804.06788) of the programs that NUTS samples, their plug-in quantities (variances within groups,
degrees of freedom, the root of the covariance, where the prior of the sd between groups bends) held fixed: parameters
from the prior (the population's mean, whose prior is flat, is 0), five groups' means of two pairs from the
parameters, and the rank of each true value among {kept} draws, one in {thin} of a chain. {many} simulations; p-values
of chi-squared over {bins} bins of ranks. `location` observes only its plug-in quantities (its flat prior on the mean
is integrated out), so its rows test only whether NUTS draws from the program as written; the last rows test whether
the closed form, with its flat prior, gives uniform probabilities to the truth of 10,000 normal data sets.
"""

CLOSING = """
The smallest of the {many} p-values is {least}. If they were independent, one table of this size in twenty would have
one below {bound}."""

if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
