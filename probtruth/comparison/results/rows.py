"""The rows of the tables that a reader gets: pairs, models, groups and their population. Names are in order."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from probtruth.comparison.estimation.estimate import About, Estimate
from probtruth.comparison.posterior.groups import Population
from probtruth.comparison.posterior.margin import Margin, Mixture, margins
from probtruth.comparison.posterior.posterior import Posterior, tiers
from probtruth.comparison.results.unseen import highest_rate
from probtruth.types.pairs import Pair, Rank, minus

ROUNDING = 1e-12  # Of a difference in units of its spread; means that are equal may differ by their last digits
TOLD = 1.1  # Where new annotators would make an interval wider by this, theirs and that of these ones stand beside it
NO_SPREAD = "the same difference on every item: its spread cannot be estimated"
BOTH_INFINITE = "two infinite means, or infinite scores of both signs, have no difference"
TWINS = "the same score on every item: nothing in the data tells the two models apart"


def pair_rows(estimate: Estimate, post: Posterior, rope: float | None, these_items: bool) -> list[Pair]:
    """Each unordered pair once: nothing certain without a spread, and what the items leave room for."""
    place = {name: at for at, name in enumerate(estimate.names)}
    mean_of = dict(zip(estimate.models, estimate.means.tolist(), strict=True))
    rows: list[Pair] = []
    row = len(place)
    for a, b in combinations(sorted(estimate.models), 2):
        if a in place and b in place:
            rows.append(_pair(estimate, post, rope, these_items, (place[a], place[b]), row))
            row += 1
        else:
            rows.append(_infinite_pair(estimate.about, a, b, mean_of[a] - mean_of[b], rope))
    return rows


def _infinite_pair(about: About, a: str, b: str, mean: float, rope: float | None) -> Pair:
    if math.isnan(mean):
        return Pair(a, b, reason=BOTH_INFINITE)
    margin = Margin(mean, 0.0, math.inf)
    return in_own_units(of_margin(a, b, mean, margin, rope), about)


def of_margin(a: str, b: str, mean: float, margin: Margin, rope: float | None) -> Pair:
    low, high = margin.interval()
    row = Pair(a, b, mean, low, high, p_a_better=margin.below(0.0), p_b_better=margin.above(0.0))
    if rope is None:
        return row
    return replace(
        row,
        p_equivalent=margin.within(rope),
        p_a_better_rope=margin.below(-rope),
        p_b_better_rope=margin.above(rope),
    )


def _pair(
    estimate: Estimate, post: Posterior, rope: float | None, these_items: bool, both: tuple[int, int], row: int
) -> Pair:
    """The pair of two models with finite means, by their places, whose difference is this row of the estimate."""
    assert post.estimate is not None
    about = estimate.about
    a, b = (estimate.names[place] for place in both)
    margin = post.margins[row]
    mean = float(post.estimate.mean[row, 0])
    if math.isnan(mean):
        return Pair(a, b, reason=about.unknown)
    if abs(mean) <= ROUNDING * margin.scale < math.inf:
        mean = 0.0
    varies = these_items or margin.scale > 0
    worst = None
    rate = highest_rate(estimate.design.n_units)
    if estimate.ends is not None and not these_items:
        low, high = estimate.ends[:, row].tolist()
        if low == high or about.outcomes is None or set(both) <= set(post.leading.tolist()):
            worst = _worst_unseen(estimate, rate, mean, (low, high), both)
        if low == high and worst is not None:  # certain only if the bound itself leaves no doubt
            varies = varies and worst * mean > 0
    if varies:
        found = of_margin(a, b, mean, margin, rope)
    elif mean == 0:
        found = replace(of_margin(a, b, mean, margin, rope), reason=TWINS)
    else:
        found = Pair(a, b, mean, reason=NO_SPREAD)
    if worst is not None:
        p = None if found.p_a_better is None else margin.below(mean - worst)
        found = replace(found, unseen_rate=rate, unseen_difference=worst, unseen_p_a_better=p)
    if about.shared_items is not None:
        found = replace(found, shared_items=int(about.shared_items[both]))
    found = in_own_units(found, about)
    if about.preference is None or found.low is None:
        return found
    preferred, low, high = about.preference(found)
    return replace(found, p_a_preferred=preferred, p_a_preferred_low=low, p_a_preferred_high=high)


def _worst_unseen(
    estimate: Estimate, rate: float, mean: float, ends: tuple[float, float], both: tuple[int, int]
) -> float | None:
    """The mean difference were outcomes that no item showed, and that cost the leader, as frequent as can be."""
    about = estimate.about
    if mean == 0 or (about.outcomes is None and about.range is None):
        return None
    a, b = both if mean < 0 else both[::-1]  # the leader, and the other one
    largest = ends[1] if mean < 0 else -ends[0]
    size = about.bound if largest < about.bound else None
    if about.outcomes is not None:
        size = about.outcomes.size(int(estimate.order[a]), int(estimate.order[b]))
    if size is None:
        return mean
    return (1.0 - rate) * mean - math.copysign(rate * size, mean)


def in_own_units(row: Pair, about: About) -> Pair:
    """The row of a difference of losses as one of the scores as given, its interval within what they can differ by."""
    low = row.low
    high = row.high
    bound = about.bound
    if bound and low is not None:
        low = min(max(low, -bound), bound)
    if bound and high is not None:
        high = min(max(high, -bound), bound)
    favours = None
    if row.difference:
        favours = "a" if row.difference < 0 else "b"
    row = replace(row, low=low, high=high, favours=favours)
    if not about.higher_is_better:
        return row
    return replace(
        row,
        difference=minus(row.difference),
        low=minus(high),
        high=minus(low),
        unseen_difference=minus(row.unseen_difference),
    )


def rank_rows(estimate: Estimate, post: Posterior, rope: float | None, decided: bool, these_items: bool) -> list[Rank]:
    """One row for each model, best mean score first (those whose mean is not known last)."""
    about = estimate.about
    place = {name: at for at, name in enumerate(estimate.names)}
    tier_of = [1] * post.n_models
    if post.ranked is not None and post.estimate is not None:
        tier_of = tiers(post.ranked, post.estimate.mean[: post.n_models, 0], rope or 0.0).tolist()
    rows = []
    for name, mean in zip(estimate.models, estimate.means.tolist(), strict=True):
        row = Rank(name, entropy=about.known.entropy)
        if not math.isnan(mean):
            low, high = _interval(about, mean, post.margins[place[name]] if name in place else None, these_items)
            score = -mean if about.higher_is_better else mean
            divergence = None if row.entropy is None else mean - row.entropy
            row = replace(row, score=score, low=low, high=high, divergence=divergence)
        if decided:
            row = _decided(row, estimate, post, tier_of)
        rows.append(row)
    return [rows[at] for at in np.lexsort((np.array(estimate.models), estimate.means))]


def _interval(about: About, mean: float, margin: Margin | None, these_items: bool) -> tuple[float | None, float | None]:
    """That of a model's mean score, within what scores can be; None where all its scores are the same."""
    low = high = mean
    if margin is not None:
        low, high = margin.interval()
        limits = about.known.range if about.range is None else about.range  # of log loss: from 0 without end
        if limits is not None:
            low = max(low, limits[0])
            high = min(high, limits[1])
    if low == high and not these_items and math.isfinite(mean):
        return None, None
    return (-high, -low) if about.higher_is_better else (low, high)


