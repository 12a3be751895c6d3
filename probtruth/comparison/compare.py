"""`compare`: from per-item scores to the posterior of every pairwise mean difference and the decisions it supports."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from probtruth import check
from probtruth.comparison.assemble import assemble
from probtruth.comparison.companions.paired_tests import Companion
from probtruth.comparison.evidence.design import Design, design
from probtruth.comparison.evidence.evidence import Evidence
from probtruth.comparison.evidence.from_scores import of_scores
from probtruth.comparison.evidence.moments import Location, Moments, combine
from probtruth.comparison.evidence.parts import HeldParts, gathered
from probtruth.comparison.evidence.sweeps import LEADING, pairs_of
from probtruth.comparison.evidence.sweeps import differences as differences_of
from probtruth.comparison.options import Options, checked_options, width
from probtruth.comparison.posterior.engines import CHAINS, sample_location
from probtruth.comparison.posterior.margins import margins
from probtruth.comparison.posterior.population import population_of, prepare_population, sample_population
from probtruth.comparison.posterior.posterior import Posterior
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.host import free_memory
from probtruth.types import Comparison, Scores

if TYPE_CHECKING:
    from probtruth.comparison.likelihoods.fit import Fitted


def compare(
    scores: Scores,
    groups: object = None,
    clusters: object = None,
    replicates: object = None,
    *,
    likelihood: object = "auto",
    annotations: object = None,
    fold_correlation: object = None,
    engine: object = "nuts",
    population: object = "new-items",
    weights: object = None,
    rope: object = None,
    draws: object = 2500,
    seed: object = 0,
    strict: object = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """The comparison of scores that memory holds; arguments and errors are those of `probtruth.compare`.

    One model alone gets its mean score with its interval, and no pairs.
    """
    check.unique(scores.models, "model")
    chosen = checked_options(engine, population, rope, draws, seed, strict, replicates, fold_correlation, likelihood)
    plan = design(scores, groups, clusters, weights)
    need_room(len(scores.models), chosen, plan.grouped and not chosen.these_items)
    if scores.gold is not None:
        _refuse_with_gold(chosen, annotations)
    return replace(conclude(of_scores(scores, plan, chosen, annotations), chosen, on_progress), scored=scores)


def conclude(
    evidence: Evidence,
    options: Options,
    on_progress: Callable[[int, int], None] | None = None,
    at: tuple[Location, Location] | None = None,
    tests: Sequence[Companion] | None = None,
) -> Comparison:
    """The comparison that the evidence supports, wherever that came from.

    Arguments: `at` are the locations of the pairs and of the models, where these are not means of scores but numbers
    whose posterior is known to lie there, and `tests` their companions.
    """
    rope, moments, n_models = width(options.rope, evidence.facts, evidence.means), evidence.moments, len(evidence.order)
    if at is None:
        if moments is None:
            return assemble(evidence, Posterior(), options, rope)
        at = _locations(evidence, moments, options)
    (of_items, levels), pairs = at, at[0]
    if evidence.crossed is not None:
        pairs, levels = evidence.crossed.widened(of_items, levels)
    if n_models == 1:
        return assemble(evidence, Posterior(pairs, levels, tests=tests), options, rope)
    hierarchy = None
    if moments is not None and evidence.design.grouped and not options.these_items:
        hierarchy = population_of(moments)
    if hierarchy is not None and options.engine == "nuts":
        prepare_population(hierarchy)
    fitted = _fitted(evidence, pairs, options)
    of_pairs = margins(pairs) if fitted is None else fitted.margins
    how, report = (options.engine, options.draws, options.seed), on_progress or (lambda done, total: None)
    stages = 1 if hierarchy is None else 2
    sampled = sample_location(pairs, of_pairs, n_models, *how, lambda done, total: report(done, stages * total))
    if hierarchy is not None:
        hierarchy = sample_population(hierarchy, *how, lambda done, total: report(total + done, 2 * total))
        hierarchy = replace(hierarchy, shared=np.maximum(pairs.variance - of_items.variance, 0.0))
    return assemble(evidence, Posterior(pairs, levels, of_pairs, sampled, hierarchy, fitted, tests), options, rope)


def _fitted(evidence: Evidence, location: Location, options: Options) -> "Fitted | None":
    """The pairs' margins under another likelihood than the default, by its own fit; None for the default."""
    if options.likelihood == "auto":
        return None
    structure = {
        "groups": evidence.design.grouped,
        "clusters": evidence.design.n_clusters is not None,
        "population='these-items'": options.these_items,
        f"replicates={options.replicates!r}": options.replicates in ("crossed", "folds"),
        "annotations": evidence.crossed is not None and evidence.crossed.cells.what == "annotator",
        "engine='exact'": options.engine == "exact",
        "scores that lie in parts": not isinstance(evidence.parts, HeldParts),
        "gold": evidence.gold is not None,
    }
    clashes = [what for what, named in structure.items() if named]
    if clashes or evidence.parts is None:
        raise InputError(
            f"likelihood={options.likelihood!r} with {' and '.join(clashes)}",
            "independent items, sampled by NUTS",
            "Leave the likelihood out: the default knows groups, clusters and the rest.",
        )
    from probtruth.comparison.likelihoods.fit import fit_pairs  # with JAX and NumPyro

    differences = list(differences_of(gathered(evidence.parts).values, pairs_of(evidence.order)))
    return fit_pairs(options.likelihood, differences, margins(location), options.seed, options.draws)


def _refuse_with_gold(options: Options, annotations: object) -> None:
    """Raises for what the correction by experts' answers is not worked out for."""
    clashes = {
        f"replicates={options.replicates!r}": options.replicates in ("crossed", "folds"),
        "annotations": annotations is not None,
    }
    for what, there in clashes.items():
        if there:
            raise InputError(f"gold with {what}", "one of the two", "Leave one of them out.")


COPIES, OF_PAIR = 8, 1_000
"""How often the draws of all models are held at once, and the bytes that a pair takes beside them."""
OF_POPULATION = 6
"""The same of each pair's draws where groups are drawn from a population."""


def need_room(n_models: int, options: Options, population: bool) -> None:
    """Raises before anything begins where draws and pairs of so many models would not fit into free memory."""
    n_pairs, n_draws = math.comb(n_models, 2), CHAINS * options.draws
    need = 8 * COPIES * n_draws * n_models + OF_PAIR * n_pairs
    need += 8 * OF_POPULATION * n_draws * n_pairs if population else 0
    if n_models > LEADING and need > free_memory():
        raise InputError(
            f"{n_models:,} models, whose {n_pairs:,} pairs need some {need / 1e9:.3g} GB",
            f"what fits into the memory that is free, {free_memory() / 1e9:.3g} GB",
            f"Compare with fewer draws (draws=500), fewer models{', or no groups' if population else ''}.",
        )


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
    if (plan.structure.n_units < 2).all():
        unit = "item" if plan.n_clusters is None else "cluster"
        where = f"in each of the {plan.n_groups} groups" if plan.grouped else "in all"
        raise PosteriorError(
            f"got one {unit} {where}, expected at least two: the spread between {unit}s cannot be estimated. "
            f"Hint: add {unit}s, or compare under finer {unit}s."
        )


def _locations(evidence: Evidence, parts: Moments, options: Options) -> tuple[Location, Location]:
    """The pairs' mean differences and the models' own mean scores, under the estimand."""
    plan = evidence.design
    if options.these_items:
        return evidence.fixed_items.locations(evidence.order)
    need_spread(plan)
    return combine(parts, parts.pairs, plan.weights), combine(parts, parts.levels, plan.weights)
