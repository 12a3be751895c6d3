"""From the computed posterior to the `Comparison` that a reader gets: tables, diagnostics, warnings and DataTree."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from probtruth.comparison.companions.many_items import companions_of
from probtruth.comparison.companions.paired_tests import Companion, companion_rows, held_fixed
from probtruth.comparison.evidence.evidence import Evidence
from probtruth.comparison.evidence.sweeps import pair_row, pair_rows_of, pairs_of
from probtruth.comparison.evidence.unseen import LEVEL, NO_BOUND, NOT_SAMPLED, Worst
from probtruth.comparison.options import Options
from probtruth.comparison.posterior.decisions import decisions_of
from probtruth.comparison.posterior.margins import margins
from probtruth.comparison.posterior.posterior import Posterior
from probtruth.comparison.posterior.sensitivity import sensitive, sensitivity_of
from probtruth.comparison.rows import (
    DECIDED,
    PairRows,
    Row,
    by_name,
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
from probtruth.comparison.tree import tree_of
from probtruth.comparison.warn import disagreements, warnings_of
from probtruth.errors import PosteriorError
from probtruth.types import Comparison

COLUMNS = ("difference", "low", "high", "p_a_better")


def assemble(evidence: Evidence, post: Posterior, options: Options, rope: float | None) -> Comparison:
    """The `Comparison`: numbers under the names of the models, and what must be said about them."""
    facts, plan = evidence.facts, evidence.design
    own = [] if post.levels is None else margins(post.levels)
    pairs = PairRows(_pairs(evidence, post, options, rope))
    unknown = {f"P({row['a']} better than {row['b']})" for row in pairs if row["reason"]}  # rests on no spread
    ranks = rank_rows(facts, evidence.order, own, post.decisions, evidence.means, post.tiers(rope))
    ranks = [row | dict.fromkeys(DECIDED) for row in ranks] if unknown else ranks
    ranks = ranks if options.these_items else [_spread(row) for row in ranks]
    tests = _tests(evidence, post, options, None)
    runs = post.runs.values()
    samplers = dict.fromkeys(run.sampler for run in runs if run.sampler is not None)
    diagnostics = {
        "sampler": ", ".join(samplers) or None,
        "max_rhat": _worst(max, [run.max_rhat for run in runs]),
        "min_ess": _worst(min, [run.min_ess for run in runs]),
        "divergences": _worst(sum, [run.divergences for run in runs]),
        "engines_agree": _worst(all, [run.engines_agree for run in runs]),
    }
    sensitivity = sensitivity_of(evidence.names, post)
    if unknown:
        sensitivity = [row for row in sensitivity if row["kind"] == "pair" and row["what"] not in unknown]
    warnings = (
        *(() if post.fitted is None else post.fitted.warnings),
        *warnings_of(evidence, options, diagnostics, pairs),
        *disagreements(pairs, tests),
        *sensitive(sensitivity),
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
            "margin": "outer skew-t" if options.likelihood == "auto" else options.likelihood,
            "likelihood": options.likelihood,
            "population": options.population,
            "groups": plan.n_groups if plan.grouped else None,
            "clusters": plan.n_clusters,
            "n_items": plan.n_items,
            "replicates": facts.n_replicates,
            "replicates_are": options.replicates or ("independent" if facts.n_replicates > 1 else None),
            "fold_correlation": options.fold_correlation,
            "crossed": None if evidence.crossed is None else evidence.crossed.cells.what,
            "floor": facts.known.floor,
            "label_order": None if facts.known.label_order is None else list(facts.known.label_order),
        },
        warnings=warnings,
        decisions=decisions_of(evidence, post.pairs, None if unknown else post.decisions, ranks),
        sensitivity=sensitivity,
        group_results=population_rows(evidence.names, post.population, rope) if post.population else {},
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
            rows.append({"group": name, "a": a, "b": b, **{key: values[key] for key in COLUMNS}, "n_items": n_items})
    return rows


def _worst[T](choose: Callable[[list[T]], T], values: Sequence[T | None]) -> T | None:
    known = [value for value in values if value is not None]
    return choose(known) if known else None


def _tests(evidence: Evidence, post: Posterior, options: Options, models: Collection[str] | None) -> list[Row]:
    """The model-free tests of the pairs of these models, the leading ones unless some are named.

    Of infinite scores nothing is tested, but their pairs stand with the others where all models do.
    """
    names = evidence.names
    if models is None:
        chosen = post.leading
        models = evidence.facts.models if len(chosen) == len(names) else [names[at] for at in chosen]
    else:
        chosen = np.array([at for at, name in enumerate(names) if name in models], np.int64)
    tests: Sequence[Companion] = ()
    if post.pairs is not None:
        rows = pair_rows_of(pairs_of(chosen), len(names))
        location = post.pairs.of(rows)
        if post.tests is not None:
            tests = [post.tests[row] for row in rows]
        elif options.dependent or evidence.parts is None or not (evidence.crossed is None and evidence.gold is None):
            tests = held_fixed(location)
        else:
            tests = companions_of(evidence.parts, evidence.order[chosen], evidence.design.weights, location)
    known = by_name([names[at] for at in chosen], tests)
    return companion_rows(known, list(combinations(sorted(models), 2)), len(evidence.facts.models))


def _uncertainty(
    evidence: Evidence, post: Posterior, ranks: Sequence[dict[str, object]], options: Options
) -> dict[str, float | None]:
    """Shares of variance that items and labels bring to the difference of the two models of highest P(best)."""
    unknown: dict[str, float | None] = {"items": None, "labels": None}
    models, names = evidence.facts.models, evidence.names
    finite = [row for row in ranks if row["model"] in names]
    if len(finite) < 2 or any(row["p_best"] is None for row in finite):
        return unknown
    if options.these_items:
        return {"items": 0.0, "labels": 1.0 if evidence.facts.from_labels else None}
    if evidence.facts.no_second_vote:
        return unknown
    contenders = sorted(finite, key=lambda row: -float(str(row["p_best"])))[:2]
    a, b = (str(row["model"]) for row in contenders)
    first, second = sorted(map(names.index, (a, b)))
    total = post.margins[pair_row(first, second, len(names))].scale ** 2
    within = evidence.fixed_items.variance(models.index(a), models.index(b))
    if within is None or total == 0:
        return unknown if evidence.facts.from_labels else {"items": 1.0, "labels": None}
    share = min(within / total, 1.0)
    if evidence.facts.from_labels or evidence.gold is not None:
        return {"items": 1.0 - share, "labels": share}
    return {"items": 1.0 - share, "labels": None, "replicates": share}


def _estimand(evidence: Evidence, options: Options) -> str:
    facts, plan = evidence.facts, evidence.design
    over = "new items like these"
    if options.these_items:
        over = "these very items, " + ("whose labels are unsure" if facts.from_labels else "scored again")
    if evidence.crossed is not None:
        over += f", new {evidence.crossed.cells.what}s like these"
    if plan.grouped:
        over += f", these {plan.n_groups} groups"
    if plan.n_clusters is not None and not options.these_items:
        over += ", items dependent within clusters"
    if evidence.gold is not None:
        over += f", anchored by expert labels on {evidence.gold.n_answered} of {plan.n_items} items"
    of_rule = "expected " if facts.known.proper is not None else ""
    of_rule += "scores" if facts.rule == "score" else f"{facts.rule} scores"
    if len(facts.models) == 1:
        return f"mean of {of_rule} over {over}"
    sides = "a minus b" if facts.higher_is_better else "a minus b, negative favours a"
    if not facts.of_means:
        return f"difference ({sides}) of {facts.rule} over {over}"
    return f"mean paired difference ({sides}) of {of_rule} over {over}"