def _decided(row: Rank, estimate: Estimate, post: Posterior, tier_of: Sequence[int]) -> Rank:
    """The row with what is decided of the model, also where means are infinite; where nothing orders models, as is."""
    means = estimate.means.tolist()
    if len(means) == 1 or np.isnan(means).any():
        return row
    below = means.count(-math.inf)
    above = means.count(math.inf)
    if row.model in estimate.names:
        if post.decisions is None and post.n_models > 1:  # the data leave a pair unconnected
            return row
        at = estimate.names.index(row.model)
        p = 1.0
        rank = 1.0
        regret = 0.0
        if post.decisions is not None:
            chances, regrets = post.decisions
            p = float(chances[at, 0])
            rank = float(chances[at] @ np.arange(1.0, len(chances) + 1))
            regret = float(regrets[at])
        return replace(
            row,
            p_best=0.0 if below else p,
            expected_rank=below + rank,
            expected_regret=math.inf if below else regret,
            tier=bool(below) + tier_of[at],
        )
    lowest = means[estimate.models.index(row.model)] < 0
    tied = below if lowest else above
    ahead = 0 if lowest else len(means) - above
    tier = 1 if lowest else bool(below) + max(tier_of, default=0) + 1
    if tied > 1 and ahead == 0:  # nothing orders models of the same infinite mean, and one of them is the best
        return replace(row, tier=tier)
    return replace(
        row,
        p_best=float(ahead == 0),
        expected_rank=ahead + (tied + 1) / 2,
        expected_regret=0.0 if ahead == 0 else math.inf,
        tier=tier,
    )


