"""From the computed posterior to the `Comparison` that a reader gets: tables, diagnostics, warnings and DataTree."""

from collections.abc import Collection
from functools import partial
from itertools import combinations

import numpy as np

from probtruth.comparison.decisions import credible_set
from probtruth.comparison.evidence import Evidence
from probtruth.comparison.options import Options
from probtruth.comparison.pairs import pair_rows_of, pairs_of
from probtruth.comparison.posterior import Posterior
from probtruth.comparison.rows import Row, group_rows, pair_rows, population_rows, rank_rows
from probtruth.comparison.tests import MOST, paired_tests, rows_of_tests, student
from probtruth.comparison.tree import tree_of
from probtruth.comparison.unseen import LEVEL, NO_BOUND, NOT_SAMPLED
from probtruth.comparison.warn import prior_of_groups, warnings_of
from probtruth.errors import PosteriorError
from probtruth.types import Comparison
from probtruth.types.comparison import leading_pair


def assemble(evidence: Evidence, post: Posterior, options: Options) -> Comparison:
    """The `Comparison`: numbers under the names of the models, and what must be said about them."""
    facts, plan, rope, these_items = evidence.facts, evidence.design, options.rope, options.these_items
    pairs = pair_rows(evidence, post, rope, these_items)
    ordered = not any(row["reason"] and row["p_a_better"] is None for row in pairs)  # else a P rests on no spread
    ranks = rank_rows(evidence, post, rope, ordered, these_items)
    diagnostics = post.diagnostics()
    warnings = warnings_of(evidence, options, diagnostics, pairs)
    if ordered and post.population is not None:
        warnings += prior_of_groups(evidence.names, post.population)
    if options.strict and (failing := [warning for warning in warnings if warning.startswith("sampling:")]):
        raise PosteriorError(" ".join(failing))
    reason = NOT_SAMPLED if these_items else NO_BOUND if evidence.outcomes is None and evidence.range is None else None
    return Comparison(
        models=facts.models,
        pairs=pairs,
        ranks=ranks,
        estimand=_estimand(evidence, options),
        rule=facts.rule,
        higher_is_better=facts.higher_is_better,
        rope=rope,
        seed=options.seed,
        diagnostics=diagnostics,
        parts=partial(_uncertainty, evidence, post, ranks, options),
        tree=partial(tree_of, evidence, post, options.seed),
        settings={
            "engine": options.engine,
            "draws": options.draws,
            "margin": "outer skew-t",
            "population": options.population,
            "groups": plan.n_groups if plan.grouped else None,
            "clusters": plan.n_clusters,
            "n_items": plan.n_items,
            "replicates": facts.n_replicates,
            "replicates_are": options.replicates or ("independent" if facts.n_replicates > 1 else None),
            "fold_correlation": options.fold_correlation,
            "crossed": None if evidence.shared is None else evidence.shared.what,
            "floor": facts.known.floor,
            "label_order": None if facts.known.label_order is None else list(facts.known.label_order),
        },
        warnings=warnings,
        decisions=_decisions(evidence, post, ranks, ordered),
        group_results=population_rows(evidence, post.population, rope),
        of_groups=partial(group_rows, evidence, post.population),
        tests=partial(_tests, evidence, post, options),
        unseen={"confidence": LEVEL, "n_units": plan.n_units, "reason": reason},
        gold=None if evidence.gold is None else evidence.gold.facts(),
    )


def _decisions(evidence: Evidence, post: Posterior, ranks: list[Row], ordered: bool) -> dict[str, object]:
    """`credible_set` and its probability, `chosen` with its `score`, and `rank_probability` rows."""
    p_best = {str(row["model"]): row["p_best"] for row in ranks}
    chosen, probability = (None, None) if None in p_best.values() else credible_set(p_best)
    decisions: dict[str, object] = {"credible_set": chosen, "credible_set_probability": probability}
    known = post.pairs is not None and len(evidence.order) > 1 and not np.isnan(evidence.means).any()
    best = ranks[0] if known and not np.isneginf(evidence.means).any() else {}
    decisions |= {"chosen": best.get("model"), "score": best.get("score")}
    if ordered and post.decisions is not None and len(evidence.order) == len(ranks):
        rows = zip(evidence.names, post.decisions.rank_probability.tolist(), strict=True)
        decisions["rank_probability"] = [{"model": name, "probability": chances} for name, chances in rows]
    return decisions


