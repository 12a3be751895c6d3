"""Comparison of votes on pairs of models."""

from dataclasses import replace

from probtruth import check
from probtruth.comparison.compare import conclude
from probtruth.comparison.estimation.design import Design
from probtruth.comparison.options import checked_options, in_numbers
from probtruth.comparison.results.assemble import assemble
from probtruth.comparison.votes.annotators import covariates_from_draws, from_draws, from_fit, sentences
from probtruth.comparison.votes.votes import by_group, estimate_of_votes
from probtruth.errors import InputError
from probtruth.line.points import points_of
from probtruth.types import Comparison, Votes

MOST_POINTS = 0.5  # A probability of preference is at most this far from one half


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
    if engine == "nuts":
        from probtruth.comparison.votes.draws import draw_votes  # with JAX and NumPyro

        estimate, post, difference_at, sites = draw_votes(votes, estimate, options.seed)
        if "of_attention" in sites:
            annotators = from_draws(votes, sites)
        covariates = covariates_from_draws(votes, sites)
        limit = None if points is None else difference_at(points)
        found = assemble(estimate, post, replace(options, rope=limit))
    else:
        difference_at = fit.preference.difference_at
        limit = None if points is None else difference_at(points)
        found = conclude(estimate, replace(options, rope=limit))
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
        scored=votes,
        difference_at=difference_at,
    )
