"""From sufficient statistics to joint draws, by either engine, and whether the two agree."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr, stdtr

from probtruth.comparison.evidence.moments import Location, Moments, contrast_covariance, contrasts, pool
from probtruth.comparison.evidence.sweeps import all_pairs
from probtruth.comparison.posterior import quadrature as exact
from probtruth.comparison.posterior.collapse import collapse
from probtruth.comparison.posterior.joint_draws import with_margins
from probtruth.comparison.posterior.margins import Margin
from probtruth.comparison.posterior.sensitivity import hierarchy_densities, location_densities
from probtruth.inference.diagnostics import convergence, mean_with_error

FEW_GROUPS_ACCEPT = 0.99
"""Acceptance that the sampler aims at between groups: with two or three, larger steps miss where they hardly differ."""
CHAINS = 4
AGREEMENT_ERRORS = 5.0
"""The engines agree if NUTS and the closed form differ by at most this many Monte Carlo standard errors."""
RESOLUTION = 1e-4
"""Differences of probability below this are no disagreement: beyond it Monte Carlo errors themselves are not known."""
ROUNDING = 1e-12
"""Directions whose spread is below this, relative to the largest, hold nothing but rounding."""

FEWEST = 8
"""Sizes of groups that the sampler's arrays have room for at least."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Sampled:
    """Draws of one program and the figures that gate them; the figures are None under the exact engine."""

    sites: Mapping[str, np.ndarray]
    stats: Mapping[str, np.ndarray]
    max_rhat: float | None = None
    min_ess: float | None = None
    divergences: int | None = None
    engines_agree: bool | None = None
    log_prior: Float[np.ndarray, "chain draw"] | None = None
    log_likelihood: Float[np.ndarray, "chain draw"] | None = None


def _from_nuts(
    program: str,
    data: Mapping[str, np.ndarray],
    draws: int,
    seed: int,
    progress: Progress,
    target_accept: float = 0.8,
) -> Sampled:
    from probtruth.comparison.posterior import programs  # with JAX and NumPyro, which the exact engine does without
    from probtruth.inference import nuts

    drawn = nuts.sample(
        getattr(programs, program),
        data,
        seed,
        draws=draws,
        chains=CHAINS,
        target_accept=target_accept,
        on_progress=progress,
    )
    rhat, ess = convergence(drawn.sites)
    return Sampled(drawn.sites, drawn.stats, rhat, ess, int(drawn.stats["diverging"].sum()), None)


def factor(covariance: Float[np.ndarray, "model model"]) -> Float[np.ndarray, "model direction"]:
    """A root of a covariance on its directions of non-zero variance (at most K - 1: contrasts sum to zero)."""
    values, vectors = np.linalg.eigh(covariance)
    keep = values > len(values) * np.finfo(np.float64).eps * max(float(values.max()), 0.0)
    root: np.ndarray = vectors[:, keep] * np.sqrt(values[keep])
    return root


def sample_location(
    place: Location,
    margins: Sequence[Margin],
    n_models: int,
    engine: str,
    draws: int,
    seed: int,
    progress: Progress,
) -> Sampled:
    """Draws of the models' mean contrasts under the default estimand; `contrast` has the margins of the pairs.

    `program_contrast` are the draws as the program has them, multivariate t.
    """
    alone = collapse(place.variance == 0, place.mean, n_models)
    if len(alone.kept) == 1:
        shape = (CHAINS, draws, 1)
        return Sampled({"contrast": alone.expand(np.zeros(shape))}, {})
    rows, size, df = alone.pair_rows(), len(alone.kept), place.total_df
    mean = contrasts(place.centre[rows], size)
    root = factor(contrast_covariance(place.variance[rows], size))
    if engine == "exact":
        sampled = Sampled(exact.draw_location(mean, root, df, (CHAINS, draws), seed), {})
    else:
        data = {"mean": mean, "root": root, "df": np.asarray(df)}
        sampled = _from_nuts("location", data, draws, seed, progress)
        sampled = replace(sampled, engines_agree=_location_agrees(sampled.sites, mean, root, df))
    prior, likelihood = location_densities(sampled.sites, df)
    sampled = replace(sampled, log_prior=prior, log_likelihood=likelihood)
    drawn = sampled.sites["contrast"]
    moved = with_margins(drawn, mean, root, df, [margins[row] for row in rows])
    sites = {**sampled.sites, "program_contrast": alone.expand(drawn), "contrast": alone.expand(moved)}
    return replace(sampled, sites=sites)


def _location_agrees(
    sites: Mapping[str, np.ndarray], mean: Float[np.ndarray, " model"], root: np.ndarray, df: float
) -> bool:
    """P(a better), averaged over the conditional normals, and the mean, against the closed form, for every pair."""
    for a, b in all_pairs(len(mean)):
        difference, sd = mean[a] - mean[b], float(np.linalg.norm(root[a] - root[b]))
        if sd > 0:
            conditional = ndtr(-difference * np.sqrt(sites["scale"]) / sd)
            if not _close(conditional, float(stdtr(df, -difference / sd)), RESOLUTION):
                return False
            contrast = sites["contrast"][..., a] - sites["contrast"][..., b]
            if df > 2 and not _close(contrast, float(difference), RESOLUTION * sd):
                return False
    return True


