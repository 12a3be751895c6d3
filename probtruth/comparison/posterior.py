"""From sufficient statistics to joint draws, by either engine, and whether the two agree."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, stdtr

from probtruth.comparison import exact, programs
from probtruth.comparison.sufficient import Location, Moments, within
from probtruth.inference import nuts
from probtruth.inference.diagnostics import convergence, mean_with_error

CHAINS = 4
AGREEMENT_ERRORS = 5.0
"""The engines agree if NUTS and the closed form differ by at most this many Monte Carlo standard errors."""
RESOLUTION = 1e-4
"""Differences of probability below this are no disagreement: beyond it Monte Carlo errors themselves are not known."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Sampled:
    """Draws of one program and the figures that gate them; the figures are None under the exact engine."""

    sites: Mapping[str, np.ndarray]
    stats: Mapping[str, np.ndarray]
    max_rhat: float | None
    min_ess: float | None
    divergences: int | None
    engines_agree: bool | None


def _from_nuts(
    program: nuts.Program, data: Mapping[str, np.ndarray], draws: int, seed: int, progress: Progress
) -> Sampled:
    drawn = nuts.sample(program, data, seed, draws=draws, chains=CHAINS, on_progress=progress)
    rhat, ess = convergence(drawn.sites)
    return Sampled(drawn.sites, drawn.stats, rhat, ess, int(drawn.stats["diverging"].sum()), None)


def _from_exact(sites: Mapping[str, np.ndarray]) -> Sampled:
    return Sampled(sites, {}, None, None, None, None)


def factor(covariance: Float[np.ndarray, "model model"]) -> Float[np.ndarray, "model direction"]:
    """A root of a covariance on its directions of non-zero variance (at most K - 1: contrasts sum to zero)."""
    values, vectors = np.linalg.eigh(covariance)
    keep = values > len(values) * np.finfo(np.float64).eps * max(values.max(), 0.0)
    root: np.ndarray = vectors[:, keep] * np.sqrt(values[keep])
    return root


def sample_location(
    place: Location, pairs: Sequence[tuple[int, int]], engine: str, draws: int, seed: int, progress: Progress
) -> Sampled:
    """Draws of the models' mean contrasts under the default estimand."""
    root, df = factor(place.covariance), place.df()
    if root.shape[1] == 0:
        shape = (CHAINS, draws, len(place.mean))
        return _from_exact({"contrast": np.broadcast_to(place.mean, shape)})
    if engine == "exact":
        return _from_exact(exact.draw_location(place.mean, root, df, (CHAINS, draws), seed))
    data = {"mean": place.mean, "root": root, "df": np.asarray(df)}
    sampled = _from_nuts(programs.location, data, draws, seed, progress)
    agree = []
    for a, b in pairs:
        difference, sd = place.mean[a] - place.mean[b], np.linalg.norm(root[a] - root[b])
        if sd > 0:
            conditional = ndtr(-difference * np.sqrt(sampled.sites["scale"]) / sd)
            agree.append(_close(conditional, float(stdtr(df, -difference / sd)), RESOLUTION))
            contrast = sampled.sites["contrast"][..., a] - sampled.sites["contrast"][..., b]
            agree.append(df <= 2 or _close(contrast, difference, RESOLUTION * sd))
    return Sampled(**{**vars(sampled), "engines_agree": all(agree)})


@dataclass(frozen=True, eq=False)
class Population:
    """The hierarchy over groups: draws, its posterior by quadrature, and the units that bring it back to scores."""

    sampled: Sampled
    quadrature: exact.Hierarchy
    basis: Float[np.ndarray, "model direction"]
    unit: float


def sample_population(
    groups: Sequence[Moments], pairs: Sequence[tuple[int, int]], engine: str, draws: int, seed: int, progress: Progress
) -> Population | None:
    """The population of groups under partial pooling; None where no variance within groups can be estimated."""
    pooled, df = within(groups)
    if df == 0 or not pooled.any():
        return None
    values, vectors = np.linalg.eigh(pooled)
    means = np.stack([group.mean for group in groups])
    varies = (values > 1e-12 * values.max()) | (np.ptp(means @ vectors, axis=0) > 1e-12 * np.sqrt(values.max()))
    values, vectors = np.maximum(values[varies], 0.0), vectors[:, varies]
    unit = float(np.sqrt(values.sum() / max(len(pooled) - 1, 1)))
    mean = means @ vectors / unit
    variance = values / unit**2 / np.array([group.n_items for group in groups])[:, None]
    quadrature = exact.hierarchy(mean, variance)
    if engine == "exact":
        sites = exact.draw_hierarchy(quadrature, (CHAINS, draws), seed)
        sampled = _from_exact({**sites, "population": sites["centre"] @ vectors.T})
        return Population(sampled, quadrature, vectors, unit)
    data = {"mean": mean, "variance": variance, "basis": vectors}
    sampled = _from_nuts(programs.hierarchy, data, draws, seed, progress)
    agree = []
    precision = 1 / (sampled.sites["between"][..., None, None] ** 2 + variance)
    total = 1 + precision.sum(-2)
    centre = (precision * mean).sum(-2) / total
    for a, b in pairs:
        direction = vectors[a] - vectors[b]
        if direction @ direction > 0:
            conditional = ndtr(-(centre @ direction) / np.sqrt((1 / total) @ direction**2))
            agree.append(_close(conditional, quadrature.mixture(direction).below(0.0), RESOLUTION))
    return Population(Sampled(**{**vars(sampled), "engines_agree": all(agree)}), quadrature, vectors, unit)


def _close(draws: Float[np.ndarray, "chain draw"], wanted: float, resolution: float) -> bool:
    mean, error = mean_with_error(draws)
    return bool(abs(mean - wanted) <= AGREEMENT_ERRORS * error + resolution)
