"""The verdict with its numbers, what it rests on, and what to do next, in words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from probtruth.check import count
from probtruth.io.formats import Texts
from probtruth.line.result import Result
from probtruth.line.standing import SURE, Standing, group_count
from probtruth.report.about import assumptions, gate_words, item_of, mean_of, measure, rope_of, unit, unit_of
from probtruth.report.headline import MOST_NAMED, headline
from probtruth.report.names import joined, mark
from probtruth.report.numbers import (
    equals,
    favouring_a,
    fixed,
    interval,
    percent,
    places_of,
    probability,
    significant,
    with_interval,
)
from probtruth.types import Comparison
from probtruth.types.arguments import QUESTIONS
from probtruth.types.pairs import Pair

NEXT_STEP = "What to do next"
MOST_GROUPS = 3  # Groups in which the leader is not ahead that are named
REPORTED = {"distribution": "opinions", "class": "right answers"}  # What one reports under each estimand


@dataclass(frozen=True)
class Verdict:
    """`headline` in one sentence, `numbers` with titles, `details` (the assumptions), and how settled it is.

    `failing` are the diagnostics that fail; `accuracy` says why the most accurate model is not the best, and `groups`
    in how many groups the leading model is ahead, where there is something to say.
    """

    level: str
    headline: str
    numbers: tuple[tuple[str, str], ...]
    details: Texts
    failing: Texts = ()
    accuracy: Texts = ()
    groups: Texts = ()


def verdict(result: Result) -> Verdict:
    standing = result.standing
    if standing is None:
        return _one_model(result)
    failing = ["{}: {} (passes if {}).".format(*gate_words(gate)) for gate in standing.failing]
    return Verdict(
        standing.level,
        headline(result, standing),
        tuple(_numbers(result, standing)),
        tuple(_details(result, standing)),
        tuple(failing),
        tuple(_accuracy(result)),
        tuple(_groups(result, standing)),
    )


def _one_model(result: Result) -> Verdict:
    comparison, scores = result.comparison, result.scores
    rank = comparison.ranked[0]
    level = "one-model"
    rest = ["There is one model: nothing is compared.", *assumptions(result)]
    numbers = []
    if rank.score is not None and math.isinf(rank.score):
        n = count(int(scores.n_infinite[0]), "item")
        rest.insert(0, f"Its score is infinite on {n} of {len(scores.items):,}.")
    elif rank.score is None or rank.low is None or rank.high is None:
        level = "invalid"
    else:
        places = places_of([rank])
        units = unit(comparison.rule, " ")
        what = f"{mean_of(comparison)}, 95% interval".capitalize()
        numbers.append((what, f"{interval(rank.low, rank.high, places)}{units}"))
        if scores.known.baseline is not None and math.isfinite(scores.known.baseline):
            for what, value in (
                ("The best possible forecast, the entropy of the labels", scores.known.entropy),
                ("The frequencies of the labels, forecast for every item", scores.known.baseline),
            ):
                numbers.append((what, f"{fixed(value, places)}{units}"))
    return Verdict(level, headline(result, None), tuple(numbers), tuple(rest))


def _numbers(result: Result, standing: Standing) -> Iterator[tuple[str, str]]:
    truth, other = result.truth, result.other
    if standing.answers and truth is not None and other is not None:
        yield _answer(truth.estimand, result.comparison)
        yield _answer(other.truth.estimand, other.comparison)
    else:
        yield _difference(result.comparison, standing.gap)
        best = "best" if len(result.comparison.ranks) > 2 else "better"
        yield f"P({mark(standing.lead)} is {best})", probability(standing.p)
    yield NEXT_STEP, next_step(result, standing)


def _answer(estimand: str, comparison: Comparison) -> tuple[str, str]:
    """What one reports under an estimand, and what the comparison says then."""
    first, second, *_ = comparison.ranked
    pair = comparison.pair(first.model, second.model)
    chance = first.p_best
    if chance is None or len(comparison.ranks) == 2:
        chance = pair.p_a_better
    what, size = _difference(comparison, pair)
    title = f"If you report {REPORTED[estimand]} ({QUESTIONS[estimand]})"
    what = what[0].lower() + what[1:]
    return title, f"{mark(first.model)}, P {equals(chance)}; {what}: {size}"


def _difference(comparison: Comparison, pair: Pair) -> tuple[str, str]:
    """A minus b in the sign of the scores, and which sign favours a."""
    a, b = map(mark, pair.models)
    if pair.p_a_preferred is not None:
        row = replace(pair, low=pair.p_a_preferred_low, high=pair.p_a_preferred_high)
        return f"Share of votes for {a} against {b}, ties counted half", with_interval(pair.p_a_preferred, row)
    favours = favouring_a(comparison.higher_is_better)
    title = f"Difference in {mean_of(comparison)}, {a} minus {b} ({favours} favours {a})"
    return title, with_interval(pair.difference, pair, unit(comparison.rule, " "), sign=True)


# What to do, by the name that `NextStep` has for it
DO = {
    "sample-longer": "Sample longer, or use the exact engine, before you use any number.",
    "look-at-infinite": "Set --floor or use --rule brier, and look at these items.",
    "look-at-items": "Look at the items of infinite score.",
    "choose-question": "Decide which is yours: do you report opinions, or right answers?",
    "ask-experts": "Have experts label some items: choose_gold says which.",
    "either": "Either will do: decide by cost.",
    "same-items": "Score the models on the same {items}.",
    "more-items": "Collect more {items} before you rely on this.",
    "more-annotators-too": "More {items} would not be enough: get more annotators too.",
}
MORE = {
    "more-annotators": ("annotators", "annotators"),
    "more-labels": ("annotations of each item", "labels"),
    "more-replicates": ("replicates of each item", "replicates"),
    "more-votes": ("votes", "votes"),
}  # What to get more of, and the part of the variance that it lowers


def next_step(result: Result, standing: Standing) -> str:
    items = f"{item_of(result.comparison)}s"
    step = result.next_step
    assert step is not None
    if step.what == "use-leader":
        return f"Use {mark(standing.lead)}."
    if step.what in MORE:
        what, source = MORE[step.what]
        return f"Get more {what}: {percent(step.share)} of the uncertainty is due to the {source}."
    if step.n_items is None:
        return DO[step.what].format(items=items)
    said = f"About {_rounded(step.n_items)} {items} in all would probably decide (80%) if the difference is as observed"
    if step.n_items_averaged is not None and step.n_items_averaged > step.n_items:
        said += f"; about {_rounded(step.n_items_averaged)}, averaged over all differences that the data leave open"
    return f"{said}; here are {len(result.scores.items):,}."


def _rounded(size: int) -> str:
    return f"{float(f'{size:.2g}'):,.0f}"


def _details(result: Result, standing: Standing) -> Iterator[str]:
    comparison = result.comparison
    both = f"{mark(standing.lead)} and {mark(standing.next)}"
    n_models = len(comparison.ranks)
    yield from _unseen(result, standing)
    yield from _without_spread(result, standing)
    if comparison.rope is not None and standing.gap.p_equivalent is not None:
        same = f"P({both} are equivalent) {equals(standing.gap.p_equivalent)}"
        yield f"Counting differences up to {rope_of(comparison)} as equivalent, {same}."
    chosen = comparison.decisions.get("credible_set")
    if n_models > 2 and isinstance(chosen, Sequence) and chosen and standing.p is not None:
        said = joined(list(map(mark, chosen)))
        if len(chosen) > MOST_NAMED:
            said = f"{len(chosen)} of the {n_models}"
        yield f"95% set of best models: {said}."
    yield from assumptions(result)
    yield from _sources_of_variance(comparison, f"the difference between {both}")


PARTS = {
    "items": "the choice of items",
    "annotators": "the choice of annotators",
    "labels": "the labels",
    "votes": "the chance of single votes",
}


def _sources_of_variance(comparison: Comparison, difference: str) -> Iterator[str]:
    shares = {name: share for name, share in comparison.uncertainty.items() if share}
    parts = []
    for name, share in shares.items():
        what = PARTS.get(name, name).replace("items", f"{item_of(comparison)}s")
        parts.append((share, what))
    parts.sort(reverse=True)
    if len(parts) > 1:
        due = [f"{percent(share)} is due to {name}" for share, name in parts]
        yield f"Of the variance of {difference}, {joined(due)}."
    elif parts:
        noise = "" if "votes" in comparison.settings or "items" not in shares else ", with any noise of the labels"
        yield f"All variance of {difference} is due to {parts[0][1]}{noise}."


def _unseen(result: Result, standing: Standing) -> Iterator[str]:
    unseen = standing.unseen
    if unseen is None:
        return
    kind = unit_of(result.comparison)
    behind = "an infinite difference" if math.isinf(unseen.behind) else significant(unseen.behind, 2)
    yield (
        f"{count(unseen.n_units, kind)} without an outcome that would cost {mark(standing.lead)} more than any "
        f"observed leave room for up to {percent(unseen.rate)} of such (95% upper bound); with so many, "
        f"{mark(unseen.other)} would be better by {behind}."
    )


def _without_spread(result: Result, standing: Standing) -> Iterator[str]:
    """Why nothing is known of the difference of the two leading models; nothing where it is known."""
    comparison, gap = result.comparison, standing.gap
    mean = mean_of(comparison)
    lead, following = mark(standing.lead), mark(standing.next)
    without_ends = gap.low is None and not standing.same
    if gap.reason and (without_ends or comparison.settings.get("metric")):
        yield f"{gap.reason[0].upper()}{gap.reason[1:]}."
    elif gap.difference is None:
        yield f"The {mean} of {lead} and of {following} is infinite or not known: nothing tells them apart."
    elif math.isinf(gap.difference):
        yield f"The {mean} of {following} is infinite; that of {lead} is finite."
    elif gap.difference == gap.low == gap.high == 0:
        yield f"On every item, {lead} and {following} have the same score, and so the same {mean}."
    elif gap.low is None:
        size = f"{significant(abs(gap.difference), 3)}{unit(comparison.rule, ' ')}"
        yield (
            f"On every item the {measure(comparison.rule)} of {lead} is better than that of {following} by the same "
            f"{size}: without a spread, nothing tells how far other items may differ."
        )


def _accuracy(result: Result) -> Iterator[str]:
    """Why the most accurate model is not the one of the best score."""
    found = None if result.labelled is None else result.analysis.most_accurate
    if found is None or result.standing is None:
        return
    said = (
        f"{mark(found.model)} has the highest accuracy, {fixed(found.accuracy, 3)} against "
        f"{fixed(found.accuracy_of_leader, 3)} of {mark(result.standing.lead)}, but a worse "
        f"{measure(result.comparison.rule)}"
    )
    if found.why == "discrimination":
        yield f"{said}: it is right more often, but its probabilities say less about where it is wrong."
    else:
        off = f"{significant(found.miscalibration, 2)} against {significant(found.miscalibration_of_leader, 2)}"
        yield (
            f"{said}: it is {found.why} (miscalibration {off}). Recalibrating its probabilities, by temperature "
            "scaling for example, would fix that."
        )


def _groups(result: Result, standing: Standing) -> Iterator[str]:
    """In how many groups the leading model is ahead, and where the other is; nothing without groups."""
    for title, people in (("By group", False), ("By group of annotators", True)):
        found = group_count(result.comparison, people)
        if found is None:
            continue
        said = (
            f"{title}: {mark(standing.lead)} is ahead of {mark(standing.next)} in {found.ahead} of {found.n_groups} "
            f"groups, with P ≥ {SURE} in {found.sure or 'none'}"
        )
        if found.behind:
            groups = [mark(group) for group, _ in found.behind[:MOST_GROUPS]]
            more = len(found.behind) - MOST_GROUPS
            rest = f" and {more} more" if more > 0 else ""
            said += f"; not ahead in {joined(groups)}{rest} (least: P {equals(found.behind[0][1])})"
        if found.disagree is not None:
            one, other, p = found.disagree
            said += f". P({mark(one)} and {mark(other)} disagree about who is better) {equals(p)}"
        yield f"{said}."
