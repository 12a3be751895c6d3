"""All that a comparison takes from scores: the facts, the sums over the items, and what single items say."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.design import Design, known_weights
from probtruth.comparison.fixed_items import FixedLabels, FixedReplicates
from probtruth.comparison.location import GroupMeans, Location, correlated_folds
from probtruth.comparison.moments import Moments
from probtruth.comparison.options import Options
from probtruth.comparison.rectified import Rectified
from probtruth.comparison.serial import serial_notes
from probtruth.comparison.shared_units import Shared, of_annotators, of_replicates
from probtruth.comparison.unseen import Outcomes, Worst
from probtruth.errors import InputError
from probtruth.kernels.arrays import some_items, to_host
from probtruth.types import Audit, RuleFacts, Scores

SHOWN = 3  # Items of infinite score that a warning names
FROM_SUMS = "computed from sums: tests of single items, the labels' share and outcomes that were not seen are left out"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the scores say of themselves; see `Scores`."""

    models: tuple[str, ...]
    rule: str
    higher_is_better: bool
    known: RuleFacts = field(default_factory=RuleFacts)
    n_replicates: int = 1
    audit: Audit = field(default_factory=Audit)
    from_labels: bool = False
    single_votes: bool = False
    no_second_vote: bool = False  # every label is an opinion of which there is no second
    of_means: bool = True

    @classmethod
    def of(cls, scores: Scores) -> "Facts":
        labels, votes = scores.labels, scores.n_votes
        return cls(
            models=scores.models,
            rule=scores.rule,
            higher_is_better=scores.higher_is_better,
            known=scores.known,
            n_replicates=1 if scores.replicates is None else scores.replicates.most,
            audit=scores.audit,
            from_labels=labels is not None,
            single_votes=votes is not None and bool((votes == 1).any()),
            no_second_vote=labels is not None
            and labels.estimand != "class"
            and votes is not None
            and bool((votes == 1).all()),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """The facts, and what was summed up; `values` are the losses of all items, None where only sums are known.

    `order` are the models with finite scores, by name. With the items held fixed, `fixed_variance` is that of a
    difference (labels, or answers given again; None where not known), and `fixed_locations` the posterior.
    """

    facts: Facts
    design: Design
    values: Float[np.ndarray, "model item"] | None
    means: Float[np.ndarray, " model"]
    n_infinite: Int[np.ndarray, " model"]
    infinite_items: Sequence[Sequence[str]]
    order: Int[np.ndarray, " finite"]
    moments: GroupMeans | None
    fixed_variance: Callable[[int, int], float | None] = lambda a, b: None
    fixed_locations: Callable[[Int[np.ndarray, " finite"]], tuple[Location, Location]] | None = None
    gold: Rectified | None = None
    shared: Shared | None = None
    notes: tuple[str, ...] = ()
    outcomes: Outcomes | None = None
    range: tuple[float, float] | None = None  # of a loss, where that is known

    @property
    def names(self) -> list[str]:
        """The models with finite scores, by name."""
        return [self.facts.models[row] for row in self.order]

    @property
    def bound(self) -> float:
        """The largest difference that two scores of an item can have; infinite where that is not known."""
        return math.inf if self.range is None else self.range[1] - self.range[0]

    def worst_unseen(self, mean: float, low: float, high: float, a: int, b: int) -> Worst | None:
        """The worst that the unseen could do to the leader of a pair whose differences, a minus b, are low to high."""
        if mean == 0 or (self.outcomes is None and self.range is None):
            return None
        largest, lead, other = (high, a, b) if mean < 0 else (-low, b, a)
        if self.outcomes is not None:
            size = self.outcomes.size(int(self.order[lead]), int(self.order[other]))
        else:
            size = self.bound if largest < self.bound else None
        return Worst.of(-abs(mean), size, self.design.n_units)


def of_moments(moments: Moments, weights: object) -> Evidence:
    """The evidence of sums alone."""
    structure = moments.structure
    plan = Design(moments.groups, structure, np.ones(1), cluster_names=moments.cells if moments.clustered else None)
    if plan.grouped:
        plan = replace(plan, weights=known_weights(weights, moments.groups, structure.n_items))
    elif weights is not None:
        raise InputError("weights without groups", "groups to weight", "Leave weights out.")
    known = {name: getattr(moments, name) for name in ("models", "rule", "higher_is_better", "known")}
    return Evidence(
        facts=Facts(**known),
        design=plan,
        values=None,
        means=moments.means(plan.weights),
        n_infinite=moments.infinite.sum((0, 2)),
        infinite_items=[()] * len(moments.models),
        order=np.flatnonzero(moments.finite),
        moments=moments.group_means() if moments.finite.any() else None,
        shared=moments.shared(plan.weights),
        notes=(FROM_SUMS,),
        range=moments.range,
    )


def of_scores(scores: Scores, plan: Design, options: Options, annotations: object = None) -> Evidence:
    """The evidence of scores under a design; `annotations` are those behind them, where their annotators matter."""
    item_weights, facts, values = plan.item_weights(), Facts.of(scores), scores.losses
    gold = None if scores.gold is None else Rectified.of(scores, scores.gold, plan)
    fixed: FixedReplicates | FixedLabels | Rectified
    if gold is not None:
        # what experts correct is a stand-in, however fitted, and its entropy is not that of the answers
        facts, values, fixed = replace(facts, known=replace(facts.known, entropy=None)), gold.values, gold
    elif scores.labels is None and scores.replicates is not None:
        fixed = FixedReplicates(scores, scores.replicates, item_weights, options.fold_correlation)
    else:
        influence = _influence(scores, plan)
        fixed = FixedLabels(scores, item_weights, influence)
        values = values if influence is None else values + influence
    sums = Moments.made(scores, values, plan)
    by_name = np.argsort(np.array(scores.models), kind="stable")
    order, back = by_name[sums.finite], np.argsort(by_name)
    means, n_infinite = sums.means(plan.weights)[back], sums.infinite.sum((0, 2))[back]
    moments = sums.group_means() if len(order) else None
    shared, kind = None, options.replicates
    if annotations is not None:
        if kind is not None:
            hint = "Scores against annotators' labels have no replicates."
            raise InputError(f"annotations with replicates={kind!r}", "one of the two", hint)
        shared = of_annotators(scores, annotations, order, plan)
    elif kind == "crossed":
        shared = of_replicates(scores, order, plan)
    elif kind == "folds" and plan.n_clusters is not None:
        raise InputError("replicates='folds' with clusters", "folds that are not clustered", "Leave clusters out.")
    elif kind == "independent" and scores.replicates is None:
        raise InputError("replicates='independent' without replicates", "repeated scores", "Give replicate=COLUMN.")
    notes = () if shared is None else shared.notes()
    if kind == "folds" and scores.replicates is not None and not options.these_items:
        notes += ("folds are replicates of the items here: their correlation stays inside each item's mean",)
    if kind is None and scores.replicates is not None and scores.replicates.names:
        notes += of_replicates(scores, order, plan).beyond_chance(scores.models)
    if moments is not None and gold is not None:
        moments = gold.corrected(moments, order)
    if moments is not None and options.fold_correlation is not None and scores.replicates is None:
        moments = correlated_folds(moments, options.fold_correlation)
    if gold is None and not options.these_items:
        notes += serial_notes(scores, plan, means)
    infinite = [
        [scores.items[item] for item in np.flatnonzero(np.isinf(row))[:SHOWN]] if count else []
        for row, count in zip(values, n_infinite, strict=True)
    ]
    outcomes, behind = None, scores.labels
    if behind is not None and behind.log_probs is not None and behind.sampled is not None:
        # what the labels that did not come would cost, on the items that stand for all
        log_probs, truth = (some_items(table, behind.sampled) for table in (behind.log_probs, behind.truth))
        outcomes = Outcomes.of(to_host(behind.losses_of(items=behind.sampled)), log_probs, truth, behind.estimand)
    return Evidence(
        facts=facts,
        design=plan,
        values=values,
        means=means,
        n_infinite=n_infinite,
        infinite_items=infinite,
        order=order,
        moments=moments,
        fixed_variance=fixed.variance,
        fixed_locations=None if isinstance(fixed, Rectified) else fixed.locations,
        gold=gold,
        shared=shared,
        notes=notes,
        outcomes=outcomes,
        range=sums.range,
    )


def _influence(scores: Scores, plan: Design) -> Float[np.ndarray, "model item"] | None:
    """What each item does through fitted weights, centred in every group; items' weights are equal within a group."""
    if scores.labels is None or scores.labels.influence is None:
        return None
    centred = scores.labels.influence.copy()
    of_item = plan.structure.of_item()
    for group in range(plan.n_groups):
        items = np.nonzero(of_item == group)[0]
        centred[:, items] -= centred[:, items].mean(1, keepdims=True)
    return centred
