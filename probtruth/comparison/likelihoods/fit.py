"""Other likelihoods for a pair's differences: the posterior of their mean, checks of the fit, and alarms."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from probtruth import check, frames
from probtruth.comparison.likelihoods.programs import LIKELIHOODS, Bins, bins
from probtruth.comparison.posterior.engines import Sampled
from probtruth.comparison.posterior.margins import Margin
from probtruth.errors import InputError
from probtruth.inference import nuts
from probtruth.inference.diagnostics import convergence
from probtruth.kernels.precision import float64_on_cpu
from probtruth.types import Scores

if TYPE_CHECKING:
    import polars


APART = 2.0
"""An alarm is raised if the mean under a likelihood is this many standard errors from the plain mean."""
NO_MEAN = 1.5
"""Degrees of freedom below which the mean of a t hardly exists."""
REPLICATED, SIMULATED = 200, 20_000
"""Number of data sets that a check simulates, and the largest number of items of each."""
THREE = 3.0
ZERO = 1e-12
"""Differences below this, in standard deviations, are ties."""
SURPRISE = 0.005
"""Posterior predictive p-values beyond this, on either side, give a warning."""


@dataclass(frozen=True)
class DrawnMargin(Margin):
    """A margin known only by its sorted `draws`."""

    draws: tuple[float, ...] = ()

    def flipped(self) -> "DrawnMargin":
        """The posterior of b minus a."""
        mean = None if self.given_mean is None else -self.given_mean
        turned = tuple(-value for value in reversed(self.draws))
        return replace(self, centre=-self.centre, given_mean=mean, draws=turned)

    def at(self, t: Float[np.ndarray, "*batch"]) -> Float[np.ndarray, "*batch"]:
        """The difference that has the rank of each value of T, counted from above."""
        from scipy.special import stdtr

        return np.asarray(np.quantile(np.asarray(self.draws), np.clip(1 - stdtr(self.df, t), 0.0, 1.0)))

    def below(self, value: float) -> float:
        """P(difference < value), by draws, with half a draw beyond either end."""
        return float((np.searchsorted(self.draws, value) + 0.5) / (len(self.draws) + 1))

    def above(self, value: float) -> float:
        """P(difference > value)."""
        return 1.0 - self.below(value)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval."""
        low, high = np.quantile(self.draws, [0.5 - level / 2, 0.5 + level / 2]).tolist()
        return low, high


@dataclass(frozen=True, eq=False)
class Fit:
    """A likelihood fitted to the differences of one pair."""

    name: str
    data: Bins
    drawn: nuts.Draws
    max_rhat: float
    min_ess: float

    @property
    def mean(self) -> Float[np.ndarray, "chain draw"]:
        """Draws of the mean difference, in units of the score."""
        draws: np.ndarray = self.data.centre + self.data.unit * self.drawn.sites["mean"]
        return draws

    def margin(self) -> DrawnMargin:
        """The posterior of the mean difference."""
        draws = np.sort(self.mean.ravel())
        return DrawnMargin(
            float(draws.mean()), float(draws.std()), self.data.n_items - 1.0, draws=tuple(draws.tolist())
        )

    def alarms(self) -> list[str]:
        """Warnings if the mean under this likelihood is far from that of the data, or hardly exists."""
        messages, se = [], self.data.unit / self.data.n_items**0.5
        mean = float(self.mean.mean())
        if abs(mean - self.data.centre) > APART * se:
            messages.append(
                f"the mean under the likelihood {self.name!r} is {mean:.4g}, that of the differences "
                f"{self.data.centre:.4g} (standard error {se:.2g}): it does not fit them"
            )
        df = self.drawn.sites.get("df")
        if df is not None and float(np.mean(df < NO_MEAN)) > 0.5:
            messages.append(f"under the likelihood {self.name!r} the tails are so heavy that the mean hardly exists")
        return messages


def fit(name: str, differences: Float[np.ndarray, " item"], seed: int, draws: int) -> Fit:
    """The likelihood of this name, fitted by NUTS.

    Errors: `InputError` for differences that do not vary.
    """
    if np.ptp(differences) == 0:
        raise InputError(f"likelihood={name!r} for differences that never vary", "differences that vary", "Use 'auto'.")
    data = bins(differences)
    if name == "tie-spike" and data.ties:
        data = bins_without_ties(differences, data)
    ties, zero = np.asarray(float(data.ties)), np.asarray(data.zero)
    arrays = {"value": data.value, "weight": data.weight, "ties": ties, "zero": zero}
    drawn = nuts.sample(LIKELIHOODS[name], arrays, seed, draws=draws, warmup=500, target_accept=0.9)
    rhat, ess = convergence({"mean": drawn.sites["mean"]})
    return Fit(name, data, drawn, rhat, ess)


