"""BEST for one group of differences: Student-t errors by Markov chain Monte Carlo, for many data sets side by side.

Source: Kruschke (2013), doi:10.1037/a0029146: mu normal about the mean with a standard deviation of 1,000 sd, sigma
uniform between sd / 1,000 and 1,000 sd, nu - 1 exponential with mean 29; the interval is that of highest density.
"""

import numpy as np
from scipy.special import gammainc, gammaincinv, gammaln

WIDEST = 1_000.0
MEAN_NU = 29.0
STEP = 1.0  # Standard deviation of a proposal for log(nu - 1)


def highest_density(draws: np.ndarray, level: float = 0.95) -> np.ndarray:
    """The shortest interval that holds the share `level` of each column's draws: (column, low and high)."""
    ordered = np.sort(draws, 0)
    held = int(np.ceil(level * len(draws)))
    first = (ordered[held - 1 :] - ordered[: len(draws) - held + 1]).argmin(0)
    columns = np.arange(draws.shape[1])
    return np.stack([ordered[first, columns], ordered[first + held - 1, columns]], 1)


def best_draws(rng: np.random.Generator, rows: np.ndarray, draws: int = 2_000, burn: int = 500) -> np.ndarray:
    """Draws of mu for every row of data: (draw, row). A row without spread has its value for mu.

    Gibbs with the weights of the normal scale mixture; nu moves by Metropolis with the weights integrated out.
    """
    n_rows, n = rows.shape
    spread = rows.std(1, ddof=1)
    scale = np.where(spread > 0, spread, 1.0)
    data = (rows - rows.mean(1, keepdims=True)) / scale[:, None]
    mu, sigma, log_nu = np.zeros(n_rows), np.ones(n_rows), np.full(n_rows, np.log(MEAN_NU))
    kept = np.empty((draws, n_rows))
    for sweep in range(-burn, draws):
        squares = ((data - mu[:, None]) / sigma[:, None]) ** 2
        proposal = log_nu + STEP * rng.standard_normal(n_rows)
        gain = _density(proposal, squares) - _density(log_nu, squares)
        log_nu = np.where(np.log(rng.random(n_rows)) < gain, proposal, log_nu)
        nu = (1 + np.exp(log_nu))[:, None]
        weight = rng.standard_gamma((nu + 1) / 2, (n_rows, n)) * 2 / (nu + squares)
        total = weight.sum(1)
        middle = (weight * data).sum(1) / total
        mu = _normal_within(rng, middle, sigma / np.sqrt(total))
        sigma = _scale(rng, (weight * (data - mu[:, None]) ** 2).sum(1) / 2, (n - 1) / 2)
        if sweep >= 0:
            kept[sweep] = mu
    return rows.mean(1) + np.where(spread > 0, spread, 0.0) * kept


def _density(log_nu: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Log posterior density of log(nu - 1), given the squared standardised differences."""
    n, above = squares.shape[1], np.exp(log_nu)
    nu = 1 + above
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu) / 2
    likelihood = n * constant - (nu + 1) / 2 * np.log1p(squares / nu[:, None]).sum(1)
    return likelihood - above / MEAN_NU + log_nu


def _normal_within(rng: np.random.Generator, middle: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """mu given the weights; its prior, a thousand standard deviations wide, is multiplied in."""
    share = 1 / (1 + sd**2 / WIDEST**2)
    return share * middle + np.sqrt(share) * sd * rng.standard_normal(len(middle))


def _scale(rng: np.random.Generator, half_sum: np.ndarray, shape: float) -> np.ndarray:
    """sigma given the rest: 1 / sigma^2 is gamma within the bounds of the prior (an interval without mass: its end)."""
    half_sum = np.maximum(half_sum, 1e-300)
    low, high = (gammainc(shape, half_sum * bound) for bound in (WIDEST**-2.0, WIDEST**2))
    precision = gammaincinv(shape, low + rng.random(len(half_sum)) * (high - low)) / half_sum
    return 1 / np.sqrt(np.clip(precision, WIDEST**-2.0, WIDEST**2))
