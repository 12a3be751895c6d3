"""From scores that lie in parts, wherever these are, to the evidence that a comparison takes from them."""

import math
from collections.abc import Callable

import numpy as np

from probtruth.comparison.evidence.design import Design
from probtruth.comparison.evidence.evidence import (
    NOWHERE,
    Evidence,
    Facts,
    FixedItems,
    ModelMeans,
    Soundness,
    Steps,
    check_size,
    soundness,
    weighted_means,
)
from probtruth.comparison.evidence.model_order import model_order
from probtruth.comparison.evidence.moments import moments_of
from probtruth.comparison.evidence.parts import Parts
from probtruth.comparison.evidence.unseen import Outcomes
from probtruth.errors import InputError


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
        totals=ModelMeans(
            means=weighted_means(parts, sound, design.weights),
            n_infinite=sound.positive.sum(1) + sound.negative.sum(1),
            infinite_items=[[name(int(item)) for item in row if item != NOWHERE] for row in sound.infinite],
        ),
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
