"""Which report a generalised mean of probabilities rewards."""

from dataclasses import dataclass
from math import inf, isnan
from typing import Literal

import jax
import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.power_mean import rewarded_report

NAMED = {"decisiveness": 1.0, "accuracy": 0.0, "robustness": -2 / 3}
"""Names of three powers in Nelson (2017), doi:10.3390/e19060286."""


@dataclass(frozen=True)
class MetricExplanation:
    """What a generalised mean of the probabilities of what happened rewards in a forecaster.

    `exponent` e says that the best report under the truth t is t^e, normalised: 1 is honesty, above 1 sharpened, below
    1 hedged, 0 uniform, infinite certainty of the most probable label. `text` says so in words.
    """

    power: float
    exponent: float
    proper: bool
    text: str

    def __str__(self) -> str:
        """The explanation in words."""
        return self.text

    def report(self, truth: object) -> Float[np.ndarray, "... label"]:
        """The report that the metric rewards most if labels follow `truth`; ties share certainty."""
        with jax.enable_x64(True):
            return np.asarray(rewarded_report(np.asarray(truth, np.float64), self.power))


@check.checks_itself
def explain_metric(power: float | Literal["decisiveness", "accuracy", "robustness"]) -> MetricExplanation:
    """Which report the generalised mean of power m rewards, and whether that is the truth.

    Formula: (mean of p^m)^(1/m) over the probabilities p of what happened is expected to be greatest at the report
    proportional to t^(1/(1-m)) for m < 1, and at certainty of the most probable label for m >= 1. Only m = 0, the
    geometric mean (the log score), rewards the truth. Perplexity of n items together is the power -1/n, inverse
    perplexity 1/n: their expectation rewards t^(n/(n+1)) and t^(n/(n-1)).

    Arguments: `power` is a number (minus infinity allowed), or "decisiveness" (1), "accuracy" (0), "robustness" (-2/3).

    Returns: a `MetricExplanation`; its `report(truth)` is the rewarded report.

    Errors: `InputError` for another name or NaN.

    Source: Nelson (2017), doi:10.3390/e19060286, for the means; the rewarded report follows by Lagrange's condition.

    >>> import probtruth as pt
    >>> told = pt.nelson.explain_metric("robustness")
    >>> told.proper, told.report([0.7, 0.3]).round(3).tolist()
    (False, [0.624, 0.376])
    """
    if isinstance(power, str):
        check.one_of(power, tuple(NAMED), "metric")
        value = NAMED[power]
    else:
        try:
            value = float(power)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            value = float("nan")
        if isnan(value) or isinstance(power, bool):
            raise InputError(
                f"power {power!r}", f"a number or one of {', '.join(NAMED)}", "0 is the geometric mean, the log score."
            )
    exponent = inf if value >= 1 else 1 / (1 - value)
    return MetricExplanation(value, exponent, value == 0, _text(value, exponent))


def _text(power: float, exponent: float) -> str:
    name = f"The generalised mean of power {power:.4g}"
    if power == 0:
        return f"{name} is the geometric mean, the exponential of the log score: it rewards the truth, and is proper."
    if exponent == inf:
        return f"{name} rewards certainty of the most probable label, whatever its probability: it is improper."
    if exponent == 0:
        return (
            f"{name} is the least probability: it rewards equal probabilities for all possible labels, not the truth."
        )
    way = "hedged towards equal probabilities" if exponent < 1 else "sharpened towards the most probable label"
    return f"{name} rewards the truth raised to the power {exponent:.4g} and normalised, {way}: it is improper."
