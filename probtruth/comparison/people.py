"""Groups of people: what `compare` says by each group's annotators, of the population of groups, and who disagrees."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtri

from probtruth import check
from probtruth.comparison.boards.boards import filled
from probtruth.comparison.boards.fit import connected
from probtruth.comparison.estimation.design import Design, design_of, pairs_of, partition_of, rows_of, totals
from probtruth.comparison.estimation.estimate import MANY, Estimate, Part
from probtruth.comparison.options import Options
from probtruth.comparison.posterior.groups import Population
from probtruth.comparison.posterior.margin import margins
from probtruth.comparison.posterior.posterior import Posterior, drawn_population, engine_of, summary
from probtruth.comparison.results.rows import pair_rows, population_rows
from probtruth.comparison.results.warn import sampling
from probtruth.comparison.sources import of_scores
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.shapes import GroupInts, ItemInts
from probtruth.types import Comparison, Replicates, Scores
from probtruth.types.comparison import PEOPLE
from probtruth.types.pairs import Pair

DISAGREE = 0.95  # Probability from which on a warning says that two groups disagree
SHOWN = 3  # Such warnings at most
FARTHEST = 38.0  # Standard deviations beyond which a normal probability is 0 in float64
LEAST = 0.1  # Of a group's variance, what stays its own when that which all groups share is taken off


def by_people(comparison: Comparison, scores: Scores, groups: object, options: Options) -> Comparison:
    """The comparison with each group's own answers, their population, and how surely two groups disagree."""
    people = People.of(scores, groups, options)
    rows = people.rows(options)
    disagreements = people.disagreements(rows)
    results = {**comparison.group_results, PEOPLE: rows}
    tables = {**comparison.diagnostics["tables"], PEOPLE: engine_of(None)}
    joined = people.joined()
    population = Population.of(joined)
    if population is not None:
        # under "auto" by quadrature: divergences in a side table must not take the verdict over all annotators away
        engine = options if options.engine == "nuts" else replace(options, engine="exact")
        population, run = drawn_population(population, engine)
        tables[f"population of {PEOPLE}"] = engine_of(run)
        for name, found in population_rows(joined, population, options.rope).items():
            results[f"{name} of annotators"] = found
    diagnostics = summary(tables)
    failing = [line for line in sampling(diagnostics) if line not in comparison.warnings]
    if options.strict and failing:
        raise PosteriorError(" ".join(failing))
    sizes = dict(zip(people.names, people.n_annotators.tolist(), strict=True))
    return replace(
        comparison,
        group_results=results,
        diagnostics=diagnostics,
        decisions={**comparison.decisions, "group_disagreement": disagreements, "group_annotators": sizes},
        warnings=(*failing, *comparison.warnings, *_sentences(rows, disagreements)),
    )


@dataclass(frozen=True, eq=False)
class People:
    """The estimate from the cells (of an item, by an annotator) of each group's annotators.

    `units` is what each item, or cluster, adds to every mean: the groups have items in common.
    """

    names: tuple[str, ...]
    n_annotators: GroupInts
    estimates: Sequence[Estimate]
    units: Float[np.ndarray, "group model unit"]

    @classmethod
    def of(cls, scores: Scores, groups: object, options: Options) -> "People":
        """From scores by annotator; every annotator needs a group, and every group two annotators and two items."""
        cells = scores.replicates
        if cells is None or cells.what != "annotator":
            hint = (
                "Score each annotator's label by itself: score(..., each='annotation'), or read such scores with "
                "read_scores(..., annotator=COLUMN) (command line: --annotator COLUMN)."
            )
            raise InputError("groups of annotators with scores without annotators", "scores by annotator", hint)
        if not isinstance(groups, Mapping):
            got = f"groups of annotators of type {type(groups).__name__}"
            hint = "Of a table: dict(zip(table['annotator'], table['group']))."
            raise InputError(got, "a mapping {annotator: group}", hint)
        grouped = partition_of(groups, cells.names, "group", "annotator")
        if len(grouped.names) < 2:
            got = f"one group of annotators ({check.shortlist(grouped.names)})"
            raise InputError(got, "at least two", "Leave it out.")
        estimates = []
        units = []
        sizes = []
        for group, name in enumerate(grouped.names):
            by_group = grouped.codes[cells.replicate] == group
            inside = by_group & ~np.isnan(cells.values).all(0)
            items, part = _of_cells(scores, cells, inside)
            plan = design_of(part.items, None, None, own_clusters=part.clusters)
            sizes.append(len(np.unique(cells.replicate[inside])))
            _check_group(name, part, plan, sizes[-1])
            estimate = of_scores(part, plan, options)
            # of new annotators in full, also where one gave nearly all labels: a group is not its members here
            estimates.append(estimate.for_new_units())
            values = filled(part.losses, plan, scores.models)[0][estimate.order]
            added = plan.item_weights * plan.residuals(values)
            n_units = len(scores.items)
            if scores.clusters is not None:
                items = scores.clusters.codes[items]
                n_units = len(scores.clusters.names)
            unbiased = math.sqrt(plan.n_units / (plan.n_units - 1))
            units.append(unbiased * totals(added, items, n_units))
        return cls(grouped.names, np.array(sizes), estimates, np.stack(units))

    def rows(self, options: Options) -> list[Pair]:
        """Each pair by each group, as `compare` of the group's cells has it."""
        by_group = []
        for name, estimate in zip(self.names, self.estimates, strict=True):
            n_items = estimate.design.n_items
            post = Posterior(estimate, margins(estimate))
            rows = pair_rows(estimate, post, options)
            by_group.append([replace(row, group=name, n_items=n_items) for row in rows])
        return list(chain.from_iterable(zip(*by_group, strict=True)))

    def covariance(self, first: int, second: int) -> Float[np.ndarray, "group group"]:
        """That of the groups' means of a model (second: -1) or of the difference of two, by the items they share."""
        added = self.units[:, first]  # group, unit
        if second >= 0:
            added = added - self.units[:, second]
        return added @ added.T

    def disagreements(self, rows: Sequence[Pair]) -> list[dict[str, Any]]:
        """P(one model is better by one group and the other by the other group) of each pair and two groups."""
        n_groups = len(self.names)
        n_models = self.estimates[0].n_models
        variances = [estimate.total().variance[n_models:, 0] for estimate in self.estimates]
        found = []
        for place, (first, second) in enumerate(pairs_of(np.arange(n_models)).tolist()):
            covariance = self.covariance(first, second)
            of_pair = rows[place * n_groups : (place + 1) * n_groups]
            for group, other_group in combinations(range(n_groups), 2):
                row = of_pair[group]
                p = _disagreement(
                    row.p_a_better,
                    of_pair[other_group].p_a_better,
                    covariance[group, other_group],
                    variances[group][place] * variances[other_group][place],
                )
                groups = {"group": self.names[group], "other_group": self.names[other_group]}
                found.append({"a": row.a, "b": row.b, **groups, "p_disagree": p})
        return found

    def joined(self) -> Estimate:
        """The groups side by side: what each has by itself, and what all share because they share items."""
        first = self.estimates[0]
        n_groups = len(self.names)
        in_all = [estimate.total() for estimate in self.estimates]
        variance = np.hstack([part.variance for part in in_all])
        df = np.hstack([part.df for part in in_all])
        shared = np.zeros((len(variance), 1))
        two_groups = ~np.eye(n_groups, dtype=bool)
        models = rows_of(np.arange(first.n_models))
        for row, (model, other) in enumerate(models.tolist()):
            covariance = self.covariance(model, other)[two_groups]
            shared[row] = max(float(covariance.mean()), 0.0)
        of_group = np.maximum(variance - shared, LEAST * variance)
        parts = {
            "annotators": Part(of_group, np.zeros_like(variance), df),
            "items": Part(shared, np.zeros_like(shared), np.full_like(shared, MANY)),
        }
        weights = np.full(n_groups, 1 / n_groups)
        plan = Design(self.n_annotators, group_names=self.names, weights=weights)
        mean = np.hstack([estimate.over_groups().mean for estimate in self.estimates])
        return Estimate(first.names, mean, parts, plan, first.about)


