"""Comparison of scores, or of a table of them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from probtruth import check
from probtruth.comparison.compare import compare as compare_scores
from probtruth.comparison.compare import conclude, need_two
from probtruth.comparison.estimation.design import Design, design_of
from probtruth.comparison.estimation.moments import Moments
from probtruth.comparison.options import checked_options, in_numbers
from probtruth.comparison.people import by_people
from probtruth.comparison.results.assemble import assemble
from probtruth.comparison.votes.annotators import ends_of, from_draws, from_fit, of_covariates, sentences
from probtruth.comparison.votes.votes import by_group, estimate_of_votes
from probtruth.errors import InputError
from probtruth.frame_numbers import by_name, is_frame
from probtruth.io.addresses import fetched_once
from probtruth.io.gold import gold_table, probabilities
from probtruth.io.scores import is_of_models, read_scores, read_scores_or_votes
from probtruth.types import Annotations, Comparison, Scores, Votes, orientation
from probtruth.types.arguments import Engine, Frame, Groups, ItemPopulation, ReplicateKind, StrPath, Weights

MOST_POINTS = 0.5  # A probability of preference is at most this far from one half


@fetched_once()
def compare(
    scores: Scores | Votes | Moments | StrPath | Frame,
    *,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    replicates: ReplicateKind | None = None,
    annotations: Annotations | None = None,
    annotator_groups: Mapping[str, str] | None = None,
    fold_correlation: float | None = None,
    weights: Weights | None = None,
    gold: Scores | StrPath | Frame | None = None,
    population: ItemPopulation = "new-items",
    rope: float | str | None = None,
    engine: Engine = "auto",
    seed: int = 0,
    strict: bool = False,
) -> Comparison:
    """Which model has the lower mean score, for all pairs jointly, and how sure that is.

    The estimand is the mean paired difference over new items like these; with `groups`, of these groups, each with
    weight `weights` ("equal", or a dict by name; default: its share of the items). Every pair's margin is the outer
    skew-t, which is the paired t where differences are not skewed (with groups, Satterthwaite's; with clusters, the
    cluster-robust one); P(best), ranks and regret come from one joint posterior with these margins. With groups,
    `group_results` adds the population of groups and one new group, with partial pooling.

    Arguments:
        scores: what `score` returned or `Scores.from_frame` made.
        groups, clusters: a mapping from item to name, or names in the order in which you gave the items (a table with a
            row for each item and model has none). Items of a cluster are dependent (a passage, a patient), clusters lie
            inside groups.
        replicates: says what the repeated scores of an item are: "independent" (answers asked again; the default: they
            are averaged within the item, whose spread holds their noise), "crossed" (the same training seeds on every
            item: their own variance is added, so that the answer is about new seeds too) or "folds" (items, or
            replicates of items, are folds that share training data, with `fold_correlation`, 1/k for k folds, as Nadeau
            and Bengio correct for it). Where few annotators labelled many items each, their variance is added in the
            same way: scores against a truth that was inferred from annotations have these with them, else `annotations`
            are those behind the vote shares.
        annotations: those behind the vote shares, where the scores do not have them with them.
        annotator_groups: {annotator: group} of people, for scores by annotator (`read_scores(..., annotator=)`):
            `group_results["groups of annotators"]` then has each group's own answer for each pair (the mean over its
            cells that all models have, over new items and new annotators of the group),
            `decisions["group_disagreement"]` P(two groups disagree about who is better), and a warning says where that
            is at least 0.95.
        fold_correlation: of `replicates="folds"`: the correlation of two folds, 1/k for k folds.
        weights: of the groups: "equal", or a number by name; by default their shares of the items.
        gold: better scores of the same models on a few of the items (see below).
        population: "new-items" like these, or "these-items".
        rope: the largest difference that does not matter.
        engine: "auto", "nuts" or "exact" (see below).
        seed: of everything random: the same seed gives the same numbers.
        strict: raises `PosteriorError` where a diagnostic fails.

    `engine` is "auto" (the closed form, and with groups NUTS for their population), "nuts" (every probability and
    interval is from its draws) or "exact" (closed form and quadrature). `population` "these-items" holds the items
    fixed, so that only the labels (few votes, an uncertain class) leave the difference unsure. `rope` is the largest
    difference that does not matter: a number in units of the score, or "2%" (points of a proportion).
    `strict` raises `PosteriorError` where a diagnostic fails.

    `gold` are better scores of the same models on a few of the items (people's, where the others are a judge's), as
    `Scores` or a table with the columns `item`, `model` and `score`, or `item` and one for each model: the answer is
    then about these, and the others take part as far as they go with them. A column `probability` says with which
    probability each item was chosen; without it they count as a uniform sample.

    `scores` may be a table with one row for each item and model (columns `item`, `model` and `score`): a dataframe, a
    dict of columns, a file, or a folder of Parquet or Arrow files. Tables with other columns go through `read_scores`.
    Or they are `Moments`, sums of parts of the items, which hold their groups and clusters.

    Or they are `Votes` on pairs of models (`read_votes`, or a table with the columns `model_a`, `model_b`, `winner`).
    The difference is then that of Bradley and Terry's strengths in log-odds, over new prompts and new annotators;
    `p_a_preferred` is the probability that an annotator prefers a's answer, ties counted half. `rope` is in points of
    that probability.

    Returns: a `Comparison`; differences are a minus b in the score's own units and sign.

    Errors: `InputError` for fewer than two models, NaN scores or unusable options; `PosteriorError` where a single item
    (or cluster) leaves the spread unknown.

    >>> import probtruth as pt
    >>> losses = {"item": [1, 2, 3, 1, 2, 3], "model": ["a"] * 3 + ["b"] * 3, "score": [0.1, 0.3, 0.2, 0.5, 0.4, 0.6]}
    >>> scores = pt.Scores.from_frame(losses, higher_is_better=False)
    >>> pair = pt.compare(scores, engine="exact").pairwise().row(0, named=True)
    >>> round(pair["difference"], 3), pair["p_a_better"] > 0.9
    (-0.3, True)
    """
    check.own_threads()
    known = scores if isinstance(scores, Scores | Votes | Moments) else read_scores_or_votes(scores)
    if len(known.models) < 2:
        need_two(known.models)
    of_items: dict[str, Any] = {"groups": groups, "clusters": clusters, "annotations": annotations}
    of_items["weights"] = weights if isinstance(weights, str) else by_name(weights, None, "weights")
    of_items |= {"replicates": replicates, "fold_correlation": fold_correlation}
    if isinstance(known, Votes):
        grouped = by_name(of_items.pop("groups"), known.items, "groups")
        plan = design_of(known.items, grouped, None, of_items.pop("weights"), known.groups)
        of_items |= {"annotator_groups": annotator_groups, "gold": gold}
        of_items["population"] = None if population == "new-items" else population
        return compare_votes(known, plan, rope, engine, seed, strict, **of_items)
    people: object = annotator_groups
    if isinstance(known, Scores):
        if gold is not None:
            known = _with_gold(known, gold)
        if rope is not None:
            rope = rope_in_units(rope, known)
        if known.replicates is not None and (isinstance(people, Mapping) or not is_frame(people)):
            people = by_name(people, known.replicates.names, "annotator_groups")
    elif gold is not None:
        raise InputError("sums with gold", "scores of the items", "Compare the scores.")
    unusual = weights is not None or gold is not None or population != "new-items"
    if people is not None and (unusual or isinstance(known, Moments) or known.gold is not None):
        got = "annotator_groups with sums, gold, weights or the population 'these-items'"
        raise InputError(got, "scores by annotator of new items", "Leave one of them out.")
    options: dict[str, Any] = {"engine": engine, "rope": rope, "seed": seed, "strict": strict}
    found = compare_scores(known, population=population, **of_items, **options)
    if people is None or not isinstance(known, Scores):
        return found
    return by_people(found, known if found.scored is None else found.scored, people, checked_options(**options))


def rope_in_units(rope: float | str | None, scores: Scores) -> float | str | None:
    """The rope with `X%` as so many points of a proportion; an error on any other score."""
    points = points_of(rope)
    if points is None:
        return rope
    values = scores.values[~np.isnan(scores.values)]
    marks = bool(((values == 0) | (values == 1)).all())
    shares = orientation.is_share(scores.rule) and values.min() >= 0 and values.max() <= 1
    if marks or shares:
        return points
    number = abs(float(np.nanmean(scores.losses, axis=1).min())) * points
    raise InputError(
        f"rope {rope!r} of the score {scores.rule!r}",
        "a percentage of a proportion (accuracy, pass rate), where 2% is two points, or a number in the score's units",
        f"{rope} of the best mean score is {number:.3g}: if you mean that, write rope={number:.3g} (command line: "
        f"--rope {number:.3g}).",
    )


def _with_gold(scores: Scores, gold: Scores | StrPath | Frame) -> Scores:
    """The scores with the better ones on a few items."""
    from probtruth.line.gold import with_expert_scores  # with JAX, which nothing else needs here

    if isinstance(gold, Scores):
        return with_expert_scores(scores, gold, None)
    if is_of_models(gold):
        better = read_scores(gold, score=scores.rule, higher_is_better=scores.higher_is_better)  # type: ignore[arg-type]
        return with_expert_scores(scores, better, None)
    table, source = gold_table(gold)
    models = None if "model" in table.columns else list(scores.models)
    score = scores.rule if models is not None or scores.rule in table.columns else "score"
    better = read_scores(table, models=models, score=score, higher_is_better=scores.higher_is_better)
    return with_expert_scores(scores, better, probabilities(table, source))


def compare_votes(
    votes: Votes, plan: Design, rope: float | str | None, engine: str, seed: int, strict: bool, **refused: object
) -> Comparison:
    """The strengths of the models, `plan` having the groups of the prompts; what is asked of scores only is refused."""
    if plan.grouped and engine == "nuts":
        refused["groups and the engine 'nuts'"] = plan
    for name, value in refused.items():
        if value is not None:
            raise InputError(f"votes with {name}", "scores, or votes alone", "Leave it out.")
    points = points_of(rope)
    if points is None and rope is not None:
        hint = "In points of the probability of being preferred: 0.02, or '2%'."
        points = check.number(in_numbers(rope), "rope", hint, least=0, below=MOST_POINTS)
    options = checked_options(engine=engine, seed=seed, strict=strict)
    estimate, fit, covariates = estimate_of_votes(votes, plan)
    annotators = from_fit(by_group(votes, plan), fit)
    difference_at: Callable[[float], float] = fit.preference.difference_at
    post = None
    if engine == "nuts":
        from probtruth.comparison.votes.draws import draw_votes  # with JAX and NumPyro

        estimate, post, difference_at, sites = draw_votes(votes, estimate, options.seed)
        if "of_attention" in sites:
            annotators = from_draws(votes, sites)
        covariates = of_covariates(votes.covariates, ends_of(np.concatenate(sites["slopes"])))
    options = replace(options, rope=None if points is None else difference_at(points))
    found = conclude(estimate, options) if post is None else assemble(estimate, post, options)
    settings = {
        "metric": "preference",
        "votes": len(votes.outcome),
        "rope_in_points": points,
        "margin": "root of the likelihood",
    }
    return replace(
        found,
        settings={**found.settings, **settings},
        decisions={**found.decisions, "annotators": annotators, "covariates": covariates},
        warnings=(*found.warnings, *sentences(annotators)),
        scored=replace(votes, groups=plan.groups),
        difference_at=difference_at,
    )


def points_of(rope: float | str | None) -> float | None:
    """`X%` as a number of points; None for a rope of another form."""
    match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*%\s*", rope) if isinstance(rope, str) else None
    return None if match is None else float(match[1]) / 100
