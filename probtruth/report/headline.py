"""The verdict in one sentence: which model, how sure, and what the answer hangs on."""

import math

from probtruth.comparison.results.unseen import highest_rate
from probtruth.line.result import Result
from probtruth.line.standing import CLAIMED, Answer, Standing
from probtruth.report.about import answers, mean_of, measure, unit, unit_of
from probtruth.report.names import joined, mark
from probtruth.report.numbers import equals, with_interval
from probtruth.types.arguments import QUESTIONS, method_in_words

# From which probability on the verdict uses these words
CERTAINTY = ((0.99, "almost certainly"), (0.95, "very probably"), (0.8, "probably"))
RARE = 0.01  # Outcomes of this rate are named where scores without a known bound leave room for them
MOST_NAMED = 6  # Models that a sentence names
NO_VERDICT = "No verdict: the diagnostics of the sampling fail."


def headline(result: Result, standing: Standing | None) -> str:
    """How the result stands, in one sentence."""
    comparison = result.comparison
    if standing is None:
        rank = comparison.ranked[0]
        size = with_interval(rank.score, rank, unit(comparison.rule, " "))
        if rank.score is not None and math.isinf(rank.score):
            size = "infinite"
        return f"The {mean_of(comparison)} of {mark(rank.model)} is {size}."
    if standing.failing:
        return NO_VERDICT
    said = _several(result, standing)
    if comparison.gold is None or standing.answers:
        return said
    return f"{said.removesuffix('.')} (corrected by {answers(comparison.gold)})."


def _several(result: Result, standing: Standing) -> str:
    lead, following = mark(standing.lead), mark(standing.next)
    n_models = len(result.comparison.ranks)
    if standing.turned_by_infinite:
        return infinite_means(result, standing)
    if standing.answers:
        best = [_leads(one, f"by {QUESTIONS[one.estimand]}") for one in standing.answers]
        return f"It depends on the question: {', '.join(best)}."
    if standing.methods:
        best = [_leads(one, f"with {method_in_words(one.method)}") for one in standing.methods]
        return f"It depends on the truth method: {', '.join(best)}."
    if standing.unseen is not None:
        other = mark(standing.unseen.other)
        return (
            f"{lead} leads on what was observed (P(best) {equals(standing.p)}), but rare outcomes that were not "
            f"observed could put {other} ahead."
        )
    if standing.same:
        return f"{lead} leads {following} by the same difference on every item: how sure this is cannot be estimated."
    if standing.p is None and standing.gap.low is not None:
        return f"No verdict: not all of the {n_models} models can be compared with each other."
    if standing.p is None:
        return f"No verdict: the difference between {lead} and {following} is not known."
    if standing.level == "equivalent":
        between = "and" if n_models == 2 else "leads, but"
        verb = "are" if n_models == 2 else "is"
        return f"{lead} {between} {following} {verb} practically equivalent."
    what = f"the best of the {n_models} models" if n_models > 2 else f"better than {following}"
    for bound, words in CERTAINTY:
        if standing.p >= bound:
            return f"{lead} is {words} {what}{_reservation(result, standing)}."
    if n_models > 2:
        return f"The comparison of the {n_models} models is inconclusive; {lead} leads."
    return f"The comparison of {lead} and {following} is inconclusive."


def _leads(answer: Answer, way: str) -> str:
    verb = "is best" if (answer.p_best or 0.0) >= CLAIMED else "leads"
    p = "" if answer.p_best is None else f" (P {equals(answer.p_best)})"
    return f"{mark(answer.best)} {verb} {way}{p}"


def _reservation(result: Result, standing: Standing) -> str:
    """That items seem to depend on each other, or what so few scores without a known bound cannot exclude."""
    if standing.dependent:
        return ", if items next to each other were independent, which they do not seem to be"
    if standing.by_size:
        return ", if the size of a cluster has nothing to do with its difference"
    if not standing.open_ended:
        return ""
    n_units = int(str(result.comparison.unseen["n_units"]))
    if highest_rate(n_units) < RARE:
        return ""
    return f", unless rare outcomes that these {n_units} {unit_of(result.comparison)}s do not show cost it much more"


def infinite_means(result: Result, standing: Standing) -> str:
    counts = dict(list(standing.infinite.items())[:MOST_NAMED])
    who = joined(list(map(mark, counts)))
    on = f"on {joined([f'{n:,}' for n in counts.values()])} of {len(result.scores.items):,} items"
    why = f"{who}: infinite scores {on}, which make"
    if result.labelled is not None:
        why = f"{who} gave probability 0 to what happened {on}, which makes"
    said = f"{why} the {mean_of(result.comparison)} infinite, whatever is right elsewhere."
    if result.bounded is None:
        return said
    first = result.bounded.ranked[0]
    best = f"{mark(first.model)} leads, P(best) {equals(first.p_best)}"
    return f"{said} Under the {measure(result.bounded.rule)} {best}."
