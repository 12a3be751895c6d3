"""The rows of the tables that a reader gets: pairs, models, groups and their population. Names are in order."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from probtruth.comparison.estimation.estimate import About, Estimate
from probtruth.comparison.options import Options
from probtruth.comparison.posterior.groups import Over, Population
from probtruth.comparison.posterior.margin import Margin, Mixture, margins
from probtruth.comparison.posterior.posterior import Posterior, tiers
from probtruth.comparison.results.unseen import highest_rate
from probtruth.types.pairs import Pair, Rank, minus

ROUNDING = 1e-12  # Of a difference in units of its spread; means that are equal may differ by their last digits
TOLD = 1.1  # Where new annotators would make an interval wider by this, theirs and that of these ones stand beside it
NO_SPREAD = "the same difference on every item: its spread cannot be estimated"
ONE_UNIT = "one {unit} connects the two models: the spread of their difference cannot be estimated"
BOTH_INFINITE = "two infinite means, or infinite scores of both signs, have no difference"
TWINS = "the same score on every item: nothing in the data tells the two models apart"


def pair_rows(estimate: Estimate, post: Posterior, options: Options) -> list[Pair]:
    """Each unordered pair once: nothing certain without a spread, and what the items leave room for."""
    place = {name: at for at, name in enumerate(estimate.names)}
    mean_of = dict(zip(estimate.about.models, estimate.about.means.tolist(), strict=True))
    rows = []
    row = len(place)
    for a, b in combinations(sorted(estimate.about.models), 2):
        apart = mean_of[a] - mean_of[b]
        if a in place and b in place:
            rows.append(_pair(estimate, post, options, (place[a], place[b]), row))
            row += 1
        elif math.isnan(apart):
            rows.append(Pair(a, b, reason=BOTH_INFINITE))
        else:
            infinite = Margin(apart, 0.0, math.inf)
            certain = of_margin(a, b, apart, infinite, options.rope)
            rows.append(in_own_units(certain, estimate.about))
    return rows


def of_margin(a: str, b: str, mean: float, margin: Margin | Mixture, rope: float | None) -> Pair:
    low, high = margin.interval()
    p = margin.below(0.0)
    row = Pair(a, b, mean, low, high, p_a_better=p, p_b_better=margin.above(0.0))
    if rope is None:
        return row
    return replace(
        row,
        p_equivalent=margin.within(rope),
        p_a_better_rope=margin.below(-rope),
        p_b_better_rope=margin.above(rope),
    )


def _pair(estimate: Estimate, post: Posterior, options: Options, both: tuple[int, int], row: int) -> Pair:
    """The pair of two models with finite means, by their places, whose difference is this row of the estimate."""
    about = estimate.about
    a, b = [estimate.names[place] for place in both]
    margin = post.margins[row]
    mean = float(post.estimate.mean[row, 0])
    if math.isnan(mean):
        return Pair(a, b, reason=about.unknown)
    if abs(mean) <= ROUNDING * margin.scale < math.inf:
        mean = 0.0
    varies = options.these_items or margin.scale > 0
    worst, rate = _worst_unseen(estimate, post, mean, both, row)
    constant = estimate.ends is not None and np.ptp(estimate.ends[:, row]) == 0
    if constant and worst is not None:  # certain only if the bound leaves no doubt
        varies = varies and worst * mean > 0
    found = Pair(a, b, mean, reason=NO_SPREAD)
    if math.isnan(margin.scale):
        worst = None
        found = replace(found, reason=ONE_UNIT.format(unit=estimate.design.unit_name))
    elif varies:
        found = of_margin(a, b, mean, margin, options.rope)
    elif mean == 0:
        found = replace(of_margin(a, b, mean, margin, options.rope), reason=TWINS)
    if worst is not None:
        p = None if found.p_a_better is None else margin.below(mean - worst)
        found = replace(found, unseen_rate=rate, unseen_difference=worst, unseen_p_a_better=p)
    shared = None if about.shared_items is None else int(about.shared_items[both])
    found = in_own_units(found, about, shared)
    if about.preference is None or found.low is None:
        return found
    preferred, low, high = about.preference(found)
    return replace(found, p_a_preferred=preferred, p_a_preferred_low=low, p_a_preferred_high=high)


def _worst_unseen(
    estimate: Estimate, post: Posterior, mean: float, both: tuple[int, int], row: int
) -> tuple[float | None, float | None]:
    """The mean difference were outcomes that no item showed, and that cost the leader, as frequent as can be, and
    that rate."""
    about = estimate.about
    if estimate.ends is None or mean == 0 or (about.outcomes is None and about.range is None):
        return None, None
    low, high = estimate.ends[:, row].tolist()
    a, b = both
    if mean > 0:  # a leads where it loses less
        a, b = b, a
        high = -low
    size = about.bound if high < about.bound else None
    if about.outcomes is not None:
        if np.ptp(estimate.ends[:, row]) > 0 and not np.isin(both, post.leading).all():
            return None, None
        lead, other = estimate.order[[a, b]].tolist()
        size = about.outcomes.size(lead, other)
    rate = highest_rate(estimate.design.n_units)
    if size is None:
        return mean, rate
    return (1.0 - rate) * mean - math.copysign(rate * size, mean), rate


def in_own_units(row: Pair, about: About, shared_items: int | None = None) -> Pair:
    """The row of a difference of losses as one of the scores as given, its interval within what they can differ by."""
    difference = row.difference
    low = row.low
    high = row.high
    unseen = row.unseen_difference
    if low is not None and high is not None:
        low = max(-about.bound, min(low, about.bound))
        high = max(-about.bound, min(high, about.bound))
    favours = row.favours
    if difference:
        favours = "a" if difference < 0 else "b"
    if about.higher_is_better:
        difference = minus(difference)
        low, high = minus(high), minus(low)
        unseen = minus(unseen)
    turned = replace(row, difference=difference, low=low, high=high, favours=favours, shared_items=shared_items)
    return turned if unseen is None else replace(turned, unseen_difference=unseen)


def rank_rows(estimate: Estimate, post: Posterior, options: Options, decided: bool) -> list[Rank]:
    """One row for each model, best mean score first (those whose mean is not known last)."""
    about = estimate.about
    means = estimate.about.means
    decided = decided and len(means) > 1 and not np.isnan(means).any()
    margin_of = dict(zip(estimate.names, post.margins, strict=False))
    limits = about.range or about.known.range or (-math.inf, math.inf)  # of log loss: from 0 without end
    tier_of = [1] * estimate.n_models
    if post.ranked is not None:
        means_of = post.estimate.mean[: estimate.n_models, 0]
        tier_of = tiers(post.ranked, means_of, options.rope or 0.0).tolist()
    rows = []
    best_first = np.lexsort((np.array(about.models), means))
    for at in best_first.tolist():
        name = about.models[at]
        mean = float(means[at])
        row = Rank(name, entropy=about.known.entropy)
        if not math.isnan(mean):
            low = mean
            high = mean
            if name in margin_of:
                interval = margin_of[name].interval()
                low, high = np.clip(interval, *limits).tolist()
            if options.these_items or low < high or math.isinf(mean):  # else all its scores are the same
                low, high = sorted((about.sign * low, about.sign * high))
                row = replace(row, low=low, high=high)
            if row.entropy is not None:
                row = replace(row, divergence=mean - row.entropy)
            row = replace(row, score=about.sign * mean)
        if decided:
            row = _decided(row, mean, estimate, post, tier_of)
        rows.append(row)
    return rows


def _decided(row: Rank, mean: float, estimate: Estimate, post: Posterior, tier_of: Sequence[int]) -> Rank:
    """The row with what is decided of the model, also where means are infinite."""
    means = estimate.about.means
    below = int(np.isneginf(means).sum())
    p = 1.0
    rank = 1.0
    regret = 0.0
    if row.model in estimate.names:
        if post.decisions is None and estimate.n_models > 1:  # the data leave a pair unconnected
            return row
        at = estimate.names.index(row.model)
        ahead = below
        tier = min(below, 1) + tier_of[at]
        if post.decisions is not None:
            chances, regrets = post.decisions
            p = float(chances[at, 0])
            all_ranks = np.arange(1.0, len(chances) + 1)
            rank = float(chances[at] @ all_ranks)
            regret = float(regrets[at])
    else:
        ahead = int((means < mean).sum())
        tied = int((means == mean).sum())
        tier = 1
        if mean > 0:
            tier += min(below, 1) + max(tier_of, default=0)
        rank = (tied + 1) / 2
        if tied > 1 and ahead == 0:  # nothing orders models of the same infinite mean, and one of them is the best
            return replace(row, tier=tier)
    return replace(
        row,
        p_best=0.0 if ahead else p,
        expected_rank=ahead + rank,
        expected_regret=math.inf if ahead else regret,
        tier=tier,
    )


def group_rows(estimate: Estimate, population: Population | None) -> list[Pair]:
    """One row for each group and pair: the difference as far as other groups let it stand."""
    if population is None:
        return []
    plan = estimate.design
    rows = []
    of_pairs = _rows_over(estimate, population, "groups", None)
    for group, name in enumerate(plan.group_names):
        n_items = int(plan.group_sizes[group])
        rows += [replace(of_groups[group], group=name, n_items=n_items) for of_groups in of_pairs]
    return rows


def population_rows(estimate: Estimate, population: Population, rope: float | None) -> dict[str, list[Pair]]:
    """The pairs again under the population of groups and for one new group."""
    names: dict[str, Over] = {"population of groups": "population", "one new group": "new group"}
    return {name: [row for (row,) in _rows_over(estimate, population, over, rope)] for name, over in names.items()}


def _rows_over(estimate: Estimate, population: Population, over: Over, rope: float | None) -> list[list[Pair]]:
    """The rows of each pair in groups or over them; nothing is certain without a spread."""
    of_pairs = []
    for at, (a, b) in enumerate(combinations(estimate.names, 2)):
        rows = []
        for found in population.differences(at, over):
            row = of_margin(a, b, found.centre, found, rope)
            if isinstance(found, Margin) and found.scale == 0:
                twins = found.centre == 0
                row = replace(row, reason=TWINS) if twins else Pair(a, b, found.centre, reason=NO_SPREAD)
            rows.append(in_own_units(row, estimate.about))
        of_pairs.append(rows)
    return of_pairs


def unit_rows(estimate: Estimate, rope: float | None) -> dict[str, list[Pair]]:
    """The pairs for these annotators (or replicates) and for new ones, where the answer is of neither alone."""
    over_groups = estimate.over_groups()
    of_new = over_groups.for_new_units()
    pairs = slice(estimate.n_models, None)
    variance = over_groups.total().variance[pairs]
    if not (of_new.total().variance[pairs] > TOLD**2 * variance).any():
        return {}
    means = over_groups.mean[pairs, 0].tolist()
    rows: dict[str, list[Pair]] = {}
    of_these = replace(over_groups, parts={"items": over_groups.items})
    for kind, of_units in (("these", of_these), ("new", of_new)):
        of_kind = rows[f"{kind} {estimate.shared}"] = []
        of_pairs = margins(of_units)[pairs]
        for (a, b), mean, margin in zip(combinations(estimate.names, 2), means, of_pairs, strict=True):
            if math.isfinite(mean):
                row = Pair(a, b, mean, reason=ONE_UNIT.format(unit=estimate.design.unit_name))
                if not math.isnan(margin.scale):
                    row = of_margin(a, b, mean, margin, rope)
                of_kind.append(in_own_units(row, estimate.about))
    return rows
