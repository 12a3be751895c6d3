"""What was compared: the estimand, the reference, the expert labels, in sentences and in a few words."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from probtruth.check import as_float, count
from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS
from probtruth.line.result import Result
from probtruth.report.numbers import LONGEST_NAME, fixed, marked, plain
from probtruth.report.words import measure, unit
from probtruth.types.arguments import QUESTIONS

MOST_WARNINGS = 3  # Warnings that stand open, the first in the order of the result; the others are folded


def about(result: Result) -> Iterator[str]:
    yield f"Estimand: {result.comparison.estimand}."
    if result.comparison.rule == "brier" and result.scores.known.proper is not None:  # not a column of that name
        yield "The Brier score is summed over labels, 0 to 2: for two labels twice scikit-learn's."
    truth, gold = result.truth, result.comparison.gold
    if truth is not None:
        how = "given with the data" if truth.method == "given" else f"inferred by {truth.method}"
        if truth.diagnostics.get("evidence") == "annotators and models":
            how += ", with the models' own forecasts, weighted, as further evidence"
        kind = "" if truth.estimand == "class" else " (a distribution of labels for each item)"
        yield f"Reference: {QUESTIONS[truth.estimand]}{kind}, {how}."
    if gold is not None:
        worth = "a uniform sample of all items"
        if gold["sample"] != "uniform":
            worth = f"which count as much as {gold['effective']:.0f} items drawn at random"
        yield f"{answers(gold)}, {worth}, correct the comparison."
        if truth is not None:
            yield "Accuracy and calibration rest on the inferred classes, without the correction by expert labels."


def answers(gold: Mapping[str, Any]) -> str:
    """`40 expert labels`; of several experts, on how many items."""
    n_items, n_answers = gold["n_items"], gold["n_answers"]
    return f"{n_answers} expert labels" + ("" if n_items == n_answers else f" on {count(n_items, 'item')}")


def facts(result: Result) -> list[str]:
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


def alignment(result: Result) -> str:
    """The items that were compared, and what became of the others, in one line."""
    audit = result.audit
    gone = ", ".join(audit.counts())
    said = f"left out for all models: {audit.dropped:,} ({gone})" if gone else "none missing, extra or twice"
    names = marked((model for model, _, _ in audit.by_model), LONGEST_NAME)
    lacks = ", ".join(f"{names[model]} lacks {missing:,}" for model, missing, _ in audit.by_model if missing)
    said += f"; {lacks}" if lacks else ""
    said += f"; asked in other words of some models, and kept: {len(audit.prompts):,}" if audit.prompts else ""
    return f"Items compared: {len(result.scores.items):,}; {said}."


def warnings(result: Result) -> list[str]:
    """The warnings, each once, as sentences."""
    lines = dict.fromkeys(map(plain, result.warnings))
    return [re.sub("^[a-z](?=[a-z]*[ :])", lambda first: first[0].upper(), line) for line in lines]


def diagnostics(known: Mapping[str, Any]) -> Iterator[tuple[str, str, str, bool]]:
    """Name, value, bound and whether it passes, of each diagnostic of the sampling that the engine has."""
    for key, name, places, least, most, bound in (
        ("max_rhat", "Largest rank-normalised split R-hat", 3, 0.0, MAX_RHAT, f"at most {MAX_RHAT}"),
        ("min_ess", "Smallest effective sample size", 0, MIN_ESS, math.inf, f"at least {MIN_ESS:.0f}"),
        ("divergences", "Divergent transitions", 0, 0.0, 0.0, "0"),
    ):
        if known.get(key) is not None:
            value = as_float(known[key])
            passes = value is not None and least <= value <= most
            yield name, "not finite" if value is None else fixed(value, places), bound, passes
