"""The verdict in one sentence: which model, how sure, and what the answer hangs on."""

import math

from probtruth.comparison.results.unseen import highest_rate
from probtruth.line.result import Result
from probtruth.line.standing import CLAIMED, Answer, Standing
from probtruth.report.about import answers
from probtruth.report.names import joined, mark, marked
from probtruth.report.numbers import equals, with_interval
from probtruth.report.words import mean_of, measure, unit
from probtruth.types.arguments import QUESTIONS, method_in_words

# From which probability on the verdict uses these words
CERTAINTY = ((0.99, "almost certainly"), (0.95, "very probably"), (0.8, "probably"))
RARE = 0.01  # Outcomes of this rate are named where scores without a known bound leave room for them
LONGEST_NAME = 48  # Columns of a name in a sentence
MOST_NAMED = 6  # Models that a sentence names
NO_VERDICT = "No verdict: the diagnostics of the sampling fail."


def names_in_sentences(result: Result) -> dict[str, str]:
    """Each model's name as sentences show it, the leading one first."""
    return marked((rank.model for rank in result.comparison.ranked), LONGEST_NAME)


def headline(result: Result, standing: Standing | None) -> str:
    """How the result stands, in one sentence."""
    if standing is None:
        return one_model(result)
    if standing.failing:
        return NO_VERDICT
    said = _several(result, standing)
    gold = result.comparison.gold
    if gold is None or standing.answers:
        return said
    return f"{said.removesuffix('.')} (corrected by {answers(gold)})."


def one_model(result: Result) -> str:
    comparison = result.comparison
    rank = comparison.ranked[0]
    whose = f"The {mean_of(comparison)} of {marked([rank.model], LONGEST_NAME)[rank.model]}"
    if rank.score is not None and math.isinf(rank.score):
        return f"{whose} is infinite."
    return f"{whose} is {with_interval(rank.score, rank, unit(comparison.rule, ' '))}."


def _several(result: Result, standing: Standing) -> str:
    names = names_in_sentences(result)
    lead, following = names[standing.lead], names[standing.next]
    if standing.turned_by_infinite:
        return infinite_means(result, standing)
    if standing.answers:
        best = [f"{_leads(one, names)} by {QUESTIONS[one.estimand]}{_p(one)}" for one in standing.answers]
        return f"It depends on the question: {', '.join(best)}."
    if standing.methods:
        best = [f"{_leads(one, names)} with {method_in_words(one.method)}{_p(one)}" for one in standing.methods]
        return f"It depends on the truth method: {', '.join(best)}."
    if standing.unseen is not None:
        other = names[standing.unseen.other]
        return (
            f"{lead} leads {other} on what was observed (P {equals(standing.p)}), but rare outcomes that were not "
            "observed could reverse it."
        )
    if standing.same:
        return f"{lead} leads {following} by the same difference on every item: how sure this is cannot be estimated."
    if standing.p is None:
        return f"No verdict: the difference between {lead} and {following} is not known."
    n_models = len(names)
    if standing.level == "equivalent":
        if n_models == 2:
            return f"{lead} and {following} are practically equivalent."
        return f"{lead} leads, but {following} is practically equivalent."
    what = f"the best of the {n_models} models" if n_models > 2 else f"better than {following}"
    for bound, words in CERTAINTY:
        if standing.p >= bound:
            return f"{lead} is {words} {what}{_reservation(result, standing)}."
    if n_models > 2:
        return f"The comparison of the {n_models} models is inconclusive; {lead} leads."
    return f"The comparison of {lead} and {following} is inconclusive."


def _leads(answer: Answer, names: dict[str, str]) -> str:
    best = (answer.p_best or 0.0) >= CLAIMED
    return f"{names[answer.best]} {'is best' if best else 'leads'}"


def _p(answer: Answer) -> str:
    return "" if answer.p_best is None else f" (P {equals(answer.p_best)})"


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
    kind = "items" if result.comparison.settings.get("clusters") is None else "clusters"
    return f", unless rare outcomes that these {n_units} {kind} do not show cost it much more"


def infinite_means(result: Result, standing: Standing) -> str:
    names = names_in_sentences(result)
    listed = list(standing.infinite)[:MOST_NAMED]
    counts = [standing.infinite[model] for model in listed]
    several = len(standing.infinite) > 1
    who = joined([names[model] for model in listed])
    on = f"{joined([f'{n:,}' for n in counts])} of {len(result.scores.items):,} items"
    if result.labelled is not None:
        what = "outcomes" if several or counts[0] > 1 else "an outcome"
        why = f"{who} gave probability 0 to {what} that happened ({on})"
    elif several:
        why = f"{who} have infinite scores on {on}"
    else:
        why = f"{who} has an infinite score on {on}"
    mean = mean_of(result.comparison)
    if several:
        said = f"{why}: their {mean}s are infinite, whatever they do elsewhere."
    else:
        said = f"{why}: its {mean} is infinite, whatever it does elsewhere."
    if result.bounded is None:
        return said
    first = result.bounded.ranked[0]
    best = f"{names.get(first.model, mark(first.model))} leads, P(best) {equals(first.p_best)}"
    return f"{said} Under the {measure(result.bounded.rule)} {best}."
