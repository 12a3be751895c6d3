"""What scores are called, how to cite a result, and the works behind the methods that it used."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from probtruth.kernels.host import versions
from probtruth.report.numbers import plain

if TYPE_CHECKING:
    from probtruth.line.result import Result  # which loads most of the package: a command prints numbers without it
    from probtruth.types import Comparison

# What each rule's score is called
MEASURES: Mapping[str, str] = {
    "log": "log loss",
    "brier": "Brier score",
    "quadratic": "quadratic score",
    "spherical": "spherical score",
    "ranked-probability": "ranked probability score",
    "zero-one": "zero-one loss",
    "linear": "linear score",
}


def measure(rule: str) -> str:
    """What the rule's score is called; a metric of the user's own keeps its name."""
    return MEASURES.get(rule) or plain(rule)


def unit(rule: str, before: str = "") -> str:
    return f"{before}nats" if rule == "log" else ""


def with_unit(rule: str) -> str:
    """The measure with its unit, for the title of an axis or a column: `log loss (nats)`."""
    return f"{measure(rule)} ({unit(rule)})" if unit(rule) else measure(rule)


def mean_of(comparison: "Comparison", with_units: bool = False) -> str:
    """What is compared: the mean of a score, or a metric of all items together; on an axis with its unit."""
    known = with_unit(comparison.rule) if with_units else measure(comparison.rule)
    return known if comparison.settings.get("metric") else f"mean {known}"


RELEASED = "2026"  # Year of the version
TITLE = "probtruth: which probabilistic model is better when the reference labels are uncertain"
RULES = "Gneiting, Raftery (2007), Strictly proper scoring rules, doi:10.1198/016214506000001437"
RHAT = "Vehtari, Gelman, Simpson et al. (2021), An improved R-hat for convergence of MCMC, doi:10.1214/20-BA1221"
ROPE = "Kruschke (2018), Rejecting or accepting parameter values in Bayesian estimation, doi:10.1177/2515245918771304"
DAWID_SKENE = "Dawid, Skene (1979), Maximum likelihood estimation of observer error-rates, doi:10.2307/2346806"
NELSON = "Nelson (2017), Assessing probabilistic inference by comparing the generalized mean, doi:10.3390/e19060286"
CORP = "Dimitriadis, Gneiting, Jordan (2021), Stable reliability diagrams, doi:10.1073/pnas.2016191118"
ALPHA = "Krippendorff (2011), Computing Krippendorff's alpha-reliability, repository.upenn.edu/asc_papers/43"


def bibtex() -> str:
    fields = {"author": "{The probtruth authors}", "title": f"{{{TITLE}}}", "year": RELEASED}
    fields |= {"version": versions()["probtruth"], "license": "Apache-2.0"}
    return "\n".join(["@software{probtruth,", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"])


def sources(result: "Result") -> list[str]:
    comparison, truth = result.comparison, result.truth
    used = [RULES] if result.scores.known.proper is not None else []
    used += [CORP, NELSON] if result.labelled is not None else []
    used += [DAWID_SKENE] if truth is not None and "dawid-skene" in truth.method else []
    used += [ALPHA] if result.annotations is not None else []
    used += [ROPE] if comparison.rope is not None else []
    return used + ([RHAT] if comparison.diagnostics.get("max_rhat") is not None else [])
