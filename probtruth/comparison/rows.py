"""The rows of the tables that a reader gets: pairs under their names, models, the population of groups, quantiles."""

import math
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import overload

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri

from probtruth.comparison.decisions import Decisions
from probtruth.comparison.evidence import Evidence, Facts
from probtruth.comparison.groups import Population
from probtruth.comparison.margin import DrawnMargin, Margin, Mixture, infinite_margin
from probtruth.comparison.pairs import all_pairs, pair_row
from probtruth.comparison.tests import PairTests
from probtruth.comparison.unseen import Worst

Row = dict[str, object]


def by_name[T: (Margin, PairTests)](names: Sequence[str], of_pairs: Sequence[T]) -> dict[tuple[str, str], T]:
    """What belongs to each pair, under its names, the first by name minus the second."""
    return {(a, b): of_pairs[row] if sign > 0 else of_pairs[row].flipped() for a, b, row, sign in named_pairs(names)}


def named_pairs(names: Sequence[str]) -> list[tuple[str, str, int, float]]:
    """Every pair's two names, the first by name before the other, in their order."""
    pairs = [
        (min(names[a], names[b]), max(names[a], names[b]), row, 1.0 if names[a] < names[b] else -1.0)
        for row, (a, b) in enumerate(all_pairs(len(names)))
    ]
    return sorted(pairs)


