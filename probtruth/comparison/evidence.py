"""All that a comparison takes from scores: the facts, the sums over the items, and what single items say."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.design import Design, known_weights
from probtruth.comparison.fixed_items import fixed_location, fixed_variance
from probtruth.comparison.location import Location, Means, correlated_folds, means_from
from probtruth.comparison.moments import Moments, influence_of
from probtruth.comparison.options import Options
from probtruth.comparison.pairs import pair_rows_of, pairs_of
from probtruth.comparison.rectified import Rectified
from probtruth.comparison.serial import serial_notes
from probtruth.comparison.shared_units import Shared, of_annotators, of_replicates
from probtruth.comparison.unseen import SEEN, Outcomes
from probtruth.errors import InputError
from probtruth.kernels.arrays import some_items, to_host
from probtruth.types import Audit, RuleFacts, Scores

SHOWN = 3  # Items of infinite score that a warning names
FROM_SUMS = "computed from sums: tests of single items, the labels' share and outcomes that were not seen are left out"


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What the scores say of themselves (see `Scores`), and what was summed up; all numbers are of losses.

    `order` are the models with finite scores, by name, and `rows` their means and those of their pairs; `values` are
    the losses of all items, None where only sums are known. With the items held fixed, `fixed_variance` is that of a
    difference (labels, or answers given again; None where not known), and `fixed_location` the posterior.
    """

    models: tuple[str, ...]
    rule: str
    higher_is_better: bool
    design: Design
    means: Float[np.ndarray, " model"]
    order: Int[np.ndarray, " finite"]
    known: RuleFacts = field(default_factory=RuleFacts)
    n_replicates: int = 1
    audit: Audit = field(default_factory=Audit)
    from_labels: bool = False
    single_votes: bool = False
    no_second_vote: bool = False  # every label is an opinion of which there is no second
    of_means: bool = True
    values: Float[np.ndarray, "model item"] | None = None
    infinite: Mapping[str, tuple[int, Sequence[str]]] = field(default_factory=dict)  # how many items, and the first
    rows: Means | None = None
    fixed_variance: Callable[[int, int], float | None] = lambda a, b: None
    fixed_location: Callable[[Int[np.ndarray, " finite"]], Location] | None = None
    gold: Rectified | None = None
    shared: Shared | None = None
    notes: tuple[str, ...] = ()
    outcomes: Outcomes | None = None
    range: tuple[float, float] | None = None  # of a loss, where that is known

    @property
    def names(self) -> list[str]:
        """The models with finite scores, by name."""
        return [self.models[row] for row in self.order]

    @property
    def bound(self) -> float:
        """The largest difference that two scores of an item can have; infinite where that is not known."""
        return math.inf if self.range is None else self.range[1] - self.range[0]


def _rows(sums: Moments, plan: Design) -> Means | None:
    """The means of the models with finite scores and of their pairs."""
    models, n_models = np.flatnonzero(sums.finite), len(sums.models)
    if not len(models):
        return None
    pairs, bound = pairs_of(models), sums.range
    chosen = np.concatenate([models, n_models + pair_rows_of(pairs, n_models)])
    largest = np.concatenate([sums.largest[models], sums.largest[pairs].max(1)])
    pseudo = 0.0 if bound is None else bound[1] - bound[0]
    return means_from(sums.sums.of_rows(chosen), plan, largest, pseudo, len(models))


def of_moments(sums: Moments, weights: object) -> Evidence:
    plan = sums.design
    if plan.grouped:
        plan = replace(plan, weights=known_weights(weights, sums.groups, plan.group_sizes))
    elif weights is not None:
        raise InputError("weights without groups", "groups to weight", "Leave weights out.")
    units, n_infinite = sums.annotators, sums.infinite.sum((0, 2)).tolist()
    shared = None if units is None else Shared("annotator", [(np.arange(len(sums.models)), units)], plan.weights)
    return Evidence(
        models=sums.models,
        rule=sums.rule,
        higher_is_better=sums.higher_is_better,
        known=sums.known,
        design=plan,
        means=sums.means(plan),
        infinite={model: (n, ()) for model, n in zip(sums.models, n_infinite, strict=True) if n},
        order=np.flatnonzero(sums.finite),
        rows=_rows(sums, plan),
        shared=None if shared is None or shared.n_units < 2 else shared,
        notes=(FROM_SUMS, *sums.cautions),
        range=sums.range,
    )


