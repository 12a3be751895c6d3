"""The population of groups: every pair's hierarchy by quadrature, its draws by either engine, whether the two agree."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtr

from probtruth.comparison.evidence.moments import Moments, pool
from probtruth.comparison.posterior import pooling
from probtruth.comparison.posterior.engines import CHAINS, Progress, Sampled, close
from probtruth.comparison.posterior.margins import Mixture
from probtruth.inference.diagnostics import convergence

ROUNDING = 1e-12
"""Groups' means whose spread is below this, relative to their size, are one constant."""
FEWEST = 8
"""Sizes of groups that the sampler's arrays have room for at least."""
MODERATION = 10.0
"""Degrees of freedom that the pooled variance within groups stands for beside a group's own."""
ACCEPT = 0.9
"""Acceptance that the sampler aims at: with two or three groups, larger steps miss where they hardly differ."""
MOST = 20_000_000
"""Densities of more groups and draws than this are left out (NaN)."""


@dataclass(frozen=True, eq=False)
class Population:
    """The hierarchy over groups of every pair that varies (`varies`): draws, and its posterior by quadrature.

    Those are of (difference - `reference`) / `unit`, in units of the groups' own spread; pairs that do not vary differ
    by `reference`. `means` are the groups' own and `own_variances` those of these, in units of the score. `shared` is
    the variance of each difference that all groups have in common (annotators, seeds).
    """

    sampled: Sampled
    quadrature: pooling.Hierarchy
    groups: pooling.Groups
    prior: pooling.Prior
    varies: Bool[np.ndarray, " pair"]
    reference: Float[np.ndarray, " pair"]
    unit: Float[np.ndarray, " pair"]
    means: Float[np.ndarray, "pair group"]
    own_variances: Float[np.ndarray, "pair group"]
    shared: Float[np.ndarray, " pair"] | float = 0.0

    def differences(self, new_group: bool, quadrature: pooling.Hierarchy | None = None) -> Mixture:
        """The posterior of every pair's difference, in units of the score."""
        scaled = (quadrature or self.quadrature).mixture(new_group)
        size = (len(self.varies), scaled.weight.shape[-1])
        weight, mean, sd = np.zeros(size), np.zeros(size), np.zeros(size)
        weight[:, 0] = 1.0
        unit = self.unit[self.varies, None]
        weight[self.varies], mean[self.varies], sd[self.varies] = scaled.weight, unit * scaled.mean, unit * scaled.sd
        return Mixture(weight, mean, sd).shifted(self.reference).widened(self.shared)

    def of_groups(self, pair: int) -> Mixture:
        """The posterior of one pair's difference in every group, partially pooled, in units of the score."""
        unit, reference = self.unit[pair], self.reference[pair]
        if not self.varies[pair]:
            one = np.full((self.means.shape[1], 1), reference)
            mixture = Mixture(np.ones(1), one, np.zeros_like(one))
        else:
            varying = int(np.count_nonzero(self.varies[:pair]))
            mean, variance = (self.means[pair] - reference) / unit, self.own_variances[pair] / unit**2
            scaled = self.quadrature.of_groups(varying, mean, variance)
            mixture = Mixture(scaled.weight, unit * scaled.mean + reference, unit * scaled.sd)
        return mixture.widened(np.broadcast_to(self.shared, self.varies.shape)[pair])

    def draws(self) -> tuple[Float[np.ndarray, "chain draw pair"], Float[np.ndarray, "chain draw pair"]]:
        """Draws of every pair's difference and of its sd between groups, in units of the score."""
        centre, between = self.sampled.sites["centre"], self.sampled.sites["between"]
        shape = (*centre.shape[:-1], len(self.varies))
        differences, sds = np.zeros(shape), np.zeros(shape)
        differences[..., self.varies] = self.unit[self.varies] * centre
        sds[..., self.varies] = self.unit[self.varies] * between
        return differences + self.reference, sds


def population_of(parts: Moments) -> Population | None:
    """The hierarchy by quadrature, without draws; None where no variance within groups can be estimated."""
    pooled, df = pool(parts, parts.pairs)
    if df == 0:
        return None
    means, variances = parts.pairs.mean, pooled[:, None] / parts.n_items
    groups = pooling.Groups.of(means.T, variances.T)
    reference, unit = groups.centre(), groups.spread()
    varies = unit > ROUNDING * np.abs(means).max(1)
    if not varies.any():
        return None
    reference = np.where(varies, reference, means[:, 0])
    scaled = pooling.Groups.of(
        ((means - reference[:, None]) / np.where(varies, unit, 1.0)[:, None])[varies].T,
        (variances / np.where(varies, unit, 1.0)[:, None] ** 2)[varies].T,
    )
    prior = pooling.Prior.of(scaled)
    quadrature = pooling.hierarchy(scaled, prior)
    return Population(
        Sampled({}, {}), quadrature, scaled, prior, varies, reference, unit, means, _moderated(parts, variances)
    )