def _tests(evidence: Evidence, post: Posterior, options: Options, models: Collection[str] | None) -> list[Row]:
    """The model-free tests of the pairs of these models, the leading ones unless some are named."""
    names, design = evidence.names, evidence.design
    if models is None:
        chosen = post.leading
        models = evidence.facts.models if len(chosen) == len(names) else [names[at] for at in chosen]
    else:
        chosen = np.array([at for at, name in enumerate(names) if name in models], np.int64)
    tests = []
    if post.pairs is not None:
        location = post.pairs.of(pair_rows_of(pairs_of(chosen), len(names)))
        dependent = options.these_items or options.replicates in ("crossed", "folds") or evidence.shared is not None
        if dependent or evidence.values is None or evidence.gold is not None or design.n_items > MOST:
            tests = [student(location, row) for row in range(len(location.mean))]
        else:
            within, values = design.structure, evidence.values[evidence.order[chosen]]
            tests = paired_tests(values, within.group, within.unit, design.weights, location)
    if evidence.facts.higher_is_better:
        tests = [test.in_own_units() for test in tests]
    known = dict(zip(combinations([names[at] for at in chosen], 2), tests, strict=True)) if tests else {}
    return rows_of_tests(known, list(combinations(sorted(models), 2)), len(evidence.facts.models))


def _uncertainty(evidence: Evidence, post: Posterior, ranks: list[Row], options: Options) -> dict[str, float | None]:
    """Shares of the variance of the difference between the two models of highest P(best), by what it comes from."""
    shares: dict[str, float | None] = dict.fromkeys(("items", "annotators", "labels"))
    names, facts = evidence.names, evidence.facts
    finite = [row for row in ranks if row["model"] in names]
    if len(finite) < 2 or any(row["p_best"] is None for row in finite):
        return shares
    first, second = sorted(leading_pair(finite))
    a, b = facts.models.index(first), facts.models.index(second)
    total = post.margins[list(combinations(names, 2)).index((first, second))].scale ** 2
    of_units, answers = 0.0, False
    if evidence.shared is not None:
        of_units = evidence.shared.extra(a, b) / total if total > 0 else 0.0
        answers = evidence.shared.what == "replicate"
        shares["annotators"] = None if answers else of_units
    if options.these_items:
        of_units = of_units if shares["annotators"] is not None else 0.0
        return shares | {"items": 0.0, "labels": 1.0 - of_units if facts.from_labels else None}
    if facts.no_second_vote:
        return shares
    within = evidence.fixed_variance(a, b)
    if within is None or total == 0:
        known = not facts.from_labels
        return shares | ({"replicates": of_units} if answers else {}) | {"items": 1.0 - of_units if known else None}
    noise = min(within / total, 1.0 - of_units)
    if facts.from_labels or evidence.gold is not None:
        return shares | {"items": 1.0 - of_units - noise, "labels": noise}
    return shares | {"items": 1.0 - of_units - noise, "replicates": of_units + noise}


def _estimand(evidence: Evidence, options: Options) -> str:
    facts, plan = evidence.facts, evidence.design
    over = "new items like these"
    if options.these_items:
        over = "these very items, " + ("whose labels are unsure" if facts.from_labels else "scored again")
    if evidence.shared is not None:
        over += f", new {evidence.shared.what}s like these"
    if plan.grouped:
        over += f", these {plan.n_groups} groups"
    if plan.n_clusters is not None and not options.these_items:
        over += ", items dependent within clusters"
    if evidence.gold is not None:
        over += f", anchored by expert labels on {evidence.gold.n_answered} of {plan.n_items} items"
    known = facts.known.proper is not None
    of_rule = f"expected {facts.rule} scores" if known else "scores" if facts.rule == "score" else facts.rule
    if len(facts.models) == 1:
        return f"mean of {of_rule} over {over}"
    sides = f"a minus b, {'positive' if facts.higher_is_better else 'negative'} favours a"
    if not facts.of_means:
        return f"difference ({sides}) of {facts.rule} over {over}"
    return f"mean paired difference ({sides}) of {of_rule} over {over}"
