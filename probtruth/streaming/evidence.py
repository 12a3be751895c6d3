"""From scores that lie in parts to the evidence that a comparison takes from them."""

from collections.abc import Callable

import numpy as np

from probtruth.comparison.companions.many_items import MOST, companions_of
from probtruth.comparison.companions.paired_tests import Companion, companions
from probtruth.comparison.evidence.evidence import Evidence, Facts, Strata
from probtruth.comparison.evidence.in_memory import LARGEST, reach
from probtruth.comparison.evidence.moments import Location, Structure
from probtruth.errors import InputError
from probtruth.streaming.moments import PartRows, moments_of, order_of, weighted_means
from probtruth.streaming.parts import Parts
from probtruth.streaming.soundness import NOWHERE, Soundness, soundness
from probtruth.streaming.sweeps import gathered


def evidence_of(
    parts: Parts,
    facts: Facts,
    strata: Strata,
    name: Callable[[int], str],
    bounds: tuple[float, float] | None = None,
    label_variance: Callable[[int, int], float | None] = lambda a, b: None,
    label_locations: Callable[[], tuple[Location, Location]] | None = None,
) -> Evidence:
    """The evidence of the parts.

    Arguments: `name` gives the name of an item from its code; `bounds` of a loss, where they are known; the two
    functions are asked for what the labels leave unsure.

    Errors: `InputError` for NaN, and for scores too large to be cubed.
    """
    found = soundness(parts)
    _check(found, facts, name)
    order = order_of(parts, np.nonzero(found.whole)[0])
    moments = None
    if len(order):
        moments = moments_of(parts, order, found.largest, reach(bounds, found.zero_or_one))
    return Evidence(
        facts,
        strata,
        weighted_means(parts, found, strata.weights),
        found.positive.sum(1) + found.negative.sum(1),
        tuple(tuple(name(int(item)) for item in row if item != NOWHERE) for row in found.infinite),
        order,
        moments,
        label_variance,
        label_locations or _fixed_items_unknown,
        lambda place: tests(parts, order, strata, place),
    )


def tests(parts: Parts, order: np.ndarray, strata: Strata, place: Location) -> list[Companion]:
    """The model-free tests; of more items than can be ranked those that need no item by itself."""
    if strata.n_items > MOST:
        return companions_of(lambda pairs: PartRows(parts, order[pairs]), len(order), strata.weights, place)
    part = gathered(parts)
    groups = np.zeros(len(part.item), np.int64) if part.group is None else part.group
    return companions(part.values[order], Structure.of(groups, part.unit), strata.weights, place)


def _check(found: Soundness, facts: Facts, name: Callable[[int], str]) -> None:
    for model, item in zip(facts.models, found.unknown, strict=True):
        if item != NOWHERE:
            raise InputError("NaN", "a number", "Remove the item.", f"model {model!r}, item {name(int(item))!r}")
    largest = float(found.largest.max(initial=0.0))
    if largest > LARGEST:
        raise InputError(f"a score of size {largest:g}", f"finite scores up to {LARGEST:g}", "Rescale the scores.")


def _fixed_items_unknown() -> tuple[Location, Location]:
    raise InputError(
        "population='these-items' for scores that are streamed",
        "new items",
        "Leave population out, or give the memory that the scores need.",
    )
