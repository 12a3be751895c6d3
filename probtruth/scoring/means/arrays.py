"""Mean scores of whole arrays, as fast as memory allows: the state of one batch, as a result."""

from collections.abc import Sequence

import jax
import numpy as np
from numpy.typing import ArrayLike

from probtruth import check_arrays
from probtruth.errors import InputError
from probtruth.scoring.means.streaming import MeanScores, RunningMeans
from probtruth.scoring.rules import ScoringRule
from probtruth.types.arguments import RuleName


def mean_score(
    probs: ArrayLike, truth: ArrayLike, rule: RuleName | ScoringRule = "log", log_probs: bool = False
) -> float:
    """The mean expected loss over all items, as fast as memory allows.

    Formula: (1/n) sum_i S(p_i, t_i); an item of infinite loss makes it infinite, 0 log 0 = 0.

    Arguments: `probs` and `truth` are arrays (item, label), float32 or float64, NumPy or JAX, read in place; `rule` a
    name or a `ScoringRule`; `log_probs` says that `probs` are log-probabilities. Values are not checked.

    Returns: units of the rule, lower is better. On the host, sums of float32 are kept in float32 for at most 2^12
    terms, in float64 from there on; `mean_scores` gives a bound of the error.

    Errors: `InputError` for shapes that differ, an unknown rule, or a call inside a traced function.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import numpy as np, probtruth as pt
    >>> round(pt.streaming.mean_score(np.array([[0.6, 0.4]]), np.array([[0.7, 0.3]])), 4)
    0.6325
    """
    return float(mean_scores(probs, truth, (rule,), log_probs=log_probs).means[0])


def mean_scores(
    probs: ArrayLike,
    truth: ArrayLike,
    rules: str | ScoringRule | Sequence[str | ScoringRule] = ("log", "brier", "spherical"),
    powers: Sequence[float | int] = (),
    confusion: bool = False,
    log_probs: bool = False,
) -> MeanScores:
    """Mean scores under several rules in one pass, with generalised means and expected counts on request.

    Formula: as `mean_score`; the generalised mean of power m is (1/n sum_i sum_k t_ik p_ik^m)^(1/m), its limit
    exp(mean of sum_k t_ik log p_ik) at 0; the counts are sum_i t_ij p_ik.

    Arguments: `probs`, `truth` and `log_probs` as in `mean_score`; `rules` names or `ScoringRule`s; `powers` finite
    numbers; `confusion` adds counts. For batches, entropy and divergence use `RunningMeans`.

    Where arrays of JAX lie on a GPU, or on several devices, both are read once for the counts, the powers and the rules
    "log", "brier", "quadratic", "linear" and "spherical" together; other rules read them again. Totals are pairs of
    floats there, off by at most 4 n u^2 of the sum of absolute losses (u = 6e-8 for float32, n items), which
    `error` bounds; each loss is rounded to the arrays' type before, by less than K u times its terms' size.

    Errors: as `mean_score`, and for powers that are not finite.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; Nelson (2017), doi:10.3390/e19060286

    >>> import numpy as np, probtruth as pt
    >>> pt.streaming.mean_scores(np.array([[0.6, 0.4]]), np.array([[0.7, 0.3]])).means.round(4).tolist()
    [0.6325, 0.44, -0.7488]
    """
    forecast, weights = _array(probs), _array(truth)
    if forecast.ndim != 2 or forecast.shape != weights.shape or forecast.size == 0:
        raise InputError(
            f"forecasts of shape {forecast.shape} and truth of shape {weights.shape}",
            "the same two axes (item, label) for both, neither empty",
            "Scores of one item are pt.log_score(probs, truth) and its like.",
        )
    n_labels = forecast.shape[1] if confusion else None
    means = RunningMeans(rules, tuple(powers), n_labels=n_labels, parts=False, log_probs=log_probs)
    return means.finalize(means.of(forecast, weights))


def _array(values: ArrayLike) -> np.ndarray | jax.Array:
    if isinstance(values, jax.core.Tracer):
        raise InputError(
            "an array that is being traced",
            "an array with values",
            "Inside jit use pt.log_score(probs, truth).mean() and its like, or pt.streaming.RunningMeans.",
        )
    if isinstance(values, jax.Array):
        return values
    array = np.asarray(values)
    if array.dtype not in (np.float32, np.float64):
        array = check_arrays.as_floats(array, "item label", "arrays")
    return array
