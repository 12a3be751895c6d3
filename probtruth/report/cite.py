"""How to cite: the software, and the result itself as a paragraph."""

import re
from collections.abc import Iterator, Sequence

from probtruth.check import count
from probtruth.kernels.host import versions
from probtruth.line.result import Result
from probtruth.report.about import better, counted
from probtruth.report.names import joined, mark
from probtruth.report.numbers import probability, with_interval
from probtruth.report.words import mean_of, rope_of, unit
from probtruth.types.arguments import QUESTIONS, method_in_words

RELEASED = "2026"  # Year of the version
TITLE = "probtruth: which probabilistic model is better when the reference labels are uncertain"
HOW = {
    "exact": "in closed form and by quadrature",
    "nuts": "by Hamiltonian Monte Carlo (NUTS)",
}  # How each engine computes a posterior


def bibtex() -> str:
    fields = {
        "author": "{The probtruth authors}",
        "title": f"{{{TITLE}}}",
        "year": RELEASED,
        "version": versions()["probtruth"],
        "license": "Apache-2.0",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join(["@software{probtruth,", *lines, "}"])


def paragraph(result: Result) -> str:
    """The result as a paper says it, with marked names."""
    return " ".join([*_design(result), *_found(result), _software(result)])


def _design(result: Result) -> Iterator[str]:
    """What was compared, on what, and under which question."""
    comparison, truth = result.comparison, result.truth
    n_models = len(comparison.ranks)
    verb = "We compared" if n_models > 1 else "We evaluated"
    said = f"{verb} {count(n_models, 'model')} on {count(len(result.scores.items), 'item')}"
    within = " in ".join([said, *counted(comparison, "group", "cluster")])
    yield f"{within} by {mean_of(comparison)} ({better(comparison)} is better)."
    if truth is None:
        return
    said = f"The reference was {QUESTIONS[truth.estimand]}, "
    annotations = result.annotations
    if truth.method == "given":
        yield f"{said}as the data gave it."
    elif annotations is None:
        yield f"{said}inferred from annotations by {method_in_words(truth.method)}."
    else:
        said += f"inferred from {count(int(annotations.counts().sum()), 'annotation')}"
        if annotations.index.annotators:
            said += f" by {count(len(annotations.index.annotators), 'annotator')}"
        yield f"{said} (method: {method_in_words(truth.method)})."


def _found(result: Result) -> Iterator[str]:
    comparison, standing = result.comparison, result.standing
    mean, units = mean_of(comparison), unit(comparison.rule, " ")
    if standing is None:
        rank = comparison.ranked[0]
        yield f"The {mean} of {mark(rank.model)} was {with_interval(rank.score, rank, units)}."
        return
    if standing.failing:
        yield "The diagnostics of the sampling failed, so that no difference is reported."
        return
    pair, lead = standing.gap, mark(standing.lead)
    said = f"The {mean} of {lead} minus that of {mark(standing.next)}"
    if pair.difference is None:
        yield f"{said} was not known: {pair.reason or 'one of them is not'}."
    else:
        yield f"{said} was {with_interval(pair.difference, pair, units)}."
        chance = f"The posterior probability that {lead} was better was {_p(pair.p_a_better)}"
        if comparison.rope is not None and pair.p_equivalent is not None:
            within = f"that the two differed by at most {rope_of(comparison)}"
            chance += f"; {within}, it was {_p(pair.p_equivalent)}"
        estimand = re.sub(r" \(a minus b, [a-z]+ favours a\)", "", comparison.estimand)
        yield f"{chance}. The estimand is the {estimand}."
    if len(comparison.ranks) > 2:
        best = f"The probability that {lead} was the best was {_p(standing.p)}"
        chosen = comparison.decisions.get("credible_set")
        if isinstance(chosen, Sequence) and chosen:
            names = joined(list(map(mark, chosen)))
            best += f"; the smallest set that held the best with a probability of 95% was {names}"
        yield f"{best}."


def _p(value: float | None) -> str:
    """A probability in a sentence."""
    return probability(value).replace("<", "below ").replace(">", "above ")


def _software(result: Result) -> str:
    engine = str(result.comparison.diagnostics.get("engine"))
    how = HOW.get(engine)
    made = f"The posterior was computed {how} with" if how else "We used"
    return f"{made} probtruth {versions()['probtruth']} (seed {result.comparison.seed})."
