"""The draws that NUTS makes of the program, for the differences of these items and for the population of groups."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from probtruth.comparison.options import Options
from probtruth.comparison.posterior.groups import SDS, SPREAD, Hierarchy, Population, from_draws, significant
from probtruth.comparison.posterior.margin import Mixture
from probtruth.comparison.posterior.program import integrated, program
from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS, convergence, mean_with_error
from probtruth.inference.nuts import Draws, sample

if TYPE_CHECKING:
    import xarray

CHAINS = 4
GROUP_DRAWS = 200  # Of each chain at a time, for each pair in the population of groups
WARMUP = 100
ACCEPT = 0.9  # Acceptance that NUTS aims at: at 0.8 one pair in forty had a divergence, here none in 384
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
    centre: Float[np.ndarray, " step"],
    scale: Float[np.ndarray, " step"],
    root: Float[np.ndarray, "step step"],
    df: float,
    options: Options,
) -> tuple[Run, Float[np.ndarray, "draw step"]]:
    """Draws of steps from model to model with these means and errors, and how far they lie from the means, in errors.

    The sampler is given means in units of their errors, so that scores of another scale give the same draws, scaled.
    """
    error = np.where(scale > 0, scale, 1.0)
    mean = significant(centre / error)
    data = {"mean": mean[None], "variance": np.ones((1, len(mean))), "df": np.full((1, len(mean)), df), "root": root}
    run = sample(program, data, options.seed, draws=options.draws, chains=CHAINS)
    standardised = run.sites["difference"] - mean
    chances = [mean_with_error((step < 0) * 1.0)[1] for step in np.moveaxis(run.sites["difference"], -1, 0)]
    ends = [end_error(step) for step in np.moveaxis(standardised, -1, 0)]
    return Run([run], max(chances), max(ends), [_convergence(run)]), standardised.reshape(-1, len(mean))


def end_error(draws: Float[np.ndarray, "chain draw"]) -> float:
    """The Monte Carlo error of the ends of the 95% interval of draws, in its widths."""
    low, high = np.quantile(draws, [0.025, 0.975])
    errors: list[float] = []
    for end in (low, high):
        # the density at the end, from the quantiles about it
        near = np.quantile(draws, [0.02, 0.03] if end == low else [0.97, 0.98])
        density = 0.01 / max(float(near[1] - near[0]), 1e-300)
        errors.append(mean_with_error((draws < end) * 1.0)[1] / density)
    return max(errors) / float(high - low)


def mixture_errors(mixture: Mixture) -> tuple[float, float]:
    """The Monte Carlo errors of P(difference < 0) and of the ends of the 95% interval, in its widths."""
    ends = [float(mixture.quantile(p)) for p in (0.025, 0.975)]
    errors: list[float] = []
    for value in (0.0, *ends):
        z = (value - mixture.mean) / mixture.sd
        by_batch = ndtr(z).reshape(CHAINS, -1, BATCH * SDS).mean(-1)
        errors.append(mean_with_error(by_batch)[1])
        if value != 0.0:
            density = np.exp(-0.5 * z**2) / mixture.sd / np.sqrt(2 * np.pi)
            errors[-1] /= float(density.mean()) * (ends[1] - ends[0])
    return errors[0], max(errors[1:])


def draw_population(population: Population, options: Options) -> tuple[Population, Run]:
    """The population with the posterior from draws, each pair by itself until its intervals are known well enough."""
    runs: list[Draws] = []
    found: list[Hierarchy] = []
    errors: list[tuple[float, float]] = []
    figures: list[tuple[float, float]] = []
    for pair in range(len(population.prior.scale)):
        of_pair: list[tuple[Hierarchy, tuple[float, float]]] = []

        def enough(
            run: Draws, pair: int = pair, of_pair: list[tuple[Hierarchy, tuple[float, float]]] = of_pair
        ) -> bool:
            rhat, ess = _convergence(run)
            passes = rhat <= MAX_RHAT and ess >= MIN_ESS
            if not passes and run.stats["lp"].shape[1] < MOST * GROUP_DRAWS:
                return False
            posterior = from_draws(population.groups, population.prior, run.sites, pair, options.seed)
            shown = [mixture_errors(posterior.mixture(new_group)) for new_group in (False, True)]
            chance, end = np.max(shown, axis=0).tolist()
            of_pair.append((posterior, (chance, end)))
            return passes and end <= END_ERROR

        run = sample(
            integrated,
            population.data(pair),
            options.seed,
            draws=GROUP_DRAWS,
            warmup=WARMUP,
            chains=CHAINS,
            target_accept=ACCEPT,
            enough=enough,
            most=MOST,
        )
        posterior, error = of_pair[-1]
        runs.append(run)
        found.append(posterior)
        errors.append(error)
        figures.append(_convergence(run))
    chance, end = np.max(errors, axis=0).tolist()
    return replace(population, posterior=found), Run(runs, chance, end, figures)


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
    shape = (CHAINS, n)
    size = population.unit[population.varies]
    reference = population.reference[population.varies]
    columns = {name: np.concatenate([one.sites[name][:, :n] for one in run.runs], -1) for name in SITES[:4]}
    difference = columns["difference"] * size + reference
    # axes: group, pair; chain, draw, group, pair
    groups_seen = population.groups
    mean = groups_seen.mean * size + reference
    variance = groups_seen.seen / groups_seen.n_items[:, None] * size**2
    true = np.stack(
        [one.variance[:, ::SDS].reshape(len(groups), CHAINS, -1)[:, :, :n] for one in population.posterior], -1
    )
    true = np.moveaxis(true, 0, 2) * size**2
    rng = np.random.default_rng(seed)
    spread = np.sqrt(true + (columns["between"] * size)[:, :, None] ** 2)
    again = difference[:, :, None] + spread * rng.standard_normal(true.shape)
    apart = (mean - difference[:, :, None]) / spread
    axes = ("chain", "draw", "varying_pair")
    by_group = ("chain", "draw", "group", "varying_pair")
    coordinates = {**{name: np.arange(length) for name, length in zip(axes, shape, strict=False)}}
    names = {"varying_pair": list(pairs), "group": list(groups)}
    posterior["population_difference"] = (axes, unit * difference)
    posterior["between_group_sd"] = (axes, columns["between"] * size)
    posterior["variance"] = (by_group, true)
    posterior["typical_variance"] = (axes, np.exp(columns["typical"]) * size**2)
    posterior["spread_of_log_variance"] = (axes, columns["spread"])
    posterior.coords.update(names)
    observed = {"mean": (("group", "varying_pair"), unit * mean), "variance": (("group", "varying_pair"), variance)}
    stats = {name: (axes, np.stack([one.stats[name][:, :n] for one in run.runs], -1)) for name in run.runs[0].stats}
    every = {**coordinates, **names}
    return {
        "/observed_data": xarray.Dataset(observed, names),
        "/log_likelihood": xarray.Dataset(
            {"mean": (by_group, -0.5 * apart**2 - np.log(spread) - 0.5 * np.log(2 * np.pi))}, every
        ),
        "/posterior_predictive": xarray.Dataset({"mean": (by_group, unit * again)}, every),
        "/prior": _prior(population, axes, rng, n).assign_coords(every),
        "/sample_stats": xarray.Dataset(stats, every),
    }


def _prior(population: Population, axes: Sequence[str], rng: np.random.Generator, n: int) -> "xarray.Dataset":
    """Draws of what has a proper prior, and what has none."""
    import xarray

    prior = population.prior
    shape = (CHAINS, n, len(prior.scale))
    between = prior.scale * np.expm1(rng.random(shape) * prior.log_range) * population.unit[population.varies]
    spread = np.abs(SPREAD * rng.standard_normal(shape))
    deviation = between[:, :, None] * rng.standard_normal((CHAINS, n, len(population.groups.mean), shape[-1]))
    found = {
        "between_group_sd": (axes, between),
        "spread_of_log_variance": (axes, spread),
        "group_deviation": ([*axes[:2], "group", axes[2]], deviation),
    }
    return xarray.Dataset(found, attrs={"improper": IMPROPER})
