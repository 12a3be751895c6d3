"""Parts of the expected loss (entropy and divergence; miscalibration and discrimination by CORP), skill, perplexity."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from probtruth import check, frames
from probtruth.kernels.arrays import to_host
from probtruth.kernels.precision import compiled
from probtruth.kernels.shapes import ItemFloats, ItemInts, ItemLabel
from probtruth.scoring.align import align
from probtruth.scoring.calibration import events
from probtruth.scoring.calibration.events import Isotone
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.score import check_floor, entropies, expected_losses, floored, rule_and_floor
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import JudgedBy, Tables

if TYPE_CHECKING:
    import polars

BY = ("joint", "label", "top-label")
PARTS = ("score", "miscalibration", "discrimination", "uncertainty")
# ItemLabel that sum to 1 within this are distributions to rounding; others only within the tolerance of files.
EXACT_SUM = 1e-12

PartsOf = Callable[[ItemFloats], tuple[float, float, float, float]]  # of weights of the items


def decompose(
    predictions: Predictions | Tables, truth: Truth, rule: RuleLike = "log", floor: float | None = None
) -> "polars.DataFrame":
    """Mean expected loss of each model as entropy plus divergence, and as miscalibration, discrimination, uncertainty.

    Formula: expected = entropy + divergence, with entropy the least expected loss that any report can reach (the same
    for all models). Also expected = miscalibration - discrimination + uncertainty, the joint form of
    `calibration_decomposition`. Grouping = uncertainty - discrimination - entropy is what a recalibrated forecast still
    loses beyond the entropy, on items with the same forecast and other labels.

    Vote shares of few annotators have too little entropy. Where there are votes, `entropy_corrected` allows for that by
    the jackknife, n H(q) - (n - 1) sum_k q_k H((n q - e_k)/(n - 1)) with q the shares of n votes (unbiased for the
    Brier, quadratic and ranked probability scores, elsewhere to order 1/n^2), and `divergence_corrected` = expected -
    entropy_corrected. The expected loss itself needs no correction; grouping does, by the same difference.

    as in `score`.

    Arguments:
        predictions: may be {model: array or dataframe}.
        truth: the reference, as `infer_truth` or `Truth.from_probs` makes it.
        rule: as in `score`.
        floor: as in `score`.

    Returns: one row for each model in units of the rule: `model`, `expected`, `entropy`, `divergence`,
    `entropy_corrected`, `divergence_corrected` (both NaN without votes, or where an item has a single one),
    `miscalibration`, `discrimination`, `uncertainty`, `grouping`. Lower is better, but for discrimination.

    Errors: as in `score`.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; Dimitriadis, Gneiting and Jordan (2021),
    doi:10.1073/pnas.2016191118; Kull and Flach (2015), doi:10.1007/978-3-319-23528-8_5, for grouping; Zahl (1977),
    doi:10.2307/1936227, for the jackknife

    >>> import probtruth as pt
    >>> row = pt.decompose({"a": [[0.6, 0.4]]}, pt.Truth.from_probs([[0.7, 0.3]]), rule="brier").row(0, named=True)
    >>> [round(row[part], 2) for part in ("expected", "entropy", "divergence")]
    [0.44, 0.42, 0.02]
    """
    check.own_threads()
    aligned = align(predictions, truth)
    chosen, least = rule_and_floor(rule, floor, aligned.labels)
    corrected = float("nan")
    if aligned.by_votes and aligned.shares is not None and aligned.n_votes is not None:
        corrected = float(corrected_entropy(chosen, aligned.shares, aligned.n_votes).mean())
    both = aligned.on_host()
    rows = []
    entropy = float(entropies(chosen, both.truth).mean())
    exact_truth = _sums_are_exact(both.truth)
    for model, logs in zip(both.models, both.log_probs, strict=True):  # one at a time: they may lie on disk
        table = floored(logs, least)
        probs = np.exp(table)
        parts_of = corp_parts(chosen, table, both.truth, probs)
        expected, miscalibration, discrimination, uncertainty = parts_of(np.ones(len(probs)))
        divergence = expected - entropy
        if exact_truth and _sums_are_exact(probs):
            divergence = float(to_host(_divergences(chosen, table, both.truth)).mean())
        rows.append(
            {
                "model": model,
                "expected": expected,
                "entropy": entropy,
                "divergence": divergence,
                "entropy_corrected": corrected,
                "divergence_corrected": expected - corrected,
                "miscalibration": miscalibration,
                "discrimination": discrimination,
                "uncertainty": uncertainty,
                "grouping": uncertainty - discrimination - entropy,
            }
        )
    return frames.from_rows(rows)


def _sums_are_exact(table: ItemLabel) -> bool:
    excess = np.abs(table.sum(-1) - 1)
    return bool((excess <= EXACT_SUM).all())


_divergences = compiled(ScoringRule.divergence_from_log, static_argnums=0)


def corrected_entropy(rule: ScoringRule, shares: ItemLabel, n_votes: ItemInts) -> ItemFloats:
    """Each item's entropy with the bias of few votes removed to first order (see `decompose`); NaN of one vote."""
    # The plug-in entropy has a bias of order 1/n, always downwards: on 1,514 items with 100 votes each, log score, the
    # mean is .563 corrected, and five votes an item give .411 plain and .537 corrected.
    votes = shares * n_votes[:, None]
    corrected = n_votes * entropies(rule, shares)
    for label, share in enumerate(shares.T):
        rows = np.flatnonzero(share)
        fewer = votes[rows]
        fewer[:, label] = np.maximum(fewer[:, label] - 1, 0)
        n_fewer = fewer.sum(1, keepdims=True)
        shares_without = fewer / np.maximum(n_fewer, 1)
        entropy_without = entropies(rule, shares_without)
        corrected[rows] -= (n_votes[rows] - 1) * share[rows] * entropy_without
    return np.where(n_votes > 1, corrected, np.nan)


