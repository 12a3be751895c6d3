"""The verdict in words: which model, how sure, by how much, what it hangs on, and what to do next."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probtruth.check import as_float, count
from probtruth.comparison.unseen import NO_BOUND, highest_rate
from probtruth.errors import ProbtruthError
from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS
from probtruth.line.result import Result
from probtruth.line.standing import CLAIMED, Standing
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
    plain,
    probability,
    significant,
)
from probtruth.report.words import mean_of, measure, unit
from probtruth.study.plan import plan
from probtruth.types.arguments import QUESTIONS
from probtruth.types.comparison import Row, leaders

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
    if divergences := as_float(diagnostics.get("divergences")):
        lines.append(f"{divergences:.0f} divergent transitions: the sampler missed part of the posterior.")
    if diagnostics.get("engines_agree") is False:
        lines.append("The two engines disagree by more than Monte Carlo error.")
    return tuple(lines)


def verdict(result: Result) -> Verdict:
    """The verdict on a result."""
    standing = result.standing
    if standing is None:
        return _alone(result)
    ranked = leaders(result.comparison.ranks)
    names = marked((row["model"] for row in ranked), LONGEST_NAME)
    gap = advantage(result.comparison, standing.lead, standing.next)
    made = _SeveralModels(result, standing, ranked, names, gap)
    failing = failing_diagnostics(result.comparison.diagnostics)
    level, headline = ("invalid", "No verdict: the diagnostics of the sampling fail.") if failing else made.headline()
    gold = result.comparison.gold
    if gold is not None and level != "invalid" and not standing.answers:
        headline = f"{headline[:-1]} (corrected by {_answers(gold)})."
    numbers, details = tuple(made.numbers(level)), tuple(made.details())
    return Verdict(level, headline, numbers, details, failing, tuple(made.accuracy()), tuple(made.groups()))


def _alone(result: Result) -> Verdict:
    """What is said of one model: its mean with its interval, next to the best possible and the labels' frequencies."""
    comparison, known = result.comparison, result.scores.known
    row = comparison.ranks[0]
    name = marked([row["model"]], LONGEST_NAME)[str(row["model"])]
    mean, low, high = (as_float(row[key]) for key in ("score", "low", "high"))
    whose, units = f"The {mean_of(comparison)} of {name}", unit(comparison.rule, " ")
    about = tuple(_about(result))
    if mean is None:
        return Verdict("invalid", f"{whose} is not known.", (), about)
    if math.isinf(mean):
        n = count(int(result.scores.n_infinite[0]), "item")
        why = f"Its score is infinite on {n} of {len(result.scores.items):,}."
        return Verdict("alone", f"{whose} is infinite.", (), (why, *about))
    if low is None or high is None:
        return Verdict("invalid", f"{whose} is {significant(mean)}{units}; its interval is not known.", (), about)
    places = decimals([high - low], ends=(low, high))
    headline = f"{whose} is {fixed(mean, places)}{units} (95% interval {interval(low, high, places)})."
    numbers = [(f"{mean_of(comparison)}, 95% interval".capitalize(), f"{interval(low, high, places)}{units}")]
    details = [f"{_orientation(result)} One model alone: nothing is compared."]
    if known.entropy is not None and known.baseline is not None and math.isfinite(known.baseline):
        best, flat = (fixed(value, places) for value in (known.entropy, known.baseline))
        details.append(
            f"The best possible forecast would score {best}, the entropy of the labels; their frequencies alone {flat}."
        )
        numbers.append(("Best possible, frequencies alone", f"{best}, {flat}{units}"))
        if known.baseline > known.entropy:
            closed = (known.baseline - mean) / (known.baseline - known.entropy)
            details.append(
                f"The model closes {percent(closed)} of that gap."
                if closed >= 0
                else "The model does worse than these frequencies, given for every item."
            )
    return Verdict("alone", headline, tuple(numbers), (*details, *about))


def _orientation(result: Result) -> str:
    better = "Higher" if result.comparison.higher_is_better else "Lower"
    scale = "; the Brier score is summed over labels, 0 to 2: for two labels twice scikit-learn's"
    return f"{better} is better{scale if result.comparison.rule == 'brier' else ''}."


