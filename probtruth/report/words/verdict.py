"""The verdict in words: which model, how sure, by how much, of what, and where the uncertainty comes from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS
from probtruth.line.result import Result
from probtruth.line.rows import leaders
from probtruth.report.words.numbers import (
    as_float,
    count,
    decimals,
    equals,
    exact,
    fixed,
    interval,
    minus,
    percent,
    shortened,
    significant,
)
from probtruth.report.words.sentences import Name, Sentence, behind_number, joined, mean_of, measure, sentence
from probtruth.report.words.turned import not_settled, shared_errors, turned
from probtruth.types import Comparison
from probtruth.types.arguments import QUESTIONS

CERTAINTY = ((0.99, "almost certainly", "certain"), (0.95, "very probably", "likely"), (0.8, "probably", "likely"))
"""From which probability on the verdict uses these words, and how settled it is then."""
EQUIVALENT = 0.95
"""From which probability on two models are called practically equivalent."""
STILL_POSSIBLE = 0.05
"""A model whose probability of being the best is at least this could still be it."""

LONGEST_NAME = 48
"""Columns of a name in a sentence."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """`headline` in one sentence, the `details` below it, and how settled it is.

    `level` is "certain", "likely", "open", "equivalent", "alone" (one model) or "invalid" (diagnostics fail, or nothing
    can be said).
    """

    level: str
    headline: Sentence
    details: tuple[Sentence, ...]
    failing: tuple[str, ...]


def failing_diagnostics(diagnostics: Mapping[str, Any]) -> tuple[str, ...]:
    """The diagnostics that fail, in words; none where all pass or an engine has none."""
    lines = []
    rhat, ess = as_float(diagnostics.get("max_rhat")), as_float(diagnostics.get("min_ess"))
    if rhat is not None and rhat > MAX_RHAT:
        lines.append(f"R-hat is {fixed(rhat, 3)}, above {MAX_RHAT}: the chains have not mixed.")
    if ess is not None and ess < MIN_ESS:
        lines.append(f"The effective sample size is {ess:.0f}, below {MIN_ESS:.0f}.")
    for name, words in (("max_rhat", "R-hat"), ("min_ess", "The effective sample size")):
        value = diagnostics.get(name)
        if value is not None and as_float(value) is None:
            lines.append(f"{words} could not be computed: the draws are not finite.")
    divergences = as_float(diagnostics.get("divergences"))
    if divergences:
        lines.append(f"{divergences:.0f} divergent transitions: the sampler missed part of the posterior.")
    if diagnostics.get("engines_agree") is False:
        lines.append("The two engines disagree by more than Monte Carlo error.")
    return tuple(lines)


def advantage(comparison: Comparison, model: str, over: str) -> dict[str, float | None]:
    """How much better `model` is than `over` (positive: better), its interval, P(better) and P(equivalent)."""
    row = minus(next(row for row in comparison.pairs if {row["a"], row["b"]} == {model, over}), over)
    known = {name: as_float(row[name]) for name in ("low", "high", "p_equivalent")}
    return {"advantage": as_float(row["difference"]), "p_better": as_float(row["p_b_better"]), **known}


def verdict(result: Result) -> Verdict:
    """The verdict on a result."""
    comparison = result.comparison
    standing = result.standing
    if standing is None:
        return _alone(result)
    failing = failing_diagnostics(comparison.diagnostics)
    ranked = leaders(comparison.ranks)
    gap = advantage(comparison, str(ranked[0]["model"]), str(ranked[1]["model"]))
    names = shortened((str(row["model"]) for row in ranked), LONGEST_NAME)
    lead, next_best = (names[str(row["model"])] for row in ranked[:2])
    several = len(ranked) > 2
    p = as_float(ranked[0]["p_best"]) if several else gap["p_better"]
    way = "Higher" if comparison.higher_is_better else "Lower"
    details = [
        *turned(standing, comparison, names),
        *([] if standing.shared is None else shared_errors(result, standing, names)),
        _infinite(result, ranked, names, gap) or _numbers(comparison, lead, next_best, gap, several),
        *([sentence("P(", lead, f" is best) {equals(p)}.")] if several else []),
        sentence(f"{way} {measure(comparison.rule)} is better."),
        *_equivalence(comparison, lead, next_best, gap),
        *_candidates(ranked, names),
        *_estimand(result),
        *([] if standing.shared is not None else shared_errors(result, standing, names)),
        *_sources(comparison, lead, next_best),
    ]
    if failing:
        headline, level = sentence("No verdict: the diagnostics of the sampling fail."), "invalid"
    elif standing.turned_by or standing.same:
        headline, level = not_settled(standing, names), "open"
    else:
        headline, level = _headline(lead, next_best, p, gap["p_equivalent"], len(ranked))
    if comparison.gold is not None and level != "invalid" and not standing.answers:
        headline = (*headline[:-1], f"{headline[-1].removesuffix('.')} (anchored by {_answers(comparison.gold)}).")
    return Verdict(level, headline, tuple(details), failing)


def _alone(result: Result) -> Verdict:
    """What is said of one model: its mean with its interval, beside the best possible and the labels' frequencies."""
    comparison, known = result.comparison, result.scores.known
    row = comparison.ranks[0]
    name = shortened([str(row["model"])], LONGEST_NAME)[str(row["model"])]
    mean, low, high = (as_float(row[key]) for key in ("score", "low", "high"))
    units = behind_number(comparison.rule)
    whose = sentence(f"The mean {measure(comparison.rule)} of ", name)
    estimand = _estimand(result)
    if mean is None:
        return Verdict("invalid", sentence(*whose, " is not known."), tuple(estimand), ())
    if math.isinf(mean):
        n, items = int(result.scores.n_infinite[0]), len(result.scores.items)
        why = sentence(f"Its loss is infinite on {count(n, 'item')} of {items:,}.")
        return Verdict("alone", sentence(*whose, " is infinite."), (why, *estimand), ())
    if low is None or high is None:
        headline = sentence(*whose, f" is {significant(mean)}{units}; its interval is not known.")
        return Verdict("invalid", headline, tuple(estimand), ())
    places = decimals([high - low], ends=(low, high))
    headline = sentence(*whose, f" is {fixed(mean, places)}{units} (95% interval {interval(low, high, places)}).")
    way = "Higher" if comparison.higher_is_better else "Lower"
    details = [sentence(f"{way} is better. One model alone: nothing is compared.")]
    if known.entropy is not None and known.baseline is not None and math.isfinite(known.baseline):
        best, flat = (fixed(value, places) for value in (known.entropy, known.baseline))
        lines = (
            f"The best possible forecast would score {best}, the entropy of the labels; their frequencies alone {flat}."
        )
        if known.baseline > known.entropy:
            closed = (known.baseline - mean) / (known.baseline - known.entropy)
            lines += (
                f" The model closes {percent(closed)} of that gap."
                if closed >= 0
                else " The model does worse than these frequencies, given for every item."
            )
        details.append(sentence(lines))
    return Verdict("alone", headline, (*details, *estimand), ())


