"""From sufficient statistics to joint draws, by either engine, and whether the two agree.

Models whose difference never varies are one model to the sampler; the others follow at a fixed distance.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import ndtr, stdtr

from probtruth.comparison.evidence.moments import Location, contrast_covariance, contrasts, directions, square
from probtruth.comparison.evidence.sweeps import LEADING, pair_rows_of, pairs_of
from probtruth.comparison.posterior.joint_draws import with_margins
from probtruth.comparison.posterior.margins import Margin
from probtruth.inference.diagnostics import convergence, mean_with_error

PerModel = Float[np.ndarray, " model"]
Root = Float[np.ndarray, "model direction"]

CHAINS = 4
AGREEMENT_ERRORS = 5.0
"""The engines agree if NUTS and the closed form differ by at most this many Monte Carlo standard errors."""
RESOLUTION = 1e-4
"""Differences of probability below this are no disagreement: beyond it Monte Carlo errors themselves are not known."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Sampled:
    """Draws of one program and the figures that gate them; the figures are None under the exact engine.

    `divergences` is None for independent draws too, which no sampler made.
    """

    sites: Mapping[str, np.ndarray]
    stats: Mapping[str, np.ndarray]
    max_rhat: float | None = None
    min_ess: float | None = None
    divergences: int | None = None
    engines_agree: bool | None = None
    log_prior: Float[np.ndarray, "chain draw"] | None = None
    log_likelihood: Float[np.ndarray, "chain draw"] | None = None
    sampler: str | None = None


def _independent(mean: PerModel, root: Root, df: float, draws: int, seed: int) -> Sampled:
    """Draws of `programs.location`, which conditions on nothing and needs no sampler; diagnostics as of any draws."""
    from probtruth.comparison.posterior import programs  # with JAX and NumPyro, which the exact engine does without
    from probtruth.inference import ancestral

    data = {"mean": mean, "root": root, "df": np.asarray(df)}
    drawn = ancestral.draw(programs.location, data, seed, draws=draws, chains=CHAINS)
    rhat, ess = convergence({name: _some(values) for name, values in drawn.sites.items()})
    agree = location_agrees(drawn.sites, mean, root, df)
    return Sampled(drawn.sites, drawn.stats, rhat, ess, engines_agree=agree, sampler="independent draws")


