"""The rows of the tables that a reader gets: pairs, models, groups and their population. Names are in order."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from probtruth.comparison.evidence import Evidence
from probtruth.comparison.groups import Population
from probtruth.comparison.margin import Margin, Mixture
from probtruth.comparison.posterior import Posterior, tiers
from probtruth.comparison.unseen import highest_rate

Row = dict[str, object]

CHANCES = ("low", "high", "p_a_better", "p_equivalent", "p_b_better")  # Not known of a difference without spread
DECIDED = ("p_best", "expected_rank", "expected_regret", "tier")  # Known of a model where every pair's order is
UNSEEN = ("unseen_rate", "unseen_difference", "unseen_p_a_better")
ROUNDING = 1e-12  # Of a difference in units of its spread; means that are equal may differ by their last digits
NO_SPREAD = "the same difference on every item: its spread cannot be estimated"
BOTH_INFINITE = "two infinite means, or infinite scores of both signs, have no difference"
TWINS = "the same score on every item: nothing in the data tells the two models apart"


def pair_rows(evidence: Evidence, post: Posterior, rope: float | None, these_items: bool) -> list[Row]:
    """Each unordered pair once: nothing certain without a spread, and what the items leave room for."""
    rows: list[Row] = []
    place, means = {name: at for at, name in enumerate(evidence.names)}, evidence.rows
    mean_of = dict(zip(evidence.models, evidence.means.tolist(), strict=True))
    leaders, rate = set(post.leading.tolist()), highest_rate(evidence.design.n_units)
    finite = iter(range(len(place), len(post.margins)))
    for a, b in combinations(sorted(evidence.models), 2):
        mean, worst, spread = mean_of[a] - mean_of[b], None, True
        margin = Margin(mean, 0.0, math.inf)
        if a in place and b in place and post.rows is not None:
            at, both = next(finite), (place[a], place[b])
            margin, mean = post.margins[at], float(post.rows.mean[at])
            mean = 0.0 if abs(mean) <= ROUNDING * margin.scale < math.inf else mean
            spread = these_items or margin.scale > 0
            if means is not None and not these_items:
                low, high = float(means.low[at]), float(means.high[at])
                if low == high or evidence.outcomes is None or leaders.issuperset(both):
                    worst = _worst_unseen(evidence, rate, mean, low, high, *both)
                if low == high and worst is not None:  # certain only if the bound itself leaves no doubt
                    spread = spread and worst < 0
        row: Row = {"a": a, "b": b, "difference": None, **dict.fromkeys((*CHANCES, "favours", "reason", *UNSEEN))}
        if math.isnan(mean):
            row["reason"] = BOTH_INFINITE
        else:
            low, high = margin.interval()
            equal = None if rope is None else margin.within(rope)
            chances = low, high, margin.below(0.0), equal, margin.above(0.0)
            row |= {"difference": mean, **dict(zip(CHANCES, chances, strict=True)), "favours": favours(mean)}
        if not spread:
            row |= {"reason": TWINS} if mean == 0 else {"reason": NO_SPREAD, **dict.fromkeys(CHANCES)}
        if worst is not None:  # the difference and P(a better) were the unseen as frequent as items leave room for
            shift, known = worst + abs(mean), row["p_a_better"] is not None
            p = margin.below(-shift) if mean < 0 else 1.0 - margin.above(shift)
            row |= dict(zip(UNSEEN, (rate, worst if mean < 0 else -worst, p if known else None), strict=True))
        rows.append(in_own_units(row, evidence.higher_is_better, evidence.bound))
    return rows


def _worst_unseen(
    evidence: Evidence, rate: float, mean: float, low: float, high: float, a: int, b: int
) -> float | None:
    """The mean difference of a pair's leader were the unseen as frequent as can be; positive: it does not lead then."""
    if mean == 0 or (evidence.outcomes is None and evidence.range is None):
        return None
    largest, lead, other = (high, a, b) if mean < 0 else (-low, b, a)
    if evidence.outcomes is not None:
        size = evidence.outcomes.size(int(evidence.order[lead]), int(evidence.order[other]))
    else:
        size = evidence.bound if largest < evidence.bound else None
    return -abs(mean) if size is None else (1.0 - rate) * -abs(mean) + rate * size


def in_own_units(row: Row, higher_is_better: bool, bound: float = math.inf) -> Row:
    """The row of a difference of losses as one of the scores as given, its interval within what they can differ by."""
    for end in ("low", "high") if bound else ():
        if isinstance(value := row.get(end), float) and math.isfinite(value):
            row = row | {end: min(max(value, -bound), bound)}
    if not higher_is_better:
        return row
    ends = {"difference": "difference", "low": "high", "high": "low", "unseen_difference": "unseen_difference"}
    turned = {name: row[other] for name, other in ends.items() if name in row}
    return row | {name: None if value is None else 0.0 - float(str(value)) for name, value in turned.items()}


