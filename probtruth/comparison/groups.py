"""The hierarchy over groups, for every pair by itself, so that no other model moves its answer.

Given the between-group sd all else is normal: the posterior is a mixture of normals over the values of that sd that
NUTS drew, or over a grid of them under the exact engine.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import logsumexp

from probtruth.comparison.estimate import Estimate
from probtruth.comparison.margin import Mixture

PerPair = Float[np.ndarray, " pair"]
Values = Float[np.ndarray, " value"]

SCALE = 0.2  # Scale of the prior of the between-group sd, in standard errors of a group's mean, a group beyond one
END = 1e4  # Where that prior ends, in units of the spread of the groups' means
LEAST = 1e-6  # Its least scale, in the same units
POINTS = 400  # Values of the between-group sd on a grid
EVERY = 4  # Of so many of them one is taken for the answers of single groups
FEWER = 1000  # Draws that are taken for these
NEGLIGIBLE = 40.0  # Log densities this far below the largest are left out
CELLS = 4_000_000  # Numbers in memory at once
ROUNDING = 1e-12  # Groups' means whose spread is below this, relative to their size, are one constant
MODERATION = 10.0  # Degrees of freedom that the pooled variance within groups stands for beside a group's own


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups' mean differences and their variances."""

    mean: Float[np.ndarray, "group pair"]
    variance: Float[np.ndarray, "group pair"]

    def spread(self) -> PerPair:
        """The sd of the groups' means and their standard error together (root of the sum of squares)."""
        return np.asarray(np.sqrt(self.mean.var(0, ddof=1) + self.variance.mean(0)))

    def standard_error(self) -> PerPair:
        """The standard error of a typical group, as tests of heterogeneity weigh them; 0 where one is exact."""
        exact = (self.variance == 0).any(0)
        weight = 1 / np.where(exact, 1.0, self.variance)
        total, square = weight.sum(0), (weight**2).sum(0)
        return np.where(exact, 0.0, np.sqrt((len(weight) - 1) * total / (total**2 - square)))


@dataclass(frozen=True, eq=False)
class Prior:
    r"""The prior of the between-group sd, $p(\tau) \propto 1/(\tau + k)$ up to k (exp(`log_range`) - 1), k `scale`."""

    scale: PerPair
    log_range: PerPair

    @classmethod
    def of(cls, groups: Groups) -> "Prior":
        spread = groups.spread()
        scale = np.maximum(SCALE * (len(groups.mean) - 1) * groups.standard_error(), LEAST * spread)
        return cls(scale, np.log1p(END * spread / scale))


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Values of each pair's between-group sd with their weights; given each, the population's mean is normal."""

    between: Float[np.ndarray, "pair value"]
    weight: Float[np.ndarray, "pair value"]
    centre: Float[np.ndarray, "pair value"]
    variance: Float[np.ndarray, "pair value"]
    every: int = EVERY

    def mixture(self, new_group: bool = False) -> Mixture:
        """The posterior of every pair's difference in the population of groups, or in one new group."""
        extra = self.between**2 if new_group else 0.0
        return Mixture(self.weight, self.centre, np.sqrt(self.variance + extra))

    def of_groups(self, pair: int, mean: Float[np.ndarray, " group"], variance: Float[np.ndarray, " group"]) -> Mixture:
        """The posterior of a pair's difference in groups of these means and variances, which it already knows."""
        between, weight, centre, spread = (
            values[pair, :: self.every] for values in (self.between, self.weight, self.centre, self.variance)
        )
        own = between**2 / (between**2 + variance[:, None])
        average = own * mean[:, None] + (1 - own) * centre
        return Mixture(weight / weight.sum(), average, np.sqrt(own * variance[:, None] + (1 - own) ** 2 * spread))

    def draws(self, size: int, seed: int) -> tuple[Float[np.ndarray, "pair draw"], Float[np.ndarray, "pair draw"]]:
        """Draws of the population's mean and of the between-group sd."""
        rng, n = np.random.default_rng(seed), self.weight.shape[1]
        part = np.stack([np.arange(n) if n == size else rng.choice(n, size, p=weight) for weight in self.weight])
        between, centre, variance = (
            np.take_along_axis(values, part, 1) for values in (self.between, self.centre, self.variance)
        )
        return centre + rng.standard_normal(part.shape) * np.sqrt(variance), between


