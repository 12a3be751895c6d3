"""Convergence diagnostics of sampled sites, as ArviZ defines them, and the thresholds that a result must pass.

ArviZ is not loaded for them: that takes a second, a fifth of a first answer with groups.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri

MAX_RHAT = 1.01  # Largest rank-normalised split R-hat that passes (Vehtari et al. 2021, doi:10.1214/20-BA1221)
MIN_ESS = 400.0  # Smallest bulk or tail effective sample size that passes (same source)
TAILS = (0.05, 0.95)  # Quantiles at which the effective sample size is that of a tail

Scalars = Float[np.ndarray, "chain draw scalar"]


def convergence(sites: Mapping[str, Float[np.ndarray, "chain draw ..."]]) -> tuple[float, float]:
    """The largest R-hat and the smallest bulk or tail effective sample size over all scalars that vary."""
    from numpyro.diagnostics import gelman_rubin  # with JAX, which a sampler has loaded

    columns = []
    for values in sites.values():
        n_chains, n_draws = values.shape[:2]
        columns.append(np.asarray(values, np.float64).reshape(n_chains, n_draws, -1))
    scalars = np.concatenate(columns, axis=-1)
    if not np.isfinite(scalars).all():
        return float("nan"), float("nan")
    varies = np.ptp(scalars, axis=(0, 1)) > 0
    varying = scalars[..., varies]
    if varying.shape[-1] == 0:
        return 1.0, float("inf")
    halves = _halves(varying)
    bulk = _normal_scores(halves)
    distance = np.abs(halves - np.median(halves, axis=(0, 1)))
    folded = _normal_scores(distance)
    rhat = gelman_rubin(np.concatenate([bulk, folded], axis=-1))
    low, high = np.quantile(varying, TAILS, axis=(0, 1))
    of_bulk_and_tails = np.concatenate([bulk, halves <= low, halves <= high], axis=-1)
    ess = effective_sample_size(of_bulk_and_tails)
    return max(1.0, float(np.max(rhat))), float(ess.min())


def passes(rhat: float, ess: float) -> bool:
    """Whether draws with this R-hat and effective sample size may be shown."""
    return rhat <= MAX_RHAT and ess >= MIN_ESS


def mean_with_error(values: Float[np.ndarray, "chain draw"]) -> tuple[float, float]:
    """The mean over draws and its Monte Carlo standard error (sd / root ESS)."""
    if np.ptp(values) == 0:
        return float(values.flat[0]), 0.0
    (size,) = effective_sample_size(_halves(values[..., None]))
    error = values.std(ddof=1) / np.sqrt(size)
    return float(values.mean()), float(error)


def effective_sample_size(values: Scalars) -> Float[np.ndarray, " scalar"]:
    """By Geyer's monotone sequence, at most n log10(n) of n draws."""
    from numpyro import diagnostics

    n = values.shape[0] * values.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        size = diagnostics.effective_sample_size(values)
    most = n * np.log10(n)
    usable = (size > 0) & (size < most)
    return np.where(usable, size, most)


def _halves(values: Scalars) -> Float[np.ndarray, "half draw_of_half scalar"]:
    """Each chain as two, so that a chain that wanders differs from itself."""
    half = values.shape[1] // 2
    first = values[:, :half]
    second = values[:, -half:]
    return np.concatenate([first, second])


def _normal_scores(values: Scalars) -> Scalars:
    """Those of the ranks over all chains."""
    flat = values.reshape(-1, values.shape[-1])
    order = flat.argsort(0)
    rank = order.argsort(0) + 1
    quantile = (rank - 0.375) / (len(flat) + 0.25)
    return ndtri(quantile).reshape(values.shape)