def group_rows(estimate: Estimate, population: Population | None) -> list[Pair]:
    """One row for each group and pair: the difference as far as other groups let it stand."""
    if population is None:
        return []
    plan = estimate.design
    of_pair: list[list[Pair]] = []
    for at, pair in enumerate(combinations(estimate.names, 2)):
        of_pair.append(_of_mixture(population.of_groups(at), [pair] * plan.n_groups, None, estimate.about))
    rows: list[Pair] = []
    for group, name in enumerate(plan.group_names):
        n_items = int(plan.group_sizes[group])
        rows += [replace(pairs[group], group=name, n_items=n_items) for pairs in of_pair]
    return rows


def population_rows(estimate: Estimate, population: Population, rope: float | None) -> dict[str, list[Pair]]:
    """The pairs again under the population of groups and for one new group."""
    pairs = list(combinations(estimate.names, 2))
    return {
        "population of groups": _of_mixture(population.differences(False), pairs, rope, estimate.about),
        "one new group": _of_mixture(population.differences(True), pairs, rope, estimate.about),
    }


def unit_rows(estimate: Estimate, rope: float | None) -> dict[str, list[Pair]]:
    """The pairs for these annotators (or replicates) and for new ones, where the answer is of neither alone."""
    if not estimate.of_new:
        return {}
    over_groups = estimate.over_groups()
    (name,) = estimate.of_new
    of_these = {what: part for what, part in over_groups.parts.items() if what != name}
    of_new = {**over_groups.parts, **estimate.of_new}
    n_models = estimate.n_models
    counted = np.sqrt(over_groups.total().variance[n_models:])
    new = np.sqrt(replace(over_groups, parts=of_new).total().variance[n_models:])
    if not (new > TOLD * counted).any():
        return {}
    rows: dict[str, list[Pair]] = {}
    for what, parts in ((f"these {name}", of_these), (f"new {name}", of_new)):
        found = margins(replace(over_groups, parts=parts))[n_models:]
        rows[what] = []
        for at, (a, b) in enumerate(combinations(estimate.names, 2)):
            mean = float(over_groups.mean[n_models + at, 0])
            if math.isfinite(mean):
                rows[what].append(in_own_units(of_margin(a, b, mean, found[at], rope), estimate.about))
    return rows


def _of_mixture(mixture: Mixture, pairs: Sequence[tuple[str, str]], rope: float | None, about: About) -> list[Pair]:
    p = mixture.below(0.0)
    columns = {
        "difference": mixture.average(),
        "low": mixture.quantile(0.025),
        "high": mixture.quantile(0.975),
        "p_a_better": p,
        "p_b_better": 1.0 - p,
    }
    if rope is not None:
        columns["p_equivalent"] = mixture.within(rope)
        columns["p_a_better_rope"] = mixture.below(-rope)
        columns["p_b_better_rope"] = 1.0 - mixture.below(rope)
    varies = mixture.sd.any(-1)
    rows: list[Pair] = []
    for at, (a, b) in enumerate(pairs):
        numbers: dict[str, Any] = {name: float(column[at]) for name, column in columns.items()}
        row = Pair(a, b, **numbers)
        if not varies[at]:  # nothing certain without a spread
            row = replace(row, reason=TWINS) if row.difference == 0 else Pair(a, b, row.difference, reason=NO_SPREAD)
        rows.append(in_own_units(row, about))
    return rows
