"""`compare`: from per-item scores to the posterior of every pairwise mean difference and the decisions it supports."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from probtruth import check
from probtruth.comparison.assemble import assemble
from probtruth.comparison.design import Design, design
from probtruth.comparison.evidence import Evidence, of_moments, of_scores
from probtruth.comparison.groups import Population
from probtruth.comparison.location import Location, combine
from probtruth.comparison.moments import Moments
from probtruth.comparison.options import Options, checked_options
from probtruth.comparison.pairs import LEADING, rows_of
from probtruth.comparison.posterior import CHAINS, Posterior, posterior_of
from probtruth.comparison.shared_units import wider
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.host import free_memory
from probtruth.types import Comparison, Scores

OF_PAIR = 125  # Numbers that a pair takes beside the draws


def compare(
    scores: Scores | Moments,
    groups: object = None,
    clusters: object = None,
    replicates: object = None,
    *,
    annotations: object = None,
    weights: object = None,
    **options: object,
) -> Comparison:
    """The comparison of scores that memory holds; arguments and errors are those of `probtruth.compare`.

    One model alone gets its mean score with its interval, and no pairs.
    """
    check.unique(scores.models, "model")
    if isinstance(scores, Moments):
        given = {"groups": groups, "clusters": clusters, "replicates": replicates, "annotations": annotations}
        _refuse(given, "sums", "Pass it to Moments.of, or compare the scores.")
    chosen = checked_options(replicates=replicates, **options)
    n_models, n_pairs, n_draws = len(scores.models), math.comb(len(scores.models), 2), CHAINS * chosen.draws
    need = 8 * (8 * n_draws * n_models + n_pairs * (n_draws if chosen.engine == "nuts" else OF_PAIR))
    if n_models > LEADING and need > free_memory():
        raise InputError(
            f"{n_models:,} models, whose {n_pairs:,} pairs need some {need / 1e9:.3g} GB",
            f"what fits into the memory that is free, {free_memory() / 1e9:.3g} GB",
            "Compare fewer models.",
        )
    if isinstance(scores, Moments):
        return conclude(of_moments(scores, weights), chosen)
    plan = design(scores, groups, clusters, weights)
    if scores.gold is not None:
        dependent = chosen.replicates if chosen.replicates in ("crossed", "folds") else None
        _refuse({f"replicates={dependent!r}": dependent, "annotations": annotations}, "gold", "Leave one of them out.")
    found = conclude(of_scores(scores, plan, chosen, annotations), chosen)
    return replace(found, scored=replace(scores, groups=plan.groups, clusters=plan.clusters))


def conclude(evidence: Evidence, options: Options, at: Location | None = None) -> Comparison:
    """The comparison that the evidence supports; `at` are the locations of numbers that are not means."""
    means, plan, n_models = evidence.rows, evidence.design, len(evidence.order)
    if at is None and means is None:
        return assemble(evidence, Posterior(), options)
    if options.these_items:
        if evidence.fixed_location is None:
            problem = "population='these-items' with sums, or with gold"
            raise InputError(problem, "scores of the items, whose labels are unsure", "Leave the population out.")
        at = evidence.fixed_location(evidence.order)
    elif at is None and means is not None:
        need_spread(plan)
        at = combine(means, plan.weights)
    assert at is not None
    rows, hierarchy = at, None
    if evidence.shared is not None:
        rows = wider(at, evidence.shared.parts(*rows_of(evidence.order).T))
    if means is not None and n_models > 1 and plan.grouped and not options.these_items:
        hierarchy = Population.of(means.of(slice(n_models, None)))
    if hierarchy is not None:
        hierarchy = replace(hierarchy, shared=np.maximum(rows.variance - at.variance, 0.0)[n_models:])
    return assemble(evidence, posterior_of(rows, n_models, hierarchy, options), options)


def _refuse(given: Mapping[str, object], what: str, hint: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{what} with {name}", "one of the two", hint)


def need_two(models: Sequence[str]) -> None:
    """Raises where there is nothing to compare."""
    if len(models) < 2:
        raise InputError(
            f"one model only ({check.shortlist(models)})",
            "at least two models to compare",
            "Add another model's scores; evaluate (command line: run) gives one model's score with its interval.",
        )


def need_spread(plan: Design) -> None:
    """Raises where no group has two units, whose difference would show how much they vary."""
    if (plan.group_units < 2).all():
        unit = "item" if plan.n_clusters is None else "cluster"
        where = f"in each of the {plan.n_groups} groups" if plan.grouped else "in all"
        raise PosteriorError(
            f"got one {unit} {where}, expected at least two: the spread between {unit}s cannot be estimated. "
            f"Hint: add {unit}s, or compare under finer {unit}s."
        )