def _moderated(parts: Moments, pooled: Float[np.ndarray, "pair group"]) -> Float[np.ndarray, "pair group"]:
    """The variance of each group's mean, its own estimate weighed by its degrees of freedom against the pooled one.

    Only a group's own answer takes it. The weights of the groups in the population do not: under skew the mean and the
    variance of a group go together, and the mean of means so weighted is off.
    """
    df = parts.df if parts.pairs.df is None else parts.pairs.df
    own = np.where(df > 0, parts.pairs.variance, 0.0)
    return np.asarray((MODERATION * pooled + df * own) / (MODERATION + df))


def prepare_population(population: Population) -> None:
    """Begins to compile what NUTS needs for the hierarchy, while something else is done."""
    from probtruth.comparison.posterior import programs
    from probtruth.inference import nuts

    nuts.prepare(programs.hierarchy, program_data(population.groups, population.prior), ACCEPT)


def sample_population(population: Population, engine: str, draws: int, seed: int, progress: Progress) -> Population:
    """The population of groups under partial pooling, with draws."""
    groups, prior, quadrature = population.groups, population.prior, population.quadrature
    if engine == "exact":
        sampled = Sampled(pooling.draw_hierarchy(quadrature, (CHAINS, draws), seed), {})
    else:
        sampled = _by_nuts(population, draws, seed, progress)
    log_prior, log_likelihood = hierarchy_densities(sampled.sites, groups, prior)
    return replace(population, sampled=replace(sampled, log_prior=log_prior, log_likelihood=log_likelihood))


def hierarchy_densities(
    sites: Mapping[str, np.ndarray], groups: pooling.Groups, prior: pooling.Prior
) -> tuple[np.ndarray, np.ndarray]:
    """Log prior (of the between-group sds) and log-likelihood of the draws of `programs.hierarchy`, all pairs."""
    between, centre = sites["between"], sites["centre"]
    if between.size * len(groups.count) > MOST:
        unknown = np.full(between.shape[:-1], np.nan)
        return unknown, unknown
    likelihood = np.zeros(between.shape[:-1])
    for pair in range(between.shape[-1]):
        mean, total, log = pooling.conditional(groups, pair, between[..., pair].ravel())
        likelihood += (log - 0.5 * total * (centre[..., pair].ravel() - mean) ** 2).reshape(likelihood.shape)
    return -np.log(between + prior.knee).sum(-1), likelihood


def _by_nuts(population: Population, draws: int, seed: int, progress: Progress) -> Sampled:
    """Draws of `programs.hierarchy` with their diagnostics."""
    from probtruth.comparison.posterior import programs  # with JAX and NumPyro, which the exact engine does without
    from probtruth.inference import nuts

    data = program_data(population.groups, population.prior)
    drawn = nuts.sample(
        programs.hierarchy, data, seed, draws=draws, chains=CHAINS, target_accept=ACCEPT, on_progress=progress
    )
    rhat, ess = convergence(drawn.sites)
    divergences, agree = int(drawn.stats["diverging"].sum()), agrees(drawn.sites, population)
    return Sampled(drawn.sites, drawn.stats, rhat, ess, divergences, agree, sampler="NUTS")


def program_data(groups: pooling.Groups, prior: pooling.Prior) -> dict[str, np.ndarray]:
    """What the program conditions on, with rows of no groups that make the number of sizes a power of two: one
    compilation for each."""
    more = max(1 << (len(groups.count) - 1).bit_length(), FEWEST) - len(groups.count)
    return {
        "count": np.pad(groups.count, (0, more)),
        "mean": np.pad(groups.mean, ((0, more), (0, 0))),
        "square": np.pad(groups.square, ((0, more), (0, 0))),
        "variance": np.pad(groups.variance, ((0, more), (0, 0)), constant_values=1.0),
        "knee": prior.knee,
        "reach": prior.reach,
    }


def agrees(sites: Mapping[str, np.ndarray], population: Population) -> bool:
    """Whether every pair's sd between groups and P(a better), given it, average to what quadrature says."""
    groups, prior, quadrature = population.groups, population.prior, population.quadrature
    zero = (-population.reference / population.unit)[population.varies]
    below = quadrature.mixture().below(zero)
    for pair, between in enumerate(np.moveaxis(sites["between"], -1, 0)):
        centre, total, _ = pooling.conditional(groups, pair, between.ravel())
        chance = ndtr((zero[pair] - centre) * np.sqrt(total)).reshape(between.shape)
        share, wanted = (
            np.log1p(values / prior.knee[pair]) / prior.reach[pair] for values in (between, quadrature.between[pair])
        )
        if not (close(chance, float(below[pair])) and close(share, float(wanted @ quadrature.weight[pair]))):
            return False
    return True
