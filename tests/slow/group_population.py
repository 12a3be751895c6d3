"""The population of groups beside Hartung-Knapp-Sidik-Jonkman: coverage and width over sizes, spreads and effects.

    PYTHONPATH=. python tests/slow/group_population.py --runs 400

takes about four minutes on one idle core. `--cells` takes rows that contain the text (`"1 to 500 | gamma"`). The
quadrature is written for all runs at once, and checked against the package's on some of them. Hundreds of runs each: a
coverage of 0.95 has a standard error of 0.011 with 400.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import t as student

from probtruth.comparison.groups import KNEE, LEAST, REACH, Groups, Prior, hierarchy

BETWEEN = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
GROUPS = (2, 3, 5, 10, 20, 50)
SIZES = {
    "equal 30": lambda n: np.full(n, 30),
    "equal 5": lambda n: np.full(n, 5),
    "1 to 500": lambda n: np.rint(np.geomspace(1, 500, n)).astype(int),
}
SHAPE = 2.0
"""Of the gamma distribution of skewed effects: skewness 1.41."""
POINTS = 96
CHECKED = 5
"""Runs of each cell that the package answers too."""
AGREE = 2e-3
"""Largest difference of P(mu < 0) between the two quadratures, which have grids of their own."""

OPENING = """# Validity of the population of groups

Written by `tests/slow/group_population.py`. The groups' true means vary around the population's mean with the
standard deviation of each column (in standard deviations of an item), normal or gamma (shape 2, skewness 1.41); items
are normal; the variance within groups is estimated. Coverage of 95% intervals for **the population's mean / one new
group**, and in brackets the mean width for the population's mean as a multiple of that of Hartung-Knapp-Sidik-Jonkman
(between-group variance by Paule and Mandel), whose own coverages are in the second line of each row; {runs:,} data
sets for each cell. With groups of one size Hartung-Knapp-Sidik-Jonkman is Student's t of the groups' means. The true
mean is 0: shifting all differences shifts every answer (`tests/comparison/test_pooling.py`), so another centre gives
the same table.
"""


@dataclass(frozen=True)
class Data:
    """Groups' means and their estimated variances in many runs, and the true mean of one new group of each."""

    mean: np.ndarray
    variance: np.ndarray
    new: np.ndarray


def simulate(rng: np.random.Generator, between: float, sizes: np.ndarray, effects: str, runs: int) -> Data:
    shape = (runs, len(sizes) + 1)
    if effects == "normal":
        effect = rng.standard_normal(shape)
    else:
        effect = (rng.gamma(SHAPE, size=shape) - SHAPE) / SHAPE**0.5
    mean = between * effect[:, 1:] + rng.standard_normal((runs, len(sizes))) / np.sqrt(sizes)
    df = int((sizes - 1).sum())
    pooled = rng.chisquare(df, runs) / df
    return Data(mean, pooled[:, None] / sizes, between * effect[:, 0])


def paule_mandel(data: Data) -> np.ndarray:
    """The between-group variance at which the weighted squares equal their degrees of freedom."""
    low, high = np.zeros(len(data.mean)), np.full(len(data.mean), 10 * np.ptp(data.mean) ** 2)
    least = squares(data, low)[1] <= data.mean.shape[1] - 1
    for _ in range(60):
        middle = (low + high) / 2
        above = squares(data, middle)[1] > data.mean.shape[1] - 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(least, 0.0, (low + high) / 2)


