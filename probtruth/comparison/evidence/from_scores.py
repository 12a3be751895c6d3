"""From scores to the evidence that a comparison takes: scores in memory, or in parts wherever these are.

The models are put in an order by their scores alone, so that names and the order in which they came change nothing.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.crossed import Crossed
from probtruth.comparison.evidence.design import Design
from probtruth.comparison.evidence.evidence import (
    NOWHERE,
    Evidence,
    Facts,
    FixedItems,
    Soundness,
    Steps,
    check_size,
    soundness,
    steps_of,
    weighted_means,
)
from probtruth.comparison.evidence.label_variance import FixedLabels
from probtruth.comparison.evidence.moments import moments_of
from probtruth.comparison.evidence.parts import Parts, held
from probtruth.comparison.evidence.rectified import Rectified
from probtruth.comparison.evidence.replicates import FixedReplicates, cells_of, correlated_folds, notes_of
from probtruth.comparison.evidence.serial import serial_notes
from probtruth.comparison.evidence.sweeps import RowSums, alone
from probtruth.comparison.evidence.unseen import Outcomes
from probtruth.comparison.options import Options
from probtruth.errors import InputError
from probtruth.kernels.arrays import some_items
from probtruth.kernels.later import as_held
from probtruth.types import Scores
from probtruth.types.scores import LabelsBehind

Key = tuple[object, ...]
Describe = Callable[[int | None], list[list[float]]]
"""Sums of powers of every model's scores, or (given a model) of that model's minus every model's."""


def evidence_of(
    parts: Parts,
    *,
    facts: Facts,
    design: Design,
    name: Callable[[int], str],
    fixed_items: FixedItems,
    moved: Parts | None = None,
    outcomes: Outcomes | None = None,
) -> Evidence:
    """The evidence of the parts.

    Arguments: `name` gives the name of an item from its code; `moved` are the parts with what else each item does to a
    mean, which counts in the spread (default: nothing); `outcomes` are what the labels that did not come would cost.

    Errors: `InputError` for NaN, and for scores too large or too small to be cubed.
    """
    sound = soundness(parts)
    _check(sound, facts, name)
    order = model_order(parts, np.nonzero(sound.whole)[0])
    counted = parts if moved is None else moved
    furthest = reach(facts.known.range, sound.steps)
    moments = moments_of(counted, order, sound.largest, furthest) if len(order) else None
    return Evidence(
        facts=facts,
        design=design,
        parts=counted,
        means=weighted_means(parts, sound, design.weights),
        n_infinite=sound.positive.sum(1) + sound.negative.sum(1),
        infinite_items=[[name(int(item)) for item in row if item != NOWHERE] for row in sound.infinite],
        order=order,
        moments=moments,
        fixed_items=fixed_items,
        outcomes=outcomes,
        reach=furthest,
    )


def reach(bounds: tuple[float, float] | None, steps: Steps | None) -> float:
    """The largest difference that two scores of an item can have; 0 where that is not known or infinite.

    Arguments: `bounds` of a loss, where they are known; else `steps` (see `steps_of`): scores of 0 and 1, or of 0 and
    -1, can differ by 1, scores of -1 and 1 by 2.
    """
    if bounds is not None:
        low, high = bounds
        return high - low if math.isfinite(high - low) else 0.0
    return 0.0 if steps is None else float(max(steps[1] - steps[0], 1))


def _check(sound: Soundness, facts: Facts, name: Callable[[int], str]) -> None:
    for model, item in zip(facts.models, sound.unknown, strict=True):
        if item != NOWHERE:
            raise InputError("NaN", "a number", "Remove the item.", f"model {model!r}, item {name(int(item))!r}")
    check_size(float(sound.largest.max(initial=0.0)))


