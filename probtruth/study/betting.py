"""Betting against a mean: the capital of a gambler who bets shares of it on larger differences.

If the mean is at most `m` no bet gains on average, so the capital exceeds 1/alpha at any time with probability at most
alpha, however often you look.
"""

import numpy as np
from jaxtyping import Float

from probtruth.study.arrivals import Units

STAKES = 0.95 * 2.0 ** -np.arange(12.0)
"""Shares of the capital that are bet, one for each gambler; small ones are for small effects and long studies."""
SHARES = (1 / np.arange(1.0, 13.0)) / (1 / np.arange(1.0, 13.0)).sum()
"""How the first capital, 1, is split among them."""


def log_capital(units: Units, mean: float, reach: float) -> Float[np.ndarray, " unit"]:
    r"""The log-capital after each unit, of gamblers who bet that the mean difference is above `mean`.

    Formula: K_t = sum_j w_j prod_{i <= t} [1 + c_j (S_i - mean n_i)/(M (mean + reach))], S_i the total of the unit's
    n_i <= M differences, each of which lies in [-reach, reach], so that no factor is below 1 - c_j.

    With one item a unit: Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting",
    doi:10.1093/jrsssb/qkad009, with a mixture over bets in place of predictable ones.
    """
    gain = np.maximum((units.total - mean * units.size) / (units.largest * (mean + reach)), -1.0)
    top = np.full(len(gain), -np.inf)
    logs = np.empty((len(STAKES), len(gain)))
    for row, (stake, share) in enumerate(zip(STAKES, SHARES, strict=True)):
        logs[row] = np.log(share) + np.cumsum(np.log1p(stake * gain))
        np.maximum(top, logs[row], out=top)
    logs -= top
    return np.asarray(top + np.log(np.exp(logs, out=logs).sum(0)))
