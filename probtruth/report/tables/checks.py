"""What the answer rests on: sampling, prior, replicated data, other tests, the audit, the settings."""

from collections.abc import Mapping
from functools import partial

from probtruth.check import as_float, count
from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS
from probtruth.line.analysis.predictive_check import STATISTICS
from probtruth.line.result import Result
from probtruth.report.tables.cells import (
    LONGEST_NAME,
    Cell,
    Columns,
    Table,
    chance,
    filled,
    loose,
    named,
    number,
    titled,
    words,
)
from probtruth.report.tables.models import names_of
from probtruth.report.tables.pairs import MOST_MODELS, MOST_PAIRS
from probtruth.report.words.numbers import UNKNOWN, exact, shortened, significant
from probtruth.report.words.sentences import Name, Sentence, sentence
from probtruth.types.comparison import Row

POWERS = {
    "prior_half": "Prior halved",
    "prior_double": "Prior doubled",
    "likelihood_half": "Half the data",
    "likelihood_double": "Twice the data",
}
TESTS = {
    "t_p": "p (t)",
    "t_p_holm": "Holm p (t)",
    "sign_flip_p": "p (sign flips)",
    "sign_flip_p_holm": "Holm p (sign flips)",
    "wilcoxon_p": "p (Wilcoxon)",
    "wilcoxon_p_holm": "Holm p (Wilcoxon)",
    "bootstrap_p_a_better": "P(a better), bootstrap",
}
"""The numbers of the model-free companions, in the order of their columns."""
ERRORS = {
    "sign_flip_p_error": "the sign flips",
    "wilcoxon_p_error": "the signed-rank test",
    "bootstrap_p_a_better_error": "the bootstrap",
}
OF_ANNOTATORS = {
    "agreement": "Share of agreeing pairs of annotations",
    "agreement_spread": "Spread of that share between items",
}


def diagnostics(result: Result) -> Table:
    """What gates the result, its value and its bound."""
    gates = result.comparison.diagnostics
    agree = gates.get("engines_agree")
    sampler = gates.get("sampler")
    divergences = (words("Divergent transitions"), number(gates.get("divergences"), 0), words("0"))
    rows = (
        *([] if sampler is None else [(words("Sampler"), words(str(sampler)), words(""))]),
        (words("Largest rank-normalised split R-hat"), loose(gates.get("max_rhat")), words(f"at most {MAX_RHAT}")),
        (words("Smallest effective sample size"), number(gates.get("min_ess"), 0), words(f"at least {MIN_ESS:.0f}")),
        *([] if sampler == "independent draws" else [divergences]),
        (
            words("Engines agree within Monte Carlo error"),
            words(UNKNOWN if agree is None else "yes" if agree else "no"),
            words("yes"),
        ),
    )
    columns = (titled("Diagnostic", False), titled("Value"), titled("Passes if"))
    note = (f"{UNKNOWN} where an engine has none.",) if any(row[1].text == (UNKNOWN,) for row in rows) else ()
    return Table("Diagnostics", columns, rows, note, sortable=False)


OF_LEADING = f" Of the pairs, those of the {MOST_MODELS} models of the best mean."


def sensitivity(result: Result) -> Table | None:
    """P(a better) of each pair and P(best) of each model under other weights of prior and data; None without any."""
    shifts = result.comparison.sensitivity
    rows = [row for row in shifts if len(result.comparison.ranks) > 2 or row.get("kind") != "best"][:MOST_PAIRS]
    if not rows:
        return None
    sentences = _sentences(result)

    def what(row: Row) -> Cell:
        known = sentences.get(str(row["what"]), (Name(str(row["what"])),))
        return Cell(known, "".join(known))

    columns: Columns = [
        (titled("Probability", False), what),
        (titled("As reported"), lambda row: chance(row["p"])),
        *((titled(title), partial(_chance_of, key)) for key, title in POWERS.items()),
    ]
    note = (
        "The prior to the power 1/2 and 2, and the likelihood likewise, which is what half or twice as many items of "
        "the same content would say. An answer that moves with the prior owes much to it; one that moves with the data "
        "alone is as sure as they are many."
    )
    if len(result.comparison.pairs) > MOST_PAIRS:
        note += OF_LEADING
    return filled("Sensitivity to the prior", columns, rows, (note,))


def predictive(result: Result) -> Table | None:
    """Statistics of the leading pair's differences, and of annotators, beside replicated ones; None without any."""
    pair, of_annotators = result.analysis.replicates, result.analysis.annotators.replicated
    of_items = () if pair is None else pair.rows
    rows: list[Row] = [{**row, "statistic": STATISTICS[str(row["statistic"])]} for row in of_items]
    rows += [{**row, "statistic": OF_ANNOTATORS[str(row["statistic"])]} for row in of_annotators]
    if not rows:
        return None

    def replicated(row: Row) -> Cell:
        return Cell((f"{significant(row['low'], 3)} to {significant(row['high'], 3)}",), as_float(row["low"]))

    columns: Columns = [
        (titled("Statistic", False), lambda row: words(row["statistic"])),
        (titled("Observed"), lambda row: loose(row["observed"], 3)),
        (titled("Replicated, 95%"), replicated),
        (titled("P(replicated larger)"), lambda row: chance(row["p"])),
    ]
    note: Sentence = ("Data replicated from the posterior, beside the real; probabilities near 0 or 1 are unlike.",)
    if pair is not None and of_items:
        names = names_of(result)
        note = sentence(
            "Differences ",
            names[pair.a],
            " minus ",
            names[pair.b],
            ", beside normal ones replicated from the posterior. Single differences seldom are normal, and need not "
            "be: the reported interval corrects the mean for their skewness. Where few items meet heavy tails or many "
            "ties, look at the sign flips and the bootstrap too.",
        )
    return filled("Posterior predictive check", columns, rows, note)


