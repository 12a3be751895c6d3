"""All that a comparison takes from scores: the facts, the sums over the items, and what single items tell beside."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.design import Design, known_weights
from probtruth.comparison.labels import FixedLabels
from probtruth.comparison.location import GroupMeans, Location
from probtruth.comparison.moments import Moments, Steps, steps_of
from probtruth.comparison.options import Options
from probtruth.comparison.rectified import Rectified
from probtruth.comparison.replicates import FixedReplicates, correlated_folds, shared_of
from probtruth.comparison.serial import serial_notes
from probtruth.comparison.shared_units import Shared, of_replicates
from probtruth.comparison.unseen import Outcomes
from probtruth.errors import InputError
from probtruth.kernels.arrays import some_items
from probtruth.types import Audit, RuleFacts, Scores
from probtruth.types.scores import LabelsBehind

SHOWN = 3  # Items of infinite score that a warning names
FROM_SUMS = "computed from sums: tests of single items, the labels' share and outcomes that were not seen are left out"


def single_votes_only(estimand: str, n_votes: Int[np.ndarray, " item"] | None) -> bool:
    """Whether every label is an opinion of which there is no second: what annotators differ by cannot be told then."""
    return estimand != "class" and n_votes is not None and bool((n_votes == 1).all())


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
    no_second_vote: bool = False
    of_means: bool = True

    @classmethod
    def of(cls, scores: Scores) -> "Facts":
        return cls(
            models=scores.models,
            rule=scores.rule,
            higher_is_better=scores.higher_is_better,
            known=scores.known,
            n_replicates=scores.n_replicates,
            audit=scores.audit,
            from_labels=scores.labels is not None,
            single_votes=scores.labels is not None and scores.labels.forecast is not None,
            no_second_vote=scores.labels is not None and single_votes_only(scores.labels.estimand, scores.n_votes),
        )


@runtime_checkable
class FixedItems(Protocol):
    """What is unsure though the items are held fixed: their labels, or answers that would be given again."""

    def variance(self, a: int, b: int) -> float | None:
        """Its part of the variance of the difference of two models; None where that is not known."""

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        """The posterior of the pairs' mean differences and of the models' mean scores, the items held fixed."""


class Unknown:
    """Nothing is known of what is unsure though the items are fixed."""

    def variance(self, a: int, b: int) -> float | None:
        return None

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        raise InputError("population='these-items' with sums", "scores of the items", "Leave the population out.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """The facts, and what was summed up; `values` are the losses of all items, None where only sums are known.

    `order` are the models with finite scores, by name.
    """

    facts: Facts
    design: Design
    values: Float[np.ndarray, "model item"] | None
    means: Float[np.ndarray, " model"]
    n_infinite: Int[np.ndarray, " model"]
    infinite_items: Sequence[Sequence[str]]
    order: Int[np.ndarray, " finite"]
    moments: GroupMeans | None
    fixed_items: FixedItems
    gold: Rectified | None = None
    shared: Shared | None = None
    notes: tuple[str, ...] = ()
    outcomes: Outcomes | None = None
    reach: float = 0.0

    @property
    def names(self) -> list[str]:
        """The models with finite scores, by name."""
        return [self.facts.models[row] for row in self.order]


def reach(bounds: tuple[float, float] | None, steps: Steps | None) -> float:
    """The largest difference that two scores of an item can have; 0 where that is not known or infinite."""
    if bounds is not None:
        low, high = bounds
        return high - low if math.isfinite(high - low) else 0.0
    return 0.0 if steps is None else float(max(steps[1] - steps[0], 1))


def reach_of(scores: Scores) -> float:
    return reach(scores.known.range, steps_of(scores.losses))


def of_moments(moments: Moments, weights: object) -> Evidence:
    """The evidence of sums alone."""
    structure = moments.structure
    clusters = moments.cells if moments.clustered else None
    plan = Design(moments.groups, structure, np.ones(1), cluster_names=clusters)
    if plan.grouped:
        plan = replace(plan, weights=known_weights(weights, moments.groups, structure.n_items))
    elif weights is not None:
        raise InputError("weights without groups", "groups to weight", "Leave weights out.")
    facts = Facts(
        models=moments.models, rule=moments.rule, higher_is_better=moments.higher_is_better, known=moments.known
    )
    furthest = reach(moments.known.range, moments.steps)
    return Evidence(
        facts=facts,
        design=plan,
        values=None,
        means=moments.means(plan.weights),
        n_infinite=moments.infinite.sum((0, 2)),
        infinite_items=[()] * len(moments.models),
        order=np.flatnonzero(moments.finite),
        moments=moments.group_means(furthest) if moments.finite.any() else None,
        fixed_items=Unknown(),
        shared=moments.shared(plan.weights),
        notes=(FROM_SUMS,),
        reach=furthest,
    )


def of_scores(scores: Scores, plan: Design, options: Options, annotations: object = None) -> Evidence:
    """The evidence of scores under a design; `annotations` are those behind them, where their annotators matter."""
    item_weights, facts, values = plan.item_weights(), Facts.of(scores), scores.losses
    gold = None if scores.gold is None else Rectified.of(scores, scores.gold, plan)
    fixed_items: FixedItems
    if gold is not None:
        # what experts correct is a stand-in, however fitted, and its entropy is not that of the answers
        facts = replace(facts, known=replace(facts.known, entropy=None))
        values, fixed_items = gold.values, gold
    elif scores.labels is None and scores.replicates is not None:
        fixed_items = FixedReplicates(scores, scores.replicates, item_weights, options.fold_correlation)
    else:
        influence = _influence(scores, plan)
        fixed_items = FixedLabels(scores, item_weights, influence)
        values = values if influence is None else values + influence
    sums = Moments.made(scores, values, plan)
    place = {name: row for row, name in enumerate(scores.models)}
    by_name = np.array([place[name] for name in sums.models], np.int64)
    order, furthest = by_name[sums.finite], reach(facts.known.range, sums.steps)
    back = np.argsort(by_name)
    means = sums.means(plan.weights)[back]
    moments = sums.group_means(furthest) if len(order) else None
    shared = shared_of(scores, order, plan, options, annotations)
    notes = () if shared is None else shared.notes()
    if options.replicates == "folds" and scores.replicates is not None and not options.these_items:
        notes += ("folds are replicates of the items here: their correlation stays inside each item's mean",)
    if options.replicates is None and scores.replicates is not None and scores.replicates.names:
        notes += of_replicates(scores, order, plan).beyond_chance(scores.models)
    if moments is not None and gold is not None:
        moments = gold.corrected(moments, order)
    if moments is not None and options.fold_correlation is not None and scores.replicates is None:
        moments = correlated_folds(moments, options.fold_correlation)
    if gold is None and not options.these_items:
        notes += serial_notes(scores, plan, means)
    infinite = [
        [scores.items[item] for item in np.flatnonzero(np.isinf(row))[:SHOWN]] if count else []
        for row, count in zip(values, sums.infinite.sum((0, 2))[back], strict=True)
    ]
    return Evidence(
        facts=facts,
        design=plan,
        values=values,
        means=means,
        n_infinite=sums.infinite.sum((0, 2))[back],
        infinite_items=infinite,
        order=order,
        moments=moments,
        fixed_items=fixed_items,
        gold=gold,
        shared=shared,
        notes=notes,
        outcomes=_outcomes(scores.labels),
        reach=furthest,
    )


def _outcomes(behind: LabelsBehind | None) -> Outcomes | None:
    """What the labels that did not come would cost, on the items that stand for all; None without forecasts."""
    forecasts = None if behind is None else behind.log_probs
    if behind is None or forecasts is None or behind.sampled is None:
        return None
    log_probs, truth = (some_items(table, behind.sampled) for table in (forecasts, behind.truth))
    return Outcomes.of(behind.some_losses(behind.sampled), log_probs, truth, behind.estimand)


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
