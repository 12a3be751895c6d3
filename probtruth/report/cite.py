"""How to cite: the software, the works behind the methods that a result used, and the result itself as a paragraph."""

import re

from probtruth.check import count
from probtruth.kernels.host import versions
from probtruth.line.result import Result
from probtruth.report.names import joined, mark
from probtruth.report.numbers import probability, with_interval
from probtruth.report.words import mean_of, rope_of, unit
from probtruth.types.arguments import QUESTIONS, method_in_words
from probtruth.types.pairs import Pair, Rank

RELEASED = "2026"  # Year of the version
TITLE = "probtruth: which probabilistic model is better when the reference labels are uncertain"
RULES = "Gneiting, Raftery (2007), Strictly proper scoring rules, doi:10.1198/016214506000001437"
RHAT = "Vehtari, Gelman, Simpson et al. (2021), An improved R-hat for convergence of MCMC, doi:10.1214/20-BA1221"
ROPE = "Kruschke (2018), Rejecting or accepting parameter values in Bayesian estimation, doi:10.1177/2515245918771304"
DAWID_SKENE = "Dawid, Skene (1979), Maximum likelihood estimation of observer error-rates, doi:10.2307/2346806"
NELSON = "Nelson (2017), Assessing probabilistic inference by comparing the generalized mean, doi:10.3390/e19060286"
CORP = "Dimitriadis, Gneiting, Jordan (2021), Stable reliability diagrams, doi:10.1073/pnas.2016191118"
ALPHA = "Krippendorff (2011), Computing Krippendorff's alpha-reliability, repository.upenn.edu/asc_papers/43"
LETTERS = "Piepho (2004), An algorithm for a letter-based representation, doi:10.1198/1061860043515"
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


def sources(result: Result) -> list[str]:
    comparison, truth = result.comparison, result.truth
    used = []
    if result.scores.known.proper is not None:
        used.append(RULES)
    if result.labelled is not None:
        used += [CORP, NELSON]
    if truth is not None and "dawid-skene" in truth.method:
        used.append(DAWID_SKENE)
    if result.annotations is not None:
        used.append(ALPHA)
    if comparison.rope is not None:
        used.append(ROPE)
    if comparison.diagnostics.get("max_rhat") is not None:
        used.append(RHAT)
    if result.letters:
        used.append(LETTERS)
    return used


def paragraph(result: Result) -> str:
    """The result as a paper says it, with marked names."""
    return " ".join([*_design(result), *_found(result), _software(result)])


def _design(result: Result) -> list[str]:
    """What was compared, on what, and under which question."""
    comparison, truth = result.comparison, result.truth
    n_models = len(comparison.ranks)
    verb = "We compared" if n_models > 1 else "We evaluated"
    said = f"{verb} {count(n_models, 'model')} on {count(len(result.scores.items), 'item')}"
    for key, noun in (("groups", "group"), ("clusters", "cluster")):
        number = comparison.settings.get(key)
        if isinstance(number, int):
            said += f" in {count(number, noun)}"
    better = "higher" if comparison.higher_is_better else "lower"
    sentences = [f"{said} by {mean_of(comparison)} ({better} is better)."]
    if truth is not None:
        sentences.append(_reference(result))
    return sentences


def _reference(result: Result) -> str:
    truth, annotations = result.truth, result.annotations
    assert truth is not None
    asked = QUESTIONS[truth.estimand]
    if truth.method == "given":
        return f"The reference was {asked}, as the data gave it."
    said = f"The reference was {asked}, inferred from "
    if annotations is None:
        return f"{said}annotations by {method_in_words(truth.method)}."
    said += count(int(annotations.counts().sum()), "annotation")
    if annotations.index.annotators:
        said += f" by {count(len(annotations.index.annotators), 'annotator')}"
    return f"{said} (method: {method_in_words(truth.method)})."


def _found(result: Result) -> list[str]:
    comparison, standing = result.comparison, result.standing
    ranks = comparison.ranked
    if standing is None:
        return [_mean(result, ranks[0])]
    if standing.failing:
        return ["The diagnostics of the sampling failed, so that no difference is reported."]
    sentences = [_difference(result, comparison.pair(standing.lead, standing.next))]
    if len(ranks) > 2:
        best = f"The probability that {mark(standing.lead)} was the best was {_p(standing.p)}"
        chosen = comparison.decisions.get("credible_set")
        if isinstance(chosen, (list, tuple)) and chosen:
            names = joined([mark(model) for model in chosen])
            best += f"; the smallest set that held the best with a probability of 95% was {names}"
        sentences.append(f"{best}.")
    return sentences


def _mean(result: Result, rank: Rank) -> str:
    rule = result.comparison.rule
    mean = with_interval(rank.score, rank, unit(rule, " "))
    return f"The {mean_of(result.comparison)} of {mark(rank.model)} was {mean}."


def _difference(result: Result, pair: Pair) -> str:
    comparison = result.comparison
    said = f"The {mean_of(comparison)} of {mark(pair.a)} minus that of {mark(pair.b)}"
    if pair.difference is None:
        return f"{said} was not known: {pair.reason or 'one of them is not'}."
    size = with_interval(pair.difference, pair, unit(comparison.rule, " "))
    chance = f"The posterior probability that {mark(pair.a)} was better was {_p(pair.p_a_better)}"
    if comparison.rope is not None and pair.p_equivalent is not None:
        chance += f"; that the two differed by at most {rope_of(comparison)}, it was {_p(pair.p_equivalent)}"
    estimand = re.sub(r" \(a minus b, [a-z]+ favours a\)", "", comparison.estimand)
    return f"{said} was {size}. {chance}. The estimand is the {estimand}."


def _p(value: float | None) -> str:
    """A probability in a sentence."""
    text = probability(value)
    return text.replace("<", "below ").replace(">", "above ")


def _software(result: Result) -> str:
    engine = str(result.comparison.diagnostics.get("engine"))
    how = HOW.get(engine)
    made = f"The posterior was computed {how} with" if how else "We used"
    return f"{made} probtruth {versions()['probtruth']} (seed {result.comparison.seed})."
