"""The draws that NUTS makes of the program, for the differences of these items and for the population of groups."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from probtruth.comparison.options import Options
from probtruth.comparison.posterior.groups import (
    LOG_ROOT,
    SDS,
    SPREAD,
    Hierarchy,
    Population,
    from_draws,
    significant,
)
from probtruth.comparison.posterior.margin import Mixture
from probtruth.comparison.posterior.program import integrated, program
from probtruth.inference.diagnostics import convergence, mean_with_error, passes
from probtruth.inference.nuts import Draws, sample
from probtruth.kernels.shapes import DrawStep, StepFloats, StepStep

if TYPE_CHECKING:
    import xarray

CHAINS = 4
GROUP_DRAWS = 200  # Of each chain at a time, for each pair in the population of groups
WARMUP = 100
ACCEPT = 0.9  # Acceptance that NUTS aims at: at 0.8 one pair in forty had a divergence
SMALL_STEPS = 0.98  # That where it did not reach its aims before (one pair in some hundred, of groups of 2 to 5 items)
START = 0.3  # How far from 0 chains start: at 1 the first step threw one in some hundred far away, where it stayed
BATCH = 10  # Draws side by side whose mean is one value for a Monte Carlo error
MOST = 8  # Times as many are made at most
END_ERROR = 0.01  # Monte Carlo error of an interval's end, in its widths, at which there are enough
IMPROPER = (
    "population_difference and typical_variance have flat priors: they have no draws, nor have the observed mean and "
    "variance of a group; group_deviation is how far a group's true mean lies from the population's"
)
SITES = ("difference", "between", "typical", "spread", "log_factor")


@dataclass(frozen=True, eq=False)
class Run:
    """What NUTS drew for one table, by pair or all at once, and the errors of what is shown of it."""

    runs: Sequence[Draws]
    max_mcse: float  # of a probability
    end_mcse: float  # of an interval's end, in its widths
    convergence: Sequence[tuple[float, float]]  # the largest R-hat and the smallest effective sample size of each run

    @property
    def draws(self) -> int:
        """Draws of each chain, of the pair that has the fewest."""
        return min(len(run.stats["lp"][0]) for run in self.runs)

    def diagnostics(self) -> dict[str, object]:
        found = self.convergence
        return {
            "engine": "nuts",
            "sampler": f"NUTS, {CHAINS} chains of {self.draws:,} draws",
            "max_rhat": max(rhat for rhat, _ in found),
            "min_ess": min(ess for _, ess in found),
            "divergences": sum(int(run.stats["diverging"].sum()) for run in self.runs),
            "max_mcse": self.max_mcse,
            "end_mcse": self.end_mcse,
        }


def _convergence(run: Draws) -> tuple[float, float]:
    return convergence({name: run.sites[name] for name in SITES if name in run.sites})


def headline(
    centre: StepFloats,
    scale: StepFloats,
    root: StepStep,
    df: float,
    options: Options,
) -> tuple[Run, DrawStep]:
    """Draws of steps from model to model with these means and errors, and how far they lie from the means, in errors.

    The sampler is given means in units of their errors, so that scores of another scale give the same draws, scaled.
    """
    error = np.where(scale > 0, scale, 1.0)
    mean = significant(centre / error)[None]
    data = {"mean": mean, "variance": np.ones_like(mean), "df": np.full_like(mean, df), "root": root}
    draws = sample(program, data, options.seed, draws=options.draws, chains=CHAINS)
    difference = draws.sites["difference"]  # chain, draw, step
    standardised = difference - mean
    max_mcse, end_mcse = largest_errors(difference)
    run = Run([draws], max_mcse, end_mcse, [_convergence(draws)])
    return run, standardised.reshape(-1, len(centre))


def largest_errors(differences: Float[np.ndarray, "chain draw row"]) -> tuple[float, float]:
    """The Monte Carlo errors of a probability, and of an interval's end in its widths, of the row with the largest."""
    of_probability = 0.0
    of_end = 0.0
    for draws in np.moveaxis(differences, -1, 0):
        _, error = mean_with_error((draws < 0) * 1.0)
        of_probability = max(of_probability, error)
        of_end = max(of_end, end_error(draws))
    return of_probability, of_end


def end_error(draws: Float[np.ndarray, "chain draw"]) -> float:
    """The Monte Carlo error of the ends of the 95% interval of draws, in its widths."""
    quantiles = np.quantile(draws, [0.02, 0.025, 0.03, 0.97, 0.975, 0.98])
    _, low, _, _, high, _ = quantiles
    largest = 0.0
    for before, end, after in quantiles.reshape(2, 3).tolist():
        below = draws < end
        _, of_probability = mean_with_error(below * 1.0)
        inverse_density = (after - before) / 0.01  # at the end
        largest = max(largest, of_probability * inverse_density)
    return largest / float(high - low)


def mixture_errors(mixture: Mixture) -> tuple[float, float]:
    """The Monte Carlo errors of P(difference < 0) and of the ends of the 95% interval, in its widths."""
    low, high = mixture.interval()
    of_probability = []
    densities = []
    for value in (0.0, low, high):
        z = (value - mixture.mean) / mixture.sd
        by_batch = ndtr(z).reshape(CHAINS, -1, BATCH * SDS)
        _, error = mean_with_error(by_batch.mean(-1))
        of_probability.append(error)
        density = np.exp(-0.5 * z**2 - LOG_ROOT) / mixture.sd
        densities.append(float(density.mean()))
    of_zero, of_low, of_high = of_probability
    end = max(of_low / densities[1], of_high / densities[2])
    return of_zero, end / (high - low)


