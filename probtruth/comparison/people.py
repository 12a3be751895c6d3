"""Groups of people: each pair of models by the cells of each group's annotators, and whether two groups disagree."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri

from probtruth import check
from probtruth.comparison.design import Design, design_of, totals
from probtruth.comparison.estimate import About, Estimate
from probtruth.comparison.margin import margins
from probtruth.comparison.pairs import pairs_of
from probtruth.comparison.rows import NO_SPREAD, ROUNDING, in_own_units, of_margin
from probtruth.errors import InputError
from probtruth.types import Comparison, Scores
from probtruth.types.pairs import Pair

NAME = "groups of annotators"  # of the rows in `group_results`
DISAGREE = 0.95  # Probability from which on a warning says that two groups disagree
SHOWN = 3  # Such warnings at most
FARTHEST = 38.0  # Standard deviations beyond which a normal probability is 0 in float64
_ROOTS, _WEIGHTS = np.polynomial.legendre.leggauss(64)
PLACES, WEIGHTS = (1 + _ROOTS) / 2, _WEIGHTS / 2  # Nodes from 0 to 1

Cells = Float[np.ndarray, " cell"]


def by_people(comparison: Comparison, scores: Scores, groups: object) -> Comparison:
    """The comparison with each group's own answers, and how surely two groups disagree about who is better."""
    people = People.of(scores, groups)
    sign = -1.0 if scores.higher_is_better else 1.0
    about = About(rule=scores.rule, higher_is_better=scores.higher_is_better)
    rows: list[Pair] = []
    disagreements: list[dict[str, object]] = []
    for a, b in combinations(sorted(scores.models), 2):
        one, other = scores.models.index(a), scores.models.index(b)
        differences = sign * (people.values[one] - people.values[other])
        found, chances = people.answers((a, b), differences, about, comparison.rope)
        rows += found
        disagreements += chances
    return replace(
        comparison,
        group_results={**comparison.group_results, NAME: rows},
        decisions={**comparison.decisions, "group_disagreement": disagreements},
        warnings=(*comparison.warnings, *_sentences(rows, disagreements)),
    )


@dataclass(frozen=True, eq=False)
class People:
    """The cells (of an item, by an annotator) that all models have, and the group of each cell's annotator."""

    names: tuple[str, ...]
    group: Int[np.ndarray, " cell"]
    item: Int[np.ndarray, " cell"]
    annotator: Int[np.ndarray, " cell"]
    values: Float[np.ndarray, "model cell"]
    design: Design

    @classmethod
    def of(cls, scores: Scores, groups: object) -> "People":
        """From scores by annotator; every annotator needs a group, and every group two annotators and two items."""
        cells = scores.replicates
        if cells is None or cells.what != "annotator":
            hint = "Read the table with read_scores(..., annotator=COLUMN) (command line: --annotator COLUMN)."
            raise InputError("groups of annotators with scores without annotators", "scores by annotator", hint)
        if not isinstance(groups, Mapping):
            got = f"groups of annotators of type {type(groups).__name__}"
            raise InputError(got, "a mapping {annotator: group}", "Pass a dict.")
        table = {str(name): str(group) for name, group in groups.items()}
        absent = [name for name in cells.names if not table.get(name, "").strip()]
        if absent:
            problem = f"no group of annotator {check.shortlist(absent, 3)}"
            raise InputError(
                problem, "a group for every annotator", "Give 'unknown' to those whose group is not known."
            )
        of_annotator = [table[name] for name in cells.names]
        names = tuple(sorted(set(of_annotator)))
        if len(names) < 2:
            raise InputError(f"one group of annotators ({check.shortlist(names)})", "at least two", "Leave it out.")
        place = np.array([names.index(group) for group in of_annotator])
        common = np.flatnonzero(~np.isnan(cells.values).any(0))
        plan = design_of(scores.items, None, None, own_clusters=scores.clusters)
        annotator = cells.replicate[common]
        found = cls(names, place[annotator], cells.item[common], annotator, cells.values[:, common], plan)
        found._check_sizes()
        return found

    @property
    def unit(self) -> Int[np.ndarray, " cell"]:
        """The item, or its cluster, of each cell."""
        return self.item if self.design.unit is None else self.design.unit[self.item]

    def _check_sizes(self) -> None:
        if not np.isfinite(self.values).all():
            raise InputError("an infinite score with groups of annotators", "finite scores", "Leave the groups out.")
        unit_name = "item" if self.design.unit is None else "cluster"
        for group, name in enumerate(self.names):
            inside = self.group == group
            for what, codes in (("annotator", self.annotator), (unit_name, self.unit)):
                n_units = len(np.unique(codes[inside]))
                if n_units < 2:
                    got = f"group {name!r} with {check.count(n_units, what)} whom all models have scores of"
                    hint = "Join it with another group, or leave its annotators out."
                    raise InputError(got, f"at least two {what}s in every group", hint)

    def answers(
        self, pair: tuple[str, str], differences: Cells, about: About, rope: float | None
    ) -> tuple[list[Pair], list[dict[str, object]]]:
        """The rows of one pair of models by group, and P(disagree) of every two groups."""
        estimate = self._estimate(differences, about)
        variance = estimate.total().variance[:, 0]
        n_groups = len(self.names)
        rows: list[Pair] = []
        chances: list[float | None] = []
        for group, margin in enumerate(margins(estimate)[:n_groups]):
            mean = float(estimate.mean[group, 0])
            n_items = len(np.unique(self.item[self.group == group]))
            row = Pair(*pair, mean, reason=NO_SPREAD)
            if margin.scale > ROUNDING * abs(mean):  # else the same difference on every cell
                row = of_margin(*pair, mean, margin, rope)
            chances.append(row.p_a_better)
            rows.append(replace(in_own_units(row, about), group=self.names[group], n_items=n_items))
        found: list[dict[str, object]] = []
        for at, (one, other) in enumerate(pairs_of(np.arange(n_groups)).tolist()):
            covariance = (variance[one] + variance[other] - variance[n_groups + at]) / 2
            p = _disagreement(chances[one], chances[other], covariance, variance[one] * variance[other])
            names = {"group": self.names[one], "other_group": self.names[other]}
            found.append({"a": pair[0], "b": pair[1], **names, "p_disagree": p})
        return rows, found

    def _estimate(self, differences: Cells, about: About) -> Estimate:
        """Each group's mean difference over its cells in the place of a model; their pairs give the covariances."""
        groups = np.arange(len(self.names))[:, None]
        member = self.group == groups
        share = member / member.sum(1, keepdims=True)
        level = share @ differences
        influence = share * (differences - level[:, None])
        first, second = pairs_of(groups[:, 0]).T
        weights = np.concatenate([share, share[first] + share[second]])
        return Estimate.of_influence(
            self.names,
            level,
            influence,
            self.item,
            self.design,
            about,
            self.annotator,
            item_df=_freedom(weights, self.unit),
            annotator_df=_freedom(weights, self.annotator),
        )