class PairRows(Sequence[Row]):
    """Rows of the same keys, held by columns: those of many pairs take a tenth of the memory of as many dicts."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Takes the rows one after another; NaN stands for None among numbers."""
        self._columns: dict[str, list[object] | array[float]] = {}
        self._length = 0
        for row in rows:
            if not self._columns:
                self._columns = {name: [] if name in TEXT else array("d") for name in row}
            for name, column in self._columns.items():
                value = row[name]
                column.append(value if name in TEXT else math.nan if value is None else value)  # type: ignore[arg-type]
            self._length += 1

    def __len__(self) -> int:
        """How many rows there are."""
        return self._length

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        """A row, or a list of some."""
        if isinstance(at, slice):
            return [self[row] for row in range(*at.indices(self._length))]
        row = range(self._length)[at]
        return {name: None if (value := column[row]) != value else value for name, column in self._columns.items()}

    def __repr__(self) -> str:
        """The rows as a list of dicts shows them."""
        return repr(list(self))

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same rows."""
        return isinstance(other, Sequence) and list(self) == list(other)


TEXT = ("a", "b", "favours", "reason")  # Columns of pairs that are not numbers


def pair_rows(
    facts: Facts,
    order: np.ndarray,
    margins: Sequence[Margin | DrawnMargin],
    rope: float | None,
    means: Float[np.ndarray, " model"],
) -> Iterator[tuple[Row, Margin | DrawnMargin | None, int | None]]:
    """Each unordered pair once, a before b by name, with its margin and the row of that where it has one."""
    position = {int(model): at for at, model in enumerate(order)}
    by_text = sorted(range(len(facts.models)), key=facts.models.__getitem__)
    for a, b in combinations(by_text, 2):
        row = None
        if a in position and b in position:
            first, second = sorted((position[a], position[b]))
            row = pair_row(first, second, len(order))
            margin: Margin | DrawnMargin | None = margins[row] if position[a] < position[b] else margins[row].flipped()
        else:
            margin = infinite_margin(float(means[a]), float(means[b]))
        values: Row = {"a": facts.models[a], "b": facts.models[b], **_said(margin, rope)}
        yield values | {"favours": favours(values["difference"])}, None if row is None else margin, row


# What is not known of a difference without spread.
CHANCES = ("low", "high", "p_a_better", "p_equivalent", "p_b_better")


def _said(margin: Margin | DrawnMargin | None, rope: float | None) -> Row:
    """What is said of a difference; nothing where two infinities of one sign meet."""
    if margin is None:
        return dict.fromkeys(("difference", *CHANCES))
    low, high = margin.interval()
    return {
        "difference": margin.mean,
        "low": low,
        "high": high,
        "p_a_better": margin.below(0.0),
        "p_equivalent": None if rope is None else margin.within(rope),
        "p_b_better": margin.above(0.0),
    }


NO_SPREAD = "the same difference on every item: its spread cannot be estimated"
UNSEEN = ("unseen_rate", "unseen_difference", "unseen_p_a_better")


def without_certainty(row: Row, spread: bool) -> Row:
    """The row with its `reason`; where every difference is the same and not 0, nothing is certain."""
    if spread or not row["difference"]:
        return row | {"reason": None}
    return row | {name: None for name in CHANCES if name in row} | {"reason": NO_SPREAD}


def unseen_columns(row: Row, margin: Margin | DrawnMargin | None, worst: Worst | None) -> Row:
    """The row with the difference and P(a better) were the unseen as frequent as so many items leave room for."""
    if worst is None or margin is None:
        return row | dict.fromkeys(UNSEEN)
    a_leads, shift = margin.mean < 0, worst.difference + abs(margin.mean)
    p = margin.below(-shift) if a_leads else 1.0 - margin.above(shift)
    values = (
        worst.rate,
        worst.difference if a_leads else -worst.difference,
        p if row["p_a_better"] is not None else None,
    )
    return row | dict(zip(UNSEEN, values, strict=True))


def in_own_units(row: Row, higher_is_better: bool) -> Row:
    """The row of a difference of losses as one of the scores as they were given."""
    if not higher_is_better:
        return row
    ends = {"difference": "difference", "low": "high", "high": "low", "unseen_difference": "unseen_difference"}
    turned = {name: row[other] for name, other in ends.items() if name in row}
    return row | {name: None if value is None else 0.0 - float(str(value)) for name, value in turned.items()}


# What is known of a model only where it is known of every pair which is better.
DECIDED = ("p_best", "expected_rank", "expected_regret", "tier")


def favours(difference: object) -> str | None:
    """The side that a difference of losses, a minus b, is in favour of; None where it is 0 or not known."""
    value = math.nan if difference is None else float(str(difference))
    return "a" if value < 0 else "b" if value > 0 else None


def rank_rows(
    facts: Facts,
    order: np.ndarray,
    own: Sequence[Margin | DrawnMargin],
    decisions: Decisions | None,
    mean_scores: Float[np.ndarray, " model"],
    tiers: Sequence[int] | None = None,
) -> list[Row]:
    """One row for each model, best mean score first (those whose mean is not known last)."""
    position = {int(model): row for row, model in enumerate(order)}
    means = mean_scores.tolist()
    rows = []
    for model, name in enumerate(facts.models):
        mean = means[model]
        known = not math.isnan(mean)
        low, high = own[position[model]].interval() if model in position else (mean, mean)
        row: Row = {
            "model": name,
            "score": _oriented(mean, facts) if known else None,
            "low": _oriented(high if facts.higher_is_better else low, facts) if known else None,
            "high": _oriented(low if facts.higher_is_better else high, facts) if known else None,
            "entropy": facts.known.entropy,
            "divergence": None if facts.known.entropy is None or not known else mean - facts.known.entropy,
        }
        row |= _decided(model, means, position, decisions, tiers)
        rows.append((not known, mean if known else 0.0, name, row))
    return [row for *_, row in sorted(rows, key=lambda entry: entry[:3])]


def _decided(
    model: int,
    means: Sequence[float],
    position: Mapping[int, int],
    decisions: Decisions | None,
    tiers: Sequence[int] | None,
) -> Row:
    """What is decided of a model, also where means are infinite; None where nothing orders the models."""
    if len(means) == 1 or any(math.isnan(mean) for mean in means):
        return dict.fromkeys(DECIDED)
    below, above = means.count(-math.inf), means.count(math.inf)
    finite, first_tier = [1] * len(position) if tiers is None else tiers, 1 if below else 0
    if model in position:
        at, p, rank, regret = position[model], 1.0, 1.0, 0.0
        if decisions is not None:
            p, rank, regret = (
                float(values[at]) for values in (decisions.p_best, decisions.expected_rank, decisions.expected_regret)
            )
        return {
            "p_best": 0.0 if below else p,
            "expected_rank": below + rank,
            "expected_regret": math.inf if below else regret,
            "tier": first_tier + finite[at],
        }
    tied, first = (below, 0) if means[model] < 0 else (above, len(means) - above)
    tier = 1 if means[model] < 0 else first_tier + max(finite, default=0) + 1
    if tied > 1 and first == 0:  # nothing orders models of the same infinite mean, and one of them is the best
        return dict.fromkeys(DECIDED) | {"tier": tier}
    return {
        "p_best": 1.0 if first == 0 else 0.0,
        "expected_rank": first + (tied + 1) / 2,
        "expected_regret": 0.0 if first == 0 else math.inf,
        "tier": tier,
    }


def _oriented(value: float, facts: Facts) -> float:
    return -value if facts.higher_is_better else value


# What is said of groups that are not these, and whether it is about a new one of them.
WHERES = {"population of groups": False, "one new group": True}


def population_rows(names: Sequence[str], population: Population, rope: float | None) -> dict[str, list[Row]]:
    """The pairs again under the population of groups and for one new group, by quadrature over the pooling."""
    pairs = named_pairs(names)
    results: dict[str, list[Row]] = {}
    for what, new_group in WHERES.items():
        columns = mixture_columns(population.differences(new_group), rope)
        results[what] = [{"a": a, "b": b, **mixture_row(columns, row, sign)} for a, b, row, sign in pairs]
    return results


def mixture_columns(mixture: Mixture, rope: float | None) -> dict[str, list[float | None]]:
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


def mixture_row(columns: Mapping[str, Sequence[float | None]], row: int, sign: float) -> Row:
    """One difference, or with sign -1 that of the other model from the first."""
    values: Row = {name: column[row] for name, column in columns.items()}
    if sign < 0:
        turned = {name: -float(str(values[other])) for name, other in _TURNED.items()}
        values |= turned | {"p_a_better": values["p_b_better"], "p_b_better": values["p_a_better"]}
    return values | {"favours": favours(values["difference"])}


_TURNED = {"difference": "difference", "low": "high", "high": "low"}


ALL_ITEMS = ""  # Where the quantiles are those of the reported differences, and not of groups
EXACT = 10  # Quantiles of a mixture, but for the first, that are solved for
Pair = tuple[str, str]
Probabilities = Float[np.ndarray, " probability"]


def quantile_rows(
    evidence: Evidence,
    margins: Sequence[Margin | DrawnMargin],
    population: Population | None,
    probabilities: Probabilities,
    pairs: Collection[Pair],
) -> list[Row]:
    """Quantiles of the differences of some pairs, so that a reader can ask for another margin of equivalence."""
    rows: list[Row] = []
    chosen = [pair for pair in named_pairs(evidence.names) if pair[:2] in pairs]
    for a, b, row, sign in chosen:
        margin = margins[row] if sign > 0 else margins[row].flipped()
        rows.append({"where": ALL_ITEMS, "group": None, "a": a, "b": b, "values": margin.quantiles(probabilities)})
    if population is None:
        return rows
    everywhere = {where: population.differences(new_group) for where, new_group in WHERES.items()}
    for a, b, row, sign in chosen:
        for where, mixture in everywhere.items():
            one = Mixture(*(part[row : row + 1] for part in (mixture.weight, mixture.mean, mixture.sd)))
            values = _quantiles(one, probabilities, sign)[0]
            rows.append({"where": where, "group": None, "a": a, "b": b, "values": values})
        inside = _quantiles(population.of_groups(row), probabilities, sign)
        for group, values in zip(evidence.design.group_names, inside, strict=True):
            rows.append({"where": "group", "group": group, "a": a, "b": b, "values": values})
    return rows


def _quantiles(mixture: Mixture, probabilities: Probabilities, sign: float) -> Float[np.ndarray, "row probability"]:
    """The quantiles of the difference, or with sign -1 those of its negative."""
    exact = probabilities[:: max(1, (len(probabilities) - 1) // EXACT)]
    knots = np.stack([mixture.quantile(float(p)) for p in exact], axis=-1)
    points = np.stack([np.interp(ndtri(probabilities), ndtri(exact), row) for row in knots])
    below = np.stack([mixture.below(at) for at in points.T], axis=-1)
    quantiles = np.stack([np.interp(probabilities, p, row) for p, row in zip(below, points, strict=True)])
    return quantiles if sign > 0 else -quantiles[..., ::-1]