def _some(values: Float[np.ndarray, "chain draw ..."]) -> Float[np.ndarray, "chain draw ..."]:
    """So many scalars of a site as there are leading models, evenly spread over it, where it has more."""
    return values[..., :: -(-values.shape[2] // LEADING)] if values.ndim > 2 and values.size else values


def draw_location(mean: PerModel, root: Root, df: float, shape: tuple[int, int], seed: int) -> dict[str, np.ndarray]:
    """Independent draws of the mean contrasts."""
    rng = np.random.default_rng(seed)
    scale = rng.gamma(df / 2, 2 / df, size=shape)
    innovation = rng.standard_normal((*shape, root.shape[1]))
    return {
        "scale": scale,
        "innovation": innovation,
        "contrast": mean + innovation @ root.T / np.sqrt(scale)[..., None],
    }


@dataclass(frozen=True, eq=False)
class Collapse:
    """`distinct` are the models that stand for all; model k is `distinct[home[k]]` plus `offset[k]`."""

    distinct: Int[np.ndarray, " distinct"]
    home: Int[np.ndarray, " model"]
    offset: PerModel

    def expand(self, distinct: Float[np.ndarray, "*batch distinct"]) -> Float[np.ndarray, "*batch model"]:
        """Values of all models from those of the distinct ones, as contrasts that sum to zero."""
        values = distinct[..., self.home] + self.offset
        contrast: np.ndarray = values - values.mean(-1, keepdims=True)
        return contrast


def collapse(constant: Bool[np.ndarray, " pair"], difference: Float[np.ndarray, " pair"], n_models: int) -> Collapse:
    """Each model goes to the first that it differs from by a constant; `difference` are those of the pairs."""
    same = square(constant.astype(np.float64), n_models) + np.eye(n_models) > 0
    first = same.argmax(1)
    distinct, home = np.unique(first, return_inverse=True)
    offset = square(difference, n_models, -1.0)[np.arange(n_models), first]
    return Collapse(distinct, home, offset)


def factor(covariance: Float[np.ndarray, "model model"]) -> Root:
    """A root of a covariance on its directions of some variance."""
    variance, basis = directions(covariance)
    return basis * np.sqrt(variance)


def sample_location(
    location: Location, margins: Sequence[Margin], n_models: int, engine: str, draws: int, seed: int, progress: Progress
) -> Sampled:
    """Draws of the models' mean contrasts under the default estimand; `contrast` has the margins of the pairs.

    `program_contrast` are the draws as the program has them, multivariate t, where there are no more than `LEADING`
    models.
    """
    alone = collapse(location.variance == 0, location.mean, n_models)
    if len(alone.distinct) == 1:
        shape = (CHAINS, draws, 1)
        return Sampled({"contrast": alone.expand(np.zeros(shape))}, {})
    rows = pair_rows_of(pairs_of(alone.distinct), n_models)
    size, df = len(alone.distinct), location.total_df
    mean = contrasts(location.centre[rows], size)
    root = factor(contrast_covariance(location.variance[rows], size))
    if engine == "exact":
        sampled = Sampled(draw_location(mean, root, df, (CHAINS, draws), seed), {})
    else:
        sampled = _independent(mean, root, df, draws, seed)
        progress(1, 1)
    prior, likelihood = location_densities(sampled.sites, df)
    sites = {name: values for name, values in sampled.sites.items() if name != "innovation"}
    drawn = sites.pop("contrast")
    # the largest site goes before the draws are moved
    sampled = replace(sampled, sites=sites, log_prior=prior, log_likelihood=likelihood)
    moved = with_margins(drawn, mean, root, df, [margins[row] for row in rows])
    few = {"program_contrast": alone.expand(drawn)} if n_models <= LEADING else {}
    return replace(sampled, sites={**sites, **few, "contrast": alone.expand(moved)})


def location_densities(sites: Mapping[str, np.ndarray], df: float) -> tuple[np.ndarray, np.ndarray]:
    """Log prior and log-likelihood of the draws of `programs.location`, in terms of the means and the precision."""
    scale, innovation = sites["scale"], sites["innovation"]
    size = innovation.shape[-1]
    likelihood = 0.5 * ((df + size) * np.log(scale) - df * scale - (innovation**2).sum(-1))
    return -np.log(scale), likelihood


CHECKED_PAIRS = math.comb(LEADING, 2)
"""Pairs whose two engines are compared, each by two effective sample sizes."""


def location_agrees(sites: Mapping[str, np.ndarray], mean: PerModel, root: np.ndarray, df: float) -> bool:
    """P(a better), averaged over the conditional normals, and the mean, against the closed form.

    Of every pair, up to `CHECKED_PAIRS`; of more, of so many that are evenly spread over them.
    """
    pairs = pairs_of(np.arange(len(mean)))
    step = -(-len(pairs) // CHECKED_PAIRS) or 1
    for a, b in pairs[::step].tolist():
        difference, sd = mean[a] - mean[b], float(np.linalg.norm(root[a] - root[b]))
        if sd > 0:
            conditional = ndtr(-difference * np.sqrt(sites["scale"]) / sd)
            if not close(conditional, float(stdtr(df, -difference / sd))):
                return False
            contrast = sites["contrast"][..., a] - sites["contrast"][..., b]
            if df > 2 and not close(contrast, float(difference), RESOLUTION * sd):
                return False
    return True


def close(draws: Float[np.ndarray, "chain draw"], wanted: float, resolution: float = RESOLUTION) -> bool:
    """Whether the draws have this mean, within Monte Carlo error."""
    mean, error = mean_with_error(draws)
    return bool(abs(mean - wanted) <= AGREEMENT_ERRORS * error + resolution)
