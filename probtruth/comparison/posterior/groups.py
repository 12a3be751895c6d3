"""The hierarchy over groups, for every pair by itself, so that no other model moves its answer.

Given the between-group sd and the groups' variances all else is normal: the posterior is a mixture of normals over the
values of these that NUTS drew, or over a grid of them under the exact engine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.estimation.estimate import Estimate, Part, UnitsInGroups, joined_df
from probtruth.comparison.posterior.margin import Margin, Mixture
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import Batch, CellFloats, GroupFloats, GroupInts, GroupPair, PairFloats, RowGroup

Over = Literal["groups", "population", "new group"]  # every group, partially pooled; their population; one new group

SCALE = 0.2  # Scale of the prior of the between-group sd, in standard errors of a group's mean, a group beyond one
END = 1e4  # Where that prior ends, in units of the spread of the groups' means
LEAST = 1e-6  # Its least scale, in the same units
POINTS = 32  # Values of the between-group sd on a grid
SOME_CELLS = 5  # One cell in so many says which values are likely
SDS = 3  # Values of the between-group sd for each draw of the rest
CELLS = 40  # Values of it at which its density is computed for that
GOLDEN = 0.6180339887498949  # The ratio whose multiples fill 0 to 1 most evenly
NEGLIGIBLE = 25.0  # Log densities this far below the largest are left out
ROUNDING = 1e-12  # Groups' means whose spread is below this, relative to their size, are one constant
TINY = 1e-6  # Variance of an item that a group without spread is given, in units of the pooled one
# Prior sd of the logarithm of a group's variance about the typical one; 1: sds within a factor of 2.7 in most groups.
SPREAD = 1.0
NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(6)
LOG_WEIGHTS = np.log(_WEIGHTS) + NODES**2
LOG_ROOT = 0.5 * np.log(2 * np.pi)  # Minus the log density of a standard normal at 0
NEWTON = 3  # Steps to the mode of a group's variance
CELLS_OF_VARIANCES = (16, 32)  # Of a grid of the groups' typical log variance and of the spread about it
SEARCHES = 5  # Such grids, each over what the one before has found likely, before the one that counts
UNLIKELY = 9.0  # Log densities this far below the largest are left out of the next
BEYOND = 3.0  # Of the first grid: logarithms beyond the largest and the least variance seen
LARGEST_SPREAD = 6.0  # Of the first grid
GAUSSIAN_SKEWNESS = 6.0  # Variance of the skewness of n normal units, times n


def variance_nodes(typical: Any, spread: Any, df: Any, seen: Any, xp: Any = np) -> tuple[Any, Any]:
    """Logarithms of each group's variance of an item, on a new first axis, and their log weights.

    Gauss-Hermite quadrature about the mode of prior (normal, of the logarithm) times likelihood of the variance seen.
    """
    half = df / 2
    precision = 1 / spread**2
    mode = xp.log(seen)
    curvature = half  # of the likelihood
    for _ in range(NEWTON):
        slope = precision * (typical - mode) - half + curvature
        mode = mode + slope / (precision + curvature)
        curvature = half * seen * xp.exp(-mode)
    sd = xp.sqrt(2 / (precision + curvature))
    first_axis = (-1,) + (1,) * mode.ndim
    # axes: node, then those of the mode
    nodes = mode + sd * NODES.reshape(first_axis)
    log_weights = LOG_WEIGHTS.reshape(first_axis) + xp.log(sd)
    distance = (nodes - typical) / spread
    prior = -0.5 * distance**2 - xp.log(spread)
    likelihood = -half * (nodes + seen * xp.exp(-nodes))
    return nodes, log_weights + prior + likelihood - LOG_ROOT


def with_mean(log_weights: Any, variance: Any, apart: Any, xp: Any = np) -> Any:
    """The log weights given how far a group's mean lies from the population's, and its variance about that."""
    minus_twice_log = apart**2 / variance + xp.log(variance)
    return log_weights - 0.5 * minus_twice_log


def _normalised(
    log_weights: Float[np.ndarray, "node ..."],
) -> tuple[Float[np.ndarray, "node ..."], Float[np.ndarray, "..."]]:
    """Weights that add up to 1 over the first axis, and the logarithms of what they added up to before."""
    largest = log_weights.max(0)
    weights = np.exp(log_weights - largest)
    total = weights.sum(0)
    weights /= total
    return weights, largest + np.log(total)


def significant(values: Batch) -> Batch:
    """The same to ten digits, so that rounding of the scores does not turn what the sampler decides."""
    size = np.where(values == 0, 1.0, np.abs(values))
    digits = np.floor(np.log10(size))
    factor = 10.0 ** np.clip(9 - digits, -290, 290)
    return np.round(values * factor) / factor


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups' mean differences, the variance of one item that they show (pooled: over all), its df, their sizes."""

    mean: GroupPair
    seen: GroupPair
    df: GroupPair
    n_items: GroupFloats
    pooled: PairFloats

    @property
    def variance(self) -> GroupPair:
        """That of the groups' means, were all items as variable as the pooled ones."""
        return self.pooled / self.n_items[:, None]

    def spread(self) -> PairFloats:
        """The sd of the groups' means and their standard error together (root of the sum of squares)."""
        between = self.mean.var(0, ddof=1)
        return np.sqrt(between + self.variance.mean(0))

    def standard_error(self) -> PairFloats:
        """The standard error of a typical group, as tests of heterogeneity weigh them; 0 where one is exact."""
        exact = (self.variance == 0).any(0)
        weight = 1 / np.where(exact, 1.0, self.variance)
        total = weight.sum(0)
        square = (weight**2).sum(0)
        typical = (len(weight) - 1) * total / (total**2 - square)
        return np.where(exact, 0.0, np.sqrt(typical))

    @cached_property
    def prior_scale(self) -> PairFloats:
        r"""k of the prior of the between-group sd, $p(\tau) \propto 1/(\tau + k)$ up to k (exp(`log_range`) - 1)."""
        beyond_one = len(self.mean) - 1
        of_error = SCALE * beyond_one * self.standard_error()
        return np.maximum(of_error, LEAST * self.spread())

    @cached_property
    def log_range(self) -> PairFloats:
        return np.log1p(END * self.spread() / self.prior_scale)

    def data(self, pair: int) -> dict[str, np.ndarray]:
        """What the program is given of a pair."""
        of_pair = slice(pair, pair + 1)
        return {
            "mean": self.mean[:, of_pair],
            "variance": self.seen[:, of_pair] / self.n_items[:, None],
            "df": self.df[:, of_pair],
            "n_items": self.n_items,
            "prior_scale": self.prior_scale[of_pair],
            "log_range": self.log_range[of_pair],
        }


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Values of one pair's between-group sd and of its groups' variances, with weights; given these, all is normal."""

    mean: GroupFloats
    between: Float[np.ndarray, " value"]
    variance: Float[np.ndarray, "group value"]
    weight: Float[np.ndarray, " value"]

    def population(self) -> tuple[Float[np.ndarray, " value"], Float[np.ndarray, " value"]]:
        """The mean and the variance of the mean of the population of groups, given each value."""
        precision = 1 / (self.between**2 + self.variance)
        total = precision.sum(0)
        centre = self.mean @ precision / total
        return centre, 1 / total

    def mixture(self, new_group: bool = False) -> Mixture:
        """The posterior of the difference in the population of groups, or in one new group."""
        centre, variance = self.population()
        if new_group:
            variance = variance + self.between**2
        return Mixture(self.weight, centre, np.sqrt(variance))

    def of_groups(self) -> list[Mixture]:
        """The posterior of the difference in every group."""
        centre, centre_variance = self.population()
        square = self.between**2
        of_group = square / (square + self.variance)  # what its data count, the population the rest
        of_population = 1 - of_group
        average = of_group * self.mean[:, None] + of_population * centre
        variance = of_group * self.variance + of_population**2 * centre_variance
        sd = np.sqrt(variance)
        return [Mixture(self.weight, average[group], sd[group]) for group in range(len(sd))]


def quadrature(groups: Groups, pair: int) -> Hierarchy:
    """A grid over the part of the priors that the data leave."""
    mean = groups.mean[:, pair, None, None]
    sizes = groups.n_items[:, None, None]
    seen = groups.seen[:, pair]
    df = groups.df[:, pair]
    all_nodes, all_log_weights, of_all_cells = _of_variances(seen, df)
    low = 0.0
    high = 1.0
    for every in (SOME_CELLS, 1):
        of_cell = of_all_cells[::every, None]
        # axes: node of a group's variance, group, cell of typical variance and its spread, between-group sd
        nodes = all_nodes[..., ::every, None]
        log_weights = all_log_weights[..., ::every, None]
        step = (high - low) / POINTS
        quantile = low + step * (np.arange(POINTS) + 0.5)
        in_scales = np.expm1(quantile * groups.log_range[pair])
        between = groups.prior_scale[pair] * in_scales
        # about the mean under the prior of the variances, near which the density has its mode
        prior_weight, _ = _normalised(log_weights)
        total = np.exp(nodes) / sizes + between**2
        rough = (prior_weight / total).sum(0)
        weighted = rough * mean
        centre = weighted.sum(0) / rough.sum(0)
        about = mean - centre
        node_weight, of_group = _normalised(with_mean(log_weights, total, about))
        each = (node_weight / total).sum(0)
        precision = each.sum(0)
        score = (each * about).sum(0)
        of_groups = of_group.sum(0)
        integrated = (score**2 / precision - np.log(precision)) / 2  # the population's mean
        density = of_cell + of_groups + integrated
        likely = density > density.max() - NEGLIGIBLE
        within = quantile[likely.any(0)]
        low = max(0.0, float(within[0]) - step)
        high = min(1.0, float(within[-1]) + step)
    cell, value = np.nonzero(likely)
    weight = np.exp(density[cell, value] - density.max())
    # of each cell one vector of variances: one node of every group, by its probability
    # a Kronecker sequence: in every group the vectors of neighbouring cells fill the range evenly
    group = np.arange(len(mean))[:, None]
    place = np.arange(len(cell)) + 0.5
    stride = np.empty(group.shape)
    apart = groups.mean[:, pair] - groups.mean[:, pair].mean()
    # whatever order the groups came in, and whichever model is the first
    order = np.lexsort((apart, significant(np.abs(apart)), groups.n_items, seen))
    stride[order, 0] = np.sqrt(_primes(len(mean)))
    uniform = stride * place % 1.0
    node = _chosen(node_weight[:, :, cell, value], uniform)
    of_item = np.exp(nodes[node, group, cell, 0])
    variance = of_item / groups.n_items[:, None]
    weight /= weight.sum()
    return Hierarchy(groups.mean[:, pair], between[value], variance, weight)


def _chosen(weights: Float[np.ndarray, "node ..."], uniform: Float[np.ndarray, "..."]) -> Int[np.ndarray, "..."]:
    """A node for each number between 0 and 1, as probable as its weight."""
    cumulative = np.cumsum(weights[:-1], axis=0)
    return (cumulative < uniform).sum(0)


def _primes(n: int) -> Int[np.ndarray, " prime"]:
    """The first n primes, whose roots have no ratio in common."""
    found: list[int] = []
    number = 2
    while len(found) < n:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return np.array(found)


def _of_variances(
    seen: GroupFloats, df: GroupFloats
) -> tuple[Float[np.ndarray, "node group cell"], Float[np.ndarray, "node group cell"], CellFloats]:
    """Nodes and log weights of the groups' variances, at cells of the typical variance and of the spread about it.

    The cells are the middles of an even grid over the part of both that the variances seen leave.
    """
    # axes: typical variance or its spread; of cells also the cell
    places = np.indices(CELLS_OF_VARIANCES).reshape(2, -1)
    middles = places + 0.5
    log_seen = np.log(seen)
    low = np.array([log_seen.min() - BEYOND, 0.0])
    high = np.array([log_seen.max() + BEYOND, LARGEST_SPREAD])
    for _ in range(SEARCHES + 1):
        step = (high - low) / CELLS_OF_VARIANCES
        cells = low[:, None] + step[:, None] * middles
        typical, spread = cells
        nodes, log_weights = variance_nodes(typical, spread, df[:, None], seen[:, None])
        prior_sds = spread / SPREAD
        of_cell = -0.5 * prior_sds**2
        _, of_groups = _normalised(log_weights)
        log_density = of_cell + of_groups.sum(0)
        likely = log_density > log_density.max() - UNLIKELY
        likely_cells = cells[:, likely]
        low = likely_cells.min(1) - step
        high = likely_cells.max(1) + step
        low[1] = max(low[1], 0.0)
    return nodes[..., likely], log_weights[..., likely], of_cell[likely]


def _df_of_skewed(part: Part, units: GroupInts) -> RowGroup:
    """The degrees of freedom of each group's variance: fewer where units are skewed, whose mean would lean on it.

    A group of skewed units that lacks the few large ones has a small mean and a small variance. The variance of a
    variance counts the excess kurtosis, that of a gamma distribution with the skewness of all groups together.
    """
    df = np.maximum(part.df, 0.0)
    counts = np.where(units > 2, units, 0)
    n = max(counts.sum(), 1)
    variance = np.maximum(part.variance, 0.0) * units
    pooled = (counts * variance).sum(1) / n
    third = (counts * part.third * units**2).sum(1) / n
    skewness = ratio(third, pooled**1.5)
    of_pooled = ratio(variance, pooled[:, None])
    by_chance = GAUSSIAN_SKEWNESS * (counts * of_pooled**3).sum(1) / n**2  # the square of that of normal units
    skewness_square = np.maximum(skewness**2 - by_chance, 0.0)
    excess_kurtosis = 1.5 * skewness_square[:, None]
    more = excess_kurtosis * df / (2 * units)
    return np.asarray(df / (1 + more))


def from_draws(groups: Groups, sites: Mapping[str, np.ndarray], pair: int, seed: int) -> Hierarchy:
    """The draws of one pair, the groups' variances and the sds between groups drawn anew from what they are given them.

    Of the latter each draw has several, at even quantiles: interval ends, which the largest decide, have less error.
    """
    difference = sites["difference"].ravel()
    between = sites["between"].ravel()
    typical = sites["typical"].ravel()
    spread = sites["spread"].ravel()
    mean = groups.mean[:, pair]
    sizes = groups.n_items[:, None]
    df = groups.df[:, pair, None]
    seen = groups.seen[:, pair, None]
    # axes: node of a group's variance, group, draw
    nodes, log_weights = variance_nodes(typical, spread, df, seen)
    apart = mean[:, None] - difference
    weights, _ = _normalised(with_mean(log_weights, between**2 + np.exp(nodes) / sizes, apart))
    rng = np.random.default_rng(seed)
    uniform = rng.random(weights.shape[1:])
    node = _chosen(weights, uniform)
    (log_variance,) = np.take_along_axis(nodes, node[None], 0)
    variance = np.exp(log_variance) / sizes
    scale = groups.prior_scale[pair]
    log_range = groups.log_range[pair]
    quantile = np.log1p(between / scale) / log_range
    beyond = np.ptp(quantile) / 2
    low = max(0.0, quantile.min() - beyond)
    high = min(1.0, quantile.max() + beyond)
    edges = np.linspace(low, high, CELLS + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    at_middle = scale * np.expm1(middle * log_range)
    log_density = _log_density(mean, variance, at_middle)
    even = _even_quantiles(edges, log_density).ravel()
    weight = np.full(len(even), 1 / len(even))
    between = scale * np.expm1(even * log_range)
    variance = np.repeat(variance, SDS, axis=1)
    return Hierarchy(mean, between, variance, weight)


def _log_density(
    mean: GroupFloats, variance: Float[np.ndarray, "group draw"], between: CellFloats
) -> Float[np.ndarray, "draw cell"]:
    """Of the groups' means, their variances given, at values of the sd between groups; their centre integrated out."""
    log = np.zeros((variance.shape[1], len(between)))
    total = np.zeros_like(log)
    along = np.zeros_like(log)
    for group_mean, group_variance in zip(mean, variance, strict=True):
        precision = 1 / (group_variance[:, None] + between**2)
        weighted = precision * group_mean
        total += precision
        along += weighted
        log += np.log(precision) - weighted * group_mean
    log += along**2 / total - np.log(total)
    return log / 2