def calibration_decomposition(
    predictions: Predictions,
    truth: Truth,
    rule: RuleLike = "log",
    by: JudgedBy | Literal["joint"] = "label",
    floor: float | None = None,
    n_bootstrap: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> "polars.DataFrame":
    """Mean expected loss as miscalibration minus discrimination plus uncertainty (CORP), with bootstrap bands.

    Formula: S(p) = [S(p) - S(c)] - [S(r) - S(c)] + S(r), with S the mean loss, c the forecasts after isotonic
    regression on the labels (equal forecasts pooled), and r the mean label, the same forecast for every item.

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: the reference, as `infer_truth` or `Truth.from_probs` makes it.
        rule: as in `score`.
        by: "label" judges each label against all others. "top-label" judges the greatest probability as a forecast of
            being right (ties share). "joint" judges the whole distribution, c being the fits of all labels divided by
            their sum, or p or r itself if that has a lower loss (with two labels it is the same as "label").
        floor: as in `score`.
        n_bootstrap: resamples of the items give the equal-tailed `level` bands. The rest as in `score`.
        level: the probability that the intervals hold.
        seed: of everything random: the same seed gives the same numbers.

    Returns: one row for each model (and label), in units of the rule: `model`, `label`, `score`, `miscalibration`
    (lower is better; biased upwards in small samples, and so are its bands), `discrimination` (higher is better),
    `uncertainty`, and with a bootstrap `..._low` and `..._high` of each.

    Errors: `InputError` as in `score`, and for an unknown `by`.

    Source: Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.6, 0.4], [0.6, 0.4], [0.2, 0.8]]})
    >>> truth = pt.Truth.from_labels([0, 1, 1], n_labels=2)
    >>> row = pt.calibration.calibration_decomposition(pred, truth, rule="brier").row(1, named=True)
    >>> [round(row[part], 3) for part in ("score", "miscalibration", "discrimination", "uncertainty")]
    [0.373, 0.04, 0.111, 0.444]
    """
    aligned = align(predictions, truth).on_host()
    chosen = get_rule(rule)
    way = check.one_of(by, BY, "by")
    logs = floored(aligned.log_probs, check_floor(floor, len(aligned.labels)))
    if way == "joint":
        chosen = chosen.for_labels(aligned.labels)
    check.whole(n_bootstrap, 0, "resamples", "200 are enough to see, 2,000 for two digits.")
    check.number(level, "level", "0.95 is usual.", above=0, below=1)
    rows: list[dict[str, object]] = []
    for model, table in zip(aligned.models, logs, strict=True):
        for label, logs_judged, truth_judged in _judged(way, table, aligned.truth, aligned.labels):
            parts_of = corp_parts(chosen, logs_judged, truth_judged)
            row: dict[str, object] = {"model": model, "label": label}
            row |= zip(PARTS, parts_of(np.ones(len(table))), strict=True)
            if n_bootstrap:
                resampled = events.resamples(len(table), n_bootstrap, seed)
                drawn = np.array([parts_of(weights) for weights in resampled])
                low, high = events.bands(drawn, level).tolist()
                row |= zip([f"{name}_low" for name in PARTS], low, strict=True)
                row |= zip([f"{name}_high" for name in PARTS], high, strict=True)
            rows.append(row)
    return frames.from_rows(rows)


def _judged(
    way: str, logs: ItemLabel, truth: ItemLabel, labels: Sequence[str]
) -> Iterator[tuple[str | None, ItemLabel, ItemLabel]]:
    """What is judged of one model: the name of a label, log-probabilities and truth."""
    if way == "joint":
        yield None, logs, truth
    elif way == "top-label":
        yield None, *events.top_label(logs, truth)
    else:
        for position, label in enumerate(labels):
            yield label, *events.against_rest(logs, truth, position)


def corp_parts(rule: ScoringRule, log_probs: ItemLabel, truth: ItemLabel, probs: ItemLabel | None = None) -> PartsOf:
    """Mean loss, miscalibration, discrimination and uncertainty of one model under weights of the items."""
    n_labels = truth.shape[1]
    first = 1 if n_labels == 2 else 0  # with two labels one order serves both
    if probs is None:
        probs = np.exp(log_probs)
    orders = [Isotone(column) for column in np.ascontiguousarray(probs.T[first:])]

    def calibrated(weights: ItemFloats) -> ItemLabel:
        """The isotonic fit of each label's forecasts to the labels, divided by their sum over the labels."""
        fitted = np.empty(truth.shape)
        for label, order in enumerate(orders, first):
            at_points = order.fit(truth[:, label], weights)
            fitted[:, label] = at_points[order.point_of]
        if n_labels == 2:
            fitted[:, 0] = 1 - fitted[:, 1]
            return fitted
        total = fitted.sum(1, keepdims=True)
        positive = total > 0
        shares = fitted / np.where(positive, total, 1)
        return np.where(positive, shares, 1 / n_labels)

    def mean_loss(logs: ItemLabel, shares: ItemFloats) -> float:
        losses = expected_losses(rule, None, logs, truth)
        return float(np.where(shares > 0, losses, 0) @ shares)

    def parts(weights: ItemFloats) -> tuple[float, float, float, float]:
        shares = weights / weights.sum()
        with np.errstate(divide="ignore"):
            log_fitted = np.log(calibrated(weights))
            log_mean = np.log(shares @ truth)
        score = mean_loss(log_probs, shares)
        of_fitted = mean_loss(log_fitted, shares)
        of_mean = mean_loss(np.broadcast_to(log_mean, truth.shape), shares)
        best = min(score, of_fitted, of_mean)
        miscalibration = score - best
        discrimination = of_mean - best
        return score, miscalibration, discrimination, of_mean

    return parts
