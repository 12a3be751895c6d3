"""`compare_likelihoods`: one pair's mean difference under every likelihood, with what each fails to explain."""

from typing import TYPE_CHECKING

import numpy as np

from probtruth import check, frames
from probtruth.comparison.likelihoods.fit import checks, fit, loo
from probtruth.comparison.options import LIKELIHOODS, whole
from probtruth.errors import InputError
from probtruth.types import Scores

if TYPE_CHECKING:
    import polars


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
    >>> loss = np.random.default_rng(0).gamma(2.0, 0.5, 40)
    >>> rows = {"item": [*range(40)] * 2, "model": ["a"] * 40 + ["b"] * 40, "score": [*loss, *loss[::-1] + 0.1]}
    >>> scores = pt.Scores.from_frame(rows, higher_is_better=False)
    >>> table = pt.companions.compare_likelihoods(scores, "a", "b", draws=200)
    >>> sorted(table["likelihood"])
    ['normal', 'skew-t', 'student-t', 'tie-spike', 'two-component']
    """
    rows = [scores.models.index(check.one_of(name, scores.models, "model")) for name in (a, b)]
    if not np.isfinite(scores.values[rows]).all():
        raise InputError("infinite scores", "finite ones", "Score with a floor, or with another rule.")
    difference = scores.values[rows[0]] - scores.values[rows[1]]
    size, told = whole(draws, "draws", 1), []
    for name in LIKELIHOODS[1:]:
        fitted = fit(name, difference, whole(seed, "seed", 0), size)
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