@dataclass(frozen=True, eq=False)
class Population:
    """The hierarchy over groups: draws, its posterior by quadrature, and what brings it back to scores.

    The population's contrasts are `unit` times `basis` times the centre, plus `offset`, which no group varies in.
    `shared` is the variance of each difference that all groups have in common (annotators, seeds).
    """

    sampled: Sampled
    quadrature: exact.Hierarchy
    basis: Float[np.ndarray, "model direction"]
    offset: Float[np.ndarray, " model"]
    unit: float
    groups: exact.Groups
    shared: Float[np.ndarray, "model model"] | None = None

    def difference(
        self,
        a: int | Int[np.ndarray, " pair"],
        b: int | Int[np.ndarray, " pair"],
        new_group: bool,
        quadrature: exact.Hierarchy | None = None,
    ) -> exact.Mixture:
        """The posterior of model a minus model b, in units of the score."""
        direction = self.unit * (self.basis[a] - self.basis[b])
        found = (quadrature or self.quadrature).mixture(direction, new_group).shifted(self.offset[a] - self.offset[b])
        return found if self.shared is None else found.widened(self.shared[a, b])

    def contrast(self) -> Float[np.ndarray, "chain draw model"]:
        """Draws of the population's contrasts, in units of the score."""
        draws: np.ndarray = self.unit * self.sampled.sites["population"] + self.offset
        return draws


def population_of(parts: Moments, n_models: int) -> Population | None:
    """The hierarchy by quadrature, without draws; None where no variance within groups can be estimated."""
    pooled, df = pool(parts, parts.pairs)
    if df == 0 or not pooled.any():
        return None
    differences = parts.pairs.mean.T
    alone = collapse((pooled == 0) & (np.ptp(differences, axis=0) == 0), differences[0], n_models)
    rows, size = alone.pair_rows(), len(alone.kept)
    values, vectors = np.linalg.eigh(contrast_covariance(pooled[rows], size))
    means = contrasts(differences[:, rows], size)
    largest = float(values.max())
    varies = (values > ROUNDING * largest) | (np.ptp(means @ vectors, axis=0) > ROUNDING * np.sqrt(largest))
    basis, values = vectors[:, varies], np.maximum(values[varies], 0.0)
    unit = float(np.sqrt(values.sum() / (size - 1)))
    groups = exact.Groups.of(means @ basis / unit, values / unit**2 / parts.n_items[:, None])
    offset = alone.expand((means - means @ basis @ basis.T).mean(0))
    basis = basis[alone.home] - basis[alone.home].mean(0)
    return Population(Sampled({}, {}), exact.hierarchy(groups), basis, offset, unit, groups)


def prepare_population(population: Population) -> None:
    """Begins to compile what NUTS needs for the hierarchy, while something else is done."""
    from probtruth.comparison.posterior import programs
    from probtruth.inference import nuts

    nuts.prepare(programs.hierarchy, _data(population), target_accept=FEW_GROUPS_ACCEPT)


def sample_population(population: Population, engine: str, draws: int, seed: int, progress: Progress) -> Population:
    """The population of groups under partial pooling, with draws."""
    groups, basis, quadrature = population.groups, population.basis, population.quadrature
    if engine == "exact":
        sites = exact.draw_hierarchy(quadrature, (CHAINS, draws), seed)
        sampled = Sampled({**sites, "population": sites["centre"] @ basis.T}, {})
    else:
        data = _data(population)
        sampled = _from_nuts("hierarchy", data, draws, seed, progress, FEW_GROUPS_ACCEPT)
        agree = _hierarchy_agrees(sampled.sites["between"], groups, basis, quadrature)
        sampled = replace(sampled, engines_agree=agree)
    prior, likelihood = hierarchy_densities(sampled.sites, groups)
    return replace(population, sampled=replace(sampled, log_prior=prior, log_likelihood=likelihood))


def _data(population: Population) -> dict[str, np.ndarray]:
    return {**filled_up(population.groups), "basis": population.basis}


def filled_up(groups: exact.Groups) -> dict[str, np.ndarray]:
    """The groups, and rows of none that make the number of sizes a power of two: one compilation for each."""
    more = max(1 << (len(groups.count) - 1).bit_length(), FEWEST) - len(groups.count)
    return {
        "count": np.pad(groups.count, (0, more)),
        "mean": np.pad(groups.mean, ((0, more), (0, 0))),
        "square": np.pad(groups.square, ((0, more), (0, 0))),
        "variance": np.pad(groups.variance, ((0, more), (0, 0)), constant_values=1.0),
    }


def _hierarchy_agrees(
    between: Float[np.ndarray, "chain draw"],
    groups: exact.Groups,
    basis: Float[np.ndarray, "model direction"],
    quadrature: exact.Hierarchy,
) -> bool:
    centre, total = _conditional(between, groups)
    for a, b in all_pairs(len(basis)):
        direction = basis[a] - basis[b]
        if direction @ direction > 0:
            conditional = ndtr(-(centre @ direction) / np.sqrt((1 / total) @ direction**2))
            if not _close(conditional, float(quadrature.mixture(direction).below(0.0)), RESOLUTION):
                return False
    return True


def _conditional(between: Float[np.ndarray, "chain draw"], groups: exact.Groups) -> tuple[np.ndarray, np.ndarray]:
    """The centre's mean and precision in every direction, given each draw of the between-group sd."""
    shape = (*between.shape, groups.mean.shape[1])
    weighted, total = np.zeros(shape), np.ones(shape)
    for count, mean, spread in zip(groups.count, groups.mean, groups.variance, strict=True):
        precision = count / (between[..., None] ** 2 + spread)
        weighted, total = weighted + precision * mean, total + precision
    return weighted / total, total


def _close(draws: Float[np.ndarray, "chain draw"], wanted: float, resolution: float) -> bool:
    mean, error = mean_with_error(draws)
    return bool(abs(mean - wanted) <= AGREEMENT_ERRORS * error + resolution)
