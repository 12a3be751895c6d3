"""`compare`: from per-item scores to the posterior of every pairwise mean difference and the decisions it supports."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from probtruth import check
from probtruth.comparison.assemble import Posterior, assemble
from probtruth.comparison.evidence.design import design
from probtruth.comparison.evidence.evidence import Evidence
from probtruth.comparison.evidence.from_scores import of_scores
from probtruth.comparison.evidence.moments import Location, Moments, combine
from probtruth.comparison.evidence.parts import HeldParts, gathered
from probtruth.comparison.evidence.sweeps import differences as differences_of
from probtruth.comparison.evidence.sweeps import pairs_of
from probtruth.comparison.options import Options, options, width
from probtruth.comparison.posterior.engines import sample_location
from probtruth.comparison.posterior.margins import margins
from probtruth.comparison.posterior.population import population_of, prepare_population, sample_population
from probtruth.errors import InputError, PosteriorError
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
    asked = options(engine, population, rope, draws, seed, strict, replicates, fold_correlation, likelihood)
    plan = design(scores, groups, clusters, weights)
    return replace(conclude(of_scores(scores, plan, asked, annotations), asked, on_progress), scored=scores)


def conclude(found: Evidence, asked: Options, on_progress: Callable[[int, int], None] | None = None) -> Comparison:
    """The comparison that the evidence supports, wherever that came from."""
    asked = replace(asked, rope=width(asked.rope_asked, found.facts, found.means))
    report = on_progress or (lambda done, total: None)
    pairs, levels = (None, None) if found.moments is None else _locations(found, found.moments, asked)
    of_items = pairs
    if found.crossed is not None and pairs is not None and levels is not None:
        pairs, levels = found.crossed.widened(pairs, levels)
    sampled, hierarchy, fitted = None, None, None
    if pairs is not None and found.moments is not None and len(found.order) > 1:
        n_models, stages = len(found.order), 2 if found.design.grouped and not asked.these_items else 1
        hierarchy = population_of(found.moments) if stages == 2 else None
        if hierarchy is not None and asked.engine == "nuts":
            prepare_population(hierarchy)
        fitted = _fitted(found, pairs, asked)
        kept = margins(pairs) if fitted is None else fitted.margins
        first = lambda done, total: report(done, stages * total)  # noqa: E731
        sampled = sample_location(pairs, kept, n_models, asked.engine, asked.draws, asked.seed, first)
        if hierarchy is not None:
            second = lambda done, total: report(total + done, 2 * total)  # noqa: E731
            hierarchy = sample_population(hierarchy, asked.engine, asked.draws, asked.seed, second)
            if of_items is not None:
                hierarchy = replace(hierarchy, shared=np.maximum(pairs.variance - of_items.variance, 0.0))
    return assemble(found, Posterior(found.order, pairs, levels, sampled, hierarchy, fitted), asked)


def _fitted(found: Evidence, place: Location, asked: Options) -> "Fitted | None":
    """The pairs' margins under another likelihood than the default, by its own fit; None for the default."""
    if asked.likelihood == "auto":
        return None
    structure = {
        "groups": found.design.grouped,
        "clusters": found.design.n_clusters is not None,
        "population='these-items'": asked.these_items,
        f"replicates={asked.replicates!r}": asked.replicates in ("crossed", "folds"),
        "annotations": found.crossed is not None and found.crossed.what == "annotator",
        "engine='exact'": asked.engine == "exact",
        "scores that lie in parts": not isinstance(found.parts, HeldParts),
    }
    clashes = [what for what, given in structure.items() if given]
    if clashes:
        raise InputError(
            f"likelihood={asked.likelihood!r} with {' and '.join(clashes)}",
            "independent items, sampled by NUTS",
            "Leave the likelihood out: the default knows groups, clusters and the rest.",
        )
    from probtruth.comparison.likelihoods.fit import fit_pairs  # with JAX and NumPyro

    differences = list(differences_of(gathered(found.parts).values, pairs_of(found.order)))
    return fit_pairs(asked.likelihood, differences, margins(place), asked.seed, asked.draws)


def need_two(models: Sequence[str]) -> None:
    """Raises where there is nothing to compare."""
    if len(models) < 2:
        raise InputError(
            f"one model only ({check.shortlist(models)})",
            "at least two models to compare",
            "Add another model's scores; evaluate (command line: run) gives one model's score with its interval.",
        )


def _locations(found: Evidence, parts: Moments, asked: Options) -> tuple[Location, Location]:
    """The pairs' mean differences and the models' own mean scores, under the estimand."""
    plan = found.design
    if asked.these_items:
        return found.fixed_items.locations(found.order)
    if not parts.df.any():
        unit = "item" if plan.n_clusters is None else "cluster"
        where = f"in each of the {plan.n_groups} groups" if plan.grouped else "in all"
        raise PosteriorError(
            f"got one {unit} {where}, expected at least two: the spread between {unit}s cannot be estimated. "
            f"Hint: add {unit}s, or compare under finer {unit}s."
        )
    return combine(parts, parts.pairs, plan.weights), combine(parts, parts.levels, plan.weights)
