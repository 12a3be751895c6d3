"""The verdict in words: which model, how sure, by how much, of what, what would turn it, where the doubt is from."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probtruth.check import as_float, count
from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS
from probtruth.line.analysis.standing import Standing
from probtruth.line.result import Result
from probtruth.report.words.numbers import (
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
from probtruth.types import Comparison
from probtruth.types.arguments import QUESTIONS
from probtruth.types.comparison import Row, leaders

CERTAINTY = ((0.99, "almost certainly", "certain"), (0.95, "very probably", "likely"), (0.8, "probably", "likely"))
"""From which probability on the verdict uses these words, and how settled it is then."""
EQUIVALENT = 0.95
"""From which probability on two models are called practically equivalent."""
STILL_POSSIBLE = 0.05
"""A model whose probability of being the best is at least this could still be it."""

LONGEST_NAME = 48
"""Columns of a name in a sentence."""


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
    comparison, standing = result.comparison, result.standing
    if standing is None:
        return _alone(result)
    ranked = leaders(comparison.ranks)
    gap = advantage(comparison, str(ranked[0]["model"]), str(ranked[1]["model"]))
    several = _SeveralModels(
        result, standing, ranked, shortened((str(row["model"]) for row in ranked), LONGEST_NAME), gap
    )
    failing = failing_diagnostics(comparison.diagnostics)
    if failing:
        headline, level = sentence("No verdict: the diagnostics of the sampling fail."), "invalid"
    elif standing.turned_by or standing.same:
        headline, level = several.not_settled(), "open"
    else:
        headline, level = several.headline()
    if comparison.gold is not None and level != "invalid" and not standing.answers:
        headline = (*headline[:-1], f"{headline[-1].removesuffix('.')} (anchored by {_answers(comparison.gold)}).")
    return Verdict(level, headline, tuple(several.details()), failing)


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


@dataclass(frozen=True, eq=False)
class _SeveralModels:
    """Several models, the one that leads first, with their names as sentences show them.

    `gap` is how far the leading model is ahead of the next.
    """

    result: Result
    standing: Standing
    ranked: Sequence[Row]
    names: Mapping[str, Name]
    gap: Mapping[str, float | None]

    @property
    def leading(self) -> tuple[Name, Name]:
        """The leading model and the next."""
        lead, following = (self.names[str(row["model"])] for row in self.ranked[:2])
        return lead, following

    @property
    def p(self) -> float | None:
        """P(the leading model is the best); of two models, that it is better."""
        return as_float(self.ranked[0]["p_best"]) if len(self.ranked) > 2 else self.gap["p_better"]

    def details(self) -> Iterator[Sentence]:
        """The sentences below the headline."""
        comparison, (lead, following) = self.result.comparison, self.leading
        yield from self.turned()
        if self.standing.shared is not None:
            yield from self.shared_errors()
        yield self.infinite() or self.numbers()
        if len(self.ranked) > 2:
            yield sentence("P(", lead, f" is best) {equals(self.p)}.")
        yield sentence(f"{'Higher' if comparison.higher_is_better else 'Lower'} {measure(comparison.rule)} is better.")
        if comparison.rope is not None and self.gap["p_equivalent"] is not None:
            yield sentence(
                f"Counting differences up to {exact(comparison.rope)} as equivalent, P(",
                lead,
                " and ",
                following,
                f" are equivalent) {equals(self.gap['p_equivalent'])}.",
            )
        yield from self.candidates()
        yield from _estimand(self.result)
        if self.standing.shared is None:
            yield from self.shared_errors()
        yield from self.sources()

    def headline(self) -> tuple[Sentence, str]:
        """Which model is better and how surely, and how settled that is."""
        (lead, following), p, n_models = self.leading, self.p, len(self.ranked)
        p_equivalent = self.gap["p_equivalent"]
        if p is None:
            return sentence(
                "No verdict: the difference between ", lead, " and ", following, " is not known."
            ), "invalid"
        if p_equivalent is not None and p_equivalent >= EQUIVALENT:
            if n_models == 2:
                return sentence(lead, " and ", following, " are practically equivalent."), "equivalent"
            return sentence(lead, " leads, but ", following, " is practically equivalent to it."), "equivalent"
        what = f"the best of the {n_models} models" if n_models > 2 else "better than "
        other = () if n_models > 2 else (following,)
        for bound, words, level in CERTAINTY:
            if p >= bound:
                return sentence(lead, f" is {words} {what}", *other, "."), level
        if n_models > 2:
            return sentence(f"Which of the {n_models} models is best is open; ", lead, " leads."), "open"
        return sentence("Whether ", lead, " or ", following, " is better is open."), "open"

    def not_settled(self) -> Sentence:
        """The headline where something that is not known turns the verdict."""
        standing, names, (lead, following) = self.standing, self.names, self.leading
        for what, answers in (("question", standing.answers), ("truth method", standing.methods)):
            if answers:
                first, second = (names[answer.best] for answer in answers)
                by = [QUESTIONS[one.estimand] if what == "question" else one.method for one in answers]
                return sentence(f"It depends on the {what}: ", first, f" is best by {by[0]}, ", second, f" by {by[1]}.")
        if standing.shared is not None:
            other = names[standing.shared.other]
            why = ", but errors that they share could turn the order."
            return sentence("Annotators alone cannot decide: ", lead, " leads ", other, why)
        if standing.unseen is not None:
            other = names[standing.unseen.other]
            why = ", but outcomes not yet seen could turn the order."
            return sentence("Not yet known: ", lead, " leads ", other, why)
        why = (
            ", but another prior would turn the order." if standing.prior else " by the same difference on every item."
        )
        return sentence("Not yet known: ", lead, " leads ", following, why)

    def turned(self) -> Iterator[Sentence]:
        """What turns the verdict, a sentence each."""
        for answer in (*self.standing.answers, *self.standing.methods):
            yield sentence(
                f"Question: {QUESTIONS[answer.estimand]} ({answer.method}). Best: ",
                self.names[answer.best],
                f", P {equals(answer.p_best)}." if answer.p_best is not None else ".",
            )
        unseen = self.standing.unseen
        if unseen is not None:
            settings = self.result.comparison.settings
            units = count(unseen.n_units, "item" if settings.get("clusters") is None else "cluster")
            size = unseen.behind
            behind = "by an infinite difference" if math.isinf(size) else f"by {exact(float(f'{size:.2g}'))}"
            yield sentence(
                f"{units} without an outcome that would cost ",
                self.names[self.standing.lead],
                f" more than any seen so far leave room for up to {percent(unseen.rate)} of such (95% upper "
                "bound); with so many, ",
                self.names[unseen.other],
                f" would be better {behind}.",
            )

    def shared_errors(self) -> Iterator[Sentence]:
        """How far errors that annotators share could move the difference of the leading model and another."""
        bounds, standing = self.result.bounds, self.standing
        if bounds is None:
            return
        if bounds.share is None:
            yield sentence(f"How far errors that annotators share could move this is not known ({bounds.reason}).")
            return
        other = str(standing.next if standing.shared is None else standing.shared.other)
        ends = bounds.of(standing.lead, other)
        if ends is None:
            return
        shown = interval(*ends, decimals([ends[1] - ends[0]], ends=ends))
        yield sentence(
            "The votes do not exclude that annotators, and perhaps models, agree on one wrong label on up to "
            f"{percent(bounds.share)} of the items: the difference, ",
            self.names[standing.lead],
            " minus ",
            self.names[other],
            f", may then be anything from {shown} (negative favours the first).",
        )
        if standing.shared is not None:
            yield sentence(
                "A few expert labels would decide: probtruth choose-gold picks the items (in Python: gold=)."
            )

    def numbers(self) -> Sentence:
        """How far the leading model is ahead, and how sure that is."""
        comparison, gap, (lead, following) = self.result.comparison, self.gap, self.leading
        low, high, size = gap["low"], gap["high"], gap["advantage"]
        mean, units = mean_of(comparison), behind_number(comparison.rule)
        if size is None:
            why = " is infinite or not known: nothing tells them apart."
            return sentence(f"The {mean} of ", lead, " and of ", following, why)
        if size == low == high == 0:
            why = f" have the same score, and so the same {mean}."
            return sentence("On every item, ", lead, " and ", following, why)
        if low is None or high is None:
            if comparison.settings.get("metric"):
                between = f"How sure the difference in {mean} between "
                return sentence(between, lead, " and ", following, " is, is not known.")
            return sentence(
                f"On every item the {measure(comparison.rule)} of ",
                lead,
                " is better than that of ",
                following,
                f" by the same {exact(float(f'{abs(size):.3g}'))}{units}: "
                "without a spread, nothing tells how far other items may differ.",
            )
        places = decimals([high - low or abs(size) / 10 or None], ends=(low, high))
        ahead = "higher" if comparison.higher_is_better else "lower"
        return sentence(
            f"The {mean} of ",
            lead,
            f" is {ahead} than that of ",
            following,
            f"{', the next,' if len(self.ranked) > 2 else ''} by {fixed(size, places)}{units} "
            f"(95% interval {interval(low, high, places)}); P({ahead}) {equals(gap['p_better'])}.",
        )

    def infinite(self) -> Sentence | None:
        """Where the next model's mean is infinite and the leading one's is not: on how many items."""
        if self.gap["advantage"] is None or not math.isinf(self.gap["advantage"]):
            return None
        scores, (lead, following) = self.result.scores, self.leading
        infinite = int(scores.n_infinite[scores.models.index(following.whole)])
        return sentence(
            f"The {mean_of(self.result.comparison)} of ",
            following,
            f"{', the next,' if len(self.ranked) > 2 else ''} is infinite, because its loss is on "
            f"{count(infinite, 'item')} of {len(scores.items):,}; that of ",
            lead,
            " is finite.",
        )

    def candidates(self) -> Iterator[Sentence]:
        """The models that could still be the best, where there are several."""
        chances = ((self.names[str(row["model"])], as_float(row["p_best"])) for row in self.ranked)
        possible = [name for name, p in chances if p is not None and p >= STILL_POSSIBLE]
        if len(self.ranked) > 2 and len(possible) > 1:
            more = f" and {len(possible) - 6} more" if len(possible) > 6 else ""
            yield sentence("Could still be the best (P ≥ 0.05): ", *joined(possible[:6]), f"{more}.")

    def sources(self) -> Iterator[Sentence]:
        """Where the uncertainty of the difference comes from."""
        lead, following = self.leading
        items, labels = (as_float(self.result.comparison.uncertainty.get(name)) for name in ("items", "labels"))
        pair = sentence("the difference between ", lead, " and ", following)
        if items is not None and labels is not None:
            told = f", {percent(items)} comes from the choice of items and {percent(labels)} from the labels."
            yield sentence("Of the variance of ", *pair, told)
        elif items is not None:
            told = " is that of the choice of items, which includes any noise of the labels."
            yield sentence("The interval of ", *pair, told)


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
