"""Annotators from 1 to 60 and every share of the first one's votes: coverage, and the largest jump (ten minutes).

The difference of two models on each of 200 items, as annotator u sees it, is a_i + b_u + e_iu, with a and e normal of
sd 1 and b of the sd in the third column. The first annotator sees every item; the others share the votes that remain,
on items drawn at random, so that the first has the share of the weight in the second column ("even": all see all).
Cells: the effective number, the part of the annotators' standard deviation that counts, coverage of the mean over new
items and new annotators by the interval shown, by that of new annotators (in its own words "barely known" below 2), and
of the mean over new items and these annotators by that of these.

The walk adds votes one by one to those of one annotator on 300 items, up to 60 annotators: the largest move of an end
of the interval by one vote, in units of the wider interval's width.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from made_scores import estimated

from probtruth.comparison.estimation.design import Design
from probtruth.comparison.estimation.estimate import Estimate, Part
from probtruth.comparison.estimation.shared_units import Shared
from probtruth.comparison.estimation.unit_sums import UnitSums
from probtruth.comparison.posterior.margin import margins

RUNS = 300
ITEMS, LONG = 200, 300
UNITS, SHARES, SPREADS = (1, 2, 3, 5, 10, 20, 60), ("even", 0.6, 0.8, 0.95, 0.99), (0.0, 0.3, 1.0)
WALKS = {
    "one more annotator": lambda vote: 1,
    "ten in turn": lambda vote: 1 + vote % 10,
    "59 in turn": lambda vote: 1 + vote % 59,
    "40 votes by one, then a third": lambda vote: 1 if vote < 40 else 2,
}
STEPS = 120


def shown(
    item: np.ndarray, unit: np.ndarray, values: np.ndarray, n_items: int, n_units: int
) -> tuple[Shared, Estimate]:
    """The units, and the estimate without them, from cells by item."""
    count = np.bincount(item, minlength=n_items)
    means = np.bincount(item, values, n_items) / count
    plan = Design.of(np.zeros(n_items, int))
    names = tuple(map(str, range(n_units)))
    sums = UnitSums.of(names, item, unit, values[None], plan)
    return Shared("annotator", sums.units(np.ones(1)), n_units, n_units), estimated(means[None], plan)


def interval(estimate: Estimate, part: Part | None) -> tuple[float, float]:
    parts = estimate.parts if part is None else {**estimate.parts, "annotators": part}
    return margins(replace(estimate, parts=parts))[0].interval()


def votes(rng: np.random.Generator, n_units: int, share: float | str) -> np.ndarray:
    """Who sees which item: the first annotator all of them."""
    seen = np.zeros((ITEMS, n_units), bool)
    seen[:, 0] = True
    if share == "even":
        seen[:] = True
    elif n_units > 1:  # with one other vote on an item each has half of it
        items = round(2 * ITEMS * (1 - float(share)))
        which = rng.permutation(ITEMS)[: min(items, ITEMS)]
        seen[which, 1 + np.arange(len(which)) % (n_units - 1)] = True
    return seen


def cell(n_units: int, share: float | str, spread: float, runs: int) -> str:
    rng = np.random.default_rng([n_units, 0 if share == "even" else round(100 * float(share)), round(10 * spread)])
    held = np.zeros((runs, 3))
    told = np.zeros((runs, 2))
    for run in range(runs):
        seen = votes(rng, n_units, share)
        item, unit = np.nonzero(seen)
        bias = spread * rng.standard_normal(n_units)
        values = rng.standard_normal(ITEMS)[item] + bias[unit] + rng.standard_normal(len(item))
        shared, estimate = shown(item, unit, values, ITEMS, n_units)
        weight = (seen / seen.sum(1, keepdims=True)).mean(0)
        ends = [interval(estimate, shared.part(1)), interval(estimate, shared.part(1, counted=1.0))]
        ends.append(interval(estimate, None))
        truths = (0.0, 0.0, float(weight @ bias))
        held[run] = [low <= true <= high for (low, high), true in zip(ends, truths, strict=True)]
        told[run] = shared.effective, shared.units.spreads[0].counted
    effective, known = told.mean(0)
    return f"{effective:.2f} {known:.2f} " + " ".join(f"{share:.3f}" for share in held.mean(0))


def walk(name: str, spread: float, seed: int) -> float:
    """The largest move of an end by one vote."""
    rng = np.random.default_rng(seed)
    losses = rng.standard_normal((LONG, 1)) + spread * rng.standard_normal(60) + rng.standard_normal((LONG, 60))
    order = rng.permutation(LONG)
    seen = np.zeros((LONG, 60), bool)
    seen[:, 0] = True
    done = np.zeros(60, int)
    ends = []
    for vote in range(-1, STEPS):
        if vote >= 0:
            unit = WALKS[name](vote)
            seen[order[(vote if name == "59 in turn" else done[unit])], unit] = True
            done[unit] += 1
        item, unit = np.nonzero(seen)
        shared, estimate = shown(item, unit, losses[item, unit], LONG, 60)
        ends.append(interval(estimate, shared.part(1)))
    moves = np.abs(np.diff(ends, axis=0)).max(1)
    width = np.diff(ends, axis=1)[:, 0]
    return float((moves / np.maximum(width[1:], width[:-1])).max())


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "annotators", ("annotators", "share of the first", *(f"sd {spread:g}" for spread in SPREADS))
    for units, share in product(UNITS, SHARES):
        if units > 1 or share == "even":
            yield "annotators", (units, share, *(cell(units, share, spread, runs) for spread in SPREADS))
    yield "annotators-walk", ("votes added", *(f"sd {spread:g}" for spread in SPREADS))
    for name in WALKS:
        largest = [max(walk(name, spread, seed) for seed in range(max(runs // 30, 1))) for spread in SPREADS]
        yield "annotators-walk", (name, *(f"{one:.2f}" for one in largest))