def favours(difference: float | None) -> str | None:
    """The side that a difference of losses, a minus b, is in favour of; None where it is 0 or not known."""
    return None if not difference else "a" if difference < 0 else "b"


def rank_rows(evidence: Evidence, post: Posterior, rope: float | None, decided: bool, these_items: bool) -> list[Row]:
    """One row for each model, best mean score first (those whose mean is not known last)."""
    place, entropy = {name: at for at, name in enumerate(evidence.names)}, evidence.known.entropy
    sign, rows, tier_of = -1.0 if evidence.higher_is_better else 1.0, [], [1] * post.n_models
    if post.means is not None and post.rows is not None:
        tier_of = tiers(post.means, post.rows.mean[: post.n_models], rope or 0.0).tolist()
    for name, mean in zip(evidence.models, evidence.means.tolist(), strict=True):
        row: Row = {"model": name, **dict.fromkeys(("score", "low", "high", "entropy", "divergence"))}
        if not math.isnan(mean):
            low, high = post.margins[place[name]].interval() if name in place else (mean, mean)
            if evidence.range is not None and name in place:
                low, high = max(low, evidence.range[0]), min(high, evidence.range[1])
            if low != high or these_items or math.isinf(mean):  # else all its scores are the same
                row |= dict(zip(("low", "high"), sorted((sign * low, sign * high)), strict=True))
            row["score"] = sign * mean
        row["entropy"] = entropy
        if entropy is not None and not math.isnan(mean):
            row["divergence"] = mean - entropy
        row |= _decided(name, evidence, post, tier_of) if decided else dict.fromkeys(DECIDED)
        rows.append((math.isnan(mean), 0.0 if math.isnan(mean) else mean, name, row))
    return [row for *_, row in sorted(rows, key=lambda entry: entry[:3])]


def _decided(name: str, evidence: Evidence, post: Posterior, tier_of: Sequence[int]) -> Row:
    """What is decided of a model, also where means are infinite; None where nothing orders the models."""
    means, names = evidence.means.tolist(), evidence.names
    if len(means) == 1 or np.isnan(means).any():
        return dict.fromkeys(DECIDED)
    below, above = means.count(-math.inf), means.count(math.inf)
    if name in names:
        at, (p, rank, regret) = names.index(name), (1.0, 1.0, 0.0)
        if post.decisions is not None:
            chances, regrets = post.decisions
            p, regret = float(chances[at, 0]), float(regrets[at])
            rank = float(chances[at] @ np.arange(1.0, len(names) + 1))
        shown = (0.0 if below else p, below + rank, math.inf if below else regret, bool(below) + tier_of[at])
        return dict(zip(DECIDED, shown, strict=True))
    lowest = means[evidence.models.index(name)] < 0
    tied, first = (below, 0) if lowest else (above, len(means) - above)
    tier = 1 if lowest else bool(below) + max(tier_of, default=0) + 1
    if tied > 1 and first == 0:  # nothing orders models of the same infinite mean, and one of them is the best
        return dict.fromkeys(DECIDED) | {"tier": tier}
    shown = (float(first == 0), first + (tied + 1) / 2, 0.0 if first == 0 else math.inf, tier)
    return dict(zip(DECIDED, shown, strict=True))


def group_rows(evidence: Evidence, population: Population | None) -> list[Row]:
    """One row for each group and pair: the difference as far as other groups let it stand."""
    if population is None:
        return []
    pairs, plan = list(combinations(evidence.names, 2)), evidence.design
    of_pair = [
        _of_mixture(population.of_groups(at), [pair] * plan.n_groups, None, evidence) for at, pair in enumerate(pairs)
    ]
    shown = ("a", "b", "difference", "low", "high", "p_a_better")
    return [
        {"group": name, **{column: rows[group][column] for column in shown}, "n_items": n_items}
        for group, (name, n_items) in enumerate(zip(plan.group_names, plan.group_sizes.tolist(), strict=True))
        for rows in of_pair
    ]


def population_rows(evidence: Evidence, population: Population, rope: float | None) -> dict[str, list[Row]]:
    """The pairs again under the population of groups and for one new group."""
    pairs = list(combinations(evidence.names, 2))
    return {
        what: _of_mixture(population.differences(new_group), pairs, rope, evidence)
        for what, new_group in (("population of groups", False), ("one new group", True))
    }


def _of_mixture(
    mixture: Mixture, pairs: Sequence[tuple[str, str]], rope: float | None, evidence: Evidence
) -> list[Row]:
    p, rows = mixture.below(0.0), []
    equal = [None] * len(p) if rope is None else mixture.within(rope).tolist()
    columns = mixture.average(), mixture.quantile(0.025), mixture.quantile(0.975), p
    for (a, b), *values in zip(pairs, *(column.tolist() for column in columns), equal, (1.0 - p).tolist(), strict=True):
        named = zip(("a", "b", "difference", *CHANCES, "favours"), (a, b, *values, favours(values[0])), strict=True)
        rows.append(in_own_units(dict(named), evidence.higher_is_better, evidence.bound))
    return rows