def companions(result: Result) -> Table | None:
    """The model-free tests of each pair; None without any."""
    rows = list(result.comparison.companions)[:MOST_PAIRS]
    if not rows:
        return None
    names = names_of(result)
    known = [key for key in TESTS if any(row.get(key) is not None for row in rows)]
    columns: Columns = [
        (titled("a", False), lambda row: named(names[row["a"]])),
        (titled("b", False), lambda row: named(names[row["b"]])),
        (titled("t"), lambda row: number(row["t"], 2, sign=True)),
        *((titled(TESTS[key]), partial(_chance_of, key)) for key in known),
    ]
    note = (
        "Two-sided p-values of no difference; Holm adjusts over all pairs. The paired t and the sign flips test the "
        "mean difference, the signed-rank test (Wilcoxon) its pseudo-median. The Bayesian bootstrap is a posterior "
        "without a model of the differences."
    )
    leading = OF_LEADING if len(result.comparison.pairs) > len(rows) else ""
    return filled("Model-free companions", columns, rows, (note + leading + _error(rows),))


def _error(rows: list[Row]) -> str:
    """How far the tests of many items can be off."""
    errors = []
    for key, what in ERRORS.items():
        known = [float(row[key]) for row in rows if row.get(key) is not None]
        errors += [f"{significant(max(known), 2)} for {what}"] if known else []
    if not errors:
        return ""
    return (
        " These are too many items to be ranked and resampled one by one: counts in narrow bins and normal limits "
        f"stand for that, and are off by at most {', '.join(errors)}."
    )


def audit(result: Result) -> Table | None:
    """Items that alignment by name left out, by model; None where it found nothing to say."""
    left_out = result.audit
    if not left_out.dropped and not left_out.prompts:
        return None
    names = shortened((model for model, _, _ in result.audit.by_model), LONGEST_NAME)
    rows = tuple((named(names[model]), number(gone, 0), number(more, 0)) for model, gone, more in result.audit.by_model)
    columns = (titled("Model", False), titled("Items missing"), titled("Items extra"))
    notes = []
    if left_out.dropped:
        notes.append(f"{count(left_out.dropped, 'item')} took no part, for any model.")
    if left_out.different:
        notes.append(f"{count(len(left_out.different), 'item')} of these: another question under the same name.")
    if left_out.prompts:
        notes.append(f"{count(len(left_out.prompts), 'item')} kept though some models were asked in other words.")
    return Table("Items left out", columns, rows, (" ".join(notes),))


def alignment(result: Result) -> str:
    """The items that were compared, and what became of the others, in one line."""
    left_out = result.audit
    kinds = (
        (left_out.missing, "missing from some model"),
        (left_out.extra, "extra"),
        (left_out.different, "different"),
    )
    gone = ", ".join(f"{len(names):,} {what}" for names, what in kinds if names)
    left = f"left out for all models: {left_out.dropped:,} ({gone})" if gone else "none missing, extra or twice"
    prompts = f"; asked in other words: {len(left_out.prompts):,}" if left_out.prompts else ""
    return f"Items compared: {len(result.scores.items):,}; {left}{prompts}."


def _sentences(result: Result) -> dict[str, Sentence]:
    """What the rows of the sensitivity say, with the models' names marked."""
    names, known = names_of(result), {}
    for pair in result.comparison.pairs:
        a, b = str(pair["a"]), str(pair["b"])
        for where in ("", " in the population of groups"):
            marked = sentence("P(", names[a], " better than ", names[b], f"){where}")
            known[f"P({a} better than {b}){where}"] = marked
    for row in result.comparison.ranks:
        known[f"P({row['model']} best)"] = sentence("P(", names[str(row["model"])], " best)")
    return known


def _chance_of(key: str, row: Row) -> Cell:
    return chance(row.get(key))


def settings(result: Result) -> Table:
    """What was chosen, and with which versions it was computed."""
    settings = result.to_dict()
    pieces: list[tuple[str, object]] = [("rule", settings.get("rule")), ("seed", settings.get("seed"))]
    pieces += [("rope", settings.get("rope")), *dict(settings.get("settings") or {}).items()]
    pieces += [(f"version of {name}", version) for name, version in dict(settings.get("versions") or {}).items()]
    unique = dict(pieces)
    rows = tuple((words(name.replace("_", " ")), Cell(_value(value), None)) for name, value in unique.items())
    return Table("Settings", (titled("Setting", False), titled("Value", False)), rows, sortable=False, kind="dense")


def _value(value: object) -> Sentence:
    if value is None:
        return (UNKNOWN,)
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    if isinstance(value, float):
        return (exact(value),)
    if isinstance(value, Mapping):
        return (", ".join(f"{key}: {''.join(_value(inner))}" for key, inner in value.items()),)
    return (Name(str(value)),)
