"""The rows of the tables that a reader gets: pairs, models, groups and their population. Names are in order."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from probtruth.comparison.evidence import Evidence
from probtruth.comparison.groups import Population
from probtruth.comparison.margin import Mixture, infinite_margin
from probtruth.comparison.posterior import AnyMargin, Posterior
from probtruth.comparison.unseen import Worst

Row = dict[str, object]

CHANCES = ("low", "high", "p_a_better", "p_equivalent", "p_b_better")  # Not known of a difference without spread
DECIDED = ("p_best", "expected_rank", "expected_regret", "tier")  # Known of a model where every pair's order is
UNSEEN = ("unseen_rate", "unseen_difference", "unseen_p_a_better")
NO_SPREAD = "the same difference on every item: its spread cannot be estimated"
TWINS = "the same score on every item: nothing in the data tells the two models apart"


def pair_rows(evidence: Evidence, post: Posterior, rope: float | None, these_items: bool) -> list[Row]:
    """Each unordered pair once: nothing certain without a spread, and what the items leave room for."""
    rows: list[Row] = []
    place = {name: at for at, name in enumerate(evidence.names)}
    mean_of = dict(zip(evidence.facts.models, evidence.means.tolist(), strict=True))
    leaders = set(post.leading.tolist())
    moments = None if these_items else evidence.moments
    finite = enumerate(post.margins)
    for a, b in combinations(sorted(evidence.facts.models), 2):
        if a not in place or b not in place:
            rows.append(_pair(a, b, infinite_margin(mean_of[a], mean_of[b]), None, rope, True, evidence))
            continue
        at, margin = next(finite)
        worst, spread = None, these_items or margin.scale > 0
        if moments is not None:
            low, high = float(moments.pairs.low[at]), float(moments.pairs.high[at])
            if low == high or evidence.outcomes is None or {place[a], place[b]} <= leaders:
                worst = evidence.worst_unseen(margin.mean, low, high, place[a], place[b])
            if low == high and worst is not None:  # bounded scores: certain only if the bound itself leaves no doubt
                spread = spread and worst.difference < 0
        rows.append(_pair(a, b, margin, worst, rope, spread, evidence))
    return rows


def _pair(
    a: str, b: str, margin: AnyMargin | None, worst: Worst | None, rope: float | None, spread: bool, evidence: Evidence
) -> Row:
    if margin is None:  # two infinities of one sign
        return {"a": a, "b": b, "difference": None, **dict.fromkeys((*CHANCES, "favours", "reason", *UNSEEN))}
    low, high = margin.interval()
    row: Row = {
        "a": a,
        "b": b,
        "difference": margin.mean,
        "low": low,
        "high": high,
        "p_a_better": margin.below(0.0),
        "p_equivalent": None if rope is None else margin.within(rope),
        "p_b_better": margin.above(0.0),
        "favours": favours(margin.mean),
        "reason": None,
        **dict.fromkeys(UNSEEN),
    }
    if not spread:
        row |= {"reason": TWINS} if margin.mean == 0 else {"reason": NO_SPREAD, **dict.fromkeys(CHANCES)}
    if worst is not None:  # the difference and P(a better) were the unseen as frequent as so many items leave room for
        a_leads, shift = margin.mean < 0, worst.difference + abs(margin.mean)
        p = margin.below(-shift) if a_leads else 1.0 - margin.above(shift)
        row["unseen_rate"] = worst.rate
        row["unseen_difference"] = worst.difference if a_leads else -worst.difference
        row["unseen_p_a_better"] = None if row["p_a_better"] is None else p
    return in_own_units(row, evidence.facts.higher_is_better, evidence.bound)


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


def favours(difference: object) -> str | None:
    """The side that a difference of losses, a minus b, is in favour of; None where it is 0 or not known."""
    value = math.nan if difference is None else float(str(difference))
    return "a" if value < 0 else "b" if value > 0 else None


def rank_rows(evidence: Evidence, post: Posterior, rope: float | None, decided: bool, these_items: bool) -> list[Row]:
    """One row for each model, best mean score first (those whose mean is not known last)."""
    facts, place = evidence.facts, {name: at for at, name in enumerate(evidence.names)}
    sign, rows = -1.0 if facts.higher_is_better else 1.0, []
    tiers = post.tiers(rope)
    for name, mean in zip(facts.models, evidence.means.tolist(), strict=True):
        row: Row = {"model": name, **dict.fromkeys(("score", "low", "high", "entropy", "divergence"))}
        if not math.isnan(mean):
            low, high = post.own[place[name]].interval() if name in place else (mean, mean)
            if evidence.range is not None and name in place:
                low, high = max(low, evidence.range[0]), min(high, evidence.range[1])
            if low != high or these_items or math.isinf(mean):  # else all its scores are the same
                row |= dict(zip(("low", "high"), sorted((sign * low, sign * high)), strict=True))
            row["score"] = sign * mean
        row["entropy"] = facts.known.entropy
        if facts.known.entropy is not None and not math.isnan(mean):
            row["divergence"] = mean - facts.known.entropy
        row |= _decided(name, evidence, post, tiers) if decided else dict.fromkeys(DECIDED)
        rows.append((math.isnan(mean), 0.0 if math.isnan(mean) else mean, name, row))
    return [row for *_, row in sorted(rows, key=lambda entry: entry[:3])]


def _decided(name: str, evidence: Evidence, post: Posterior, tiers: Sequence[int] | None) -> Row:
    """What is decided of a model, also where means are infinite; None where nothing orders the models."""
    means, names = evidence.means.tolist(), evidence.names
    if len(means) == 1 or np.isnan(means).any():
        return dict.fromkeys(DECIDED)
    below, above = means.count(-math.inf), means.count(math.inf)
    finite, first_tier = [1] * len(names) if tiers is None else tiers, 1 if below else 0
    if name in names:
        at, numbers, found = names.index(name), (1.0, 1.0, 0.0), post.decisions
        if found is not None:
            numbers = float(found.p_best[at]), float(found.expected_rank[at]), float(found.expected_regret[at])
        p, rank, regret = numbers
        shown = (0.0 if below else p, below + rank, math.inf if below else regret, first_tier + finite[at])
        return dict(zip(DECIDED, shown, strict=True))
    lowest = means[evidence.facts.models.index(name)] < 0
    tied, first = (below, 0) if lowest else (above, len(means) - above)
    tier = 1 if lowest else first_tier + max(finite, default=0) + 1
    if tied > 1 and first == 0:  # nothing orders models of the same infinite mean, and one of them is the best
        return dict.fromkeys(DECIDED) | {"tier": tier}
    shown = (float(first == 0), first + (tied + 1) / 2, 0.0 if first == 0 else math.inf, tier)
    return dict(zip(DECIDED, shown, strict=True))


def group_rows(evidence: Evidence, population: Population | None) -> list[Row]:
    """One row for each group and pair: the difference as far as other groups let it stand."""
    if population is None:
        return []
    pairs, plan = list(combinations(evidence.names, 2)), evidence.design
    columns = [_of_mixture(population.of_groups(pair), None) for pair in range(len(pairs))]
    sizes = zip(plan.group_names, plan.structure.n_items.tolist(), strict=True)
    return [
        {
            "group": name,
            **_named(a, b, {key: columns[pair][key][group] for key in GROUP_COLUMNS}, evidence),
            "n_items": n_items,
        }
        for group, (name, n_items) in enumerate(sizes)
        for pair, (a, b) in enumerate(pairs)
    ]


GROUP_COLUMNS = ("difference", "low", "high", "p_a_better")


def population_rows(evidence: Evidence, population: Population | None, rope: float | None) -> dict[str, list[Row]]:
    """The pairs again under the population of groups and for one new group."""
    if population is None:
        return {}
    results, pairs = {}, list(combinations(evidence.names, 2))
    for what, new_group in (("population of groups", False), ("one new group", True)):
        columns = _of_mixture(population.differences(new_group), rope)
        rows = [{name: column[pair] for name, column in columns.items()} for pair in range(len(pairs))]
        results[what] = [
            _named(a, b, row, evidence) | {"favours": favours(row["difference"])}
            for (a, b), row in zip(pairs, rows, strict=True)
        ]
    return results


def _named(a: str, b: str, numbers: Row, evidence: Evidence) -> Row:
    return {"a": a, "b": b, **in_own_units(numbers, evidence.facts.higher_is_better, evidence.bound)}


def _of_mixture(mixture: Mixture, rope: float | None) -> Mapping[str, Sequence[object]]:
    """What is said of each difference of a mixture."""
    p = mixture.below(0.0)
    return {
        "difference": mixture.average().tolist(),
        "low": mixture.quantile(0.025).tolist(),
        "high": mixture.quantile(0.975).tolist(),
        "p_a_better": p.tolist(),
        "p_equivalent": [None] * len(p) if rope is None else mixture.within(rope).tolist(),
        "p_b_better": (1.0 - p).tolist(),
    }
