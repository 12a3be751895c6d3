"""Convergence diagnostics of sampled sites, computed by ArviZ, and the thresholds that a result must pass."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

MAX_RHAT = 1.01  # Largest rank-normalised split R-hat that passes (Vehtari et al. 2021, doi:10.1214/20-BA1221)
MIN_ESS = 400.0  # Smallest bulk or tail effective sample size that passes (same source)


def convergence(sites: Mapping[str, Float[np.ndarray, "chain draw ..."]]) -> tuple[float, float]:
    """The largest R-hat and the smallest bulk or tail effective sample size over all scalars that vary."""
    from arviz_stats.base import array_stats

    axes = {"chain_axis": 0, "draw_axis": 1}
    columns: list[np.ndarray] = []
    for values in sites.values():
        columns.append(np.asarray(values, np.float64).reshape(*values.shape[:2], -1))
    scalars = np.concatenate(columns, axis=-1)
    if not np.isfinite(scalars).all():
        return float("nan"), float("nan")
    varying = scalars[..., np.ptp(scalars, axis=(0, 1)) > 0]
    if varying.shape[-1] == 0:
        return 1.0, float("inf")
    rhat = array_stats.rhat(varying, **axes)
    bulk = array_stats.ess(varying, method="bulk", **axes)
    tail = array_stats.ess(varying, method="tail", prob=0.95, **axes)
    max_rhat = max(1.0, float(np.max(rhat)))
    min_ess = min(float(np.min(bulk)), float(np.min(tail)))
    return max_rhat, min_ess


def mean_with_error(values: Float[np.ndarray, "chain draw"]) -> tuple[float, float]:
    """The mean over draws and its Monte Carlo standard error (sd / root ESS)."""
    from arviz_stats.base import array_stats

    if np.ptp(values) == 0:
        return float(values.flat[0]), 0.0
    error = array_stats.mcse(values, chain_axis=0, draw_axis=1, method="mean")
    return float(values.mean()), float(error)