def _freedom(weights: Float[np.ndarray, "row cell"], unit: Int[np.ndarray, " cell"]) -> Float[np.ndarray, " row"]:
    """One less than the number of units of equal weight that would tell as much."""
    of_unit = totals(weights, unit, int(unit.max()) + 1)
    effective = of_unit.sum(1) ** 2 / np.square(of_unit).sum(1)
    return np.asarray(effective - 1)


def _disagreement(p: float | None, q: float | None, covariance: float, product: float) -> float | None:
    """P(a is better in one group and worse in the other), with normal dependence between their differences."""
    if p is None or q is None:
        return None
    correlation = float(np.clip(covariance / math.sqrt(product), -1.0, 1.0))
    h, k = np.clip(ndtri([p, q]), -FARTHEST, FARTHEST).tolist()
    # what dependence adds to P(both negative): Plackett's integral over the correlation (Genz 2004,
    # doi:10.1023/B:STCO.0000035304.20635.31)
    angle = math.asin(correlation)
    theta = angle * PLACES
    exponent = (h**2 + k**2 - 2 * h * k * np.sin(theta)) / (2 * np.cos(theta) ** 2)
    added = angle * float(WEIGHTS @ np.exp(-exponent)) / (2 * math.pi)
    independent = p * (1 - q) + q * (1 - p)
    return min(max(independent - 2 * added, 0.0), 1.0)


def _sentences(rows: Sequence[Pair], disagreements: Sequence[Mapping[str, object]]) -> list[str]:
    """A warning for each two groups that surely disagree, the surest first."""
    answer = {(row.a, row.b, row.group): row for row in rows}
    certain: list[tuple[float, str]] = []
    for found in disagreements:
        p = found["p_disagree"]
        if not isinstance(p, float) or p < DISAGREE:
            continue
        a, b = str(found["a"]), str(found["b"])
        group, other = str(found["group"]), str(found["other_group"])
        if answer[a, b, group].favours == "b":
            group, other = other, group
        sentence = (
            f"groups of annotators disagree about who is better: {a!r} by the annotators of {group!r}, {b!r} by those "
            f"of {other!r} (P(they disagree) = {p:.3f}); the answer over all annotators depends on who is asked"
        )
        certain.append((p, sentence))
    certain.sort(key=lambda entry: -entry[0])
    sentences = [sentence for _, sentence in certain[:SHOWN]]
    if len(certain) > SHOWN:
        sentences.append(f"groups of annotators disagree on {len(certain) - SHOWN} more pairs: see group_disagreement")
    return sentences
