"""The Bayesian tests of Benavoli, Corani and colleagues, for comparing classifiers over data sets.

They answer different questions from `compare`: the correlated t-test fixes the correlation between folds, the
signed-rank test is about the pseudo-median over data sets, and the hierarchical test asks in which region a new data
set most probably lies. Differences are first minus second, in units of the score; `left` is below minus the ROPE.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import stdtr

from probtruth import check, check_arrays
from probtruth.comparison.options import known_correlation
from probtruth.comparison.posterior.margins import Margin
from probtruth.comparison.posterior.programs import correlated_hierarchy
from probtruth.errors import InputError, PosteriorError
from probtruth.inference import nuts
from probtruth.inference.diagnostics import convergence

BLOCK = 5000
LEAST_SPREAD = 1e-3
"""Spread between folds, in units of the mean over data sets, of a data set whose folds never vary."""
HOPELESS_RHAT = 1.1


@dataclass(frozen=True)
class ThreeRegions:
    """Probabilities that sum to 1: below minus the ROPE, inside it, above it; `max_rhat` and `min_ess` if sampled."""

    left: float
    rope: float
    right: float
    max_rhat: float | None = None
    min_ess: float | None = None


@check.checks_itself
def correlated_t_test(differences: ArrayLike, correlation: float, rope: float = 0.0) -> ThreeRegions:
    r"""The posterior of the mean difference over folds that share training data.

    Formula: $\mu \sim t_{n-1}(\bar x, (1/n + \rho/(1-\rho)) s^2)$; with $\rho = n_{test}/(n_{test} + n_{train})$, which
    is 1/k for k folds, the tail is the p-value of Nadeau and Bengio's corrected t-test.

    Arguments: `differences` of one data set, one for each fold; `correlation` between folds; `rope` the largest
    difference that does not matter.

    Returns: the three probabilities.

    Errors: `InputError` for fewer than two folds, or a correlation outside [0, 1).

    Source: Corani and Benavoli 2015, doi:10.1007/s10994-015-5486-z; Nadeau and Bengio 2003,
    doi:10.1023/A:1024068626366.

    >>> import probtruth as pt
    >>> test = pt.companions.correlated_t_test([0.01, 0.03, -0.01, 0.02, 0.05], correlation=0.2)
    >>> round(test.right, 3)
    0.873
    """
    folds = _finite(differences, "fold")
    if len(folds) < 2:
        raise InputError("one fold", "at least two", "The spread between folds cannot be known from one.")
    margin = correlated_t(folds, known_correlation(correlation))
    width = _width(rope)
    return ThreeRegions(margin.below(-width), margin.within(width), margin.above(width))


def correlated_t(differences: Float[np.ndarray, " fold"], correlation: float) -> Margin:
    """The posterior of the mean difference over correlated folds, as a margin."""
    n = len(differences)
    scale = (1 / n + correlation / (1 - correlation)) ** 0.5 * float(differences.std(ddof=1))
    return Margin(float(differences.mean()), scale, n - 1.0)


@check.checks_itself
def signed_rank_test(
    differences: ArrayLike, rope: float = 0.0, prior_strength: float = 0.5, *, draws: int = 50_000, seed: int = 0
) -> ThreeRegions:
    r"""The Bayesian signed-rank test: which region holds most of the pairs' means (z_i + z_j)/2.

    Formula: weights $w \sim Dirichlet(s, 1, \dots, 1)$ on the differences z and a pseudo-observation at 0 of prior
    strength s; $\theta_{left} = \sum_{ij} w_i w_j 1(z_i + z_j < -2r)$ and so on; the result is how often each of the
    three is the largest.

    Arguments: `differences` one a data set (mean over its folds); `prior_strength` of the pseudo-observation.

    Returns: the three probabilities, by `draws` independent draws (Monte Carlo error below 0.0025 at 50,000).

    Errors: `InputError` if there are no differences or some are not finite.

    Source: Benavoli et al. 2014, "A Bayesian Wilcoxon signed-rank test based on the Dirichlet process", Proceedings of
    Machine Learning Research 32; 2017, "Time for a change", Journal of Machine Learning Research 18 (77).

    >>> import probtruth as pt
    >>> pt.companions.signed_rank_test([0.02, 0.03, 0.05, -0.01, 0.04, 0.06], rope=0.01, draws=2000).right > 0.9
    True
    """
    values = np.r_[0.0, _finite(differences, "data set")]
    draws, width = check.whole(draws, 1, "draws"), _width(rope)
    sums = values[:, None] + values
    left, right = (sums < -2 * width).astype(float), (sums > 2 * width).astype(float)
    strength = np.r_[check.number(prior_strength, "prior_strength", above=0), np.ones(len(values) - 1)]
    rng = np.random.default_rng(check.whole(seed, 0, "seed"))
    counts = np.zeros(3)
    for start in range(0, draws, BLOCK):
        weights = rng.dirichlet(strength, min(BLOCK, draws - start))
        below, above = (np.einsum("di,di->d", weights @ region, weights) for region in (left, right))
        shares = np.stack([below, 1 - below - above, above])
        most = shares >= shares.max(0) * (1 - 1e-12)
        counts += (most / most.sum(0)).sum(1)
    return ThreeRegions(*(counts / draws).tolist())


@check.checks_itself
def hierarchical_test(
    differences: ArrayLike, correlation: float, rope: float = 0.0, *, draws: int = 2000, seed: int = 0
) -> ThreeRegions:
    r"""The hierarchical test: in which region a new data set's mean difference most probably lies.

    Formula: folds of data set i are equicorrelated normals around $\mu_i$ with standard deviation $\sigma_i$;
    $\mu_i \sim t_\nu(\mu_0, \sigma_0)$; priors as published, in units of the mean standard deviation. Each draw of
    $(\mu_0, \sigma_0, \nu)$ counts for its most probable region of $\mu_{new}$.

    Arguments: `differences[i, j]` of data set i on fold j; `correlation` between folds (1/k for k folds); `rope` the
    largest difference that does not matter; `draws` per chain, of four chains.

    Returns: the three probabilities, with R-hat and effective sample size of the sampling by NUTS.

    Errors: `InputError` for fewer than two data sets or folds; `PosteriorError` if the chains did not mix.

    Source: Corani, Benavoli, Demsar, Mangili and Zaffalon 2017, doi:10.1007/s10994-017-5641-9.

    >>> import probtruth as pt
    >>> folds = [[0.02, 0.04, 0.03], [0.05, 0.03, 0.06], [0.03, 0.05, 0.04], [0.04, 0.03, 0.05]]
    >>> pt.companions.hierarchical_test(folds, correlation=1 / 3, draws=500).right > 0.9
    True
    """
    table = check_arrays.as_floats(differences, "group fold", "differences").astype(np.float64)
    if min(table.shape) < 2 or not np.isfinite(table).all():
        raise InputError(f"differences of shape {table.shape}", "finite, at least 2 data sets x 2 folds", "Check them.")
    rho, n = known_correlation(correlation), table.shape[1]
    spread = table.std(axis=1, ddof=1)
    unit = float(spread.mean())
    if unit == 0:
        raise InputError("differences that never vary within a data set", "folds that differ", "Compare their means.")
    data = {
        "mean": table.mean(1) / unit,
        "square": (n - 1) * np.maximum(spread / unit, LEAST_SPREAD) ** 2,
        "folds": np.asarray(float(n)),
        "correlation": np.asarray(rho),
        "centre_limit": np.asarray(float(np.abs(table).max()) / unit),
        "between_limit": np.asarray(1000 * float((table.mean(1) / unit).std(ddof=1)) or 1000.0),
    }
    drawn = nuts.sample(
        correlated_hierarchy, data, check.whole(seed, 0, "seed"), draws=check.whole(draws, 1, "draws"), warmup=1000
    )
    centre, between, df = (drawn.sites[name].ravel() for name in ("centre", "between", "df"))
    width = _width(rope) / unit
    left, right = (stdtr(df, (side * centre - width) / between) for side in (-1, 1))
    shares = np.stack([left, 1 - left - right, right])
    first, second, third = np.bincount(shares.argmax(0), minlength=3) / shares.shape[1]
    rhat, ess = convergence({name: drawn.sites[name] for name in ("centre", "between", "df")})
    if not rhat <= HOPELESS_RHAT:
        raise PosteriorError(f"R-hat {rhat:.2f} of the hierarchical test: the chains did not mix. Hint: more draws.")
    return ThreeRegions(float(first), float(second), float(third), rhat, ess)


def _finite(differences: object, what: str) -> Float[np.ndarray, " value"]:
    values = check_arrays.as_floats(differences, what.replace(" ", "-"), "differences").astype(np.float64)
    if not len(values) or not np.isfinite(values).all():
        raise InputError("no differences, or ones that are not finite", f"one number for each {what}", "Check them.")
    return values


def _width(rope: object) -> float:
    return 0.0 if rope is None else check.number(rope, "rope", "Give it in units of the score.", least=0)