def _headline(
    lead: Name, next_best: Name, p: float | None, p_equivalent: float | None, n_models: int
) -> tuple[Sentence, str]:
    if p is None:
        return sentence("No verdict: the difference between ", lead, " and ", next_best, " is not known."), "invalid"
    if p_equivalent is not None and p_equivalent >= EQUIVALENT:
        if n_models == 2:
            return sentence(lead, " and ", next_best, " are practically equivalent."), "equivalent"
        return sentence(lead, " leads, but ", next_best, " is practically equivalent to it."), "equivalent"
    what = f"the best of the {n_models} models" if n_models > 2 else "better than "
    other = () if n_models > 2 else (next_best,)
    for bound, words, level in CERTAINTY:
        if p >= bound:
            return sentence(lead, f" is {words} {what}", *other, "."), level
    if n_models > 2:
        return sentence(f"Which of the {n_models} models is best is open; ", lead, " leads."), "open"
    return sentence("Whether ", lead, " or ", next_best, " is better is open."), "open"


def _numbers(
    comparison: Comparison, lead: Name, next_best: Name, gap: Mapping[str, float | None], several: bool
) -> Sentence:
    low, high, size = gap["low"], gap["high"], gap["advantage"]
    mean = mean_of(comparison)
    if size is None:
        return sentence(
            f"The {mean} of ", lead, " and of ", next_best, " is infinite or not known: nothing tells them apart."
        )
    if size == low == high == 0:
        return sentence("On every item, ", lead, " and ", next_best, f" have the same score, and so the same {mean}.")
    if (low is None or high is None) and comparison.settings.get("metric"):
        return sentence(f"How sure the difference in {mean} between ", lead, " and ", next_best, " is, is not known.")
    if low is None or high is None:
        shared = f"{exact(float(f'{abs(size):.3g}'))}{behind_number(comparison.rule)}"
        return sentence(
            f"On every item the {measure(comparison.rule)} of ",
            lead,
            " is better than that of ",
            next_best,
            f" by the same {shared}: without a spread, nothing tells how far other items may differ.",
        )
    known = high - low
    places = decimals([known] if known else [abs(size) / 10 if size else None], ends=(low, high))
    units = behind_number(comparison.rule)
    ahead = "higher" if comparison.higher_is_better else "lower"
    return sentence(
        f"The {mean} of ",
        lead,
        f" is {ahead} than that of ",
        next_best,
        f"{', the next,' if several else ''} by {fixed(size, places)}{units} "
        f"(95% interval {interval(low, high, places)}); P({ahead}) {equals(gap['p_better'])}.",
    )


