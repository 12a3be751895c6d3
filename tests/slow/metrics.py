"""Coverage of intervals for differences of metrics that are not means (three minutes).

Two models forecast two labels; the second label comes at the rate in the table. For each metric, number of items and
rate there are four settings: labels certain, or the exact probabilities of the classes given what the models saw and
three annotators who err in one item of five; the models independent, one sharper and the other overconfident, or
equally good with errors that correlate at 0.9. 40, 16 and 6 data sets of 50, 200 and 1,000 items for each setting and
unit of RUNS. Cells: the coverage of the 95% interval over the four settings, in brackets the worst of them.

- bootstrap: percentiles of the plain Bayesian bootstrap;
- jackknife t: the jackknife's standard error, t with n - 1 degrees of freedom;
- ours: the same with Satterthwaite's degrees of freedom and the correction for skewness, as `compare_metric` has it;
- width: the median width of ours over that of the bootstrap;
- unknown: the share of data sets with no answer, because fewer than five items have the label (or are answered with
  it, where answers count), or the metric is undefined for a model (or without one of the items).
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import get_args

import numpy as np

import probtruth as pt
from probtruth.comparison.estimation import resampled as engine
from probtruth.comparison.estimation.design import Design
from probtruth.comparison.estimation.estimate import About
from probtruth.comparison.posterior.margin import Margin, margins
from probtruth.line.compare_metric import FEWEST_EVENTS
from probtruth.scoring.align import Aligned, align
from probtruth.scoring.metrics import weighted_metric
from probtruth.types.arguments import MetricName

RUNS, SIZES = 1, {50: 40, 200: 16, 1000: 6}
RATES, POPULATION, BOOTSTRAPS, SHARPNESS = (0.5, 0.1, 0.03), 200_000, 300, 1.6
METRICS = [metric for metric in get_args(MetricName.__value__) if metric != "accuracy"]
ROUNDING = 1e-9  # Widths below this are none
MOSTLY = 0.8  # Where more data sets than this have no answer, the table has none either
WORLDS = tuple(product((False, True), (False, True)))  # Labels are noisy; the models are equally good

ACCURACY = 0.8


def world(rng: np.random.Generator, n: int, rate: float, noisy: bool, equal: bool) -> Aligned:
    """Forecasts of two models and the truth."""
    label = rng.random(n) < rate
    errors = rng.standard_normal((2, n))
    if equal:
        errors[1] = 0.9 * errors[0] + (1 - 0.9**2) ** 0.5 * errors[1]
    sharp = np.array([SHARPNESS, SHARPNESS if equal else 1.0])[:, None]
    seen = sharp * (label - 0.5) + errors
    logits = sharp * seen + np.log(rate / (1 - rate))
    logits[1] *= 1.0 if equal else 1.5
    probs = 1 / (1 + np.exp(-logits))
    truth = label.astype(float)
    if noisy:
        votes = rng.binomial(3, np.where(label, ACCURACY, 1 - ACCURACY))
        shared = 0.9 if equal else 0.0
        models_say = (sharp * np.linalg.solve([[1, shared], [shared, 1]], seen)).sum(0)  # by what both models saw
        log_odds = np.log(rate / (1 - rate)) + (2 * votes - 3) * np.log(ACCURACY / (1 - ACCURACY)) + models_say
        truth = 1 / (1 + np.exp(-log_odds))
    models = {name: np.stack([1 - row, row], 1) for name, row in zip("ab", probs, strict=True)}
    return align(
        pt.Predictions.from_probs(models), pt.Truth.from_probs(np.stack([1 - truth, truth], 1), estimand="class")
    )


@cache
def true_difference(metric: str, rate: float, equal: bool) -> float:
    """The difference of a large population."""
    whole = world(np.random.default_rng(1), POPULATION, rate, False, equal)
    first, second = weighted_metric(whole, np.arange(POPULATION), metric).values(np.ones((1, POPULATION)))[0]
    return float(first - second)


def intervals(aligned: Aligned, metric: str, seed: int) -> list[tuple[float, float]] | None:
    """Those of the bootstrap, the jackknife's t and ours; None where the difference is unknown."""
    within = Design.of(np.zeros(len(aligned.items), int))
    chosen = weighted_metric(aligned, np.arange(len(aligned.items)), metric)
    if chosen.events.min() < FEWEST_EVENTS:
        return None
    found = engine.resampled(chosen.values, chosen.linear, chosen.of_answers, aligned.on_host().truth, within)
    if not found.defined.all():
        return None
    about = About(rule=metric, higher_is_better=False, models=("a", "b"))  # differences in the sign of the metric
    ours = margins(engine.estimate_of_metrics(found, within, np.arange(2), about))[2]
    weights = np.random.default_rng(seed).standard_exponential((BOOTSTRAPS, len(aligned.items)))
    values = chosen.values(weights * len(aligned.items) / weights.sum(1, keepdims=True))
    low, high = np.quantile(values[:, 0] - values[:, 1], [0.025, 0.975])
    plain = Margin(ours.centre, ours.scale, len(aligned.items) - 1.0)
    return [(float(low), float(high)), plain.interval(), ours.interval()]


def row(metric: str, n: int, rate: float, runs: int) -> tuple[object, ...]:
    covered, widths, unknown = [], [], 0
    for noisy, equal in WORLDS:
        true, rng = true_difference(metric, rate, equal), np.random.default_rng([n, int(1000 * rate), noisy, equal])
        found = [intervals(world(rng, n, rate, noisy, equal), metric, seed) for seed in range(runs)]
        ends = np.array([one for one in found if one is not None])
        unknown += len(found) - len(ends)
        if len(ends):
            covered.append(((ends[..., 0] <= true) & (true <= ends[..., 1])).mean(0))
            width = np.median(ends[..., 1] - ends[..., 0], axis=0)
            widths.append(width[2] / width[0] if width[0] > ROUNDING else np.nan)
    share = unknown / len(WORLDS) / runs
    if share > MOSTLY:
        return metric, n, rate, "", "", "", "", f"{share:.2f}"
    cells = [f"{np.mean(one):.3f} ({np.min(one):.2f})" for one in np.array(covered).T]
    return metric, n, rate, *cells, f"{np.nanmean(widths):.2f}", f"{share:.2f}"


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "metrics", ("metric", "items", "rate", "bootstrap", "jackknife t", "ours", "width", "unknown")
    for (n, sets), metric, rate in product(SIZES.items(), METRICS, RATES):
        yield "metrics", row(metric, n, rate, sets * runs)
