"""The hierarchy over groups by quadrature: for every pair by itself, so that no other model moves its answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

from probtruth.comparison.posterior.margins import Mixture
from probtruth.kernels.exact_sums import exact_totals

PerPair = Float[np.ndarray, " pair"]
Values = Float[np.ndarray, " value"]

KNEE = 0.2
"""Where the prior of the between-group sd bends, in standard errors of a group's mean, for each group beyond one."""
REACH = 1e4
"""How far the prior of the between-group sd reaches, in units of the spread of the groups' means."""
LEAST = 1e-6
"""Where it bends at least, in the same units."""
POINTS = 400
"""Values of the between-group sd that stand for its posterior."""
EVERY = 4
"""Of so many of them one is taken for the answers of single groups."""
NEGLIGIBLE = 40.0
"""Log densities this far below the largest are left out."""
CELLS = 4_000_000
"""Numbers held at once."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups' mean differences, those of one variance summed up: their number, their mean, the squares about that.

    No more is needed of normal means, so that the cost of a posterior does not depend on the number of groups.
    """

    count: Float[np.ndarray, " size"]
    mean: Float[np.ndarray, "size pair"]
    square: Float[np.ndarray, "size pair"]
    variance: Float[np.ndarray, "size pair"]

    @classmethod
    def of(cls, mean: Float[np.ndarray, "group pair"], variance: Float[np.ndarray, "group pair"]) -> "Groups":
        """From the mean of each group and its variance."""
        sizes, size_of, count = np.unique(variance, axis=0, return_inverse=True, return_counts=True)
        size_of = size_of.ravel()
        average = exact_totals(mean.T, size_of, len(sizes)).T / count[:, None]
        square = exact_totals(((mean - average[size_of]) ** 2).T, size_of, len(sizes)).T
        return cls(count.astype(np.float64), average, square, sizes)

    @property
    def n_groups(self) -> float:
        """How many groups there are."""
        return float(self.count.sum())

    def centre(self) -> PerPair:
        """The plain mean of the groups' means."""
        return np.asarray(self.count @ self.mean / self.n_groups)

    def spread(self) -> PerPair:
        """The sd of the groups' means and their standard error together (root of the sum of squares)."""
        about = self.square + self.count[:, None] * (self.mean - self.centre()) ** 2
        spread: np.ndarray = np.sqrt(about.sum(0) / (self.n_groups - 1) + self.count @ self.variance / self.n_groups)
        return spread

    def standard_error(self) -> PerPair:
        """The standard error of a typical group, as tests of heterogeneity weigh them; 0 where one is exact.

        Source: Higgins and Thompson 2002, doi:10.1002/sim.1186, equation 9.
        """
        exact = (self.variance == 0).any(0)
        weight = 1 / np.where(exact, 1.0, self.variance)
        total, square = self.count @ weight, self.count @ weight**2
        return np.where(exact, 0.0, np.sqrt((self.n_groups - 1) * total / (total**2 - square)))


@dataclass(frozen=True, eq=False)
class Prior:
    r"""The prior of the between-group sd, $p(\tau) \propto 1/(\tau + k)$ up to an end: `knee` k, and `reach`.

    tau = k (e^{ru} - 1) with u uniform from 0 to 1, r = `reach`. Where groups differ by more than their standard
    errors it is Jeffreys' 1/tau, which knows no unit and under which mu is Student's t of the groups' means; nearer to
    0 it is flat.
    """

    knee: PerPair
    reach: PerPair

    @classmethod
    def of(cls, groups: Groups) -> "Prior":
        """The knee at KNEE standard errors for each group beyond the first."""
        spread = groups.spread()
        knee = np.maximum(KNEE * (groups.n_groups - 1) * groups.standard_error(), LEAST * spread)
        return cls(knee, np.log1p(REACH * spread / knee))


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The posterior of the hierarchy on a grid of the between-group sd: for each pair a finite mixture of normals."""

    between: Float[np.ndarray, "pair grid"]
    weight: Float[np.ndarray, "pair grid"]
    centre: Float[np.ndarray, "pair grid"]
    variance: Float[np.ndarray, "pair grid"]

    def mixture(self, new_group: bool = False) -> Mixture:
        """The posterior of every pair's difference in the population of groups, or in one new group."""
        extra = self.between**2 if new_group else 0.0
        return Mixture(self.weight, self.centre, np.sqrt(self.variance + extra))

    def of_groups(
        self, pair: int, mean: Float[np.ndarray, " group"], variance: Float[np.ndarray, " group"], every: int = EVERY
    ) -> Mixture:
        """The posterior of a pair's difference in groups of these means and variances, which it already knows."""
        between, centre, spread = self.between[pair, ::every], self.centre[pair, ::every], self.variance[pair, ::every]
        own = between**2 / (between**2 + variance[:, None])
        weight = self.weight[pair, ::every] / self.weight[pair, ::every].sum()
        average = own * mean[:, None] + (1 - own) * centre
        return Mixture(weight, average, np.sqrt(own * variance[:, None] + (1 - own) ** 2 * spread))


