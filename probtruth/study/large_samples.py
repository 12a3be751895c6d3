"""Sums against a mean in large samples: anytime-valid in the limit, for differences without bounds."""

import numpy as np
from jaxtyping import Float
from scipy.special import log_ndtr

from probtruth.comparison.evidence.row_sums import ROUNDING
from probtruth.study.arrivals import Units

START = 100
"""No evidence before this many units, because the result holds only in the limit."""
SPREAD = 0.2
"""Scale of the expected effects, in standard deviations of a unit: limits are tightest near 200 units."""


def log_evidence(units: Units, mean: float) -> Float[np.ndarray, " unit"]:
    r"""The log of the mixture likelihood ratio after each unit, for a mean difference above `mean`.

    Formula: with u_t = sum (S_i - mean n_i)/(s_t sqrt t), s_t the standard deviation of the units so far, effects of a
    half-normal of scale r: 2 Phi(v) exp(v^2/2)/sqrt(1 + t r^2), v = r sqrt(t/(1 + t r^2)) min(u, H(u)). H is Hall's
    transformation, u + g u^2/3 + g^2 u^3/27 + g/6 for a mean of skewness g, as in the intervals of `compare`: what
    skewness alone could cause is not evidence. The ratio is 1 before `START` units, and while units do not vary.

    Source: Robbins 1970, doi:10.1214/aoms/1177696786; Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, "Time-
    uniform central limit theory and asymptotic confidence sequences", doi:10.1214/24-AOS2408; Hall 1992,
    doi:10.1111/j.2517-6161.1992.tb01876.x.
    """
    total, size = units.total, units.size
    anchor = total[0] / size[0] if len(total) else 0.0
    shifted = total - anchor * size  # powers of what is near 0
    n = np.arange(1.0, len(total) + 1)
    of_total, of_size = np.cumsum(shifted), np.cumsum(size)
    ratio = of_total / of_size
    square = np.cumsum(shifted**2) - 2 * ratio * np.cumsum(shifted * size) + ratio**2 * np.cumsum(size**2)
    cube = (
        np.cumsum(shifted**3)
        - 3 * ratio * np.cumsum(shifted**2 * size)
        + 3 * ratio**2 * np.cumsum(shifted * size**2)
        - ratio**3 * np.cumsum(size**3)
    )
    variance = np.maximum(square, 0.0) / np.maximum(n - 1, 1)
    peak = np.maximum.accumulate(np.abs(total)) * ROUNDING
    known = (n >= START) & (variance > peak**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = (of_total - (mean - anchor) * of_size) / np.sqrt(variance * n)
        g = np.sqrt(n) / ((n - 1) * (n - 2)) * cube / variance**1.5
        v = SPREAD * np.sqrt(n / (1 + n * SPREAD**2)) * np.minimum(u, u + g * u**2 / 3 + g**2 * u**3 / 27 + g / 6)
        log = np.log(2) + log_ndtr(v) + v**2 / 2 - np.log1p(n * SPREAD**2) / 2
    return np.where(known, log, 0.0)