def bins_without_ties(differences: Float[np.ndarray, " item"], whole: Bins) -> Bins:
    """The bins of the differences that are not zero, on the scale of all."""
    rest = differences[differences != 0]
    if len(rest) < 2 or np.ptp(rest) == 0:
        value = np.full(2, (rest[0] if len(rest) else 0.0) - whole.centre) / whole.unit
        return replace(whole, value=value, weight=np.array([float(len(rest)), 0.0]))
    own = bins(rest)
    value = (own.centre + own.unit * own.value - whole.centre) / whole.unit
    return replace(whole, value=value, weight=own.weight)


def log_likelihood(fitted: Fit) -> Float[np.ndarray, "chain draw bin"]:
    """The log density of one item of each bin, under every draw."""
    with float64_on_cpu():
        value = jnp.asarray(fitted.data.value)
        of_draw = partial(LIKELIHOODS[fitted.name].log_density, value=value)
        return np.asarray(jax.jit(jax.vmap(jax.vmap(of_draw)))(dict(fitted.drawn.sites)))


def loo(fitted: Fit) -> tuple[float, float, float]:
    """Expected log predictive density of items left out one by one, its standard error, and the largest Pareto k.

    All items of a bin count the same.

    Source: Vehtari, Gelman and Gabry 2017, doi:10.1007/s11222-016-9696-4.
    """
    import arviz_stats
    import xarray

    used = fitted.data.weight > 0
    density, weight = log_likelihood(fitted)[..., used], fitted.data.weight[used]
    dims = ("chain", "draw", "bin")
    coords = {"chain": np.arange(density.shape[0]), "draw": np.arange(density.shape[1])}
    tree = xarray.DataTree.from_dict(
        {
            "/posterior": xarray.Dataset({"mean": (("chain", "draw"), fitted.mean)}, coords),
            "/log_likelihood": xarray.Dataset({"differences": (dims, density)}, coords),
        }
    )
    with warnings.catch_warnings():  # of large Pareto k, which is returned
        warnings.simplefilter("ignore", UserWarning)
        result = arviz_stats.loo(tree, pointwise=True)
    each, k = np.asarray(result.elpd_i).ravel(), np.asarray(result.pareto_k).ravel()
    n = weight.sum()
    total = float(weight @ each)
    spread = float(weight @ (each - total / n) ** 2)
    return total - n * float(np.log(fitted.data.unit)), float(np.sqrt(n / (n - 1) * spread)), float(k.max())


def checks(fitted: Fit, differences: Float[np.ndarray, " item"], seed: int) -> dict[str, float]:
    """Posterior predictive p-values: how often simulated differences have a larger mean, tie rate, share beyond three
    standard deviations, and largest size, than the real ones (ties count half)."""
    rng = np.random.default_rng(seed)
    n = min(len(differences), SIMULATED)
    real = differences if n == len(differences) else rng.choice(differences, n, replace=False)
    flat = {name: value.reshape(-1) for name, value in fitted.drawn.sites.items()}
    rows = rng.integers(0, len(flat["mean"]), REPLICATED)
    with float64_on_cpu():
        keys = jax.random.split(jax.random.key(seed), REPLICATED)
        one = partial(LIKELIHOODS[fitted.name].simulated, zero=jnp.asarray(fitted.data.zero), n=n)
        sites = {name: value[rows] for name, value in flat.items()}
        drawn = np.asarray(jax.jit(jax.vmap(lambda sites, key: one(sites, key=key)))(sites, keys))
    simulated = np.array([_figures(fitted.data.centre + fitted.data.unit * values, fitted.data) for values in drawn])
    wanted = np.array(_figures(real, fitted.data))
    p = ((simulated > wanted).mean(0) + (simulated == wanted).mean(0) / 2).tolist()
    return dict(zip(("ppc_mean", "ppc_ties", "ppc_tails", "ppc_largest"), p, strict=True))


def _figures(values: Float[np.ndarray, " item"], data: Bins) -> list[float]:
    far = np.abs(values - data.centre) / data.unit
    ties = float((np.abs(values) < ZERO * data.unit).mean())
    return [float(values.mean()), ties, float((far > THREE).mean()), float(far.max())]


def surprises(fitted: Fit, differences: Float[np.ndarray, " item"], seed: int) -> list[str]:
    """In words, how simulated differences differ from the real ones."""
    words = {"ppc_mean": "mean", "ppc_ties": "tie rate", "ppc_tails": "tails", "ppc_largest": "largest difference"}
    figures = checks(fitted, differences, seed).items()
    failing = [words[name] for name, p in figures if min(p, 1 - p) < SURPRISE]
    message = f"the likelihood {fitted.name!r} does not simulate the {' and the '.join(failing)} of the differences"
    return [message] if failing else []


