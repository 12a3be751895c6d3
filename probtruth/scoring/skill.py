"""Scores against a baseline, and perplexity."""

from typing import TYPE_CHECKING

import numpy as np

from probtruth import check, frames
from probtruth.kernels.arrays import to_host
from probtruth.scoring.align import align
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.score import asked, score_aligned
from probtruth.types import Predictions, Truth

if TYPE_CHECKING:
    import polars

BASELINES = ("uniform", "frequency")


def skill_scores(
    predictions: Predictions,
    truth: Truth,
    rule: RuleLike = "log",
    baseline: str = "uniform",
    floor: float | None = None,
) -> "polars.DataFrame":
    """How much of the way from a baseline to perfection each model has gone.

    Formula: skill = (S_0 - S)/(S_0 - S_best), with S_0 the mean loss of the baseline and S_best the loss of a forecast
    that is certain and right; for the log and Brier scores 1 - S/S_0. Where labels are soft no forecast gets there:
    `skill_attainable` puts the mean entropy of the labels in the place of S_best (with vote shares of few annotators,
    whose entropy is too low, it is too low).

    Arguments: `baseline` is "uniform", "frequency" (the mean label of these very items, for every item: it has seen
    the truth, so that skill against it is a little harsh) or the name of a model. The rest as in `score`.

    Returns: one row for each model: `model`, `expected`, `baseline` (its loss), `skill`, `skill_attainable`; at most 1,
    0 is no better than the baseline, higher is better. A skill score ranks models as the mean loss does, but it is not
    itself a mean over items, and an honest forecast need not maximise it.

    Errors: `InputError` for an unknown baseline, and as in `score`.

    Source: Murphy (1973), doi:10.1175/1520-0450(1973)012<0215:HASSFP>2.0.CO;2

    >>> import probtruth as pt
    >>> pred, truth = pt.Predictions.from_probs({"a": [[0.2, 0.8]]}), pt.Truth.from_labels([1], n_labels=2)
    >>> round(pt.calibration.skill_scores(pred, truth, rule="brier")["skill"][0], 3)
    0.84
    """
    aligned = align(predictions, truth)
    scores, (chosen, _) = score_aligned(aligned, rule, floor), asked(rule, floor, aligned.labels)
    name = check.one_of(baseline, (*BASELINES, *scores.models), "baseline")
    expected, n_labels = scores.values.mean(1).tolist(), len(aligned.labels)
    entropy, frequency = scores.known.entropy or 0.0, scores.known.baseline or 0.0
    if name == "uniform":
        start = float(
            chosen.expected(np.full(n_labels, 1 / n_labels), to_host(aligned.truth).mean(0, dtype=np.float64))
        )
    else:
        start = frequency if name == "frequency" else expected[scores.models.index(name)]
    rows = [
        {
            "model": model,
            "expected": loss,
            "baseline": start,
            "skill": _share(start, loss, chosen.range_for(n_labels)[0]),
            "skill_attainable": _share(start, loss, entropy),
        }
        for model, loss in zip(scores.models, expected, strict=True)
    ]
    return frames.from_rows(rows)


def _share(start: float, loss: float, best: float) -> float:
    """(start - loss)/(start - best); NaN where the baseline is infinite or leaves nothing to gain."""
    way = start - best
    return (start - loss) / way if np.isfinite(way) and way > 0 else float("nan")


def perplexity(predictions: Predictions, truth: Truth, floor: float | None = None) -> "polars.DataFrame":
    """Perplexity of each model: the number of equally likely labels that would be as surprising.

    Formula: exp of the mean log score = exp(mean entropy) * exp(mean Kullback-Leibler divergence).

    As a summary of the mean log score it is harmless. As something to be minimised in expectation it is improper: over
    n items together it rewards the report proportional to t^(n/(n+1)), hedged, and inverse perplexity t^(n/(n-1)),
    sharpened; `explain_metric(-1 / n)` and `explain_metric(1 / n)` say so. Compare models by their log scores.

    Returns: one row for each model, from 1, lower is better: `model`, `perplexity`, and its two factors
    `entropy_factor` (the same for all models, and the least that can be reached) and `divergence_factor`.

    Errors: as in `score`.

    Source: Jelinek, Mercer, Bahl and Baker (1977), doi:10.1121/1.2016299

    >>> import probtruth as pt
    >>> pred, truth = pt.Predictions.from_probs({"a": [[0.25, 0.75]]}), pt.Truth.from_labels([0], n_labels=2)
    >>> round(pt.nelson.perplexity(pred, truth)["perplexity"][0], 6)
    4.0
    """
    scores = score_aligned(align(predictions, truth), "log", floor)
    entropy, rows = scores.known.entropy or 0.0, []
    for model, loss in zip(scores.models, scores.values.mean(1).tolist(), strict=True):
        with np.errstate(over="ignore"):
            whole, least, rest = np.exp([loss, entropy, loss - entropy]).tolist()
        rows.append({"model": model, "perplexity": whole, "entropy_factor": least, "divergence_factor": rest})
    return frames.from_rows(rows)
