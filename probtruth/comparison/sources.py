"""From scores, or from sums of them, to the estimate: the parts of its variance, and what must be said."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from probtruth import check
from probtruth.comparison.boards.boards import Board, with_filled_labels
from probtruth.comparison.estimation.design import Design, group_weights
from probtruth.comparison.estimation.estimate import About, Estimate, VarianceOf
from probtruth.comparison.estimation.fixed_items import fixed_estimate, fixed_variance
from probtruth.comparison.estimation.means import correlated_folds, estimate_of
from probtruth.comparison.estimation.moments import Moments, influence_of
from probtruth.comparison.estimation.rectified import Rectified
from probtruth.comparison.estimation.serial import serial_notes
from probtruth.comparison.estimation.shared_units import Shared, of_annotators, of_replicates
from probtruth.comparison.options import Options
from probtruth.comparison.results.unseen import SEEN, Outcomes
from probtruth.errors import InputError
from probtruth.kernels.arrays import some_items, to_host
from probtruth.kernels.shapes import ModelItem
from probtruth.types import Scores
from probtruth.types.score_rows import OF_FOLDS
from probtruth.types.scores import sampled_items

SHOWN = 3  # Items of infinite score that a warning names
FROM_SUMS = "computed from sums: tests of single items, the labels' share and outcomes that were not seen are left out"
FIXED_FOLDS = "folds are replicates of the items here: their correlation stays inside each item's mean"


def of_moments(moments: Moments, weights: object, options: Options) -> Estimate:
    """The estimate from sums."""
    plan = moments.design
    if options.these_items:
        _refuse_fixed()
    if plan.grouped:
        plan = replace(plan, weights=group_weights(weights, moments.groups, plan.group_sizes))
    elif weights is not None:
        raise InputError("weights without groups", "groups to weight", "Leave weights out.")
    board = None
    if moments.has_holes:
        board = Board.of(moments, plan)
        moments = board.moments()
    n_infinite = moments.infinite.sum((0, 2)).tolist()
    infinite = {model: (n, ()) for model, n in zip(moments.models, n_infinite, strict=True) if n}
    about = About(
        rule=moments.rule,
        higher_is_better=moments.higher_is_better,
        models=moments.models,
        means=moments.means(plan),
        known=moments.known,
        infinite=infinite,
        notes=(FROM_SUMS, *moments.cautions),
        range=moments.range,
    )
    if board is not None:
        return board.estimate(moments, about)
    estimate = estimate_of(moments, plan, about)
    if moments.annotators is None:
        return estimate
    models = np.arange(len(moments.models))
    shared = Shared("annotator", [(models, moments.annotators)], plan.weights)
    return _with_shared(estimate, shared, estimate.order)


def of_scores(scores: Scores, plan: Design, options: Options, annotations: object = None) -> Estimate:
    """The estimate from scores under a design; `annotations` are those behind them, where their annotators matter."""
    gold = None
    influence = None
    values = scores.losses
    if scores.gold is not None:
        gold = Rectified.of(scores, scores.gold, plan)
        values = gold.values
    else:
        influence = influence_of(scores, plan)
        if annotations is None and scores.labels is not None:
            annotations = scores.labels.named_annotations
    _refuse_replicates(scores, plan, options, annotations)
    complete = scores
    if np.isnan(values).any():
        _refuse_holes(scores, options)
        board = Board.of(Moments.made(scores, values, plan), plan)
        moments = board.moments(influence)
        estimate = board.estimate(moments, _about(scores, plan, moments, values, gold, options.seed))
        complete = with_filled_labels(scores, plan)
    else:
        if influence is not None:
            values = values + influence
        moments = Moments.made(scores, values, plan)
        estimate = estimate_of(moments, plan, _about(scores, plan, moments, values, gold, options.seed))
    order = estimate.order
    if gold is not None:
        estimate = gold.corrected(estimate, order)
    if options.fold_correlation is not None and scores.replicates is None:
        estimate = correlated_folds(estimate, options.fold_correlation)
    within = _within(complete, plan, influence, gold, order)
    if estimate.about.no_second_vote:  # what labels have of the variance cannot be told
        within = {"labels": lambda a, b: None}
    estimate = replace(estimate, within=within)
    if options.these_items:
        if gold is not None:
            _refuse_fixed()
        mean, part = fixed_estimate(complete, plan.item_weights, options.fold_correlation, order)
        name = "replicates" if scores.labels is None else "labels"
        estimate = replace(estimate, mean=mean, parts={name: part}, n_units=plan.n_items, centre=None, plain=None)
    shared: Shared | None = None
    if annotations is not None:
        shared = of_annotators(complete, annotations, order, plan)
    elif options.replicates == "crossed" or (scores.replicates is not None and scores.replicates.what == "annotator"):
        shared = of_replicates(scores, order, plan)
    elif options.replicates is None and scores.replicates is not None:
        shared = of_replicates(scores, order, plan, named=False)
    if shared is not None:
        estimate = _with_shared(estimate, shared, order)
    notes = estimate.about.notes
    repeated = scores.replicates
    folds = options.replicates == "folds"
    if gold is None:
        notes += tuple(one for one in scores.cautions if not (folds and one.startswith(OF_FOLDS)))
    if folds and repeated is not None and not options.these_items:
        notes += (FIXED_FOLDS,)
    if shared is not None and not shared.named:
        notes += shared.beyond_chance(scores.models)
    if gold is None and not options.these_items:
        notes += serial_notes(scores, plan, estimate.means)
    return replace(estimate, about=replace(estimate.about, notes=notes))


def _refuse_fixed() -> None:
    problem = "population='these-items' with sums, or with gold"
    raise InputError(problem, "scores of the items, whose labels are unsure", "Leave the population out.")


def _refuse_replicates(scores: Scores, plan: Design, options: Options, annotations: object) -> None:
    kind = options.replicates
    by_annotator = scores.replicates is not None and scores.replicates.what == "annotator"
    if annotations is not None and by_annotator:
        raise InputError("annotations with scores by annotator", "one of the two", "Leave annotations out.")
    if annotations is not None and kind is not None:
        hint = "Scores against annotators' labels have no replicates."
        raise InputError(f"annotations with replicates={kind!r}", "one of the two", hint)
    if kind == "folds" and plan.n_clusters is not None:
        raise InputError("replicates='folds' with clusters", "folds that are not clustered", "Leave clusters out.")
    if kind is not None and by_annotator:
        hint = "Annotators' part of the variance always counts. Name other repeats by replicate."
        raise InputError(f"replicates={kind!r} with scores by annotator", "one of the two", hint)
    if kind == "independent" and scores.replicates is None:
        raise InputError("replicates='independent' without replicates", "repeated scores", "Give replicate=COLUMN.")


def _refuse_holes(scores: Scores, options: Options) -> None:
    """Raises for what is asked of scores that some models lack and needs all of them."""
    again = options.these_items and scores.labels is None
    asked = {"gold": scores.gold is not None, "population='these-items'": again}
    for what, needs_all in asked.items():
        if needs_all:
            lacks = [model for model, row in zip(scores.models, scores.values, strict=True) if np.isnan(row).any()]
            raise InputError(
                f"{what} with scores that {check.shortlist(lacks, 3)} lack",
                "a score of every model on every item",
                "Compare scores.common(), the items that all models have.",
            )


def _with_shared(estimate: Estimate, shared: Shared, models: Int[np.ndarray, " model"]) -> Estimate:
    """The estimate with the part of units that many items share; of one unit, nothing tells what it adds."""
    if shared.n_units < 2:
        return estimate
    part = shared.part(models)
    if not shared.named and not part.variance.any():
        return estimate
    about = estimate.about
    if shared.named:
        about = replace(about, notes=about.notes + shared.notes())
    name = f"{shared.what}s"
    of_new = {name: shared.part(models, counted=1.0)}
    return replace(estimate, about=about, parts={**estimate.parts, name: part}, of_new=of_new)


def _within(
    scores: Scores,
    plan: Design,
    influence: ModelItem | None,
    gold: Rectified | None,
    order: Int[np.ndarray, " finite"],
) -> Mapping[str, VarianceOf]:
    """What of the items' part labels, replicates or the answers that experts did not give make up."""
    if gold is not None:
        return {"labels": lambda a, b: gold.variance(int(order[a]), int(order[b]))}
    if scores.labels is None and (scores.replicates is None or scores.replicates.what == "annotator"):
        return {}
    weights = plan.item_weights

    def variance_of(a: int, b: int) -> float | None:
        pair = order[[a, b]]
        lacking = np.isnan(scores.values[pair]).any(0)
        if not lacking.any():
            return fixed_variance(scores, weights, influence, int(pair[0]), int(pair[1]))
        if lacking.all():
            return None
        of_shared = scores.part(pair, np.flatnonzero(~lacking))
        return fixed_variance(of_shared, weights[~lacking] / weights[~lacking].sum(), None, 0, 1)

    return {"replicates" if scores.labels is None else "labels": variance_of}


