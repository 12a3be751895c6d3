"""From the computed posterior to the `Comparison` that a reader gets: tables, diagnostics, warnings and DataTree."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from probtruth.comparison.decisions import decisions_of
from probtruth.comparison.evidence import Evidence
from probtruth.comparison.options import Options
from probtruth.comparison.pairs import pair_row, pair_rows_of, pairs_of
from probtruth.comparison.posterior import Posterior
from probtruth.comparison.rows import (
    DECIDED,
    PairRows,
    Row,
    by_name,
    in_own_units,
    mixture_columns,
    mixture_row,
    named_pairs,
    pair_rows,
    population_rows,
    quantile_rows,
    rank_rows,
    unseen_columns,
    without_certainty,
)
from probtruth.comparison.tests import MOST, PairTests, paired_tests, rows_of_tests, student
from probtruth.comparison.tree import tree_of
from probtruth.comparison.unseen import LEVEL, NO_BOUND, NOT_SAMPLED, Worst
from probtruth.comparison.warn import prior_of_groups, warnings_of
from probtruth.errors import PosteriorError
from probtruth.types import Comparison

COLUMNS = ("difference", "low", "high", "p_a_better")


def assemble(evidence: Evidence, post: Posterior, options: Options, rope: float | None) -> Comparison:
    """The `Comparison`: numbers under the names of the models, and what must be said about them."""
    facts, plan = evidence.facts, evidence.design
    turned = facts.higher_is_better
    pairs = PairRows(in_own_units(row, turned) for row in _pairs(evidence, post, options, rope))
    unknown = {f"P({row['a']} better than {row['b']})" for row in pairs if row["reason"]}  # rests on no spread
    ranks = rank_rows(facts, evidence.order, post.own, post.decisions, evidence.means, post.tiers(rope))
    ranks = [row | dict.fromkeys(DECIDED) for row in ranks] if unknown else ranks
    ranks = ranks if options.these_items else [_spread(row) for row in ranks]
    tests = _tests(evidence, post, options, None)
    diagnostics = post.diagnostics()
    warnings = (
        *warnings_of(evidence, options, diagnostics, pairs),
        *(() if unknown or post.population is None else prior_of_groups(evidence.names, post.population)),
    )
    if options.strict and (failing := [warning for warning in warnings if warning.startswith("sampling:")]):
        raise PosteriorError(" ".join(failing))
    return Comparison(
        models=facts.models,
        pairs=pairs,
        ranks=ranks,
        companions=tests,
        estimand=_estimand(evidence, options),
        rule=facts.rule,
        higher_is_better=facts.higher_is_better,
        rope=rope,
        seed=options.seed,
        diagnostics=diagnostics,
        uncertainty=_uncertainty(evidence, post, ranks, options),
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
        decisions=decisions_of(evidence, post.pairs, None if unknown else post.decisions, ranks),
        group_results={
            where: [in_own_units(row, turned) for row in rows]
            for where, rows in (
                population_rows(evidence.names, post.population, rope) if post.population else {}
            ).items()
        },
        of_groups=partial(_group_rows, evidence, post),
        quantiles=partial(quantile_rows, evidence, post.margins, post.population),
        tests=partial(_tests, evidence, post, options),
        unseen=_about_unseen(evidence, options),
        gold=None if evidence.gold is None else evidence.gold.facts(),
    )


def _spread(row: Row) -> Row:
    """The row of a model, without an interval where all its scores are the same."""
    same = row["low"] is not None and row["low"] == row["high"] and np.isfinite(float(str(row["score"])))
    return row | {"low": None, "high": None} if same else row


def _pairs(evidence: Evidence, post: Posterior, options: Options, rope: float | None) -> Iterator[Row]:
    """The rows of the pairs: nothing certain without a spread, and what the items leave room for."""
    moments = None if options.these_items else evidence.moments
    order, position = evidence.order, {name: at for at, name in enumerate(evidence.names)}
    leaders = set(post.leading.tolist())
    for values, margin, row in pair_rows(evidence.facts, order, post.margins, rope, evidence.means):
        same, worst = False, None
        if moments is not None and margin is not None and row is not None:
            a, b = position[str(values["a"])], position[str(values["b"])]
            ends = float(moments.pairs.low[row]), float(moments.pairs.high[row])
            same = ends[0] == ends[1]
            if same or evidence.outcomes is None or {a, b} <= leaders:
                low, high = ends if a < b else (-ends[1], -ends[0])
                worst = _worst_unseen(evidence, margin.mean, low, high, int(order[a]), int(order[b]))
        stands = margin is None or options.these_items or margin.scale > 0
        if same and worst is not None:  # bounded scores: certain only if the bound itself leaves no doubt
            stands = stands and worst.difference < 0
        yield unseen_columns(without_certainty(values, stands), margin, worst)


def _worst_unseen(evidence: Evidence, mean: float, low: float, high: float, a: int, b: int) -> Worst | None:
    """The worst that the unseen could do to the leader of a pair, whose differences a minus b lie in low to high."""
    if mean == 0 or (evidence.outcomes is None and evidence.reach <= 0):
        return None
    largest, lead, other = (high, a, b) if mean < 0 else (-low, b, a)
    bounded = evidence.reach if largest < evidence.reach else None
    size = bounded if evidence.outcomes is None else evidence.outcomes.size(lead, other)
    return Worst.of(-abs(mean), size, evidence.design.n_units)


def _about_unseen(evidence: Evidence, options: Options) -> dict[str, object]:
    """What the columns `unseen_*` rest on, or why they are unknown."""
    reason = NOT_SAMPLED if options.these_items else None
    if reason is None and evidence.outcomes is None and not evidence.reach:
        reason = NO_BOUND
    return {"confidence": LEVEL, "n_units": evidence.design.n_units, "reason": reason}


def _group_rows(evidence: Evidence, post: Posterior) -> list[Row]:
    """One row for each group and pair, groups and pairs by name: the difference as far as other groups let it stand."""
    population, plan, rows = post.population, evidence.design, list[Row]()
    if population is None:
        return rows
    pairs = named_pairs(evidence.names)
    columns = [mixture_columns(population.of_groups(row), None) for row in range(len(pairs))]
    for group, (name, n_items) in enumerate(zip(plan.group_names, plan.structure.n_items.tolist(), strict=True)):
        for a, b, row, sign in pairs:
            values = mixture_row(columns[row], group, sign)
            shown = {"group": name, "a": a, "b": b, **{key: values[key] for key in COLUMNS}, "n_items": n_items}
            rows.append(in_own_units(shown, evidence.facts.higher_is_better))
    return rows


def _tests(evidence: Evidence, post: Posterior, options: Options, models: Collection[str] | None) -> list[Row]:
    """The model-free tests of the pairs of these models, the leading ones unless some are named."""
    names = evidence.names
    if models is None:
        chosen = post.leading
        models = evidence.facts.models if len(chosen) == len(names) else [names[at] for at in chosen]
    else:
        chosen = np.array([at for at, name in enumerate(names) if name in models], np.int64)
    tests: Sequence[PairTests] = ()
    if post.pairs is not None:
        rows = pair_rows_of(pairs_of(chosen), len(names))
        location = post.pairs.of(rows)
        if post.tests is not None:
            tests = [post.tests[row] for row in rows]
        elif (
            options.dependent
            or evidence.values is None
            or evidence.shared is not None
            or evidence.gold is not None
            or evidence.design.n_items > MOST
        ):
            tests = [student(location, row) for row in range(len(rows))]
        else:
            within, values = evidence.design.structure, evidence.values[evidence.order[chosen]]
            tests = paired_tests(values, within.group, within.unit, evidence.design.weights, location)
    known = by_name([names[at] for at in chosen], tests)
    if evidence.facts.higher_is_better:
        known = {pair: test.in_own_units() for pair, test in known.items()}
    return rows_of_tests(known, list(combinations(sorted(models), 2)), len(evidence.facts.models))


def _uncertainty(
    evidence: Evidence, post: Posterior, ranks: Sequence[dict[str, object]], options: Options
) -> dict[str, float | None]:
    """Shares of the variance of the difference between the two models of highest P(best), by what it comes from."""
    shares: dict[str, float | None] = dict.fromkeys(("items", "annotators", "labels"))
    models, names, facts = evidence.facts.models, evidence.names, evidence.facts
    finite = [row for row in ranks if row["model"] in names]
    if len(finite) < 2 or any(row["p_best"] is None for row in finite):
        return shares
    contenders = sorted(finite, key=lambda row: -float(str(row["p_best"])))[:2]
    a, b = (str(row["model"]) for row in contenders)
    first, second = sorted(map(names.index, (a, b)))
    total = post.margins[pair_row(first, second, len(names))].scale ** 2
    shared = evidence.shared.excesses(models.index(a), models.index(b)) if evidence.shared is not None else ()
    of_units = sum(one.extra for one in shared) / total if total > 0 else 0.0
    answers = evidence.shared is not None and evidence.shared.what == "replicate"
    if evidence.shared is not None and not answers:
        shares["annotators"] = of_units
    if options.these_items:
        of_units = of_units if shares["annotators"] is not None else 0.0
        return shares | {"items": 0.0, "labels": 1.0 - of_units if facts.from_labels else None}
    if facts.no_second_vote:
        return shares
    within = evidence.fixed_items.variance(models.index(a), models.index(b))
    from_labels = facts.from_labels or evidence.gold is not None
    if within is None or total == 0:
        known = not facts.from_labels
        return shares | ({"replicates": of_units} if answers else {}) | {"items": 1.0 - of_units if known else None}
    noise = min(within / total, 1.0 - of_units)
    if from_labels:
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
