"""From the computed posterior to the `Comparison` that a reader gets: tables, diagnostics, warnings and DataTree."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from probtruth import check
from probtruth.comparison.estimation.estimate import SOURCES, Estimate, Intervals, Shares
from probtruth.comparison.options import Options
from probtruth.comparison.posterior.posterior import Posterior, engine_of, summary
from probtruth.comparison.results.rows import NO_SPREAD, group_rows, pair_rows, population_rows, rank_rows, unit_rows
from probtruth.comparison.results.tests import model_free_tests
from probtruth.comparison.results.tree import tree_of
from probtruth.comparison.results.unseen import LEVEL, NO_BOUND, NOT_SAMPLED, OF_VOTES
from probtruth.comparison.results.warn import sampling, warnings_of
from probtruth.errors import PosteriorError
from probtruth.types import Comparison, orientation
from probtruth.types.comparison import leading_pair
from probtruth.types.pairs import Rank

LEVEL_OF_SET = 0.95  # Probability that the credible set holds the best model


def assemble(estimate: Estimate, post: Posterior, options: Options) -> Comparison:
    """The `Comparison`: numbers under the names of the models, and what must be said about them."""
    plan = estimate.design
    about = estimate.about
    rope = options.rope
    pairs = pair_rows(estimate, post, options)
    ordered = NO_SPREAD not in [row.reason for row in pairs]  # else a P rests on no spread
    ranks = rank_rows(estimate, post, options, ordered)
    tables = {"pairwise": engine_of(post.run)}
    if post.population is not None:
        tables["groups"] = engine_of(post.of_groups)
    diagnostics = summary(tables)
    warnings = warnings_of(estimate, options, diagnostics, pairs)
    failing = sampling(diagnostics)
    if options.strict and failing:
        raise PosteriorError(" ".join(failing))
    group_results = {} if estimate.of_new is None else unit_rows(estimate, rope)
    told_apart = bool(group_results)
    if post.population is not None:
        group_results |= population_rows(estimate, post.population, rope)
    reason = None  # why nothing is said of what was not observed
    if about.preference is not None:
        reason = OF_VOTES
    elif options.these_items:
        reason = NOT_SAMPLED
    elif about.outcomes is None and not (about.of_means and about.range is not None):
        reason = NO_BOUND
    return Comparison(
        models=estimate.about.models,
        pairs=pairs,
        ranks=ranks,
        estimand=_estimand(estimate, options, told_apart),
        rule=about.rule,
        higher_is_better=about.higher_is_better,
        rope=rope,
        seed=options.seed,
        diagnostics=diagnostics,
        parts=lambda: _shares(estimate, ranks, options.seed)[0],
        part_intervals=lambda: _shares(estimate, ranks, options.seed)[1],
        tree=partial(tree_of, estimate, post, options.seed),
        settings={
            "engine": options.engine,
            "draws": options.draws,
            "margin": "outer skew-t",
            "population": options.population,
            "groups": plan.n_groups if plan.grouped else None,
            "clusters": plan.n_clusters,
            "n_items": plan.n_items,
            "replicates": about.n_replicates,
            "replicates_are": options.replicates or ("independent" if about.n_replicates > 1 else None),
            "fold_correlation": options.fold_correlation,
            "crossed": None if estimate.shared is None else estimate.shared.removesuffix("s"),
            "floor": about.known.floor,
            "label_order": None if about.known.label_order is None else list(about.known.label_order),
        },
        warnings=warnings,
        decisions=_decisions(estimate, post, ranks, ordered),
        group_results=group_results,
        of_groups=partial(group_rows, estimate, post.population),
        tests=partial(model_free_tests, estimate, post, options),
        unseen={"confidence": LEVEL, "n_units": plan.n_units, "reason": reason},
        gold=None if about.gold is None else about.gold.facts(),
    )


def _decisions(estimate: Estimate, post: Posterior, ranks: Sequence[Rank], ordered: bool) -> Mapping[str, object]:
    """`credible_set` and its probability, `chosen` with its `score`, and `rank_probability` rows.

    The set is the fewest models that hold the best with its probability, and those that tie with the last of them.
    """
    chances = [(-row.p_best, row.model) for row in ranks if row.p_best is not None]
    chosen = []
    mass = 0.0
    last = 0.0
    for best, name in sorted(chances):
        if mass >= LEVEL_OF_SET - 1e-12 and -best < last:
            break
        mass -= best
        last = -best
        chosen.append(name)
    decisions: dict[str, object] = dict.fromkeys(("credible_set", "credible_set_probability", "chosen", "score"))
    if len(chances) == len(ranks):
        decisions["credible_set"] = chosen
        decisions["credible_set_probability"] = min(mass, 1.0)
    means = estimate.about.means
    if estimate.n_models > 1 and not (np.isnan(means) | np.isneginf(means)).any():
        decisions["chosen"] = ranks[0].model
        decisions["score"] = ranks[0].score
    if ordered and post.decisions is not None and estimate.n_models == len(ranks):
        of_model = zip(estimate.names, post.decisions[0].tolist(), strict=True)
        decisions["rank_probability"] = [{"model": name, "probability": ranked} for name, ranked in of_model]
    return decisions


def _shares(estimate: Estimate, ranks: Sequence[Rank], seed: int) -> tuple[Shares, Intervals]:
    """The shares of the variance of the difference between the two models of highest P(best), and their intervals."""
    names = estimate.names
    finite = [row for row in ranks if row.model in names]
    if len(finite) < 2 or any(row.p_best is None for row in finite):
        return dict.fromkeys(SOURCES), dict.fromkeys(SOURCES)
    first, second = sorted(leading_pair(finite))
    a = names.index(first)
    b = names.index(second)
    return estimate.shares(a, b, seed)


def _estimand(estimate: Estimate, options: Options, told_apart: bool) -> str:
    plan = estimate.design
    about = estimate.about
    over = about.over
    if options.these_items:
        over = "these very items, " + ("whose labels are unsure" if about.from_labels else "scored again")
    if estimate.shared is not None and told_apart:
        over += f", these {estimate.shared} and, as far as these tell of them, new ones"
    elif estimate.shared is not None:
        over += f", new {estimate.shared} like these"
    if plan.grouped:
        over += f", these {plan.n_groups} groups"
    if plan.n_clusters is not None and not options.these_items:
        over += ", items dependent within clusters"
    if about.gold is not None:
        over += f", corrected by expert labels on {about.gold.n_answered} of {plan.n_items} items"
    of_rule = about.rule
    if about.known.proper is not None:
        named = "Brier" if about.rule == "brier" else about.rule
        of_rule = f"expected {named} scores"
    elif about.rule == "score":
        of_rule = "scores"
    elif orientation.known(about.rule) is None and not about.rule.startswith("score ("):
        of_rule = f"the score {check.quote(about.rule)}"  # a name that says nothing by itself
    if estimate.shared == "annotators" and about.of_means and not about.from_labels:
        of_rule += " against each annotator's own label"
    if len(estimate.about.models) == 1:
        return f"mean of {of_rule} over {over}"
    better = "positive" if about.higher_is_better else "negative"
    sides = f"a minus b, {better} favours a"
    if not about.of_means:
        return f"difference ({sides}) of {about.rule} over {over}"
    return f"mean paired difference ({sides}) of {of_rule} over {over}"
