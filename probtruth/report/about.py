"""What scores are called, and what was compared: the estimand, the reference, the expert labels."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from probtruth.check import as_float, count
from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS
from probtruth.line.result import Result
from probtruth.line.standing import Gate
from probtruth.report.names import mark, plain
from probtruth.report.numbers import exact, fixed
from probtruth.types import Comparison
from probtruth.types.arguments import QUESTIONS, method_in_words

# What each rule's score is called
MEASURES: Mapping[str, str] = {
    "log": "log loss",
    "brier": "Brier score",
    "quadratic": "quadratic score",
    "spherical": "spherical score",
    "ranked-probability": "ranked probability score",
    "zero-one": "zero-one loss",
    "linear": "linear score",
    "manhattan": "Manhattan distance",
    "wasserstein": "Wasserstein distance",
}
MOST_WARNINGS = 3  # Warnings that stand open, the first in the order of the result; the others are folded
# What each diagnostic is called, its decimals, and when it passes
GATES = {
    "max_rhat": ("Largest rank-normalised split R-hat", 3, f"at most {MAX_RHAT}"),
    "min_ess": ("Smallest effective sample size", 0, f"at least {MIN_ESS:.0f}"),
    "divergences": ("Divergent transitions", 0, "0"),
}


def measure(rule: str) -> str:
    """What the rule's score is called; a metric of the user's own keeps its name."""
    return MEASURES.get(rule) or plain(rule)


def unit(rule: str, before: str = "") -> str:
    return f"{before}nats" if rule == "log" else ""


def with_unit(rule: str) -> str:
    """The measure with its unit, for the title of an axis or a column: `log loss (nats)`."""
    name, of = measure(rule), unit(rule)
    return f"{name} ({of})" if of else name


def item_of(comparison: Comparison) -> str:
    """What an item is called: of votes a prompt."""
    return "prompt" if "votes" in comparison.settings else "item"


def unit_of(comparison: Comparison) -> str:
    """What the spread is between: items, or clusters of them."""
    return "item" if comparison.settings.get("clusters") is None else "cluster"


def rope_of(comparison: Comparison) -> str:
    """The ROPE as it was given: of votes in points of their share."""
    points = as_float(comparison.settings.get("rope_in_points"))
    return exact(comparison.rope) if points is None else f"{exact(100 * points)}%"


def mean_of(comparison: Comparison, with_units: bool = False) -> str:
    """What is compared: the mean of a score, or a metric of all items together; on an axis with its unit."""
    name = with_unit(comparison.rule) if with_units else measure(comparison.rule)
    return name if comparison.settings.get("metric") else f"mean {name}"


def assumptions(result: Result) -> Iterator[str]:
    """The estimand, the scale, the reference and the expert labels."""
    comparison, truth = result.comparison, result.truth
    yield f"Estimand: {comparison.estimand}."
    if comparison.rule == "brier" and result.scores.known.proper is not None:  # not a column of that name
        yield "The Brier score is summed over labels, 0 to 2: for two labels twice scikit-learn's."
    if truth is not None:
        how = "given with the data"
        if truth.method != "given":
            how = f"inferred from annotations: {method_in_words(truth.method)}"
        if truth.diagnostics.get("evidence") == "annotators and models":
            how += ", with the models' own forecasts, weighted, as further evidence"
        kind = "" if truth.estimand == "class" else " (a distribution of labels for each item)"
        yield f"Reference: {QUESTIONS[truth.estimand]}{kind}, {how}."
    gold = comparison.gold
    if gold is None:
        return
    sample = "a uniform sample of all items"
    if gold["sample"] != "uniform":
        sample = f"which count as much as {gold['effective']:.0f} items drawn at random"
    yield f"The comparison is corrected by {answers(gold)}, {sample}."
    if truth is not None:
        yield "Accuracy and calibration use the inferred classes, without the correction by expert labels."


def answers(gold: Mapping[str, Any]) -> str:
    """`40 expert labels`; of several experts, on how many items."""
    said = f"{gold['n_answers']} expert labels"
    if gold["n_items"] == gold["n_answers"]:
        return said
    return f"{said} on {count(gold['n_items'], 'item')}"


def facts(result: Result) -> list[str]:
    """How many of what, how the reference was made, and which scores are better."""
    scores, comparison, truth = result.scores, result.comparison, result.truth
    said = [count(len(scores.models), "model"), count(len(scores.items), item_of(comparison))]
    said += counted(comparison, "vote")
    if result.labelled is not None:
        said.append(count(len(result.labelled.aligned.labels), "label"))
    if result.annotations is not None and result.annotations.index.annotators:
        said.append(count(len(result.annotations.index.annotators), "annotator"))
    said += counted(comparison, "group", "cluster")
    if truth is not None:
        how = "given" if truth.method == "given" else f"by {method_in_words(truth.method)}"
        said.append(f"reference: {QUESTIONS[truth.estimand]}, {how}")
    said.append(f"{measure(scores.rule)}{unit(scores.rule, ' in ')}, {better(comparison)} is better")
    return said


def counted(comparison: Comparison, *nouns: str) -> list[str]:
    """`3 groups`, of what a comparison has."""
    numbers = [(comparison.settings.get(f"{noun}s"), noun) for noun in nouns]
    return [count(number, noun) for number, noun in numbers if isinstance(number, int)]


def better(comparison: Comparison) -> str:
    return "higher" if comparison.higher_is_better else "lower"


def population(result: Result) -> str:
    """Over which items, annotators and groups the answer is: new ones like these, or these."""
    return f"about {result.comparison.estimand.rpartition(' over ')[2]}"


def alignment(result: Result) -> str:
    """The items that were compared, and what became of the others, in one line."""
    audit = result.audit
    counts = audit.counts()
    said = [f"{item_of(result.comparison).capitalize()}s compared: {len(result.scores.items):,}"]
    lacks = [f"{mark(model)} lacks {missing:,}" for model, missing, _ in audit.by_model if missing]
    if counts:
        said.append(f"left out for all models: {audit.dropped:,} ({', '.join(counts)})")
    else:
        said.append("none left out" if lacks else "none missing, extra or twice")
    if lacks:
        said.append(", ".join(lacks))
    if audit.prompts:
        said.append(f"worded differently for some models, and included: {len(audit.prompts):,}")
    return f"{'; '.join(said)}."


def warnings(result: Result) -> list[str]:
    """The warnings, each once, as sentences."""
    lines = []
    for line in dict.fromkeys(map(plain, result.warnings)):
        begins_with_a_word = re.match("[a-z]+[ :]", line)  # not with the name of a file or an option
        lines.append(line[0].upper() + line[1:] if begins_with_a_word else line)
    return lines


def gate_words(gate: Gate) -> tuple[str, str, str]:
    """The name of a diagnostic, its value, and its bound."""
    name, places, bound = GATES[gate.name]
    value = "not finite" if gate.value is None else fixed(gate.value, places)
    return name, value, bound
