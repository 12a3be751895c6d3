"""What turns a verdict, in words: another question or method, errors that annotators share, the unseen, the prior."""

import math
from collections.abc import Mapping, Sequence

from probtruth.line.analysis.standing import Answer, Standing
from probtruth.line.result import Result
from probtruth.report.words.numbers import count, decimals, equals, exact, interval, percent
from probtruth.report.words.sentences import Name, Sentence, sentence
from probtruth.types import Comparison
from probtruth.types.arguments import QUESTIONS


def not_settled(standing: Standing, names: Mapping[str, Name]) -> Sentence:
    """The headline where something that is not known turns the verdict."""
    lead, next_best = names[standing.lead], names[str(standing.next)]
    if standing.answers:
        return _depends(
            "question", standing.answers, [QUESTIONS[answer.estimand] for answer in standing.answers], names
        )
    if standing.methods:
        return _depends("truth method", standing.methods, [answer.method for answer in standing.methods], names)
    if standing.shared is not None:
        other = names[standing.shared.other]
        return sentence(
            "Annotators alone cannot decide: ",
            lead,
            " leads ",
            other,
            ", but errors that they share could turn the order.",
        )
    if standing.unseen is not None:
        other = names[standing.unseen.other]
        return sentence("Not yet known: ", lead, " leads ", other, ", but outcomes not yet seen could turn the order.")
    if standing.prior:
        return sentence("Not yet known: ", lead, " leads ", next_best, ", but another prior would turn the order.")
    return sentence("Not yet known: ", lead, " leads ", next_best, " by the same difference on every item.")


def _depends(what: str, answers: Sequence[Answer], by: Sequence[str], names: Mapping[str, Name]) -> Sentence:
    """The best model by one and by the other."""
    first, second = (names[answer.best] for answer in answers)
    return sentence(f"It depends on the {what}: ", first, f" is best by {by[0]}, ", second, f" by {by[1]}.")


def turned(standing: Standing, comparison: Comparison, names: Mapping[str, Name]) -> list[Sentence]:
    """What turns the verdict, a sentence each."""
    lines = [
        sentence(
            f"Question: {QUESTIONS[answer.estimand]} ({answer.method}). Best: ",
            names[answer.best],
            f", P {equals(answer.p_best)}." if answer.p_best is not None else ".",
        )
        for answer in (*standing.answers, *standing.methods)
    ]
    if standing.unseen is not None:
        units = count(standing.unseen.n_units, "item" if comparison.settings.get("clusters") is None else "cluster")
        size = standing.unseen.behind
        behind = "by an infinite difference" if math.isinf(size) else f"by {exact(float(f'{size:.2g}'))}"
        lines.append(
            sentence(
                f"{units} without an outcome that would cost ",
                names[standing.lead],
                f" more than any seen so far leave room for up to {percent(standing.unseen.rate)} of such (95% upper "
                "bound); with so many, ",
                names[standing.unseen.other],
                f" would be better {behind}.",
            )
        )
    return lines


def shared_errors(result: Result, standing: Standing, names: Mapping[str, Name]) -> list[Sentence]:
    """How far errors that annotators share could move the difference of the leading model and another."""
    bounds = result.bounds
    if bounds is None:
        return []
    if bounds.share is None:
        return [sentence(f"How far errors that annotators share could move this is not known ({bounds.reason}).")]
    other = standing.next if standing.shared is None else standing.shared.other
    ends = bounds.of(standing.lead, str(other))
    if ends is None:
        return []
    places = decimals([ends[1] - ends[0]], ends=ends)
    shown = interval(*ends, places)
    lines = [
        sentence(
            "The votes do not exclude that annotators, and perhaps models, agree on one wrong label on up to "
            f"{percent(bounds.share)} of the items: the difference, ",
            names[standing.lead],
            " minus ",
            names[str(other)],
            f", may then be anything from {shown} (negative favours the first).",
        )
    ]
    if standing.shared is not None:
        lines.append(
            sentence("A few expert labels would decide: probtruth choose-gold picks the items (in Python: gold=).")
        )
    return lines