def conditional(groups: Groups, pair: int, between: Values) -> tuple[Values, Values, Values]:
    """A pair's centre given each value of the between-group sd: its mean and precision, and the groups' log density
    there."""
    step = max(1, CELLS // len(groups.count))
    parts = [_conditional(groups, pair, between[start : start + step]) for start in range(0, len(between), step)]
    centre, total, log = map(np.concatenate, zip(*parts, strict=True))
    return centre, total, log


def _conditional(groups: Groups, pair: int, between: Values) -> Sequence[np.ndarray]:
    precision = 1 / (between[:, None] ** 2 + groups.variance[:, pair])
    weight = groups.count * precision
    total = weight.sum(1)
    centre = weight @ groups.mean[:, pair] / total
    about = precision * groups.square[:, pair] + weight * (groups.mean[:, pair] - centre[:, None]) ** 2
    return centre, total, 0.5 * (groups.count * np.log(precision) - about).sum(1)


def hierarchy(groups: Groups, prior: Prior, power: float = 1.0, likelihood: float = 1.0) -> Hierarchy:
    """Quadrature over the between-group sd; given it, the centre, whose prior is flat, is normal.

    Arguments: the powers to which the between-group sd's prior and the likelihood are raised.
    """
    parts = [_of_pair(groups, prior, pair, power, likelihood) for pair in range(groups.mean.shape[1])]
    return Hierarchy(*map(np.stack, zip(*parts, strict=True)))


def _of_pair(groups: Groups, prior: Prior, pair: int, power: float, likelihood: float) -> Sequence[np.ndarray]:
    """A grid over all of the prior, then one over the part that the data leave."""
    low, high = 0.0, 1.0
    for last in (False, True):
        step = (high - low) / POINTS
        quantile = low + step * (np.arange(POINTS) + 0.5)
        between = prior.knee[pair] * np.expm1(quantile * prior.reach[pair])
        centre, total, log = conditional(groups, pair, between)
        log = likelihood * log - 0.5 * np.log(likelihood * total) + (1 - power) * np.log(between + prior.knee[pair])
        if not last:
            part = quantile[log > log.max() - NEGLIGIBLE]
            low, high = max(0.0, float(part[0]) - step), min(1.0, float(part[-1]) + step)
    weight = np.exp(log - logsumexp(log))
    return between, weight / weight.sum(), centre, 1 / (likelihood * total)


def draw_hierarchy(posterior: Hierarchy, shape: tuple[int, int], seed: int) -> dict[str, np.ndarray]:
    """Independent draws of every pair's `between` and `centre`."""
    rng = np.random.default_rng(seed)
    drawn = []
    for between, weight, centre, variance in zip(*vars(posterior).values(), strict=True):
        part = rng.choice(len(weight), size=shape, p=weight)
        drawn.append((between[part], centre[part] + rng.standard_normal(shape) * np.sqrt(variance[part])))
    return {
        name: np.stack(values, -1) for name, values in zip(("between", "centre"), zip(*drawn, strict=True), strict=True)
    }


def proper(groups: Groups, power: float, likelihood: float) -> bool:
    """Whether the posterior under these powers is one: its density falls faster than 1/tau without an end."""
    return likelihood * groups.n_groups + power > 2
