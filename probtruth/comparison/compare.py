"""`compare`: from per-item scores to the posterior of every pairwise mean difference and the decisions it supports."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations

import numpy as np

from probtruth import check
from probtruth.comparison.boards.costs import drawn_costs
from probtruth.comparison.boards.fit import connected
from probtruth.comparison.estimation.design import LEADING, Design, design
from probtruth.comparison.estimation.estimate import SOURCES, Estimate
from probtruth.comparison.estimation.moments import Moments
from probtruth.comparison.options import Options, checked_options
from probtruth.comparison.posterior.groups import Population
from probtruth.comparison.posterior.posterior import CHAINS, Posterior, posterior_of
from probtruth.comparison.results.assemble import assemble
from probtruth.comparison.results.warn import other_best
from probtruth.comparison.sources import of_moments, of_scores
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.host import free_memory
from probtruth.kernels.shapes import ModelInts
from probtruth.types import Audit, Comparison, Scores
from probtruth.types.pairs import Pair, Rank

OF_PAIR = 125  # Numbers that a pair takes beside the draws
NOT_CONNECTED = "no chain of shared items connects the two models"


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
        extras = {"groups": groups, "clusters": clusters, "replicates": replicates, "annotations": annotations}
        _refuse(extras, "sums", "Pass it to Moments.of, or compare the scores.")
    chosen = checked_options(replicates=replicates, **options)
    n_models = len(scores.models)
    n_pairs = math.comb(n_models, 2)
    n_draws = CHAINS * chosen.draws
    of_pair = n_draws if chosen.engine == "nuts" else OF_PAIR
    need = 8 * (8 * n_draws * n_models + n_pairs * of_pair)
    if n_models > LEADING and need > free_memory():
        raise InputError(
            f"{n_models:,} models, whose {n_pairs:,} pairs need some {need / 1e9:.3g} GB",
            f"what fits into the memory that is free, {free_memory() / 1e9:.3g} GB",
            "Compare fewer models.",
        )
    if isinstance(scores, Moments):
        return conclude(of_moments(scores, weights, chosen), chosen)
    plan = design(scores, groups, clusters, weights)
    if scores.gold is not None:
        dependent = chosen.replicates if chosen.replicates in ("crossed", "folds") else None
        _refuse({f"replicates={dependent!r}": dependent, "annotations": annotations}, "gold", "Leave one of them out.")
    scores = replace(scores, groups=plan.groups, clusters=plan.clusters)
    without = np.flatnonzero(np.isnan(scores.values).all(1))
    if len(without):
        model = check.quote(scores.models[without[0]])
        raise InputError(f"no score of model {model}", "a score of every model", "Leave the model out.")
    sets = connected(scores.values) if np.isnan(scores.values).any() else []
    if len(sets) > 1:
        return _by_set(scores, sets, weights, annotations, chosen)
    found = conclude(of_scores(scores, plan, chosen, annotations), chosen)
    found = replace(found, scored=scores, costs_drawn=partial(drawn_costs, scores, plan, chosen.seed))
    if scores.by_proper_rule is None:
        return found
    same = {**options, "rope": None, "strict": False}  # a ROPE is in units of the score
    proper_scores = replace(scores.by_proper_rule, groups=plan.groups, clusters=plan.clusters)
    proper = compare(proper_scores, replicates=replicates, annotations=annotations, weights=weights, **same)
    return replace(found, proper=proper, warnings=(*other_best(found, proper), *found.warnings))


def conclude(estimate: Estimate, options: Options) -> Comparison:
    """The comparison that an estimate supports, however it was made."""
    if estimate.names and not options.these_items:
        need_spread(estimate.design, estimate.about.audit)
    return _concluded(estimate, options)


def _concluded(estimate: Estimate, options: Options) -> Comparison:
    """The same also where one unit tells nothing of how much differences vary."""
    if not estimate.names:
        return assemble(estimate, Posterior(estimate), options)
    population = None
    grouped = estimate.mean.shape[1] > 1
    if grouped and estimate.n_models > 1 and np.isfinite(estimate.mean).all():
        variance = estimate.over_groups().items.variance
        if np.isfinite(variance).all():
            population = Population.of(estimate)
    return assemble(estimate, posterior_of(estimate, population, options), options)


def _by_set(
    scores: Scores, of_models: Sequence[ModelInts], weights: object, annotations: object, options: Options
) -> Comparison:
    """Each set of models that a chain of shared items connects compared by itself, and all as one.

    What needs all models at once (P(best), ranks, regret) is not known.
    """
    names: list[str] = []
    found: list[Comparison] = []
    pair_of: dict[tuple[str, str], Pair] = {}
    for a, b in combinations(sorted(scores.models), 2):
        pair_of[a, b] = Pair(a, b, reason=NOT_CONNECTED, shared_items=0)
    ranks: list[Rank] = []
    for models in of_models:
        scored = ~np.isnan(scores.values[models])
        part = scores.part(models, np.flatnonzero(scored.any(0)))
        _need_groups(part, scores, weights)
        estimate = of_scores(part, design(part, None, None, weights), options, annotations)
        comparison = _concluded(estimate, options)
        names.append(check.shortlist(part.models, 3))
        if estimate.design.n_units > 1:
            found.append(comparison)
        for pair in comparison.pairs:
            shared = len(part.items) if pair.shared_items is None else pair.shared_items
            pair_of[pair.models] = replace(pair, shared_items=shared)
        for rank in comparison.ranks:
            ranks.append(replace(rank, p_best=None, expected_rank=None, expected_regret=None, tier=None))
    if not found:
        raise PosteriorError(
            "got models of which no two share two items (or clusters), expected at least two: the spread between them "
            "cannot be estimated. Hint: score some items with several models."
        )
    listed = "; ".join(names[:3])
    if len(names) > 3:
        listed += f"; and {len(names) - 3} more sets"
    warnings = [
        f"nothing connects these sets of models, which were never scored on the same items: {listed}. Each is compared "
        "by itself, and no model is the best of all"
    ]
    for comparison in found:
        warnings += comparison.warnings
    return replace(
        max(found, key=lambda part: len(part.models)),
        models=scores.models,
        pairs=[*pair_of.values()],
        ranks=sorted(ranks, key=lambda rank: np.inf if rank.score is None else scores.sign * rank.score),
        warnings=tuple(dict.fromkeys(warnings)),
        decisions=dict.fromkeys(("credible_set", "credible_set_probability", "chosen", "score")),
        group_results={},
        of_groups=lambda: list(chain.from_iterable(part.groups for part in found)),
        tests=lambda: list(chain.from_iterable(part.tests() for part in found)),
        parts=lambda: dict.fromkeys(SOURCES),
        scored=scores,
    )


def _need_groups(part: Scores, whole: Scores, weights: object) -> None:
    """Raises where models that are compared by themselves have no item of a group that has a weight."""
    if weights is None or part.groups is None or whole.groups is None:
        return
    absent = [name for name in whole.groups.names if name not in part.groups.names]
    if absent:
        raise InputError(
            f"weights of groups, and no item of group {check.shortlist(absent, 3)} with a score of model "
            f"{check.shortlist(part.models, 3)}, which share no items with the others",
            "items of every group that has a weight",
            "Leave the weights out, or compare models that share items by themselves.",
        )


def _refuse(extras: Mapping[str, object], what: str, hint: str) -> None:
    for name, value in extras.items():
        if value is not None:
            raise InputError(f"{what} with {name}", "one of the two", hint)


def need_two(models: Sequence[str]) -> None:
    """Raises where there is nothing to compare."""
    if len(models) < 2:
        raise InputError(
            f"one model only ({check.shortlist(models)})",
            "at least two models to compare",
            "Add another model's scores; evaluate (command line: run) gives one model's score by a rule, with its "
            "interval.",
        )


def need_spread(plan: Design, audit: Audit) -> None:
    """Raises where no group has two units, whose difference shows how much they vary."""
    if (plan.group_units < 2).all():
        unit = plan.unit_name
        where = "in all"
        hint = f"add {unit}s, or compare under finer {unit}s"
        if plan.grouped:
            where = f"in each of the {plan.n_groups} groups"
            hint = f"leave the groups out, or add {unit}s"
        left_out = ", ".join(audit.counts())
        dropped = f" (left out for all models: {left_out})" if left_out else ""
        raise PosteriorError(
            f"got one {unit} {where}{dropped}, expected at least two: the spread between {unit}s cannot be estimated. "
            f"Hint: {hint}."
        )
