"""How to cite: the software, and the result itself as a paragraph."""

from probtruth.kernels.host import versions
from probtruth.line.result import Result
from probtruth.report.about import facts
from probtruth.report.verdict import NEXT_STEP, verdict

RELEASED = "2026"  # Year of the version
TITLE = "probtruth: which probabilistic model is better when the reference labels are uncertain"
HOW = {
    "exact": "in closed form and by quadrature ",
    "nuts": "by Hamiltonian Monte Carlo (NUTS) ",
}  # How each engine computes a posterior


def bibtex() -> str:
    version = versions()["probtruth"]
    return (
        f"@software{{probtruth,\n  author = {{{{The probtruth authors}}}},\n  title = {{{{{TITLE}}}}},\n"
        f"  year = {{{RELEASED}}},\n  version = {{{version}}},\n  license = {{Apache-2.0}},\n}}"
    )


def paragraph(result: Result) -> str:
    """The result as a paper says it, with marked names: what was compared, what came out, and how it was computed."""
    said = verdict(result)
    models, items, *rest = facts(result)
    verb = "compared" if len(result.comparison.ranks) > 1 else "evaluated"
    sentences = [f"We {verb} {models} on {items} ({'; '.join(rest)}).", said.headline]
    if not said.failing:
        sentences += [f"{what}: {value}." for what, value in said.numbers if what != NEXT_STEP]
    sentences += said.details
    engine = str(result.comparison.diagnostics.get("engine"))
    version = versions()["probtruth"]
    sentences.append(f"Computed {HOW.get(engine, '')}with probtruth {version} (seed {result.comparison.seed}).")
    return " ".join(sentences)