def _about(
    scores: Scores,
    plan: Design,
    moments: Moments,
    values: ModelItem,
    gold: Rectified | None,
    seed: int,
) -> About:
    back = np.argsort(np.argsort(np.array(scores.models), kind="stable"))  # from names in order to the caller's order
    infinite: dict[str, tuple[int, Sequence[str]]] = {}
    for at in np.flatnonzero(~moments.finite[back]):
        items = np.flatnonzero(np.isinf(values[at]))
        infinite[scores.models[at]] = (len(items), [scores.items[item] for item in items[:SHOWN]])
    behind = scores.labels
    votes = scores.n_votes
    single = np.zeros(0, bool) if votes is None else np.asarray(votes == 1)
    of_opinions = behind is not None and behind.estimand != "class"
    # what experts correct is a stand-in, however fitted, and its entropy is not that of the answers
    facts = scores.known if gold is None else replace(scores.known, entropy=None)
    return About(
        rule=scores.rule,
        higher_is_better=scores.higher_is_better,
        models=scores.models,
        means=moments.means(plan)[back],
        known=facts,
        n_replicates=scores.n_replicates,
        audit=scores.audit,
        from_labels=behind is not None,
        single_votes=bool(single.any()),
        no_second_vote=of_opinions and votes is not None and bool(single.all()),
        values=values,
        infinite=infinite,
        gold=gold,
        outcomes=_outcomes(scores, seed),
        range=moments.range,
    )


def _outcomes(scores: Scores, seed: int) -> Outcomes | None:
    """What the labels that did not come would cost, on the items that stand for all."""
    behind = scores.labels
    if behind is None or behind.log_probs is None:
        return None
    n_items, n_labels = behind.truth.shape
    items = sampled_items(n_items, n_labels, seed)
    log_probs = to_host(some_items(behind.log_probs, items))
    truth = to_host(some_items(behind.truth, items))
    losses = to_host(behind.losses_of(items=items))
    return Outcomes(losses, log_probs, truth >= SEEN[behind.estimand])
