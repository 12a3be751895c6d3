"""The verdict in words: which model, how sure, by how much, what it hangs on, and what to do next."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from probtruth.check import as_float, count
from probtruth.comparison.unseen import NO_BOUND, highest_rate
from probtruth.errors import ProbtruthError
from probtruth.line.result import Result
from probtruth.line.standing import CLAIMED, Standing
from probtruth.report.about import about, answers, diagnostics
from probtruth.report.numbers import (
    advantage,
    decimals,
    equals,
    exact,
    fixed,
    interval,
    joined,
    marked,
    of_leaders,
    percent,
    probability,
    significant,
)
from probtruth.report.words import mean_of, measure, unit
from probtruth.study.plan import plan
from probtruth.types.arguments import QUESTIONS
from probtruth.types.comparison import leaders

# From which probability on the verdict uses these words, and how settled it is then.
CERTAINTY = ((0.99, "almost certainly", "certain"), (0.95, "very probably", "likely"), (0.8, "probably", "likely"))
EQUIVALENT = 0.95  # From which probability on two models are called practically equivalent
RARE = 0.01  # Outcomes of this rate are named where scores without a known bound leave room for them
SURE = 0.95  # From which probability on a group counts as decided
LONGEST_NAME = 48  # Columns of a name in a sentence
MOST_NAMED = 6  # Models that a sentence names
POSSIBLE = 0.05  # From which probability on a model may be the best
WORSE = 1.5  # How many times the miscalibration of another model is called larger
NEARER = 0.005  # Accuracies nearer than this are not said to disagree with the score


@dataclass(frozen=True)
class Verdict:
    """`headline` in one sentence, three `numbers` with titles, `details` (what it rests on), and how settled it is.

    `failing` are the diagnostics that fail; `accuracy` says why the most accurate model is not the best, and `groups`
    in how many groups the leading model is ahead, where there is something to say.
    """

    level: str
    headline: str
    numbers: tuple[tuple[str, str], ...]
    details: tuple[str, ...]
    failing: tuple[str, ...] = ()
    accuracy: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def verdict(result: Result) -> Verdict:
    standing = result.standing
    if standing is None:
        return _alone(result)
    made = _SeveralModels(result, standing)
    gates = diagnostics(result.comparison.diagnostics)
    failing = tuple([f"{name}: {value} (passes if {bound})." for name, value, bound, passes in gates if not passes])
    level, headline = ("invalid", "No verdict: the diagnostics of the sampling fail.") if failing else made.headline()
    gold = result.comparison.gold
    if gold is not None and level != "invalid" and not standing.answers:
        headline = f"{headline[:-1]} (corrected by {answers(gold)})."
    numbers, details = tuple(made.numbers(level)), tuple(made.details())
    return Verdict(level, headline, numbers, details, failing, tuple(made.accuracy()), tuple(made.groups()))


def _alone(result: Result) -> Verdict:
    comparison, known = result.comparison, result.scores.known
    row = comparison.ranks[0]
    name = marked([row["model"]], LONGEST_NAME)[str(row["model"])]
    mean, low, high = (as_float(row[key]) for key in ("score", "low", "high"))
    whose, units = f"The {mean_of(comparison)} of {name}", unit(comparison.rule, " ")
    rest = ("One model alone: nothing is compared.", *about(result))
    if mean is None:
        return Verdict("invalid", f"{whose} is not known.", (), rest)
    if math.isinf(mean):
        n = count(int(result.scores.n_infinite[0]), "item")
        why = f"Its score is infinite on {n} of {len(result.scores.items):,}."
        return Verdict("alone", f"{whose} is infinite.", (), (why, *rest))
    if low is None or high is None:
        return Verdict("invalid", f"{whose} is {significant(mean)}{units}; its interval is not known.", (), rest)
    places = decimals([high - low], ends=(low, high))
    numbers = [(f"{mean_of(comparison)}, 95% interval".capitalize(), f"{interval(low, high, places)}{units}")]
    if known.entropy is not None and known.baseline is not None and math.isfinite(known.baseline):
        best, flat = fixed(known.entropy, places), fixed(known.baseline, places)
        numbers.append(("The best possible forecast, the entropy of the labels", f"{best}{units}"))
        numbers.append(("The frequencies of the labels, forecast for every item", f"{flat}{units}"))
    said = f"{whose} is {fixed(mean, places)}{units} (95% interval {interval(low, high, places)})."
    return Verdict("alone", said, tuple(numbers), rest)


class _SeveralModels:
    """Several models, the one that leads first, with their names as sentences show them."""

    def __init__(self, result: Result, standing: Standing) -> None:
        self.result, self.comparison, self.standing = result, result.comparison, standing
        self.measure, self.mean = measure(self.comparison.rule), mean_of(self.comparison)
        self.units = unit(self.comparison.rule, " ")
        self.clustered = self.comparison.settings.get("clusters") is not None
        self.ranked = leaders(self.comparison.ranks)
        self.names = marked((row["model"] for row in self.ranked), LONGEST_NAME)
        self.lead, self.following = self.names[standing.lead], self.names[standing.next]
        self.gap = advantage(self.comparison, standing.lead, standing.next)
        self.size, self.low, self.high = (self.gap[key] for key in ("difference", "low", "high"))
        self.finite = self.size is not None and math.isfinite(self.size)
        counts = dict(zip(result.scores.models, result.scores.n_infinite.tolist(), strict=True))
        ordered = (str(row["model"]) for row in self.ranked)
        self.infinite = {model: counts[model] for model in ordered if counts[model]}  # items of infinite score
        rows = () if result.bounded is None else result.bounded.ranks
        best = sum(as_float(row["p_best"]) or 0.0 for row in rows if row["model"] in self.infinite)
        # whether models of infinite mean lead, or may be the best under the Brier score
        self.hangs_on_infinite = bool(self.infinite) and (not self.finite or best >= POSSIBLE)

    def headline(self) -> tuple[str, str]:
        standing, lead, following = self.standing, self.lead, self.following
        if self.hangs_on_infinite:
            return "open", self.infinite_means()
        for what, turned in (("question", standing.answers), ("truth method", standing.methods)):
            if turned:
                best = [
                    f"{self.names[one.best]} {'is best' if (one.p_best or 0.0) >= CLAIMED else 'leads'} by "
                    f"{QUESTIONS[one.estimand] if what == 'question' else one.method}"
                    + ("" if one.p_best is None else f" (P {equals(one.p_best)})")
                    for one in turned
                ]
                return "open", f"It depends on the {what}: {', '.join(best)}."
        if standing.unseen is not None:
            ahead = f"{lead} leads {self.names[standing.unseen.other]} on what was observed (P {equals(standing.p)})"
            return "open", f"{ahead}, but rare outcomes that were not observed could reverse it."
        if standing.same:
            return "open", f"{lead} leads {following} by the same difference on every item: how sure is open."
        if standing.p is None:
            return "invalid", f"No verdict: the difference between {lead} and {following} is not known."
        n_models, p_equivalent = len(self.ranked), self.gap["p_equivalent"]
        if p_equivalent is not None and p_equivalent >= EQUIVALENT:
            both = f"{lead} and {following} are practically equivalent."
            return "equivalent", both if n_models == 2 else f"{lead} leads, but {following} is practically equivalent."
        what = f"the best of the {n_models} models" if n_models > 2 else f"better than {following}"
        for bound, words, level in CERTAINTY:
            if standing.p >= bound:
                return level, f"{lead} is {words} {what}{self.unless()}."
        if n_models > 2:
            return "open", f"Which of the {n_models} models is best is open; {lead} leads."
        return "open", f"Whether {lead} or {following} is better is open."

    def unless(self) -> str:
        """What so few scores without a known bound cannot exclude."""
        known = self.comparison.unseen
        if known.get("reason") != NO_BOUND or highest_rate(int(str(known["n_units"]))) < RARE:
            return ""
        kind = "clusters" if self.clustered else "items"
        return f", unless rare outcomes that these {known['n_units']} {kind} do not show cost it much more"

    def infinite_means(self) -> str:
        result, bounded = self.result, self.result.bounded
        listed = list(self.infinite.items())[:MOST_NAMED]
        who, several = joined([self.names[model] for model, _ in listed]), len(self.infinite) > 1
        on = f"{joined([f'{n:,}' for _, n in listed])} of {len(result.scores.items):,} items"
        if result.labelled is None:
            why = f"{who} {'have infinite scores' if several else 'has an infinite score'} on {on}"
        else:
            what = "outcomes" if several or listed[0][1] > 1 else "an outcome"
            why = f"{who} gave probability 0 to {what} that happened ({on})"
        whose = f"their {self.mean}s are" if several else f"its {self.mean} is"
        said = f"{why}: {whose} infinite, whatever {'they do' if several else 'it does'} elsewhere."
        if bounded is None:
            return said
        first = leaders(bounded.ranks)[0]
        best = f"{self.names[str(first['model'])]} leads, P(best) {equals(first['p_best'])}"
        return f"{said} Under the {measure(bounded.rule)} {best}."

    def numbers(self, level: str) -> Iterator[tuple[str, str]]:
        if self.finite and self.low is not None and self.high is not None:
            places = decimals([self.high - self.low], ends=(self.low, self.high))
            ahead = f"{fixed(self.size, places)}{self.units} (95% interval {interval(self.low, self.high, places)})"
        else:
            ahead = "not known" if self.size is None else f"{significant(self.size, 3)} (interval not known)"
        stands = "against" if self.size is None else "ahead of"
        yield f"{self.lead} {stands} {self.following} in {self.mean}", ahead
        what = "best" if len(self.ranked) > 2 else "better"
        yield f"P({self.lead} is {what})", probability(self.standing.p)
        yield "What to do next", self.next_step(level)

    def next_step(self, level: str) -> str:
        standing = self.standing
        if level == "invalid" and standing.p is not None:
            return "Sample longer, or use the exact engine, before you use any number."
        if self.hangs_on_infinite:
            if self.result.labelled is None:
                return "Look at the items of infinite score."
            return "Set --floor or use --rule brier, and look at these items."
        if standing.answers:
            return "Decide which question is yours."
        if standing.methods:
            return "Have experts label some items: choose_gold says which."
        if level == "equivalent":
            return "Either will do: decide by cost."
        if standing.unseen is not None or standing.p is None:
            return "Collect more items before you rely on this."
        if level == "certain" or (standing.p or 0.0) >= SURE:
            return f"Use {self.lead}."
        return self.more_data()

    def more_data(self) -> str:
        parts = {name: as_float(part) or 0.0 for name, part in self.comparison.uncertainty.items()}
        largest = max(parts, key=parts.__getitem__, default="items")
        what = {
            "annotators": "annotators",
            "labels": "annotations of each item",
            "replicates": "replicates of each item",
        }
        if largest in what and parts[largest] > 0.5:
            return f"Get more {what[largest]}: {percent(parts[largest])} of the uncertainty is due to the {largest}."
        try:
            made = plan(self.result, self.standing.lead, self.standing.next, costs={"item": 1.0})
        except ProbtruthError:
            return "Collect more items."
        wanted = [row["n_items"] for row in made.designs if row["design"] == "cheapest"]
        n_items = len(self.result.scores.items)
        if wanted and n_items < wanted[0] < 1000 * n_items:
            size = float(f"{wanted[0]:.2g}")
            return f"About {size:,.0f} items in all would probably decide (80%); here are {n_items:,}."
        alone = not wanted and parts.get("annotators")
        return "More items alone would not decide: get more annotators too." if alone else "Collect more items."

    def details(self) -> Iterator[str]:
        comparison, lead, following = self.comparison, self.lead, self.following
        if (unseen := self.standing.unseen) is not None:
            yield (
                f"{count(unseen.n_units, 'cluster' if self.clustered else 'item')} without an outcome that would cost "
                f"{lead} more than any observed leave room for up to {percent(unseen.rate)} of such (95% upper bound); "
                f"with so many, {self.names[unseen.other]} would be better by "
                f"{'an infinite difference' if math.isinf(unseen.behind) else significant(unseen.behind, 2)}."
            )
        yield from self.without_spread()
        if comparison.rope is not None and self.gap["p_equivalent"] is not None:
            same = f"P({lead} and {following} are equivalent) {equals(self.gap['p_equivalent'])}"
            yield f"Counting differences up to {exact(comparison.rope)} as equivalent, {same}."
        chosen = comparison.decisions.get("credible_set")
        if len(self.ranked) > 2 and isinstance(chosen, Sequence) and chosen and self.standing.p is not None:
            named = joined([self.names[str(model)] for model in chosen])
            said = named if len(chosen) <= MOST_NAMED else f"{len(chosen)} of the {len(self.ranked)}"
            yield f"95% set of best models: {said}."
        yield from about(self.result)
        words = {"items": "the choice of items", "annotators": "the choice of annotators", "labels": "the labels"}
        known = [(part, words.get(name, name)) for name, part in comparison.uncertainty.items() if part]
        parts = sorted(known, reverse=True)
        pair = f"the difference between {lead} and {following}"
        if len(parts) > 1:
            yield f"Of the variance of {pair}, {joined([f'{percent(p)} is due to {name}' for p, name in parts])}."
        elif parts:
            yield f"The interval of {pair} is that of {parts[0][1]}, which includes any noise of the labels."

    def without_spread(self) -> Iterator[str]:
        """Why nothing is known of the difference of the two leading models; nothing where it is known."""
        lead, following, mean = self.lead, self.following, self.mean
        if self.comparison.settings.get("metric") and self.gap["reason"]:
            yield f"{self.gap['reason'][:1].upper()}{self.gap['reason'][1:]}."
        elif self.size is None:
            yield f"The {mean} of {lead} and of {following} is infinite or not known: nothing tells them apart."
        elif math.isinf(self.size):
            yield f"The {mean} of {following} is infinite; that of {lead} is finite."
        elif self.size == self.low == self.high == 0:
            yield f"On every item, {lead} and {following} have the same score, and so the same {mean}."
        elif self.low is None:
            yield (
                f"On every item the {self.measure} of {lead} is better than that of {following} by the same "
                f"{significant(abs(self.size), 3)}{self.units}: without a spread, nothing tells how far other items "
                "may differ."
            )

    def accuracy(self) -> Iterator[str]:
        if self.result.labelled is None:
            return
        accuracy, calibration = self.result.analysis.accuracy, self.result.analysis.calibration
        if accuracy is None or calibration is None or not self.result.scores.known.proper:
            return
        lead, first = self.standing.lead, max(accuracy, key=accuracy.__getitem__)
        if first == lead or accuracy[first] - accuracy[lead] < NEARER or self.comparison.rule == "zero-one":
            return
        if not (advantage(self.comparison, lead, first)["p_a_better"] or 0.0) >= CLAIMED:
            return
        place = "the worst" if self.comparison.ranks[-1]["model"] == first else "a worse"
        said = (
            f"{self.names[first]} has the highest accuracy, {fixed(accuracy[first], 3)} against "
            f"{fixed(accuracy[lead], 3)} of {self.lead}, but {place} {self.measure}"
        )
        off = {str(row["model"]): as_float(row.get("miscalibration")) for row in calibration.rows}
        mine, its, frame = off.get(first), off.get(lead), self.result.analysis.items
        if first in self.infinite:
            yield f"{said}: it gave probability 0 to outcomes that happened, which --floor mends."
        elif frame is None or mine is None or its is None or mine < WORSE * its:
            yield f"{said}: it is right more often, but its probabilities say less about where it is wrong."
        else:
            bold = float(frame[f"p_{first}"].to_numpy().mean()) > accuracy[first]
            yield (
                f"{said}: it says {'more' if bold else 'less'} than it knows (miscalibration {significant(mine, 2)} "
                f"against {significant(its, 2)}). Recalibrating its probabilities, by temperature scaling for example, "
                "would mend that."
            )

    def groups(self) -> Iterator[str]:
        """In how many groups the leading model is ahead, and where the other is; nothing without groups."""
        rows = of_leaders(self.comparison)
        chances = {str(row["group"]): p for row in rows if (p := as_float(row["p_a_better"])) is not None}
        if not chances:
            return
        ahead, sure = (sum(p > bound for p in chances.values()) for bound in (0.5, SURE - 1e-12))
        said = f"By group: {self.lead} is ahead of {self.following} in {ahead} of {len(chances)} groups, with P ≥ "
        said += f"{SURE} in {sure or 'none'}"
        rest = sorted((p, group) for group, p in chances.items() if p <= 0.5)
        if rest:
            names = marked((group for _, group in rest[:3]), LONGEST_NAME)
            more = f" and {len(rest) - 3} more" if len(rest) > 3 else ""
            said += f"; not ahead in {joined(list(names.values()))}{more} (least: P {equals(rest[0][0])})"
        yield f"{said}."
