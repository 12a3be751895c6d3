"""How to cite a result, and the works behind the methods that it used."""

from probtruth.report.interface import ResultLike

RULES = "Gneiting, Raftery (2007), Strictly proper scoring rules, doi:10.1198/016214506000001437"
RHAT = "Vehtari, Gelman, Simpson et al. (2021), An improved R-hat for convergence of MCMC, doi:10.1214/20-BA1221"
ROPE = "Kruschke (2018), Rejecting or accepting parameter values in Bayesian estimation, doi:10.1177/2515245918771304"
DAWID_SKENE = "Dawid, Skene (1979), Maximum likelihood estimation of observer error-rates, doi:10.2307/2346806"


def citation(result: ResultLike) -> str:
    """The software and its version."""
    versions = result.to_dict().get("versions") or {}
    version = versions.get("probtruth")
    return f"The probtruth authors, probtruth{f', version {version}' if version else ''} (software)."


def sources(result: ResultLike) -> list[str]:
    """The works behind the methods that this result used."""
    comparison, truth = result.comparison, result.truth
    used = [RULES] if result.scores.proper is not None else []
    used += [DAWID_SKENE] if truth is not None and "dawid-skene" in truth.method else []
    used += [ROPE] if comparison.rope is not None else []
    return used + ([RHAT] if comparison.diagnostics.get("max_rhat") is not None else [])