def _even_quantiles(
    edges: Float[np.ndarray, " edge"], log_density: Float[np.ndarray, "draw cell"]
) -> Float[np.ndarray, "draw value"]:
    """Values at evenly spread quantiles of each draw's density, which is constant in a cell."""
    n_draws, n_cells = log_density.shape
    draw = np.arange(n_draws)[:, None]
    density = np.exp(log_density - log_density.max(1, keepdims=True))
    cumulative = np.zeros((n_draws, n_cells + 1))
    np.cumsum(density, axis=1, out=cumulative[:, 1:])
    cumulative /= cumulative[:, -1:]
    # a Kronecker sequence: neighbouring draws fill what each leaves between its values
    offset = draw * GOLDEN % 1.0
    wanted = (offset + np.arange(SDS)) / SDS
    # all draws in one table: that of each lies between its number and the next
    table = (draw + cumulative).ravel()
    values = np.tile(edges, n_draws)
    return np.interp(draw + wanted, table, values)


@dataclass(frozen=True, eq=False)
class Population:
    """The hierarchy over groups of every pair that varies, in units of the spread of the groups about a reference."""

    groups: Groups
    varies: Bool[np.ndarray, " pair"]
    reference: PairFloats
    unit: PairFloats
    posterior: Sequence[Hierarchy]
    shared: Part | None  # what units that many items share add to all groups alike, of the pairs
    with_own: Part | None  # what they add to each group

    @classmethod
    def of(cls, estimate: Estimate) -> "Population | None":
        """Of its pairs; None where no variance within groups can be estimated. The posterior is still to come."""
        pairs = slice(estimate.n_models, None)
        pooled = estimate.pooled(estimate.group_items)[0][pairs]
        if np.isnan(pooled).any():
            return None
        means = estimate.mean[pairs]
        items = estimate.items.of(pairs)
        sizes = estimate.group_items.astype(np.float64)
        of_means = means.var(1, ddof=1)
        unit = np.sqrt(of_means + pooled * (1 / sizes).mean())
        rounding = ROUNDING * np.abs(means).max(1)
        varies = (unit > rounding) & (pooled > 0)
        if not varies.any():
            return None
        reference = np.where(varies, means.mean(1), means[:, 0])
        scale = unit[varies]
        mean = (means - reference[:, None])[varies].T / scale  # group, pair
        seen = np.where(items.df > 0, items.variance, 0.0) * sizes
        at_least = np.maximum(seen, TINY * pooled[:, None])
        seen = at_least[varies].T / scale**2
        plain = items if estimate.plain is None else estimate.plain.of(pairs)
        df_of = _df_of_skewed(plain, estimate.design.group_units)[varies].T
        pooled = pooled[varies] / scale**2
        shared = estimate.beyond_items()
        with_own = None
        if shared is not None:
            shared = shared.of(pairs)
            in_groups = estimate.in_groups or UnitsInGroups(1.0, np.zeros(len(sizes)))
            with_own = shared.times(in_groups.common + in_groups.own)
            shared = shared.times(np.array([in_groups.common]))
        groups = Groups(
            mean=significant(mean),
            seen=significant(seen),
            df=significant(df_of),
            n_items=sizes,
            pooled=significant(pooled),
        )
        return cls(
            groups=groups,
            varies=varies,
            reference=reference,
            unit=unit,
            posterior=(),
            shared=shared,
            with_own=with_own,
        )

    def by_quadrature(self) -> "Population":
        """With the posterior on a grid."""
        pairs = range(len(self.groups.pooled))
        posterior = [quadrature(self.groups, pair) for pair in pairs]
        return replace(self, posterior=posterior)

    def differences(self, pair: int, over: Over) -> Sequence[Margin | Mixture]:
        """The posterior of one pair's difference, in units of the score, in every group or over them."""
        unit = self.unit[pair]
        reference = float(self.reference[pair])
        of_units = self.with_own if over == "groups" else self.shared
        n_rows = len(self.groups.n_items) if over == "groups" else 1
        variances = raws = np.zeros(n_rows)
        unit_df = np.full(n_rows, np.inf)
        if of_units is not None:
            variances, raws, unit_df = of_units.variance[pair], of_units.with_chance[pair], of_units.df[pair]
        if not self.varies[pair]:
            return [Margin(reference, np.sqrt(variances[row]), unit_df[row]) for row in range(n_rows)]
        place = int(np.count_nonzero(self.varies[:pair]))
        hierarchy = self.posterior[place]
        scaled = hierarchy.of_groups() if over == "groups" else [hierarchy.mixture(over == "new group")]
        found = []
        for one, shared, raw, df_of_units in zip(scaled, variances, raws, unit_df, strict=True):
            variance = (unit * one.sd) ** 2
            df = np.inf
            if raw > 0:
                typical = (one.weight * variance).sum()
                rows = np.array([[typical], [np.inf], [shared], [raw], [df_of_units]])
                df = joined_df(*rows).item()
            found.append(Mixture(one.weight, unit * one.mean + reference, np.sqrt(variance + shared), df))
        return found
