"""Comparison of models by a metric that is not a mean over items: F1, kappa, ROC area and the like."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from probtruth.comparison.compare import compare, conclude, need_spread, need_two
from probtruth.comparison.estimation.design import Design, design_of
from probtruth.comparison.estimation.estimate import About, Estimate
from probtruth.comparison.estimation.resampled import Resampled, estimate_of_metrics, resampled
from probtruth.comparison.estimation.shared_units import of_annotators
from probtruth.comparison.options import checked_options
from probtruth.comparison.results.rows import in_own_units
from probtruth.comparison.sources import NO_SECOND_VOTE, all_single, variances_within
from probtruth.errors import PosteriorError
from probtruth.io.addresses import fetched_once
from probtruth.io.formats import LabelReading
from probtruth.kernels.shapes import ModelFloats
from probtruth.line.compare import points_of
from probtruth.line.evaluate import matched, read_both, truth_of
from probtruth.line.informed_truth import on_evidence
from probtruth.line.inputs import Models, Reference, by_item
from probtruth.line.labelled import pairs_of
from probtruth.scoring.align import AlignedOnHost, align, align_all
from probtruth.scoring.metrics import BINS, WeightedMetric, weighted_metric
from probtruth.types import Comparison, LabelsBehind, RuleFacts, Scores
from probtruth.types.arguments import QUESTIONS, ClassEvidence, Engine, Estimand, Groups, MethodName, MetricName
from probtruth.types.pairs import Pair, Rank, minus

DRAWS = 2500  # of each chain
FEWEST_EVENTS = 5  # With fewer items on its rarer side a metric is not compared: intervals would cover far too little
FEW = 15.0  # Degrees of freedom below which a warning says on how few items a difference rests
FRAGILE = "undefined without one of the items, so that its spread cannot be estimated"


@fetched_once()
def compare_metric(
    predictions: Models,
    truth: Reference,
    metric: MetricName = "f1",
    *,
    label: str | int | None = None,
    threshold: float | None = None,
    n_bins: int = BINS,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    method: MethodName | None = None,
    estimand: Estimand | None = None,
    evidence: ClassEvidence = "auto",
    engine: Engine = "auto",
    rope: float | str | None = None,
    seed: int = 0,
    strict: bool = False,
    item: str | None = None,
    labels: Sequence[object] | None = None,
) -> Comparison:
    r"""Which model is better by a metric that is not a mean over items, for all pairs jointly, and how sure that is.

    The metric of each model is a function of the items' weights. With one unit left out at a time (an item, or a
    cluster; within groups, whose shares stay), $r_u = (n - n_u)(\theta - \theta_{-u})$ are the residuals that a mean
    would have, and the margin of every pair is the outer skew-t of these, as in `compare`, with Satterthwaite's
    degrees of freedom for their kurtosis: few items may carry the whole difference. Of more than 300 units only those
    that move the metric most are left out; the residuals of the others come from its slopes. Soft labels are weights,
    so that the noise of the labels is in the spread between items, once. What annotators share is added as in
    `evaluate`, to first order. Accuracy is a mean over the items: its numbers are those of the zero-one score.

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: what `evaluate` takes as its reference. Of annotations it is inferred by `method` under `estimand`, with
            the `evidence` that `evaluate` has.
        metric: "accuracy", "precision", "recall", "f1", "macro-f1" (the mean over the labels that occur or are
            answered), "kappa" (Cohen's), "roc-auc", "average-precision" or "ece" (of the most probable label, in
            `n_bins` bins of equal width; lower is better, else higher is).
        label: the one that precision, recall, F1 and the areas are of. The second of two unless you say. A model
            answers with its most probable label (ties share), or by `threshold` as in `expected_confusion`.
        threshold: the probability from which on a model answers with the label, as in `expected_confusion`.
        n_bins: the number of bins of "ece", of equal width.
        groups, clusters, engine, rope, seed, strict: as in `compare`, `item` and `labels` as in `evaluate`.
        method: the truth method, where `truth` is annotations.
        estimand: as in `infer_truth`.
        evidence: as in `evaluate`.
        item: the column of items.
        labels: the names of the labels, in the order of the columns.

    Returns: a `Comparison`; `score` is the metric on all items that every model has (accuracy counts every item that a
    model has, as a score does), differences are a minus b. Where a metric is undefined
    for a model, or would be without one of the items, or rests on fewer than five items (that have the label or do not,
    or are answered so), what is not known is null with a `reason`, and P(best) is among the other models. `uncertainty`
    says which share of the variance comes from annotators and from labels.

    Errors: `InputError` for fewer than two models or an unusable option; `PosteriorError` for one unit alone, and where
    nothing is known of any model's metric.

    Source: Efron and Stein 1981, "The jackknife estimate of variance", doi:10.1214/aos/1176345462.

    >>> import probtruth as pt
    >>> good = [0.9, 0.8, 0.6, 0.7, 0.8, 0.3, 0.2, 0.1, 0.2, 0.4]
    >>> poor = [0.6, 0.4, 0.7, 0.9, 0.6, 0.6, 0.2, 0.5, 0.1, 0.3]
    >>> models = {name: [[1 - p, p] for p in row] for name, row in {"a": good, "b": poor}.items()}
    >>> comparison = pt.compare_metric(models, [1] * 5 + [0] * 5, metric="roc-auc", engine="exact")
    >>> comparison.ranking().select("model", "score").rows()
    [('a', 1.0), ('b', 0.88)]
    """
    if metric != "kappa" and points_of(rope) is not None:  # the others are proportions
        rope = points_of(rope)
    options = checked_options(engine, "new-items", rope, DRAWS, seed, strict)
    known, models, left = read_both(truth, predictions, LabelReading(item), labels, estimand)
    need_two(models.models)
    group_of = by_item(groups, known, models.index, "groups")
    cluster_of = by_item(clusters, known, models.index, "clusters")
    known, models = matched(known, models)
    inferred = truth_of(known, method, left, options.seed)
    together = align_all if metric == "accuracy" else align  # a mean needs no items in common
    used = on_evidence(inferred, together(models, inferred), evidence, options.seed)
    aligned = used.aligned.on_host()
    plan = design_of(aligned.items, group_of, cluster_of, None)
    need_spread(plan, aligned.audit)
    unit = np.arange(plan.n_items) if plan.unit is None else plan.unit
    chosen = weighted_metric(aligned, unit, metric, label, threshold, n_bins)
    scores = _linear(aligned, chosen)
    losses = np.full(len(aligned.models), np.nan)
    unknown: list[str | None] = [None] * len(losses)
    if chosen.name == "accuracy":  # which is a mean over the items, as any score is
        of_items = {"engine": engine, "rope": rope, "seed": seed, "strict": strict}
        compared = compare(used.behind(scores), group_of, cluster_of, **of_items)
    else:
        metrics = resampled(chosen.values, chosen.linear, chosen.of_answers, aligned.truth, plan)
        losses = scores.sign * metrics.estimate
        unknown = _unknown(metrics, chosen)
        if None not in unknown:
            raise PosteriorError(
                f"got {chosen.words} that is {unknown[0]}, and no model of which more is known, expected a number with "
                "a spread. Hint: add items, choose another metric, label or threshold, or compare by a scoring rule."
            )
        defined = np.flatnonzero([reason is None for reason in unknown])
        scores = used.behind(scores.part(defined, np.arange(plan.n_items)))
        estimate = _estimate_of(metrics.of(defined), scores, plan, chosen)
        compared = replace(conclude(estimate, options), audit=aligned.audit)
    settings = {"metric": chosen.name, "label": chosen.label, "threshold": threshold, "estimand": aligned.estimand}
    if chosen.name == "ece":
        settings["n_bins"] = n_bins
    compared = replace(
        compared,
        settings={**compared.settings, **settings},
        estimand=f"{compared.estimand}, against {QUESTIONS[aligned.estimand]}",
    )
    reason_of = dict(zip(aligned.models, unknown, strict=True))
    if not any(unknown):
        return compared
    return _with_unknown(compared, reason_of, losses, estimate.about)


def _estimate_of(metrics: Resampled, scores: Scores, plan: Design, metric: WeightedMetric) -> Estimate:
    """The estimate of the models whose metric is defined; `scores` are its first order."""
    order = np.argsort(np.array(scores.models), kind="stable")
    worst = -1.0 if metric.name == "kappa" else 0.0
    ends = np.sort(scores.sign * np.array([worst, 1.0])).tolist()
    about = About(
        models=scores.models,
        rule=metric.words,
        higher_is_better=metric.higher_is_better,
        audit=scores.audit,
        from_labels=True,
        of_means=False,
        range=(ends[0], ends[1]),
    )
    estimate = estimate_of_metrics(metrics, plan, order, about, scores.influence)
    estimate = replace(estimate, within=variances_within(scores, plan, scores.influence, None, order))
    notes = [*scores.cautions, *_few(estimate)]
    if all_single(scores):
        notes.append(NO_SECOND_VOTE)
    annotations = None if scores.labels is None else scores.labels.named_annotations
    if annotations is not None:
        estimate = of_annotators(scores, annotations, order, plan).added_to(estimate)
    return replace(estimate, about=replace(estimate.about, notes=(*notes, *estimate.about.notes)))


def _linear(aligned: AlignedOnHost, metric: WeightedMetric) -> Scores:
    """The metric as scores of the items, to first order, with all that labels and annotators leave unsure of it."""
    labels = LabelsBehind(
        label_losses=-metric.linear if metric.higher_is_better else metric.linear,
        truth=aligned.truth,
        estimand=aligned.estimand,
        shares=aligned.shares,
        n_votes=aligned.n_votes,
        log_probs=aligned.log_probs,
        annotations=aligned.annotations,
    )
    return Scores(
        values=(metric.linear * aligned.truth).sum(-1),
        models=aligned.models,
        items=aligned.items,
        rule=metric.words,
        higher_is_better=metric.higher_is_better,
        known=RuleFacts(range=(-1.0, 0.0) if metric.name == "accuracy" else None),
        labels=labels,
        audit=aligned.audit,
        item_rows=aligned.item_rows,
        item_order=aligned.item_rows is not None,
    )


def _few(estimate: Estimate) -> list[str]:
    """A warning where few units carry a difference."""
    pairs = estimate.items.of(slice(estimate.n_models, None))
    few = []
    for row, models in enumerate(combinations(estimate.names, 2)):
        if pairs.df[row, 0] < FEW and pairs.variance[row, 0] > 0:
            few.append(models)
    return [f"few items carry the difference of {pairs_of(few)}: their intervals are rough guides"] if few else []


def _unknown(metrics: Resampled, metric: WeightedMetric) -> list[str | None]:
    """Of each model why its metric, or the spread of that, is not known; None where it is."""
    reasons: list[str | None] = []
    for value, events, defined in zip(metrics.estimate, metric.events, metrics.defined, strict=True):
        if not np.isfinite(value):
            reasons.append(f"undefined: {metric.undefined}")
        elif events < FEWEST_EVENTS:
            reasons.append(f"based on {events:.3g} items of the rarer kind, with fewer than {FEWEST_EVENTS} not judged")
        else:
            reasons.append(None if defined else FRAGILE)
    return reasons


def _with_unknown(
    compared: Comparison, reason_of: Mapping[str, str | None], losses: ModelFloats, about: About
) -> Comparison:
    """The comparison with rows for the models whose metric is not known, or not its spread, and the reasons."""
    loss_of = {model: loss for model, loss in zip(reason_of, losses.tolist(), strict=True) if np.isfinite(loss)}
    notes = {}
    ranks = list(compared.ranks)
    for name, reason in sorted(reason_of.items()):
        if reason is not None:
            notes[name] = f"{about.rule} of {name!r} is {reason}"
            loss = loss_of.get(name)
            ranks.append(Rank(name, minus(loss) if about.higher_is_better else loss))
    pairs = list(compared.pairs)
    for a, b in combinations(sorted(reason_of), 2):
        reasons = [notes[name] for name in (a, b) if name in notes]
        if reasons:
            difference = loss_of[a] - loss_of[b] if {a, b} <= loss_of.keys() else None
            row = Pair(a, b, difference, reason="; ".join(reasons))
            pairs.append(in_own_units(row, about))
    pairs.sort(key=lambda row: row.models)
    warnings = (*notes.values(), *compared.warnings)
    return replace(compared, models=tuple(reason_of), pairs=pairs, ranks=ranks, warnings=warnings)