def conditional(groups: Groups, pair: int, between: Values) -> tuple[Values, Values, Values]:
    """A pair's mean in the population, its precision and the log-likelihood, given values of the between-group sd."""
    known = []
    for some in np.array_split(between, -(-len(between) * len(groups.mean) // CELLS)):
        precision = 1 / (some[:, None] ** 2 + groups.variance[:, pair])
        total = precision.sum(1)
        centre = precision @ groups.mean[:, pair] / total
        about = precision * (groups.mean[:, pair] - centre[:, None]) ** 2
        known.append((centre, total, 0.5 * (np.log(precision) - about).sum(1)))
    centre, total, log = map(np.concatenate, zip(*known, strict=True))
    return centre, total, log


def quadrature(groups: Groups, prior: Prior, power: float = 1.0) -> Hierarchy:
    """A grid of the between-group sd over the part of the prior, to a power, that the data leave."""
    rows = []
    for pair, (scale, log_range) in enumerate(zip(prior.scale, prior.log_range, strict=True)):
        low, high = 0.0, 1.0
        for last in (False, True):
            step = (high - low) / POINTS
            quantile = low + step * (np.arange(POINTS) + 0.5)
            between = scale * np.expm1(quantile * log_range)
            centre, total, log = conditional(groups, pair, between)
            log = log - 0.5 * np.log(total) + (1 - power) * np.log(between + scale)
            if not last:
                part = quantile[log > log.max() - NEGLIGIBLE]
                low, high = max(0.0, float(part[0]) - step), min(1.0, float(part[-1]) + step)
        weight = np.exp(log - logsumexp(log))
        rows.append((between, weight / weight.sum(), centre, 1 / total))
    between, weight, centre, variance = map(np.stack, zip(*rows, strict=True))
    return Hierarchy(between, weight, centre, variance)


def from_draws(groups: Groups, between: Float[np.ndarray, "draw pair"]) -> Hierarchy:
    known = [conditional(groups, pair, values) for pair, values in enumerate(between.T)]
    centre, total, _ = map(np.stack, zip(*known, strict=True))
    weight = np.full(centre.shape, 1 / len(between))
    return Hierarchy(between.T, weight, centre, 1 / total, max(1, len(between) // FEWER))


@dataclass(frozen=True, eq=False)
class Population:
    """The hierarchy over groups of every pair that varies, in units of the spread of the groups about a reference."""

    groups: Groups
    prior: Prior
    varies: Bool[np.ndarray, " pair"]
    reference: Float[np.ndarray, " pair"]
    unit: Float[np.ndarray, " pair"]
    means: Float[np.ndarray, "pair group"]
    own_variances: Float[np.ndarray, "pair group"]
    posterior: Hierarchy
    shared: Float[np.ndarray, " pair"]

    @classmethod
    def of(cls, estimate: Estimate) -> "Population | None":
        """Of its pairs, by quadrature; None where no variance within groups can be estimated."""
        pairs = slice(estimate.n_models, None)
        pooled, df = estimate.pooled()
        if df == 0:
            return None
        means = estimate.mean[pairs]
        items = estimate.items.of(pairs)
        variances = pooled[pairs, None] / estimate.group_items
        reference, unit = means.mean(1), Groups(means.T, variances.T).spread()
        varies = unit > ROUNDING * np.abs(means).max(1)
        if not varies.any():
            return None
        reference, unit = np.where(varies, reference, means[:, 0]), np.where(varies, unit, 1.0)
        scaled = (means - reference[:, None]) / unit[:, None], variances / unit[:, None] ** 2
        groups = Groups(*(values[varies].T for values in scaled))
        prior = Prior.of(groups)
        own_df = items.df
        own = np.where(own_df > 0, items.variance, 0.0)
        moderated = (MODERATION * variances + own_df * own) / (MODERATION + own_df)
        posterior = quadrature(groups, prior)
        shared = np.zeros(len(unit))
        for part in [*estimate.parts.values()][1:]:  # what all groups share
            shared += part.variance[pairs, 0]
        return cls(groups, prior, varies, reference, unit, means, moderated, posterior, shared)

    def differences(self, new_group: bool, posterior: Hierarchy | None = None) -> Mixture:
        """The posterior of every pair's difference, in units of the score."""
        scaled, unit = (posterior or self.posterior).mixture(new_group), self.unit[self.varies, None]
        weight, mean, sd = np.zeros((3, len(self.varies), scaled.weight.shape[-1]))
        weight[:, 0] = 1.0
        weight[self.varies], mean[self.varies], sd[self.varies] = scaled.weight, unit * scaled.mean, unit * scaled.sd
        return Mixture(weight, mean + self.reference[:, None], np.sqrt(sd**2 + self.shared[:, None]))

    def of_groups(self, pair: int) -> Mixture:
        """The posterior of one pair's difference in every group, partially pooled, in units of the score."""
        unit, reference, shared = self.unit[pair], self.reference[pair], self.shared[pair]
        if not self.varies[pair]:
            one = np.full((self.means.shape[1], 1), reference)
            return Mixture(np.ones(1), one, np.full_like(one, np.sqrt(shared)))
        varying = int(np.count_nonzero(self.varies[:pair]))
        mean, variance = (self.means[pair] - reference) / unit, self.own_variances[pair] / unit**2
        scaled = self.posterior.of_groups(varying, mean, variance)
        sd = np.sqrt((unit * scaled.sd) ** 2 + shared)
        return Mixture(scaled.weight, unit * scaled.mean + reference, sd)

    def draws(self, shape: tuple[int, int], seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Draws (chain, draw, pair) of every pair's difference and of its sd between groups, in units of the score."""
        differences, sds = np.zeros((2, *shape, len(self.varies)))
        centre, between = (one.T.reshape(*shape, -1) for one in self.posterior.draws(shape[0] * shape[1], seed))
        unit = self.unit[self.varies]
        differences[..., self.varies], sds[..., self.varies] = unit * centre, unit * between
        if self.shared.any():
            noise = np.random.default_rng(seed + 1).standard_normal(differences.shape)
            differences += np.sqrt(self.shared) * noise
        return differences + self.reference, sds