def of_scores(scores: Scores, plan: Design, options: Options, annotations: object = None) -> Evidence:
    """The evidence of scores under a design; `annotations` are those behind them, where their annotators matter."""
    item_weights, facts, values, moved = plan.item_weights(), Facts.of(scores), scores.values, None
    gold = None if scores.gold is None else Rectified.of(scores, scores.gold, plan)
    fixed_items: FixedItems
    if (
        gold is not None
    ):  # what experts correct is a stand-in, however fitted, and its entropy is not that of the answers
        facts = replace(facts, known=replace(facts.known, entropy=None))
        values, fixed_items = gold.values, gold
    elif scores.labels is None and scores.replicates is not None:
        fixed_items = FixedReplicates(scores, scores.replicates, item_weights, options.fold_correlation)
    else:
        influence = _influence(scores, plan)
        fixed_items = FixedLabels(scores, item_weights, influence)
        moved = None if influence is None else held(values + influence, plan.structure, scores.models)
    evidence = evidence_of(
        held(values, plan.structure, scores.models),
        facts=facts,
        design=plan,
        name=scores.items.__getitem__,
        fixed_items=fixed_items,
        moved=moved,
        outcomes=_outcomes(scores.labels),
    )
    cells = cells_of(scores, plan, options, annotations)
    moments, notes = evidence.moments, notes_of(scores, options, item_weights, cells)
    if moments is not None and gold is not None:
        moments = gold.corrected(moments, evidence.order)
    if moments is not None and options.fold_correlation is not None and scores.replicates is None:
        moments = correlated_folds(moments, options.fold_correlation)
    if gold is None and not options.these_items:
        notes += serial_notes(scores, plan, evidence.means)
    crossed = None if cells is None else Crossed(cells, evidence.order, item_weights)
    return replace(evidence, moments=moments, gold=gold, crossed=crossed, notes=notes)


def _outcomes(behind: LabelsBehind | None) -> Outcomes | None:
    """What the labels that did not come would cost, on the items that stand for all; None without forecasts."""
    held = None if behind is None else as_held(behind, "log_probs")
    if behind is None or held is None or behind.sampled is None:
        return None
    log_probs, truth = (some_items(table, behind.sampled) for table in (held, behind.truth))
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


def reach_of(scores: Scores) -> float:
    """The largest difference that two scores of an item can have; 0 where that is not known."""
    return reach(scores.known.range, steps_of(scores.values))


def model_order(parts: Parts, models: Int[np.ndarray, " finite"]) -> Int[np.ndarray, " finite"]:
    """Those models, whose scores are finite, by content; see `by_content`."""

    def describe(first: int | None) -> list[list[float]]:
        rows = alone(models) if first is None else np.stack([np.full_like(models, models[first]), models], axis=1)
        listed: list[list[float]] = RowSums(parts, rows).described().tolist()
        return listed

    totals = RowSums(parts, alone(models)).totals_over_groups().tolist()
    order: np.ndarray = models[by_content(totals, [parts.models[model] for model in models], describe)]
    return order


def by_content(totals: Sequence[float], names: Sequence[str], describe: Describe) -> Int[np.ndarray, " model"]:
    """By mean, then by higher moments in each group, then by how a model differs from the others.

    Models that all of this leaves tied are exchanged by a permutation of the items, as far as means, variances and
    third moments can tell; only among those do the names decide.

    Arguments: `totals` of the models' scores; `describe` is asked for more only where they tie.
    """
    colours = _ranked([(total,) for total in totals])
    if len(set(colours)) < len(colours):
        own = describe(None)
        colours = _ranked([(colour, tuple(stats)) for colour, stats in zip(colours, own, strict=True)])
        for _ in range(len(totals)):
            finer = _refined(colours, describe)
            if len(set(finer)) == len(set(colours)):
                break
            colours = finer
    return np.array(sorted(range(len(totals)), key=lambda row: (colours[row], names[row])), np.int64)


def _refined(colours: Sequence[int], describe: Describe) -> list[int]:
    keys: list[Key] = []
    for row, colour in enumerate(colours):
        if colours.count(colour) == 1:
            keys.append((colour, ()))
            continue
        stats = describe(row)
        others = sorted((colours[other], tuple(stats[other])) for other in range(len(colours)) if other != row)
        keys.append((colour, tuple(others)))
    return _ranked(keys)


def _ranked(keys: Sequence[Key]) -> list[int]:
    position = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [position[key] for key in keys]
