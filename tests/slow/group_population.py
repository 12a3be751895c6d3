"""The population of groups beside Hartung-Knapp-Sidik-Jonkman: coverage and width (ten minutes).

The groups' true means vary around the population's, which is 0, with the standard deviation of each column (in standard
deviations of an item), normal or gamma (shape 2, skewness 1.41); items are normal; the variance within groups is
estimated. Cells: coverage of the 95% interval for the population's mean / for one new group, and in brackets the mean
width for the population's mean as a multiple of Hartung-Knapp-Sidik-Jonkman's (between-group variance by Paule and
Mandel), whose own coverages are in the second line of each row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.stats import t as student

from probtruth.comparison.posterior.groups import Groups, quadrature

RUNS, SHAPE = 1000, 2.0
BETWEEN = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
GROUPS = (2, 3, 5, 10, 20, 50)
SIZES = {
    "equal 30": lambda n: np.full(n, 30),
    "equal 5": lambda n: np.full(n, 5),
    "1 to 500": lambda n: np.rint(np.geomspace(1, 500, n)).astype(int),
}


@dataclass(frozen=True)
class Data:
    """Groups' means and their estimated variances in many runs, and the true mean of one new group of each."""

    mean: np.ndarray
    seen: np.ndarray
    df: np.ndarray
    pooled: np.ndarray
    sizes: np.ndarray
    new: np.ndarray

    @property
    def variance(self) -> np.ndarray:
        return self.pooled[:, None] / self.sizes


def simulate(rng: np.random.Generator, between: float, sizes: np.ndarray, effects: str, runs: int) -> Data:
    shape = (runs, len(sizes) + 1)
    if effects == "normal":
        effect = rng.standard_normal(shape)
    else:
        effect = (rng.gamma(SHAPE, size=shape) - SHAPE) / SHAPE**0.5
    mean = between * effect[:, 1:] + rng.standard_normal((runs, len(sizes))) / np.sqrt(sizes)
    df = sizes - 1.0
    seen = np.where(df > 0, rng.chisquare(np.maximum(df, 1), mean.shape) / np.maximum(df, 1), 1.0)
    return Data(mean, seen, df, seen @ df / df.sum(), sizes.astype(float), between * effect[:, 0])


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


def cell(between: float, sizes: np.ndarray, effects: str, runs: int) -> tuple[str, str]:
    data = simulate(np.random.default_rng([len(sizes), int(10 * between)]), between, sizes, effects, runs)
    centre, half, half_new = hartung_knapp(data)
    df = np.repeat(data.df[:, None], runs, axis=1)
    groups = Groups(data.mean.T, data.seen.T, df, data.sizes, data.pooled)  # each run is a pair of its own
    found = [quadrature(groups, run) for run in range(runs)]
    mixtures = [one.mixture() for one in found]
    news = [one.mixture(new_group=True).below(new) for one, new in zip(found, data.new, strict=True)]
    below = np.array([one.below(0.0) for one in mixtures]), np.array(news)
    ours = [((p > 0.025) & (p < 0.975)).mean() for p in below]
    theirs = (np.abs(centre) <= half).mean(), (np.abs(data.new - centre) <= half_new).mean()
    widths = [one.quantile(0.975) - one.quantile(0.025) for one in mixtures]
    width = np.mean(widths) / (2 * half).mean()
    both = [" / ".join(f"{value:.3f}" for value in pair) for pair in (ours, theirs)]
    return f"{both[0]} ({width:.2f})", both[1]


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "groups", ("items a group", "effects", "groups", "", *(f"{between:g}" for between in BETWEEN))
    for effects, (name, sizes), n_groups in product(("normal", "gamma"), SIZES.items(), GROUPS):
        ours, theirs = zip(*(cell(between, sizes(n_groups), effects, runs) for between in BETWEEN), strict=True)
        yield "groups", (name, effects, n_groups, "ours", *ours)
        yield "groups", ("", "", "", "HKSJ", *theirs)
