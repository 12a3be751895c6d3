"""From the computed posterior to the `Comparison` that a reader gets: tables, diagnostics, warnings and DataTree."""

import math
from collections.abc import Collection
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from probtruth.comparison.evidence import Evidence
from probtruth.comparison.options import Options
from probtruth.comparison.pairs import LEADING, pair_rows_of, pairs_of
from probtruth.comparison.posterior import Posterior
from probtruth.comparison.rows import NO_SPREAD, Row, group_rows, pair_rows, population_rows, rank_rows
from probtruth.comparison.tests import MOST, paired_tests, rows_of_tests
from probtruth.comparison.unseen import LEVEL, NO_BOUND, NOT_SAMPLED
from probtruth.comparison.warn import prior_of_groups, warnings_of
from probtruth.errors import PosteriorError
from probtruth.types import Comparison
from probtruth.types.comparison import leading_pair

if TYPE_CHECKING:
    import xarray

LEVEL_OF_SET = 0.95  # Probability that the credible set holds the best model
# Pairs up to which their differences stand draw by draw; all follow from the contrasts.
STORED_PAIRS = math.comb(LEADING, 2)


def assemble(evidence: Evidence, post: Posterior, options: Options) -> Comparison:
    """The `Comparison`: numbers under the names of the models, and what must be said about them."""
    plan, known, rope, these_items = evidence.design, evidence.known, options.rope, options.these_items
    pairs = pair_rows(evidence, post, rope, these_items)
    ordered = not any(row["reason"] == NO_SPREAD for row in pairs)  # else a P rests on no spread
    ranks = rank_rows(evidence, post, rope, ordered, these_items)
    diagnostics = post.diagnostics()
    warnings = warnings_of(evidence, options, diagnostics, pairs)
    if ordered and post.population is not None:
        warnings += prior_of_groups(evidence.names, post.population)
    if options.strict and (failing := [warning for warning in warnings if warning.startswith("sampling:")]):
        raise PosteriorError(" ".join(failing))
    bounded = evidence.of_means and evidence.range is not None
    reason = NOT_SAMPLED if these_items else None if bounded or evidence.outcomes is not None else NO_BOUND
    return Comparison(
        models=evidence.models,
        pairs=pairs,
        ranks=ranks,
        estimand=_estimand(evidence, options),
        rule=evidence.rule,
        higher_is_better=evidence.higher_is_better,
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
            "replicates": evidence.n_replicates,
            "replicates_are": options.replicates or ("independent" if evidence.n_replicates > 1 else None),
            "fold_correlation": options.fold_correlation,
            "crossed": None if evidence.shared is None else evidence.shared.what,
            "floor": known.floor,
            "label_order": None if known.label_order is None else list(known.label_order),
        },
        warnings=warnings,
        decisions=_decisions(evidence, post, ranks, ordered),
        group_results={} if post.population is None else population_rows(evidence, post.population, rope),
        of_groups=partial(group_rows, evidence, post.population),
        tests=partial(_tests, evidence, post, options),
        unseen={"confidence": LEVEL, "n_units": plan.n_units, "reason": reason},
        gold=None if evidence.gold is None else evidence.gold.facts(),
    )


def _decisions(evidence: Evidence, post: Posterior, ranks: list[Row], ordered: bool) -> dict[str, object]:
    """`credible_set` and its probability, `chosen` with its `score`, and `rank_probability` rows."""
    decisions: dict[str, object] = {"credible_set": None, "credible_set_probability": None}
    p_best = {str(row["model"]): row["p_best"] for row in ranks}
    if None not in p_best.values():  # the fewest models that hold the best with this probability, and those that tie
        chosen, mass, last = list[str](), 0.0, 0.0
        for p, name in sorted((-float(str(p)), name) for name, p in p_best.items()):
            if mass >= LEVEL_OF_SET - 1e-12 and -p < last:
                break
            mass, last = mass - p, -p
            chosen.append(name)
        decisions = {"credible_set": chosen, "credible_set_probability": min(mass, 1.0)}
    known = len(evidence.order) > 1 and not np.isnan(evidence.means).any()
    best = ranks[0] if known and not np.isneginf(evidence.means).any() else {}
    decisions |= {"chosen": best.get("model"), "score": best.get("score")}
    if ordered and post.decisions is not None and len(evidence.order) == len(ranks):
        rows = zip(evidence.names, post.decisions[0].tolist(), strict=True)
        decisions["rank_probability"] = [{"model": name, "probability": chances} for name, chances in rows]
    return decisions


def _tests(evidence: Evidence, post: Posterior, options: Options, models: Collection[str] | None) -> list[Row]:
    """The model-free tests of the pairs of these models, the leading ones unless some are named."""
    names, plan, known = evidence.names, evidence.design, dict[tuple[str, str], Row]()
    if models is None:
        chosen = post.leading
        models = evidence.models if len(chosen) == len(names) else [names[at] for at in chosen]
    else:
        chosen = np.array([at for at, name in enumerate(names) if name in models], np.int64)
    if post.rows is not None:
        location = post.rows.of(len(names) + pair_rows_of(pairs_of(chosen), len(names)))
        dependent = options.these_items or options.replicates in ("crossed", "folds") or evidence.shared is not None
        alone = dependent or evidence.values is None or evidence.gold is not None or plan.n_items > MOST
        values = None if alone or evidence.values is None else evidence.values[evidence.order[chosen]]
        tests = paired_tests(location, values, plan, -1.0 if evidence.higher_is_better else 1.0)
        known = dict(zip(combinations([names[at] for at in chosen], 2), tests, strict=True))
    return rows_of_tests(known, list(combinations(sorted(models), 2)), len(evidence.models))


