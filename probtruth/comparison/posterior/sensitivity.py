"""How much the answers owe to the prior: every density to a power, of the prior or of the likelihood.

A power of 1/2 halves the weight of the prior (or the number of observations), 2 doubles it. Pairs and the population of
groups are scaled in closed form and by quadrature; P(best) by weighting the draws. The densities themselves stand in
the DataTree: `log_prior`, which `arviz_stats.psense` reads, and the log-likelihood of all items among the
`sample_stats`.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp, stdtr

from probtruth.comparison.posterior import pooling
from probtruth.comparison.posterior.margins import Margin

POWERS = {"half": 0.5, "double": 2.0}
SENSITIVE = 0.05
"""A probability that moves by more than this is said to be sensitive."""
MOST = 20_000_000
"""Densities of more groups and draws than this are left out (NaN)."""

Row = dict[str, object]


def scaled_p(margin: Margin, prior: float, likelihood: float) -> float | None:
    r"""P(difference < 0) with prior and likelihood to these powers.

    The pair's prior is 1/sigma^2. With precision $\lambda$ its posterior is
    $\lambda^{-a} \lambda^{b(\nu+1)/2} e^{-b \lambda (\nu + t^2)/2}$, a t of $b(\nu+1) + 1 - 2a$ degrees of freedom.
    None where none are left.

    Source: Kallioinen, Paananen, Buerkner and Vehtari 2024, doi:10.1007/s11222-023-10366-5.
    """
    if margin.scale == 0:
        return margin.below(0.0)
    df = likelihood * (margin.df + 1) + 1 - 2 * prior
    if df <= 0:
        return None
    return float(stdtr(df, -margin.threshold(0.0) * math.sqrt(df / margin.df)))


def pair_row(margin: Margin) -> Row:
    """P(a better) as reported and under each power."""
    row: Row = {"p_a_better": margin.below(0.0)}
    if type(margin) is not Margin:  # known by draws alone: no closed form
        return row | {f"{what}_{name}": None for what in ("prior", "likelihood") for name in POWERS}
    for name, power in POWERS.items():
        row[f"prior_{name}"] = scaled_p(margin, power, 1.0)
    for name, power in POWERS.items():
        row[f"likelihood_{name}"] = scaled_p(margin, 1.0, power)
    return row


def location_densities(sites: Mapping[str, np.ndarray], df: float) -> tuple[np.ndarray, np.ndarray]:
    """Log prior and log-likelihood of the draws of `programs.location`, in terms of the means and the precision."""
    scale, innovation = sites["scale"], sites["innovation"]
    size = innovation.shape[-1]
    likelihood = 0.5 * ((df + size) * np.log(scale) - df * scale - (innovation**2).sum(-1))
    return -np.log(scale), likelihood


def hierarchy_densities(
    sites: Mapping[str, np.ndarray], groups: pooling.Groups, prior: pooling.Prior
) -> tuple[np.ndarray, np.ndarray]:
    """Log prior (of the between-group sds) and log-likelihood of the draws of `programs.hierarchy`, all pairs."""
    between, centre = sites["between"], sites["centre"]
    if between.size * len(groups.count) > MOST:
        unknown = np.full(between.shape[:-1], np.nan)
        return unknown, unknown
    likelihood = np.zeros(between.shape[:-1])
    for pair in range(between.shape[-1]):
        mean, total, log = pooling.conditional(groups, pair, between[..., pair].ravel())
        likelihood += (log - 0.5 * total * (centre[..., pair].ravel() - mean) ** 2).reshape(likelihood.shape)
    return -np.log(between + prior.knee).sum(-1), likelihood


def weights(density: Float[np.ndarray, "chain draw"], power: float) -> Float[np.ndarray, " weighted"]:
    """The draws' weights under the density to this power."""
    log = (power - 1) * density.ravel()
    weight: np.ndarray = np.exp(log - logsumexp(log))
    return weight


def sensitive(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """In words, the answers that half or double the prior would move by more than SENSITIVE."""
    weights_shown = []
    for row in rows:
        own = row["p"]
        moved = [row[f"prior_{name}"] for name in POWERS]
        known = [float(str(one)) for one in moved if one is not None]
        if own is not None and known and max(abs(one - float(str(own))) for one in known) > SENSITIVE:
            weights_shown.append(
                f"{row['what']} = {float(str(own)):.2f} ({' to '.join(f'{one:.2f}' for one in known)})"
            )
    return weights_shown
