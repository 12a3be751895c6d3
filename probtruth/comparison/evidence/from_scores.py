"""From scores that are held in memory, which are one part, to the evidence that a comparison takes from them."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.crossed import Crossed
from probtruth.comparison.evidence.design import Design
from probtruth.comparison.evidence.evidence import Evidence, Facts, FixedItems, steps_of
from probtruth.comparison.evidence.from_parts import evidence_of, reach
from probtruth.comparison.evidence.label_variance import label_locations, label_variance
from probtruth.comparison.evidence.moments import Location
from probtruth.comparison.evidence.parts import held
from probtruth.comparison.evidence.rectified import Rectified
from probtruth.comparison.evidence.replicates import FixedReplicates, cells_of, correlated_folds, notes_of
from probtruth.comparison.evidence.serial import serial_notes
from probtruth.comparison.evidence.unseen import Outcomes
from probtruth.comparison.options import PLAIN, Options
from probtruth.kernels.arrays import some_items
from probtruth.kernels.exact_sums import weighted_mean
from probtruth.types import Scores
from probtruth.types.scores import LabelsBehind


def of_scores(scores: Scores, plan: Design, options: Options = PLAIN, annotations: object = None) -> Evidence:
    """The evidence of scores under a design; `annotations` are those behind them, where their annotators matter."""
    structure, item_weights = plan.structure, plan.item_weights()
    gold = None if scores.gold is None else Rectified.of(scores, scores.gold, plan)
    influence = _influence(scores, plan) if gold is None else None  # what experts correct is a stand-in, however fitted
    evidence = evidence_of(
        held(scores.values if gold is None else gold.values, structure, scores.models),
        facts=Facts.of(scores) if gold is None else _anchored(Facts.of(scores)),
        design=plan,
        name=scores.items.__getitem__,
        fixed_items=_fixed_items(scores, item_weights, influence, options) if gold is None else gold,
        moved=None if influence is None else held(scores.values + influence, structure, scores.models),
        outcomes=_outcomes(scores.labels),
    )
    cells = cells_of(scores, plan, options, annotations)
    moments = evidence.moments
    if moments is not None and gold is not None:
        moments = gold.corrected(moments, evidence.order)
    if moments is not None and options.fold_correlation is not None and scores.replicates is None:
        moments = correlated_folds(moments, options.fold_correlation)
    return replace(
        evidence,
        moments=moments,
        gold=gold,
        crossed=None if cells is None else Crossed(cells, evidence.order, item_weights),
        notes=(*notes_of(scores, options, item_weights, cells), *_serial(scores, plan, options, evidence)),
    )


def _anchored(facts: Facts) -> Facts:
    """The facts without the entropy of the inferred classes, which is not that of the experts' answers."""
    return replace(facts, known=replace(facts.known, entropy=None))


def _serial(scores: Scores, plan: Design, options: Options, evidence: Evidence) -> tuple[str, ...]:
    return () if options.these_items or scores.gold is not None else serial_notes(scores, plan, evidence.means)


def _outcomes(behind: LabelsBehind | None) -> Outcomes | None:
    """What the labels that did not come would cost, on the items that stand for all; None without forecasts."""
    if behind is None or behind.log_probs is None or behind.sampled is None:
        return None
    log_probs, truth = (some_items(table, behind.sampled) for table in (behind.log_probs, behind.truth))
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


def _fixed_items(
    scores: Scores,
    item_weights: Float[np.ndarray, " item"],
    influence: Float[np.ndarray, "model item"] | None,
    options: Options,
) -> FixedItems:
    if scores.labels is None and scores.replicates is not None:
        return FixedReplicates(scores, item_weights, options.fold_correlation)
    return FixedLabels(scores, item_weights, influence)


@dataclass(frozen=True, eq=False)
class FixedLabels:
    """What the labels leave unsure, the items held fixed; `influence` is what each does through fitted weights."""

    scores: Scores
    item_weights: Float[np.ndarray, " item"]
    influence: Float[np.ndarray, "model item"] | None = None

    def variance(self, a: int, b: int) -> float | None:
        """The labels' part of the variance of a mean difference; see `label_variance`.

        Where weights were fitted to uncertain classes it is what the comparison has beyond the items' own variance,
        which is that of the expected losses and of the losses around them.
        """
        within = label_variance(self.scores, a, b, self.item_weights)
        if within is None or self.influence is None:
            return within
        expected = self.scores.values[a] - self.scores.values[b]
        moved = expected + self.influence[a] - self.influence[b]
        spread = [_variance(row, self.item_weights) for row in (moved, expected)]
        return max(spread[0] - spread[1] - within, 0.0)

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        """See `label_locations`."""
        return label_locations(self.scores, order, self.item_weights)


def _variance(row: Float[np.ndarray, " item"], item_weights: Float[np.ndarray, " item"]) -> float:
    return weighted_mean((row - weighted_mean(row, item_weights)) ** 2, item_weights**2)


def reach_of(scores: Scores) -> float:
    """The largest difference that two scores of an item can have; 0 where that is not known."""
    return reach(scores.known.range, steps_of(scores.values))