@dataclass(frozen=True, eq=False)
class _SeveralModels:
    """Several models, the one that leads first, with their names as sentences show them."""

    result: Result
    standing: Standing
    ranked: Sequence[Row]
    names: Mapping[str, str]
    gap: Mapping[str, Any]

    @property
    def lead(self) -> str:
        """The name of the leading model."""
        return self.names[self.standing.lead]

    @property
    def following(self) -> str:
        """The name of the next model."""
        return self.names[self.standing.next]

    @property
    def finite(self) -> bool:
        """Whether the difference of the two leading models is a number."""
        return self.gap["difference"] is not None and math.isfinite(self.gap["difference"])

    @property
    def infinite(self) -> dict[str, int]:
        """The models of infinite mean, with the number of items on which they score so."""
        scores = self.result.scores
        counts = dict(zip(scores.models, scores.n_infinite.tolist(), strict=True))
        return {str(row["model"]): counts[str(row["model"])] for row in self.ranked if counts[str(row["model"])]}

    @property
    def hangs_on_infinite(self) -> bool:
        """Whether models of infinite mean lead, or may be the best under the Brier score."""
        rows = () if self.result.bounded is None else self.result.bounded.ranks
        best = sum(as_float(row["p_best"]) or 0.0 for row in rows if row["model"] in self.infinite)
        return bool(self.infinite) and (not self.finite or best >= POSSIBLE)

    def headline(self) -> tuple[str, str]:
        """How settled the verdict is, and its first sentence: what the answer hangs on."""
        standing, n_models = self.standing, len(self.ranked)
        if self.hangs_on_infinite:
            return "open", self.because_infinite()
        for what, answers in (("question", standing.answers), ("truth method", standing.methods)):
            if answers:
                by = [QUESTIONS[one.estimand] if what == "question" else one.method for one in answers]
                first, second = (self.names[answer.best] for answer in answers)
                return "open", f"It depends on the {what}: {first} is best by {by[0]}, {second} by {by[1]}."
        if standing.unseen is not None:
            other = self.names[standing.unseen.other]
            ahead = f"{self.lead} leads {other} on what was observed (P {equals(standing.p)})"
            return "open", f"{ahead}, but rare outcomes that were not observed could reverse it."
        if standing.same:
            return "open", f"{self.lead} leads {self.following} by the same difference on every item: how sure is open."
        if standing.p is None:
            return "invalid", f"No verdict: the difference between {self.lead} and {self.following} is not known."
        return self.sure(standing.p, self.gap["p_equivalent"], n_models)

    def sure(self, p: float, p_equivalent: float | None, n_models: int) -> tuple[str, str]:
        """The verdict where nothing turns it."""
        lead, following = self.lead, self.following
        if p_equivalent is not None and p_equivalent >= EQUIVALENT:
            both = f"{lead} and {following} are practically equivalent."
            return "equivalent", both if n_models == 2 else f"{lead} leads, but {following} is practically equivalent."
        what = f"the best of the {n_models} models" if n_models > 2 else f"better than {following}"
        for bound, words, level in CERTAINTY:
            if p >= bound:
                return level, f"{lead} is {words} {what}{self.unless()}."
        if n_models > 2:
            return "open", f"Which of the {n_models} models is best is open; {lead} leads."
        return "open", f"Whether {lead} or {following} is better is open."

    def unless(self) -> str:
        """What so few scores without a known bound cannot exclude."""
        known = self.result.comparison.unseen
        if known.get("reason") != NO_BOUND or highest_rate(int(str(known["n_units"]))) < RARE:
            return ""
        kind = "items" if self.result.comparison.settings.get("clusters") is None else "clusters"
        return f", unless rare outcomes that these {known['n_units']} {kind} do not show cost it much more"

    def because_infinite(self) -> str:
        """Which models' means are infinite and why, and what another rule says."""
        result, comparison, bounded = self.result, self.result.comparison, self.result.bounded
        n_items = f"{len(result.scores.items):,}"
        listed = list(self.infinite.items())[:MOST_NAMED]
        who = joined([self.names[model] for model, _ in listed])
        on = joined([f"{n:,}" for _, n in listed])
        several = len(self.infinite) > 1
        if result.labelled is None:
            why = f"{who} {'have infinite scores' if several else 'has an infinite score'} on {on} of {n_items} items"
        else:
            what = "outcomes" if several or listed[0][1] > 1 else "an outcome"
            why = f"{who} gave probability 0 to {what} that happened ({on} of {n_items} items)"
        whose = f"their {mean_of(comparison)}s are" if several else f"its {mean_of(comparison)} is"
        said = f"{why}: {whose} infinite, whatever {'they do' if several else 'it does'} elsewhere."
        if bounded is None:
            return said
        first = leaders(bounded.ranks)[0]
        return (
            f"{said} Under the {measure(bounded.rule)} {self.names[str(first['model'])]} leads, "
            f"P(best) {equals(first['p_best'])}."
        )

    def numbers(self, level: str) -> Iterator[tuple[str, str]]:
        """The difference with its interval, how probable it is, and what to do next."""
        gap, comparison = self.gap, self.result.comparison
        low, high, size = gap["low"], gap["high"], gap["difference"]
        if size is not None and low is not None and high is not None and math.isfinite(size):
            places = decimals([high - low], ends=(low, high))
            value = f"{fixed(size, places)}{unit(comparison.rule, ' ')} ({interval(low, high, places)})"
            yield f"{self.lead} ahead of {self.following}, with 95% interval", value
        else:
            yield f"{self.lead} ahead of {self.following}", "infinite" if size is not None else "not known"
        what = f"P({self.lead} is best)" if len(self.ranked) > 2 else f"P({self.lead} is better)"
        yield what, probability(self.standing.p)
        yield "What to do next", self.next_step(level)

    def next_step(self, level: str) -> str:
        """What a reader can do with the answer."""
        standing = self.standing
        if level == "invalid":
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
        if standing.unseen is not None or standing.same:
            return "Collect more items before you rely on this."
        if level == "certain" or (standing.p or 0.0) >= SURE:
            return f"Use {self.lead}."
        return self.more_data()

    def more_data(self) -> str:
        """What would lower the uncertainty most, and how many more items would decide."""
        parts = {name: as_float(part) or 0.0 for name, part in self.result.comparison.uncertainty.items()}
        largest = max(parts, key=parts.__getitem__, default="items")
        if largest in ("annotators", "labels") and parts[largest] > 0.5:
            kind = "more annotators" if largest == "annotators" else "more annotations of each item"
            return f"Get {kind}: {percent(parts[largest])} of the uncertainty is due to the {largest}."
        try:
            made = plan(self.result.comparison, self.standing.lead, self.standing.next, costs={"item": 1.0})
        except ProbtruthError:
            return "Collect more items."
        wanted = [row["n_items"] for row in made.designs if row["design"] == "cheapest"]
        n_items = len(self.result.scores.items)
        if not wanted or not math.isfinite(wanted[0]) or not n_items < wanted[0] < 1000 * n_items:
            return "Collect more items."
        n_wanted = round(wanted[0], 1 - math.floor(math.log10(wanted[0])))
        return f"About {n_wanted:,.0f} items in all would probably decide (80%); here are {n_items:,}."

    def details(self) -> Iterator[str]:
        """The sentences below the headline."""
        result, comparison, standing = self.result, self.result.comparison, self.standing
        for answer in (*standing.answers, *standing.methods):
            p = "" if answer.p_best is None else f", P {equals(answer.p_best)}"
            yield f"Question: {QUESTIONS[answer.estimand]} ({answer.method}). Best: {self.names[answer.best]}{p}."
        if standing.unseen is not None:
            yield self.unseen(standing.unseen)
        yield self.difference()
        yield _orientation(result)
        if comparison.rope is not None and self.gap["p_equivalent"] is not None:
            yield (
                f"Counting differences up to {exact(comparison.rope)} as equivalent, P({self.lead} and "
                f"{self.following} are equivalent) {equals(self.gap['p_equivalent'])}."
            )
        yield from self.best_set()
        yield from _about(result)
        yield from self.sources()

    def difference(self) -> str:
        """How far the leading model is ahead, and how sure that is."""
        comparison, gap, lead, following = self.result.comparison, self.gap, self.lead, self.following
        low, high, size = gap["low"], gap["high"], gap["difference"]
        mean, units = mean_of(comparison), unit(comparison.rule, " ")
        if size is None:
            return f"The {mean} of {lead} and of {following} is infinite or not known: nothing tells them apart."
        if math.isinf(size):
            return f"The {mean} of {following} is infinite; that of {lead} is finite."
        if size == low == high == 0:
            return f"On every item, {lead} and {following} have the same score, and so the same {mean}."
        if low is None or high is None:
            if comparison.settings.get("metric"):
                return f"How sure the difference in {mean} between {lead} and {following} is, is not known."
            return (
                f"On every item the {measure(comparison.rule)} of {lead} is better than that of {following} by the "
                f"same {exact(float(f'{abs(size):.3g}'))}{units}: without a spread, nothing tells how far other items "
                "may differ."
            )
        places = decimals([high - low or abs(size) / 10 or None], ends=(low, high))
        ahead = "higher" if comparison.higher_is_better else "lower"
        following += ", the next likeliest," if len(self.ranked) > 2 else ""
        return (
            f"The {mean} of {lead} is {ahead} than that of {following} by {fixed(size, places)}{units} "
            f"(95% interval {interval(low, high, places)}); P({ahead}) {equals(gap['p_better'])}."
        )

    def unseen(self, unseen: Any) -> str:
        """What rare outcomes could do."""
        kind = "item" if self.result.comparison.settings.get("clusters") is None else "cluster"
        size = unseen.behind
        behind = "by an infinite difference" if math.isinf(size) else f"by {exact(float(f'{size:.2g}'))}"
        return (
            f"{count(unseen.n_units, kind)} without an outcome that would cost {self.lead} more than any observed "
            f"leave room for up to {percent(unseen.rate)} of such (95% upper bound); with so many, "
            f"{self.names[unseen.other]} would be better {behind}."
        )

    def best_set(self) -> Iterator[str]:
        """The smallest set of models that holds the best with probability 0.95 or more; nothing for two models."""
        chosen = self.result.comparison.decisions.get("credible_set")
        if len(self.ranked) < 3 or not isinstance(chosen, Sequence) or not chosen or self.standing.p is None:
            return
        if len(chosen) > MOST_NAMED:
            yield f"It takes {len(chosen)} of the {len(self.ranked)} models to hold the best with probability 0.95."
        else:
            yield f"95% set of best models: {joined([self.names[str(model)] for model in chosen])}."

    def accuracy(self) -> Iterator[str]:
        """Why the model of the highest accuracy is not the one of the best score, where these disagree."""
        if self.result.labelled is None:
            return
        accuracy, calibration = self.result.analysis.accuracy, self.result.analysis.calibration
        frame = self.result.analysis.items
        if accuracy is None or calibration is None or frame is None or not self.result.scores.known.proper:
            return
        lead, first = self.standing.lead, max(accuracy, key=accuracy.__getitem__)
        if first == lead or accuracy[first] - accuracy[lead] < NEARER or self.result.comparison.rule == "zero-one":
            return
        if not (advantage(self.result.comparison, lead, first)["p_better"] or 0.0) >= CLAIMED:
            return
        means = [row["model"] for row in self.result.comparison.ranks]
        place = "the worst" if means[-1] == first else "a worse"
        said = (
            f"{self.names[first]} has the highest accuracy, {fixed(accuracy[first], 3)} against "
            f"{fixed(accuracy[lead], 3)} of {self.lead}, but {place} {measure(self.result.comparison.rule)}"
        )
        off = {str(row["model"]): as_float(row.get("miscalibration")) for row in calibration.rows}
        mine, its = off.get(first), off.get(lead)
        if mine is None or its is None or mine < WORSE * its:
            yield f"{said}: it is right more often, but its probabilities say less about where it is wrong."
            return
        bold = float(frame[f"p_{first}"].to_numpy().mean()) > accuracy[first]
        yield (
            f"{said}: it says {'more' if bold else 'less'} than it knows (miscalibration {significant(mine, 2)} "
            f"against {significant(its, 2)}). Recalibrating its probabilities, by temperature scaling for example, "
            "would mend that."
        )

    def groups(self) -> Iterator[str]:
        """In how many groups the leading model is ahead, and where the other is; nothing without groups."""
        rows = of_leaders(self.result.comparison)
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
        comparison, pair = self.result.comparison, {str(row["model"]) for row in self.ranked[:2]}
        row = next(r for r in comparison.group_results["population of groups"] if {r["a"], r["b"]} == pair)
        p, gates = row["p_a_better" if row["a"] == self.ranked[0]["model"] else "p_b_better"], comparison.diagnostics
        sampler = gates.get("sampler") and (
            f" ({gates['sampler']}: R-hat {fixed(gates['max_rhat'], 3)}, effective sample size {gates['min_ess']:,.0f})"
        )
        yield f"In the population of groups P({self.lead} is better than {self.following}) {equals(p)}{sampler or ''}."

    def sources(self) -> Iterator[str]:
        """Where the uncertainty of the difference comes from, the largest part first."""
        words = {"items": "the choice of items", "annotators": "the choice of annotators", "labels": "the labels"}
        known = [(as_float(part), name) for name, part in self.result.comparison.uncertainty.items()]
        parts = sorted(((part, words.get(name, name)) for part, name in known if part is not None), reverse=True)
        pair = f"the difference between {self.lead} and {self.following}"
        if len(parts) > 1:
            yield f"Of the variance of {pair}, {joined([f'{percent(p)} is due to {name}' for p, name in parts])}."
        elif parts:
            yield f"The interval of {pair} is that of {parts[0][1]}, which includes any noise of the labels."