@dataclass(frozen=True, eq=False)
class Fitted:
    """The margins of all pairs under one likelihood, the warnings, and the worst diagnostics (`run`, without draws)."""

    margins: list[Margin]
    warnings: tuple[str, ...]
    run: Sampled


def fit_pairs(
    name: str, differences: Sequence[Float[np.ndarray, " item"]], plain: Sequence[Margin], seed: int, draws: int
) -> Fitted:
    """The likelihood for every pair; pairs that never vary keep their plain margin."""
    margins: list[Margin] = []
    messages: dict[str, None] = {}
    runs: list[Fit] = []
    for difference, margin in zip(differences, plain, strict=True):
        if margin.scale == 0 or np.ptp(difference) == 0:
            margins.append(margin)
            continue
        fitted = fit(name, difference, seed, draws)
        runs.append(fitted)
        margins.append(replace(fitted.margin(), given_mean=margin.mean))
        messages |= dict.fromkeys([*fitted.alarms(), *surprises(fitted, difference, seed)])
    worst = max((run.max_rhat for run in runs), default=None), min((run.min_ess for run in runs), default=None)
    divergences = sum(int(run.drawn.stats["diverging"].sum()) for run in runs)
    return Fitted(margins, tuple(messages), Sampled({}, {}, *worst, divergences, sampler="NUTS"))


@check.checks_itself
def compare_likelihoods(scores: Scores, a: str, b: str, *, draws: int = 1000, seed: int = 0) -> "polars.DataFrame":
    """The mean difference of two models under each likelihood, its checks, and how well each predicts new items.

    Arguments: `a` and `b` are names of models; `draws` is per chain, of four chains.

    Returns: one row for each likelihood, best predicting first: `mean`, `low`, `high` of a minus b (negative favours
    a), `p_a_better`, `location` (None if the likelihood has two); posterior predictive p-values `ppc_mean`,
    `ppc_ties`, `ppc_tails` (share beyond three standard deviations) and `ppc_largest`, near 0 or 1 if simulated
    differences do not resemble the real ones; `elpd_loo` with `elpd_se`, the expected log predictive density of items
    left out (higher is better; None for "tie-spike" with ties, because a mass is not a density), `pareto_k`, above 0.7
    if that estimate is unreliable; `max_rhat`, `min_ess`; and `alarm`, if the mean under the fit is far from the mean
    of the differences.

    Errors: `InputError` for unknown models, infinite scores, or differences that never vary.

    Source: Vehtari, Gelman and Gabry 2017, doi:10.1007/s11222-016-9696-4.

    >>> import numpy as np
    >>> import probtruth as pt
    >>> loss = np.random.default_rng(0).gamma(2.0, 0.5, 150)
    >>> rows = {"item": [*range(150)] * 2, "model": ["a"] * 150 + ["b"] * 150, "score": [*loss, *loss[::-1] + 0.1]}
    >>> scores = pt.Scores.from_frame(rows, higher_is_better=False)
    >>> table = pt.companions.compare_likelihoods(scores, "a", "b", draws=400)
    >>> sorted(table["likelihood"])
    ['normal', 'skew-t', 'student-t', 'tie-spike', 'two-component']
    """
    rows = [scores.models.index(check.one_of(name, scores.models, "model")) for name in (a, b)]
    if not np.isfinite(scores.values[rows]).all():
        raise InputError("infinite scores", "finite ones", "Score with a floor, or with another rule.")
    difference = scores.values[rows[0]] - scores.values[rows[1]]
    size, told = check.whole(draws, 1, "draws"), []
    for name in LIKELIHOODS:
        fitted = fit(name, difference, check.whole(seed, 0, "seed"), size)
        margin = fitted.margin()
        low, high = margin.interval()
        commensurable = name != "tie-spike" or fitted.data.ties == 0
        elpd, se, k = loo(fitted) if commensurable else (None, None, None)
        centre = fitted.data.centre + fitted.data.unit * float(fitted.drawn.sites["location"].mean())
        told.append(
            {
                "likelihood": name,
                "mean": margin.centre,
                "low": low,
                "high": high,
                "p_a_better": margin.below(0.0),
                "location": None if name == "two-component" else centre,
                **checks(fitted, difference, seed),
                "elpd_loo": elpd,
                "elpd_se": se,
                "pareto_k": k,
                "max_rhat": fitted.max_rhat,
                "min_ess": fitted.min_ess,
                "alarm": "; ".join(fitted.alarms()) or None,
            }
        )
    told.sort(key=lambda row: np.inf if row["elpd_loo"] is None else -float(str(row["elpd_loo"])))
    return frames.from_rows(told)