def _uncertainty(evidence: Evidence, post: Posterior, ranks: list[Row], options: Options) -> dict[str, float | None]:
    """Shares of the variance of the difference between the two models of highest P(best), by what it comes from."""
    shares: dict[str, float | None] = dict.fromkeys(("items", "annotators", "labels"))
    names = evidence.names
    finite = [row for row in ranks if row["model"] in names]
    if len(finite) < 2 or any(row["p_best"] is None for row in finite):
        return shares
    first, second = sorted(leading_pair(finite))
    a, b = evidence.models.index(first), evidence.models.index(second)
    total = post.margins[len(names) + list(combinations(names, 2)).index((first, second))].scale ** 2
    shared, answers = evidence.shared, evidence.shared is not None and evidence.shared.what == "replicate"
    of_units = 0.0 if shared is None or total == 0 else shared.extra(a, b) / total
    if shared is not None and not answers:
        shares["annotators"] = of_units
    if options.these_items:
        own = 1.0 - (shares["annotators"] or 0.0)
        return shares | {"items": 0.0, "labels": own if evidence.from_labels else None}
    if evidence.no_second_vote:
        return shares
    within = evidence.fixed_variance(a, b)
    if within is None or total == 0:
        known = not evidence.from_labels
        return shares | ({"replicates": of_units} if answers else {}) | {"items": 1.0 - of_units if known else None}
    noise = min(within / total, 1.0 - of_units)
    if evidence.from_labels or evidence.gold is not None:
        return shares | {"items": 1.0 - of_units - noise, "labels": noise}
    return shares | {"items": 1.0 - of_units - noise, "replicates": of_units + noise}


def _estimand(evidence: Evidence, options: Options) -> str:
    plan = evidence.design
    over = "new items like these"
    if options.these_items:
        over = "these very items, " + ("whose labels are unsure" if evidence.from_labels else "scored again")
    if evidence.shared is not None:
        over += f", new {evidence.shared.what}s like these"
    if plan.grouped:
        over += f", these {plan.n_groups} groups"
    if plan.n_clusters is not None and not options.these_items:
        over += ", items dependent within clusters"
    if evidence.gold is not None:
        over += f", anchored by expert labels on {evidence.gold.n_answered} of {plan.n_items} items"
    proper = evidence.known.proper is not None
    of_rule = f"expected {evidence.rule} scores" if proper else "scores" if evidence.rule == "score" else evidence.rule
    if len(evidence.models) == 1:
        return f"mean of {of_rule} over {over}"
    sides = f"a minus b, {'positive' if evidence.higher_is_better else 'negative'} favours a"
    if not evidence.of_means:
        return f"difference ({sides}) of {evidence.rule} over {over}"
    return f"mean paired difference ({sides}) of {of_rule} over {over}"


def tree_of(evidence: Evidence, post: Posterior, seed: int) -> "xarray.DataTree":
    """Draws in the score's own units and sign, the ranks' probabilities, and what NUTS says of itself."""
    import xarray

    models, attributes = evidence.names, {"rule": evidence.rule, "seed": seed}
    unit = -1.0 if evidence.higher_is_better else 1.0  # draws are of losses
    means, ranking = np.zeros((1, 1, len(models))), np.eye(len(models))
    pairs, constant = list(combinations(range(len(models)), 2)), dict[str, np.ndarray]()
    if post.means is not None and post.rows is not None and post.decisions is not None:
        means, (ranking, _) = unit * post.means, post.decisions
        constant = {"score": unit * post.rows.mean[: len(models)]}
    shape = means.shape[:2]
    first, second = (list(side) for side in zip(*pairs, strict=True)) if pairs else ([], [])
    centre = means.sum(-1, keepdims=True) / max(len(models), 1)  # no model is left where all means are infinite
    draws = {"contrast": (("chain", "draw", "model_name"), means - centre)}
    of_pair = ("chain", "draw", "pair")
    if len(pairs) <= STORED_PAIRS:
        draws["difference"] = (of_pair, means[..., first] - means[..., second])
        if post.population is not None:
            difference, between = post.population.draws(shape, seed)
            draws["population_difference"] = (of_pair, unit * difference)
            draws["between_group_sd"] = (of_pair, between)
    coordinates = {"chain": np.arange(shape[0]), "draw": np.arange(shape[1])}
    names = {"model_name": models, "pair": [f"{models[a]} - {models[b]}" for a, b in pairs]}
    sides = {f"model_{side}": ("pair", [models[pair[at]] for pair in pairs]) for at, side in enumerate("ab")}
    tree = {
        "/": xarray.Dataset(attrs=attributes),
        "/posterior": xarray.Dataset(draws, {**coordinates, **names}, attributes),
        "/constant_data": xarray.Dataset(
            {**{name: ("model_name", value) for name, value in constant.items()}, **sides}, names
        ),
        "/ranking": xarray.Dataset(
            {"rank_probability": (("model", "rank"), ranking)},
            {"model": models, "rank": np.arange(1, len(models) + 1)},
        ),
    }
    if post.run is not None:
        tree["/sample_stats"] = xarray.Dataset(
            {name: (("chain", "draw"), values) for name, values in post.run.stats.items()}
        )
    return xarray.DataTree.from_dict(tree)
