"""From scores, or from sums of them, to the estimate: the parts of its variance, and what must be said."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from probtruth import check
from probtruth.comparison.boards.boards import board_estimate, with_filled_labels
from probtruth.comparison.boards.notes import lacking
from probtruth.comparison.estimation.design import Design, group_weights
from probtruth.comparison.estimation.estimate import About, Estimate, VarianceOf
from probtruth.comparison.estimation.fixed_items import fixed_part, fixed_variance
from probtruth.comparison.estimation.means import correlated_folds, estimate_of
from probtruth.comparison.estimation.moments import Moments, influence_of
from probtruth.comparison.estimation.rectified import Rectified
from probtruth.comparison.estimation.serial import serial_notes
from probtruth.comparison.estimation.shared_units import Shared, of_annotators, of_replicates
from probtruth.comparison.options import Options
from probtruth.comparison.results.unseen import SEEN, Outcomes
from probtruth.errors import InputError
from probtruth.kernels.arrays import some_items, to_host
from probtruth.kernels.shapes import FiniteInts, ModelItem
from probtruth.types import LabelsBehind, Scores
from probtruth.types.index import positions
from probtruth.types.score_rows import OF_FOLDS
from probtruth.types.scores import sampled_items

SHOWN = 3  # Items of infinite score that a warning names
FROM_SUMS = "computed from sums: tests of single items, the labels' share and outcomes that were not seen are left out"
FIXED_FOLDS = "folds are replicates of the items here: their correlation stays inside each item's mean"
SINGLE_VOTES = (
    "items with a single vote: their labels are taken to be as uncertain as the models' average prediction says"
)
NO_SECOND_VOTE = (
    "one vote an item: what comes from the choice of items and what from the annotators cannot be told apart; a second "
    "vote on some items would tell"
)


def of_moments(moments: Moments, weights: object, options: Options) -> Estimate:
    """The estimate from sums."""
    plan = moments.design
    if options.these_items:
        _refuse_fixed()
    if plan.grouped:
        plan = replace(plan, weights=group_weights(weights, moments.groups, plan.group_sizes))
    elif weights is not None:
        raise InputError("weights without groups", "groups to weight", "Leave weights out.")
    notes = []
    for model, count in zip(moments.models, moments.infinite.sum((0, 2)).tolist(), strict=True):
        if count:
            notes.append(_infinite(model, count, plan.n_items, ""))
    about = About(
        rule=moments.rule,
        higher_is_better=moments.higher_is_better,
        models=moments.models,
        known=moments.known,
        notes=(*notes, FROM_SUMS, *moments.cautions),
    )
    estimate = _estimated(moments, plan, about)
    sums = moments.annotators
    if sums is None:
        return estimate
    units = sums.of_models(estimate.order).units(plan.weights)
    return Shared("annotator", units, sums.n_units, sums.most_in_group).added_to(estimate)


def _estimated(moments: Moments, plan: Design, about: About, influence: ModelItem | None = None) -> Estimate:
    """The estimate from sums, also of a board with holes, whose items move the means by `influence` besides."""
    about = replace(about, range=moments.range)
    finite = moments.of_finite()
    if moments.has_holes and finite.models:
        about = replace(about, notes=(*about.notes, *lacking(moments)))
        more = None if influence is None else influence[positions(about.models, finite.models)]
        estimate = board_estimate(finite, plan, about, more)
    else:
        estimate = estimate_of(finite, plan, about)
    up, down = moments.infinite[..., plan.weights > 0].any(-1)
    means = np.full(len(moments.models), np.nan)  # unknown where scores of groups without weight are infinite
    means[moments.finite] = estimate.over_groups().mean[: estimate.n_models, 0]
    means[up & ~down] = np.inf
    means[down & ~up] = -np.inf
    order = [moments.models.index(name) for name in about.models]
    return replace(estimate, about=replace(estimate.about, means=means[order]))


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
    _refuse(scores, plan, options, annotations)
    if influence is not None and not np.isnan(values).any():
        values = values + influence
    about = _about(scores, values, gold, options)
    estimate = _estimated(Moments.made(scores, values, plan), plan, about, influence)
    complete = scores if estimate.about.shared_items is None else with_filled_labels(scores, plan)
    order = estimate.order
    if gold is not None:
        estimate = gold.corrected(estimate, order)
    repeated = scores.replicates
    if options.fold_correlation is not None and repeated is None:
        estimate = correlated_folds(estimate, options.fold_correlation)
    if gold is not None or scores.labels is not None or (repeated is not None and repeated.what != "annotator"):
        estimate = replace(estimate, within=variances_within(complete, plan, influence, gold, order))
    if options.these_items:
        part = fixed_part(complete, plan.item_weights, influence, options.fold_correlation, order)
        name = "replicates" if scores.labels is None else "labels"
        means = estimate.over_groups().mean
        estimate = replace(estimate, mean=means, parts={name: part}, n_units=plan.n_items)
        estimate = replace(estimate, together=None, centre=None, plain=None, ends=None)
    shared: Shared | None = None
    named = options.replicates == "crossed" or (repeated is not None and repeated.what == "annotator")
    if annotations is not None:
        shared = of_annotators(complete, annotations, order, plan)
    elif len(order) and (named or (repeated is not None and options.replicates is None)):
        shared = of_replicates(scores, order, plan, named)
    if shared is not None:
        estimate = shared.added_to(estimate)
    notes = list(estimate.about.notes)
    folds = options.replicates == "folds"
    if gold is None:
        notes += [one for one in scores.cautions if not (folds and one.startswith(OF_FOLDS))]
    if folds and repeated is not None and not options.these_items:
        notes.append(FIXED_FOLDS)
    if shared is not None and not shared.named:
        notes += shared.beyond_chance(estimate.names)
    if gold is None and not options.these_items:
        notes += serial_notes(scores, plan, estimate.about.means)
    return replace(estimate, about=replace(estimate.about, notes=tuple(notes)))


def _refuse_fixed() -> None:
    problem = "population='these-items' with sums, or with gold"
    raise InputError(problem, "scores of the items, whose labels are unsure", "Leave the population out.")


def _refuse(scores: Scores, plan: Design, options: Options, annotations: object) -> None:
    """Raises for what does not go together."""
    kind = options.replicates
    repeated = scores.replicates
    by_annotator = repeated is not None and repeated.what == "annotator"
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
    if kind == "independent" and repeated is None:
        raise InputError("replicates='independent' without replicates", "repeated scores", "Give replicate=COLUMN.")
    again = options.these_items and scores.labels is None
    with_holes = np.isnan(scores.values).any(1)
    lacks = [scores.models[at] for at in np.flatnonzero(with_holes)]
    if lacks and (again or scores.gold is not None):
        raise InputError(
            f"{'gold' if scores.gold is not None else "population='these-items'"} with scores that "
            f"{check.shortlist(lacks, 3)} lack",
            "a score of every model on every item",
            "Compare scores.common(), the items that all models have.",
        )
    if options.these_items and scores.gold is not None:
        _refuse_fixed()


def _infinite(model: str, n: int, n_items: int, which: str) -> str:
    return f"model {model!r} has an infinite score on {n} of {n_items} items{which}: its mean is infinite"


def variances_within(
    scores: Scores,
    plan: Design,
    influence: ModelItem | None,
    gold: Rectified | None,
    order: FiniteInts,
) -> Mapping[str, VarianceOf]:
    """What of the items' part labels, replicates or the answers that experts did not give make up."""
    if gold is not None:
        return {"labels": lambda a, b: gold.variance(int(order[a]), int(order[b]))}
    if all_single(scores):  # what labels have of the variance cannot be told
        return {"labels": lambda a, b: None}
    weights = plan.item_weights

    def variance_of(a: int, b: int) -> float | None:
        pair = order[[a, b]]
        first, second = pair.tolist()
        lacking = np.isnan(scores.values[pair]).any(0)
        if not lacking.any():
            return fixed_variance(scores, weights, influence, first, second)
        if lacking.all():
            return None
        shared = np.flatnonzero(~lacking)
        of_shared = weights[shared]
        return fixed_variance(scores.part(pair, shared), of_shared / of_shared.sum(), None, 0, 1)

    return {"replicates" if scores.labels is None else "labels": variance_of}