def draw_population(population: Population, options: Options) -> tuple[Population, Run]:
    """The population with the posterior from draws, each pair by itself until its intervals are known well enough."""
    found = [_draw_pair(population, pair, options) for pair in range(len(population.groups.pooled))]
    runs, posterior, errors, figures = zip(*found, strict=True)
    max_mcse, end_mcse = np.max(errors, axis=0).tolist()
    return replace(population, posterior=posterior), Run(runs, max_mcse, end_mcse, figures)


def _draw_pair(
    population: Population, pair: int, options: Options
) -> tuple[Draws, Hierarchy, tuple[float, float], tuple[float, float]]:
    """The draws of one pair, its posterior, the errors of a probability and of an interval's end, and convergence."""
    found: list[tuple[Hierarchy, tuple[float, float], tuple[float, float]]] = []

    def enough(run: Draws) -> bool:
        of_run = _convergence(run)
        mixed = passes(*of_run)
        if not mixed and run.stats["lp"].shape[1] < MOST * GROUP_DRAWS:
            return False
        posterior = from_draws(population.groups, run.sites, pair, options.seed)
        shown = [posterior.mixture(), posterior.mixture(new_group=True), *posterior.of_groups()]
        of_probability, of_end = np.max([mixture_errors(mixture) for mixture in shown], axis=0).tolist()
        found.append((posterior, (of_probability, of_end), of_run))
        return mixed and of_end <= END_ERROR

    for accept in (ACCEPT, SMALL_STEPS):
        run = sample(
            integrated,
            population.groups.data(pair),
            options.seed,
            draws=GROUP_DRAWS,
            warmup=WARMUP,
            chains=CHAINS,
            target_accept=accept,
            start_width=START,
            enough=enough,
            most=MOST,
        )
        *_, of_run = found[-1]
        if passes(*of_run) and not run.stats["diverging"].any():
            break
    return run, *found[-1]


def groups_of_tree(
    population: Population,
    run: Run,
    pairs: Sequence[str],
    groups: Sequence[str],
    unit: float,
    posterior: "xarray.Dataset",
    seed: int,
) -> dict[str, "xarray.Dataset"]:
    """The groups of the DataTree about the population: draws, statistics, observed data and what is predicted of it.

    All are of the pairs that vary, in units of the score; `unit` turns losses.
    """
    import xarray

    n = posterior.sizes["draw"]
    size = population.unit[population.varies]
    reference = population.reference[population.varies]
    sites = {}  # chain, draw, pair
    for name in ("difference", "between", "typical", "spread"):
        sites[name] = np.concatenate([draws.sites[name][:, :n] for draws in run.runs], axis=-1)
    between = sites["between"] * size
    difference = sites["difference"] * size + reference
    # axes: group, pair
    of_groups = population.groups
    mean = of_groups.mean * size + reference
    variance = of_groups.seen / of_groups.n_items[:, None] * size**2
    # axes: chain, draw, group, pair
    of_pairs = []
    for hierarchy in population.posterior:
        by_chain = hierarchy.variance[:, ::SDS].reshape(len(groups), CHAINS, -1)
        of_pairs.append(np.moveaxis(by_chain[..., :n], 0, -1))
    true = np.stack(of_pairs, axis=-1) * size**2
    rng = np.random.default_rng(seed)
    spread = np.sqrt(true + between[:, :, None] ** 2)
    again = difference[:, :, None] + spread * rng.standard_normal(true.shape)
    apart = (mean - difference[:, :, None]) / spread
    log_density = -0.5 * apart**2 - np.log(spread) - LOG_ROOT
    axes = ("chain", "draw", "varying_pair")
    by_group = ("chain", "draw", "group", "varying_pair")
    seen = ("group", "varying_pair")
    names = {"varying_pair": list(pairs), "group": list(groups)}
    posterior["population_difference"] = (axes, unit * difference)
    posterior["between_group_sd"] = (axes, between)
    posterior["variance"] = (by_group, true)
    posterior["typical_variance"] = (axes, np.exp(sites["typical"]) * size**2)
    posterior["spread_of_log_variance"] = (axes, sites["spread"])
    posterior.coords.update(names)
    stats = {}
    for name in run.runs[0].stats:
        columns = [draws.stats[name][:, :n] for draws in run.runs]
        stats[name] = (axes, np.stack(columns, axis=-1))
    every = {"chain": np.arange(CHAINS), "draw": np.arange(n), **names}
    return {
        "/observed_data": xarray.Dataset({"mean": (seen, unit * mean), "variance": (seen, variance)}, names),
        "/log_likelihood": xarray.Dataset({"mean": (by_group, log_density)}, every),
        "/posterior_predictive": xarray.Dataset({"mean": (by_group, unit * again)}, every),
        "/prior": _prior(population, axes, rng, n).assign_coords(every),
        "/sample_stats": xarray.Dataset(stats, every),
    }


def _prior(population: Population, axes: Sequence[str], rng: np.random.Generator, n: int) -> "xarray.Dataset":
    """Draws of what has a proper prior, and what has none."""
    import xarray

    groups = population.groups
    n_groups, n_pairs = groups.mean.shape
    shape = (CHAINS, n, n_pairs)
    quantile = rng.random(shape)
    between = groups.prior_scale * np.expm1(quantile * groups.log_range) * population.unit[population.varies]
    spread = np.abs(SPREAD * rng.standard_normal(shape))
    standard = rng.standard_normal((CHAINS, n, n_groups, n_pairs))
    sites = {
        "between_group_sd": (axes, between),
        "spread_of_log_variance": (axes, spread),
        "group_deviation": ([*axes[:2], "group", axes[2]], between[:, :, None] * standard),
    }
    return xarray.Dataset(sites, attrs={"improper": IMPROPER})
