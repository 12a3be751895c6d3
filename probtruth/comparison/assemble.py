"""From the computed posterior to the `Comparison` that a reader gets: tables, diagnostics, warnings and DataTree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from probtruth.comparison import datatree
from probtruth.comparison.companions import companions
from probtruth.comparison.decisions import Decisions, decide
from probtruth.comparison.design import Design
from probtruth.comparison.labels import label_variance
from probtruth.comparison.margins import Margin
from probtruth.comparison.posterior import Population, Sampled
from probtruth.comparison.rows import pair_rows, population_rows, rank_rows
from probtruth.comparison.sufficient import Location
from probtruth.comparison.warn import warnings_of
from probtruth.errors import PosteriorError
from probtruth.types import Comparison, Scores

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, eq=False)
class Posterior:
    """What was computed for the models with finite scores, in the order of their content."""

    order: np.ndarray
    pairs: list[tuple[int, int]]
    margins: list[Margin]
    place: Location | None
    sampled: Sampled | None
    population: Population | None


def _decisions(post: Posterior) -> Decisions | None:
    if post.sampled is None:
        return None
    decided = decide(post.sampled.sites["contrast"])
    if len(post.order) == 2:  # the margin itself, without Monte Carlo error
        p = post.margins[0].below(0.0)
        best = np.array([p, 1 - p])
        rank = np.stack([best, best[::-1]], axis=1)
        return Decisions(best, rank, rank @ np.array([1.0, 2.0]), decided.expected_regret)
    return decided


def assemble(
    scores: Scores, plan: Design, post: Posterior, engine: str, rope: float | None, draws: int, seed: int, strict: bool
) -> Comparison:
    """The `Comparison`: numbers under the names of the models, and what must be said about them."""
    decisions = _decisions(post)
    item_weights = _item_weights(plan, len(scores.items))
    ranks = rank_rows(scores, plan, post.order, decisions, item_weights)
    pairs = pair_rows(scores, post.order, post.pairs, post.margins, rope, item_weights)
    names = [(str(row["a"]), str(row["b"])) for row in pairs]
    by_name = {model: scores.values[row] for row, model in enumerate(scores.models)}
    known = _named_margins(scores, post)
    tests = companions([_difference(by_name[a], by_name[b]) for a, b in names], [known.get(pair) for pair in names])
    runs = [run for run in (post.sampled, post.population.sampled if post.population else None) if run is not None]
    diagnostics = {
        "max_rhat": _worst(max, [run.max_rhat for run in runs]),
        "min_ess": _worst(min, [run.min_ess for run in runs]),
        "divergences": _worst(sum, [run.divergences for run in runs]),
        "engines_agree": _worst(all, [run.engines_agree for run in runs]),
    }
    uncertainty = _uncertainty(scores, post, ranks, item_weights)
    warnings = warnings_of(scores, plan, diagnostics, pairs)
    if strict and (failing := [warning for warning in warnings if warning.startswith("sampling:")]):
        raise PosteriorError(" ".join(failing))
    return Comparison(
        models=scores.models,
        pairs=pairs,
        ranks=ranks,
        companions=[{"a": a, "b": b, **row} for (a, b), row in zip(names, tests, strict=True)],
        estimand=_estimand(scores, plan),
        rule=scores.rule,
        higher_is_better=scores.higher_is_better,
        rope=rope,
        seed=seed,
        diagnostics=diagnostics,
        uncertainty=uncertainty,
        datatree=_tree(scores, post, decisions, seed),
        settings={
            "engine": engine,
            "draws": draws,
            "margin": "t",
            "population": "new-items",
            "groups": len(plan.group_items) if plan.grouped else None,
            "clusters": None if plan.clusters is None else len(np.unique(plan.clusters)),
            "n_items": len(scores.items),
            "replicates": scores.n_replicates,
            "floor": scores.floor,
        },
        warnings=warnings,
        group_results=population_rows(scores, post.order, post.pairs, post.population, rope) if post.population else {},
    )


def _difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.asarray(a - b)


def _named_margins(scores: Scores, post: Posterior) -> dict[tuple[str, str], Margin]:
    named = {}
    for (a, b), margin in zip(post.pairs, post.margins, strict=True):
        first, second = scores.models[post.order[a]], scores.models[post.order[b]]
        flipped = Margin(-margin.centre, margin.scale, margin.df)
        named[(first, second) if first < second else (second, first)] = margin if first < second else flipped
    return named


def _item_weights(plan: Design, n_items: int) -> Float[np.ndarray, " item"]:
    weights = np.empty(n_items)
    for weight, items in zip(plan.weights, plan.group_items, strict=True):
        weights[items] = weight / len(items)
    return weights


def _worst[T](choose: Callable[[list[T]], T], values: Sequence[T | None]) -> T | None:
    known = [value for value in values if value is not None]
    return choose(known) if known else None


def _uncertainty(
    scores: Scores, post: Posterior, ranks: Sequence[dict[str, object]], item_weights: np.ndarray
) -> dict[str, float | None]:
    """Shares of variance that items and labels bring to the difference of the two models of highest P(best)."""
    if post.place is None:
        return {"items": None, "labels": None}
    contenders = sorted(ranks, key=lambda row: -float(str(row["p_best"])))[:2]
    a, b = (scores.models.index(str(row["model"])) for row in contenders)
    if a not in post.order or b not in post.order:
        return {"items": None, "labels": None}
    place = {int(model): row for row, model in enumerate(post.order)}
    direction = np.zeros(len(post.order))
    direction[place[a]], direction[place[b]] = 1.0, -1.0
    total, labels = post.place.variance(direction), label_variance(scores, a, b, item_weights)
    if labels is None or total == 0:
        return {"items": None if labels is None and scores.label_values is not None else 1.0, "labels": None}
    share = min(labels / total, 1.0)
    return {"items": 1.0 - share, "labels": share}


def _estimand(scores: Scores, plan: Design) -> str:
    over = "new items like these"
    if plan.grouped:
        over += f", these {len(plan.group_items)} groups"
    if plan.clusters is not None:
        over += ", items dependent within clusters"
    sign = "; scores are higher-is-better, so the difference is of their negatives" if scores.higher_is_better else ""
    return f"mean paired difference (a minus b, negative favours a) of expected {scores.rule} scores over {over}{sign}"


def _tree(scores: Scores, post: Posterior, decisions: Decisions | None, seed: int) -> "xarray.DataTree":
    models = [scores.models[row] for row in post.order]
    if post.sampled is None or post.place is None or decisions is None:
        contrast = np.zeros((1, 1, len(models)))
        ranking = np.eye(len(models))
        return datatree.build(models, [], contrast, {}, {}, ranking, None, {"rule": scores.rule, "seed": seed})
    pairs = sorted(
        ((a, b) if models[a] < models[b] else (b, a) for a, b in post.pairs),
        key=lambda pair: [models[row] for row in pair],
    )
    population = None
    if post.population is not None:
        sites = post.population.sampled.sites
        unit = post.population.unit
        population = {"contrast": unit * sites["population"], "between": unit * sites["between"]}
    constant = {"score": scores.values[post.order].mean(1), "mean_contrast": post.place.mean}
    return datatree.build(
        models,
        pairs,
        post.sampled.sites["contrast"],
        post.sampled.stats,
        constant,
        decisions.rank_probability,
        population,
        {"rule": scores.rule, "seed": seed},
    )