def all_single(scores: Scores) -> bool:
    """Whether every label is an opinion of which there is no second."""
    behind = scores.labels
    if behind is None or behind.estimand == "class" or behind.n_votes is None:
        return False
    return bool((behind.n_votes == 1).all())


def _about(scores: Scores, values: ModelItem, gold: Rectified | None, options: Options) -> About:
    behind = scores.labels
    notes = []
    for at, infinite in enumerate(np.isinf(values)):
        items = np.flatnonzero(infinite).tolist()
        if not items:
            continue
        names = [scores.items[item] for item in items]
        which = f" ({check.shortlist(names, SHOWN)})"
        note = _infinite(scores.models[at], len(items), len(scores.items), which)
        if behind is not None:
            note += "; set a floor, or use a rule such as 'brier'"
        notes.append(note)
    outcomes = None
    if behind is not None:
        if options.these_items and behind.n_votes is not None and (behind.n_votes == 1).any():
            notes.append(SINGLE_VOTES)
        if not options.these_items and all_single(scores):
            notes.append(NO_SECOND_VOTE)
        outcomes = _outcomes(behind, options.seed)
    # what experts correct is a stand-in, however fitted, and its entropy is not that of the answers
    facts = scores.known if gold is None else replace(scores.known, entropy=None)
    return About(
        rule=scores.rule,
        higher_is_better=scores.higher_is_better,
        models=scores.models,
        known=facts,
        n_replicates=scores.n_replicates,
        audit=scores.audit,
        from_labels=behind is not None,
        values=values,
        gold=gold,
        notes=tuple(notes),
        outcomes=outcomes,
    )


def _outcomes(behind: LabelsBehind, seed: int) -> Outcomes | None:
    """What the labels that did not come would cost, on the items that stand for all."""
    if behind.log_probs is None:
        return None
    n_items, n_labels = behind.truth.shape
    items = sampled_items(n_items, n_labels, seed)
    log_probs = to_host(some_items(behind.log_probs, items))
    truth = to_host(some_items(behind.truth, items))
    losses = to_host(behind.losses_of(items=items))
    return Outcomes(losses, log_probs, truth >= SEEN[behind.estimand])