def of_scores(scores: Scores, plan: Design, options: Options, annotations: object = None) -> Evidence:
    """The evidence of scores under a design; `annotations` are those behind them, where their annotators matter."""
    gold = None if scores.gold is None else Rectified.of(scores, scores.gold, plan)
    # what experts correct is a stand-in, however fitted, and its entropy is not that of the answers
    known = scores.known if gold is None else replace(scores.known, entropy=None)
    influence = None if gold is not None else influence_of(scores, plan)
    values = scores.losses if gold is None else gold.values
    values = values if influence is None else values + influence
    sums = Moments.made(scores, values, plan)
    by_name = np.argsort(np.array(scores.models), kind="stable")
    order, back = by_name[sums.finite], np.argsort(by_name)
    means, n_infinite = sums.means(plan)[back], sums.infinite.sum((0, 2))[back].tolist()
    rows, shared, kind, repeated = _rows(sums, plan), None, options.replicates, scores.replicates
    if annotations is None and gold is None and scores.labels is not None:
        annotations = scores.labels.named_annotations
    if annotations is not None:
        if kind is not None:
            hint = "Scores against annotators' labels have no replicates."
            raise InputError(f"annotations with replicates={kind!r}", "one of the two", hint)
        shared = of_annotators(scores, annotations, order, plan)
    elif kind == "crossed":
        shared = of_replicates(scores, order, plan)
    elif kind == "folds" and plan.n_clusters is not None:
        raise InputError("replicates='folds' with clusters", "folds that are not clustered", "Leave clusters out.")
    elif kind == "independent" and repeated is None:
        raise InputError("replicates='independent' without replicates", "repeated scores", "Give replicate=COLUMN.")
    shared = None if shared is None or shared.n_units < 2 else shared
    notes = () if shared is None else shared.notes()
    if gold is None:
        notes += scores.cautions
    if kind == "folds" and repeated is not None and not options.these_items:
        notes += ("folds are replicates of the items here: their correlation stays inside each item's mean",)
    if kind is None and repeated is not None and repeated.names:
        notes += of_replicates(scores, order, plan).beyond_chance(scores.models)
    if rows is not None and gold is not None:
        rows = gold.corrected(rows, order)
    if rows is not None and options.fold_correlation is not None and repeated is None:
        rows = correlated_folds(rows, options.fold_correlation)
    if gold is None and not options.these_items:
        notes += serial_notes(scores, plan, means)
    infinite = {
        model: (n, [scores.items[item] for item in np.flatnonzero(np.isinf(row))[:SHOWN]])
        for model, n, row in zip(scores.models, n_infinite, values, strict=True)
        if n
    }
    outcomes, behind, votes = None, scores.labels, scores.n_votes
    if behind is not None and behind.log_probs is not None and behind.sampled is not None:
        # what the labels that did not come would cost, on the items that stand for all
        log_probs, truth = (to_host(some_items(table, behind.sampled)) for table in (behind.log_probs, behind.truth))
        outcomes = Outcomes(to_host(behind.losses_of(items=behind.sampled)), log_probs, truth >= SEEN[behind.estimand])
    single = np.zeros(0, bool) if votes is None else np.asarray(votes == 1)
    within, fixed = partial(fixed_variance, scores, plan.item_weights, influence), None
    if gold is None:
        fixed = partial(fixed_location, scores, plan.item_weights, options.fold_correlation)
    return Evidence(
        models=scores.models,
        rule=scores.rule,
        higher_is_better=scores.higher_is_better,
        known=known,
        n_replicates=scores.n_replicates,
        audit=scores.audit,
        from_labels=behind is not None,
        single_votes=bool(single.any()),
        no_second_vote=behind is not None and behind.estimand != "class" and votes is not None and bool(single.all()),
        design=plan,
        values=values,
        means=means,
        infinite=infinite,
        order=order,
        rows=rows,
        fixed_variance=within if gold is None else gold.variance,
        fixed_location=fixed,
        gold=gold,
        shared=shared,
        notes=notes,
        outcomes=outcomes,
        range=sums.range,
    )