def _infinite(
    result: Result,
    ranked: Sequence[Row],
    names: Mapping[str, Name],
    gap: Mapping[str, float | None],
) -> Sentence | None:
    """Where the next model's mean is infinite and the leading one's is not: on how many items."""
    if gap["advantage"] is None or not math.isinf(gap["advantage"]):
        return None
    lead, other = (str(row["model"]) for row in ranked[:2])
    infinite, n = dict(zip(result.scores.models, map(int, result.scores.n_infinite), strict=True)), len(ranked)
    mean = mean_of(result.comparison)
    return sentence(
        f"The {mean} of ",
        names[other],
        f"{', the next,' if n > 2 else ''} is infinite, because its loss is on {count(infinite[other], 'item')} of "
        f"{len(result.scores.items):,}; that of ",
        names[lead],
        " is finite.",
    )


def _equivalence(
    comparison: Comparison, lead: Name, next_best: Name, gap: Mapping[str, float | None]
) -> list[Sentence]:
    if comparison.rope is None or gap["p_equivalent"] is None:
        return []
    return [
        sentence(
            f"Counting differences up to {exact(comparison.rope)} as equivalent, P(",
            lead,
            " and ",
            next_best,
            f" are equivalent) {equals(gap['p_equivalent'])}.",
        )
    ]


def _candidates(ranked: Sequence[Row], names: Mapping[str, Name]) -> list[Sentence]:
    possible = [names[str(row["model"])] for row in ranked if (as_float(row["p_best"]) or 0) >= STILL_POSSIBLE]
    if len(ranked) < 3 or len(possible) < 2:
        return []
    shown, more = possible[:6], len(possible) - 6
    rest = f" and {more} more" if more > 0 else ""
    return [sentence("Could still be the best (P ≥ 0.05): ", *joined(shown), f"{rest}.")]


def _estimand(result: Result) -> list[Sentence]:
    estimand = sentence(f"Estimand: {result.comparison.estimand}.")
    truth, gold = result.truth, result.comparison.gold
    anchored = [] if gold is None else [_anchored(gold, "the scores" if truth is None else "the inferred classes")]
    if truth is None:
        return [estimand, *anchored]
    how = "given with the data" if truth.method == "given" else f"inferred by {truth.method}"
    what = QUESTIONS[truth.estimand]
    what += " (a distribution of labels for each item)" if truth.estimand != "class" else ""
    both = truth.diagnostics.get("evidence") == "annotators and models"
    how += ", with the models' own forecasts, weighed, as further evidence" if both else ""
    return [estimand, sentence(f"The standard is {what}, {how}."), *anchored]


def _answers(gold: Mapping[str, Any]) -> str:
    """`40 expert labels`; of several experts, on how many items."""
    n_items, n_answers = gold["n_items"], gold["n_answers"]
    return f"{n_answers} expert labels" + ("" if n_items == n_answers else f" on {count(n_items, 'item')}")


def _anchored(gold: Mapping[str, Any], others: str) -> Sentence:
    """How the items with an expert's answer were chosen, and what weight the rest has."""
    how = (
        "taken as a uniform sample of all items"
        if gold["sample"] == "uniform"
        else f"chosen with the stated probabilities (largest weight {gold['largest_weight']:.3g}, worth "
        f"{gold['effective']:.0f} chosen alike)"
    )
    return sentence(
        f"Anchored by {_answers(gold)}, {how}: of the other items {others} count with weight "
        f"{fixed(gold['weight_of_inferred'], 2)}, corrected by what the experts say. Calibration, accuracy and the "
        "lists of items rest on the inferred classes alone."
        if others != "the scores"
        else f"Anchored by {_answers(gold)}, {how}: the other scores count with weight "
        f"{fixed(gold['weight_of_inferred'], 2)}, corrected by these."
    )


def _sources(comparison: Comparison, lead: Name, next_best: Name) -> list[Sentence]:
    items, labels = (as_float(comparison.uncertainty.get(name)) for name in ("items", "labels"))
    pair = sentence("the difference between ", lead, " and ", next_best)
    if items is not None and labels is not None:
        return [
            sentence(
                "Of the variance of ",
                *pair,
                f", {percent(items)} comes from the choice of items and {percent(labels)} from the labels.",
            )
        ]
    if items is not None:
        return [
            sentence(
                "The interval of ", *pair, " is that of the choice of items, which includes any noise of the labels."
            )
        ]
    return []
