"""Convergence diagnostics of sampled sites, computed by ArviZ, and the thresholds that a result must pass."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

MAX_RHAT = 1.01  # Largest rank-normalised split R-hat that passes (Vehtari et al. 2021, doi:10.1214/20-BA1221)
MIN_ESS = 400.0  # Smallest bulk or tail effective sample size that passes (same source)


def convergence(sites: Mapping[str, Float[np.ndarray, "chain draw ..."]]) -> tuple[float, float]:
    """The largest R-hat and the smallest bulk or tail effective sample size over all scalars that vary."""
    from arviz_stats.base import array_stats

    rhats, sizes = [1.0], [np.inf]
    for values in sites.values():
        flat = np.asarray(values, np.float64).reshape(*values.shape[:2], -1)
        if not np.isfinite(flat).all():
            return float("nan"), float("nan")
        flat = flat[..., np.ptp(flat, axis=(0, 1)) > 0]
        if flat.shape[-1]:
            axes = {"chain_axis": 0, "draw_axis": 1}
            rhats.append(float(np.max(array_stats.rhat(flat, **axes))))
            sizes.append(float(np.min(array_stats.ess(flat, method="bulk", **axes))))
            sizes.append(float(np.min(array_stats.ess(flat, method="tail", prob=0.95, **axes))))
    return max(rhats), min(sizes)


def mean_with_error(values: Float[np.ndarray, "chain draw"]) -> tuple[float, float]:
    """The mean over draws and its Monte Carlo standard error (sd / root ESS)."""
    from arviz_stats.base import array_stats

    if np.ptp(values) == 0:
        return float(values.flat[0]), 0.0
    return float(values.mean()), float(array_stats.mcse(values, chain_axis=0, draw_axis=1, method="mean"))
