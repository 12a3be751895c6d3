"""The chosen model: which models may be the best, and what its score is once luck is taken out."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

LEVEL = 0.95
GRID = 5.0 * (np.arange(401) / 400) ** 2
"""Values of tau, in units of its prior: dense near 0, to where a half-normal ends."""


def credible_set(p_best: Mapping[str, float]) -> tuple[list[str], float]:
    """The fewest models that hold the best with probability .95, most probable first, and that probability.

    Models as probable as the last of them are in it too: nothing tells them apart.
    """
    ranked = sorted(p_best, key=lambda name: (-p_best[name], name))
    mass, last = 0.0, 0.0
    chosen: list[str] = []
    for name in ranked:
        if mass >= LEVEL - 1e-12 and p_best[name] < last:
            break
        mass, last = mass + p_best[name], p_best[name]
        chosen.append(name)
    return chosen, min(mass, 1.0)


def shrunk(
    contrast: Float[np.ndarray, " model"], covariance: Float[np.ndarray, "model model"], unit: float
) -> Float[np.ndarray, " model"]:
    r"""The models' mean contrasts with the luck taken out: drawn together as far as their noise explains their spread.

    The true contrasts are $N(0, \tau^2 I)$, their estimates have this covariance, $\tau$ has a half-normal prior of
    scale `unit` (the spread of the differences between items) and is integrated out. The best of these is not too good
    on average, whichever is chosen.

    Source: Efron 2011, "Tweedie's formula and selection bias", doi:10.1198/jasa.2011.tm11181; Dawid 1994, "Selection
    paradoxes of Bayesian inference", doi:10.1214/lnms/1215463797.
    """
    values, vectors = np.linalg.eigh(covariance)
    keep = values > len(values) * np.finfo(np.float64).eps * max(float(values.max()), 0.0)
    if not keep.any() or unit <= 0:
        return contrast
    variance, basis = values[keep], vectors[:, keep]
    along = contrast @ basis
    tau = unit * GRID[:, None]
    total = tau**2 + variance
    log = -0.5 * (np.log(total) + along**2 / total).sum(1) - GRID**2 / 2 + np.log(np.gradient(GRID))
    weight = np.exp(log - logsumexp(log))
    kept = weight @ (tau**2 / total)
    fixed: np.ndarray = contrast - basis @ along
    found: np.ndarray = fixed + basis @ (kept * along)
    return found


def chosen_score(
    scores: Sequence[float], covariance: Float[np.ndarray, "model model"], unit: float
) -> tuple[int, float, float]:
    """Which of the models has the lowest mean loss, that mean, and the same without the winner's luck."""
    means = np.asarray(scores, np.float64)
    centre = float(means.mean())
    best = int(means.argmin())
    return best, float(means[best]), centre + float(shrunk(means - centre, covariance, unit)[best])
