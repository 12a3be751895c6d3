r"""Tables for a paper: LaTeX with booktabs, in which no name of a model can become a command.

Names are escaped character by character. Accented Latin letters compile with every engine; names in other scripts and
emoji need XeLaTeX or LuaLaTeX with a font that has them.
"""

import re

from probtruth import check
from probtruth.line.result import Result
from probtruth.report.tables import models, pairs
from probtruth.report.tables.cells import Table
from probtruth.report.words.numbers import plain, width
from probtruth.report.words.sentences import Name, Sentence

TABLES = {"models": models.models, "pairs": pairs.pairs, "matrix": pairs.matrix}
"""The tables by name."""

WIDE = 30
"""Columns from which on a name is set in a paragraph that may break anywhere."""

ESCAPES = {
    **{each: rf"\{each}" for each in "{}$&#%_"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    '"': r"\char34{}",
    "-": "-{}",  # no en dash from two
    **{each: f"{{{each}}}" for each in "[]*"},  # no argument of the row before
    **{each: f"{each}{{}}" for each in "!?"},  # no inverted mark before a grave accent
    "−": "$-$",
    "–": "--",
    "∞": r"$\infty$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "…": r"\ldots{}",
}
_POWER = re.compile("([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@check.checks_itself
def latex_table(result: Result, table: str = "models") -> str:
    r"""A table of the result as LaTeX, to be read in with `\input`; the document loads the package `booktabs`.

    Arguments: `table` is "models" (mean score, interval, P(best), ranks), "pairs" (differences, intervals and
    P(a better)) or "matrix" (P(row beats column)).

    Returns: the text of a `table` environment with caption, label (`tab:probtruth-models`, ...) and note.

    Errors: `InputError` for an unknown table, or what is no result.

    >>> import probtruth as pt
    >>> votes = pt.Annotations.from_counts([[4, 1], [0, 5], [2, 3], [5, 0]])
    >>> models = {"a_1": [[0.8, 0.2], [0.1, 0.9], [0.5, 0.5], [0.9, 0.1]], "b&c": [[0.6, 0.4]] * 4}
    >>> result = pt.evaluate(votes, pt.Predictions.from_probs(models), engine="exact")
    >>> print(pt.figures.latex_table(result, "matrix").split("midrule")[1].split("\\bottom")[0].strip())
    a\_1 &  & 0.93 \\
    b\&c & 0.07 &  \\
    """
    result = check.instance(result, Result, "evaluate")
    name = check.one_of(table, tuple(TABLES), "table")
    return _environment(TABLES[name](result), name)


def latex(result: Result) -> str:
    """All tables, one after the other."""
    head = "% Tables of probtruth: needs \\usepackage{booktabs}. Names outside Latin need XeLaTeX or LuaLaTeX.\n"
    shown = TABLES if result.comparison.pairs else ("models",)
    return head + "\n".join(latex_table(result, name) for name in shown)


def escape(text: str) -> str:
    """Text that LaTeX sets as it is: no command, no group, no mathematics, no ligature, no argument of a line break."""
    parts = _POWER.split(plain(text))
    return "".join(
        f"$^{{{part.translate(_DIGITS)}}}$" if position % 2 else "".join(ESCAPES.get(each, each) for each in part)
        for position, part in enumerate(parts)
    )


def _environment(table: Table, name: str) -> str:
    wide = any(width(piece) > WIDE for row in table.rows for piece in row[0].text)
    first = r"p{0.3\linewidth}" if wide else "l"
    columns = first + "".join("r" if column.numeric else "l" for column in table.columns[1:])
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(table.caption)}.}}",
        rf"\label{{tab:probtruth-{name}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row([_sentence(column.title) for column in table.columns]),
        r"\midrule",
        *(_row([_sentence(cell.text) for cell in row]) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {_sentence(table.note)}}}"] if table.note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _sentence(sentence: Sentence) -> str:
    return "".join(_name(piece) if isinstance(piece, Name) else escape(piece) for piece in sentence)


def _name(name: Name) -> str:
    """A name; a long one may break after every few characters."""
    if width(name) <= WIDE:
        return escape(name)
    return r"\allowbreak{}".join(escape(name[start : start + 10]) for start in range(0, len(name), 10))
