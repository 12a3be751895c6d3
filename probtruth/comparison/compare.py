"""`compare`: from per-item scores to the posterior of every pairwise mean difference and the decisions it supports."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from probtruth import check
from probtruth.comparison.assemble import Posterior, assemble
from probtruth.comparison.design import Design, design
from probtruth.comparison.margins import Margin
from probtruth.comparison.posterior import sample_location, sample_population
from probtruth.comparison.sufficient import Location, Moments, combine, model_order, moments
from probtruth.errors import InputError, PosteriorError
from probtruth.types import Comparison, Scores

ENGINES = ("nuts", "exact")


def compare(
    scores: Scores,
    groups: object = None,
    clusters: object = None,
    *,
    engine: str = "nuts",
    weights: object = None,
    rope: float | None = None,
    draws: int = 2500,
    seed: int = 0,
    strict: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Which model has the lower mean score, for all pairs jointly, and how sure that is.

    The estimand is the mean paired difference over new items like these; with `groups`, of these groups, each with
    weight `weights` (default: its share of the items). Every pair's margin is the posterior that equals the paired t
    (with groups, Satterthwaite's; with clusters, the cluster-robust one); P(best), ranks and regret come from one joint
    posterior with these margins. With groups, `group_results` adds the population of groups and one new group, with
    partial pooling.

    Arguments: `groups` and `clusters` are names in the order of `scores.items`, or a mapping item to name; items of a
    cluster are dependent (a passage, a patient), clusters lie inside groups. `engine` is "nuts" or "exact". `rope` is
    the largest difference, in units of the score, that does not matter. `draws` is per chain, of four chains.
    `strict` raises `PosteriorError` where a diagnostic fails. `on_progress(done, total)` hears of the sampling.

    Returns: a `Comparison`; differences are a minus b, negative favours a, in units of the score.

    Errors: `InputError` for fewer than two models, NaN scores or unusable options; `PosteriorError` where a single item
    (or cluster) leaves the spread unknown.
    """
    _check(scores, engine, rope, draws)
    plan = design(scores, groups, clusters, weights)
    finite = np.isfinite(scores.values).all(1)
    whole = np.nonzero(finite)[0]
    order = whole[model_order(scores.values[whole])] if len(whole) else whole
    pairs = list(combinations(range(len(order)), 2))
    report = on_progress or (lambda done, total: None)

    parts = _moments(scores, order, plan) if len(order) > 1 else []
    place = combine(parts, plan.weights) if parts else None
    sampled, population = None, None
    if place is not None:
        stages = 2 if plan.grouped else 1
        sampled = sample_location(place, pairs, engine, draws, seed, lambda done, total: report(done, stages * total))
        if plan.grouped:
            population = sample_population(
                parts, pairs, engine, draws, seed, lambda done, total: report(total + done, 2 * total)
            )
    margins = _margins(place, pairs)
    posterior = Posterior(order, pairs, margins, place, sampled, population)
    return assemble(scores, plan, posterior, engine, rope, draws, seed, strict)


def _check(scores: Scores, engine: str, rope: float | None, draws: int) -> None:
    check.one_of(engine, ENGINES, "engine")
    if len(scores.models) < 2:
        raise InputError(
            f"one model only ({check.shortlist(scores.models)})",
            "at least two models to compare",
            "Add another model's scores.",
        )
    check.unique(scores.models, "model")
    if np.isnan(scores.values).any():
        model, item = (int(axis[0]) for axis in np.nonzero(np.isnan(scores.values)))
        raise InputError(
            "NaN", "a number", "Remove the item.", f"model {scores.models[model]!r}, item {scores.items[item]!r}"
        )
    if rope is not None and not (isinstance(rope, int | float) and math.isfinite(rope) and rope >= 0):
        raise InputError(f"rope {rope!r}", "a finite number of at least 0", "Give it in units of the score.")
    if draws < 1:
        raise InputError(f"draws {draws}", "at least 1", "Leave it out for the default.")


def _moments(scores: Scores, order: np.ndarray, plan: Design) -> list[Moments]:
    values = scores.values[order]
    parts = [
        moments(values[:, items], None if plan.clusters is None else plan.clusters[items]) for items in plan.group_items
    ]
    if sum(part.df for part in parts) == 0:
        unit = "item" if plan.clusters is None else "cluster"
        raise PosteriorError(
            f"got one {unit} in all, expected at least two: the spread between {unit}s cannot be estimated. "
            f"Hint: add {unit}s, or compare under finer {unit}s."
        )
    return parts


def _margins(place: Location | None, pairs: Sequence[tuple[int, int]]) -> list[Margin]:
    if place is None:
        return []
    made = []
    for a, b in pairs:
        direction = np.zeros(len(place.mean))
        direction[a], direction[b] = 1.0, -1.0
        variance = place.variance(direction)
        made.append(Margin(float(place.mean[a] - place.mean[b]), math.sqrt(variance), place.df(direction)))
    return made