def squares(data: Data, between: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    weight = 1 / (data.variance + between[:, None])
    total = weight.sum(1)
    centre = (weight * data.mean).sum(1) / total
    return centre, (weight * (data.mean - centre[:, None]) ** 2).sum(1), total


def hartung_knapp(data: Data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre and half-widths for the population's mean and for one new group.

    Source: Hartung and Knapp 2001, doi:10.1002/sim.1009; Sidik and Jonkman 2002, doi:10.1002/sim.1262; Paule and
    Mandel 1982, doi:10.6028/jres.087.022; for new groups Partlett and Riley 2017, doi:10.1002/sim.7140.
    """
    between, df = paule_mandel(data), data.mean.shape[1] - 1
    centre, square, total = squares(data, between)
    variance, t = square / df / total, student.ppf(0.975, df)
    return centre, t * np.sqrt(variance), t * np.sqrt(variance + between)


def posterior(data: Data) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Weights, means and variances of mu given each between-group sd, and those sds, of all runs."""
    n = data.mean.shape[1]
    precise = 1 / data.variance
    total = precise.sum(1)
    error = np.sqrt((n - 1) * total / (total**2 - (precise**2).sum(1)))
    spread = np.sqrt(data.mean.var(1, ddof=1) + data.variance.mean(1))
    knee = np.maximum(KNEE * (n - 1) * error, LEAST * spread)
    reach = np.log1p(REACH * spread / knee)
    low, high = np.zeros(len(knee)), np.ones(len(knee))
    for _ in range(2):  # over all of the prior, then where the data leave something
        step = (high - low) / POINTS
        at = low[:, None] + step[:, None] * (np.arange(POINTS) + 0.5)
        between = knee[:, None] * np.expm1(at * reach[:, None])
        precision = 1 / (between[:, :, None] ** 2 + data.variance[:, None])
        total = precision.sum(2)
        centre = (precision * data.mean[:, None]).sum(2) / total
        about = (precision * (data.mean[:, None] - centre[:, :, None]) ** 2).sum(2)
        log = 0.5 * (np.log(precision).sum(2) - np.log(total) - about)
        keep = log > log.max(1, keepdims=True) - 40
        low = np.maximum(0.0, np.where(keep, at, 2).min(1) - step)
        high = np.minimum(1.0, np.where(keep, at, -1).max(1) + step)
    weight = np.exp(log - log.max(1, keepdims=True))
    return weight / weight.sum(1, keepdims=True), centre, 1 / total, between


def quantile(weight: np.ndarray, mean: np.ndarray, sd: np.ndarray, p: float) -> np.ndarray:
    low, high = (mean - 60 * sd).min(1), (mean + 60 * sd).max(1)
    for _ in range(45):
        middle = (low + high) / 2
        below = (weight * ndtr((middle[:, None] - mean) / sd)).sum(1) < p
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def check(data: Data, below: np.ndarray) -> None:
    for run in range(CHECKED):
        groups = Groups(data.mean[run][:, None], data.variance[run][:, None])
        ours = float(hierarchy(groups, Prior.of(groups)).mixture().below(0.0)[0])
        if abs(ours - below[run]) > AGREE:
            raise ValueError(f"got P = {ours} from the package, {below[run]} here")


def cell(between: float, sizes: np.ndarray, effects: str, runs: int) -> tuple[str, str]:
    data = simulate(np.random.default_rng([len(sizes), int(10 * between)]), between, sizes, effects, runs)
    centre, half, half_new = hartung_knapp(data)
    weight, mean, variance, tau = posterior(data)
    sd, sd_new = np.sqrt(variance), np.sqrt(variance + tau**2)
    below = (weight * ndtr(-mean / sd)).sum(1)
    check(data, below)
    below_new = (weight * ndtr((data.new[:, None] - mean) / sd_new)).sum(1)
    ours = [((p > 0.025) & (p < 0.975)).mean() for p in (below, below_new)]
    theirs = (np.abs(centre) <= half).mean(), (np.abs(data.new - centre) <= half_new).mean()
    width = (quantile(weight, mean, sd, 0.975) - quantile(weight, mean, sd, 0.025)).mean() / (2 * half).mean()
    both = [" / ".join(f"{value:.3f}" for value in pair) for pair in (ours, theirs)]
    return f"{both[0]} ({width:.2f})", both[1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--cells", default="")
    asked = parser.parse_args()
    print(OPENING.format(runs=asked.runs))
    print("| items a group | effects | groups | |" + "".join(f" {between:g} |" for between in BETWEEN))
    print("|---" * (len(BETWEEN) + 4) + "|", flush=True)
    for effects in ("normal", "gamma"):
        for name, sizes in SIZES.items():
            for n_groups in GROUPS:
                row = f"| {name} | {effects} | {n_groups} |"
                if asked.cells in row:
                    ours, theirs = zip(
                        *(cell(between, sizes(n_groups), effects, asked.runs) for between in BETWEEN), strict=True
                    )
                    print(f"{row} ours | {' | '.join(ours)} |\n| | | | HKSJ | {' | '.join(theirs)} |", flush=True)


if __name__ == "__main__":
    main()