def _of_cells(scores: Scores, cells: Replicates, inside: Bool[np.ndarray, " cell"]) -> tuple[ItemInts, Scores]:
    """The scores by some cells only, and the places of their items."""
    items, item = np.unique(cells.item[inside], return_inverse=True)
    annotators, annotator = np.unique(cells.replicate[inside], return_inverse=True)
    names = tuple([cells.names[at] for at in annotators])
    values = cells.values[:, inside]
    chosen = Replicates(item, annotator, values, names, cells.what)
    every_model = np.arange(len(scores.models))
    part = scores.part(every_model, items)
    means = chosen.means(len(items))
    return items, replace(part, values=means, replicates=chosen, groups=None)


def _check_group(name: str, part: Scores, plan: Design, n_annotators: int) -> None:
    if np.isinf(part.values).any():
        raise InputError("an infinite score with groups of annotators", "finite scores", "Leave the groups out.")
    hint = "Join it with another group, or leave its annotators out."
    if len(connected(part.values)) > 1:
        got = f"group {name!r} in which no chain of shared items connects the models"
        raise InputError(got, "items that several models share in every group", hint)
    unit = "item" if plan.unit is None else "cluster"
    for what, n in (("annotator", n_annotators), (unit, plan.n_units)):
        if n < 2:
            raise InputError(
                f"group {name!r} with {check.count(n, what)}", f"at least two {what}s in every group", hint
            )


def _disagreement(p: float | None, q: float | None, covariance: float, product: float) -> float | None:
    """P(a is better in one group and worse in the other), with normal dependence between their differences."""
    if p is None or q is None or product == 0:
        return None
    correlation = float(np.clip(covariance / math.sqrt(product), -1.0, 1.0))
    from scipy.stats import multivariate_normal  # a third of a second to load

    z = np.clip(ndtri([p, q]), -FARTHEST, FARTHEST)
    covariances = [[1.0, correlation], [correlation, 1.0]]
    both = multivariate_normal.cdf(z, cov=covariances, allow_singular=True)
    disagree = p + q - 2 * float(both)
    return min(max(disagree, 0.0), 1.0)


def _sentences(rows: Sequence[Pair], disagreements: Sequence[Mapping[str, Any]]) -> list[str]:
    """A warning for each two groups that surely disagree, the surest first."""
    favoured = {(row.a, row.b, row.group): row.favours for row in rows}
    certain = [found for found in disagreements if (found["p_disagree"] or 0.0) >= DISAGREE]
    certain.sort(key=lambda found: -found["p_disagree"])
    sentences = []
    for found in certain[:SHOWN]:
        groups = [found["group"], found["other_group"]]
        if favoured[found["a"], found["b"], found["group"]] == "b":
            groups.reverse()
        sentences.append(
            f"groups of annotators disagree about who is better: {found['a']!r} by the annotators of {groups[0]!r}, "
            f"{found['b']!r} by those of {groups[1]!r} (P(they disagree) = {found['p_disagree']:.3f}); the answer over "
            "all annotators depends on who is asked"
        )
    if len(certain) > SHOWN:
        sentences.append(f"groups of annotators disagree on {len(certain) - SHOWN} more pairs: see group_disagreement")
    return sentences