def _about(result: Result) -> Iterator[str]:
    """The estimand, the reference, and the expert labels."""
    yield f"Estimand: {result.comparison.estimand}."
    truth, gold = result.truth, result.comparison.gold
    if truth is not None:
        how = "given with the data" if truth.method == "given" else f"inferred by {truth.method}"
        if truth.diagnostics.get("evidence") == "annotators and models":
            how += ", with the models' own forecasts, weighted, as further evidence"
        kind = "" if truth.estimand == "class" else " (a distribution of labels for each item)"
        yield f"Reference: {QUESTIONS[truth.estimand]}{kind}, {how}."
    if gold is not None:
        said = f"{_answers(gold)} correct the comparison"
        if gold["sample"] == "uniform":
            said += ", as a uniform sample of all items"
        else:
            said += f"; they count as much as {gold['effective']:.0f} items drawn at random"
        yield said + (
            "."
            if truth is None
            else ". Accuracy and calibration rest on the inferred classes, without that correction."
        )


def _answers(gold: Mapping[str, Any]) -> str:
    """`40 expert labels`; of several experts, on how many items."""
    n_items, n_answers = gold["n_items"], gold["n_answers"]
    return f"{n_answers} expert labels" + ("" if n_items == n_answers else f" on {count(n_items, 'item')}")


def facts(result: Result) -> list[str]:
    """What was compared, in a few words each."""
    scores, settings = result.scores, result.comparison.settings
    said = [count(len(scores.models), "model"), count(len(scores.items), "item")]
    if result.labelled is not None:
        said.append(count(len(result.labelled.aligned.labels), "label"))
    if result.annotations is not None and result.annotations.index.annotators:
        said.append(count(len(result.annotations.index.annotators), "annotator"))
    for key, noun in (("groups", "group"), ("clusters", "cluster")):
        if isinstance(number := settings.get(key), int):
            said.append(count(number, noun))
    if result.truth is not None:
        said.append(f"truth: {result.truth.method}, estimand {result.truth.estimand}")
    better = "higher" if result.comparison.higher_is_better else "lower"
    units = f" in {unit(scores.rule)}" if unit(scores.rule) else ""
    return [*said, f"{plain(measure(scores.rule))}{units}, {better} is better"]
