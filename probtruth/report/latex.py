r"""Tables for a paper: LaTeX with booktabs, in which no name of a model can become a command.

Accented Latin letters compile with every engine; names in other scripts and emoji need XeLaTeX or LuaLaTeX with a font
that has them.
"""

from collections.abc import Callable

from rich.cells import cell_len

from probtruth import check
from probtruth.line.result import Result
from probtruth.report import tables
from probtruth.report.numbers import NAME, unmarked
from probtruth.report.table import Table

TABLES: dict[str, Callable[[Result], Table | None]] = {"models": tables.models, "pairs": tables.pairs}
WIDE = 30  # Columns from which on a name is set in a paragraph that may break anywhere
ESCAPES = str.maketrans(
    {
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
)


def latex_table(result: Result, table: str = "models") -> str:
    r"""A table of the result as LaTeX, to be read in with `\input`; the document loads the package `booktabs`.

    Arguments: `table` is "models" (mean score, interval, P(best), ranks) or "pairs" (differences, intervals and
    P(a better)), of two models or more.

    Returns: the text of a `table` environment with caption, label (`tab:probtruth-models`, ...) and note.

    Errors: `InputError` for a table that is unknown or that the result does not have, or what is no result.

    >>> import probtruth as pt
    >>> votes = pt.Annotations.from_counts([[4, 1], [0, 5], [2, 3], [5, 0]])
    >>> models = {"a_1": [[0.8, 0.2], [0.1, 0.9], [0.5, 0.5], [0.9, 0.1]], "b&c": [[0.6, 0.4]] * 4}
    >>> result = pt.evaluate(votes, pt.Predictions.from_probs(models), engine="exact")
    >>> print(pt.figures.latex_table(result, "pairs").split("midrule")[1].split(" & ")[:2])
    ['\na\\_1', 'b\\&c']
    """
    result = check.instance(result, Result, "evaluate")
    known = {name: made for name, make in TABLES.items() if (made := make(result)) is not None}
    name = check.one_of(table, tuple(known), "table")
    return _environment(known[name], name)


def latex(result: Result) -> str:
    head = "% Tables of probtruth: needs \\usepackage{booktabs}. Names outside Latin need XeLaTeX or LuaLaTeX.\n"
    known = ((name, make(result)) for name, make in TABLES.items())
    return head + "\n".join(_environment(made, name) for name, made in known if made is not None)


def shown(text: str) -> str:
    """Text that LaTeX sets as it is: no command, no group, no mathematics; long names may break anywhere."""
    pieces = enumerate(NAME.split(text))
    return "".join([_name(piece) if place % 2 else piece.translate(ESCAPES) for place, piece in pieces])


def _name(name: str) -> str:
    pieces = [name] if cell_len(name) <= WIDE else [name[start : start + 10] for start in range(0, len(name), 10)]
    return r"\allowbreak{}".join(piece.translate(ESCAPES) for piece in pieces)


def _environment(table: Table, name: str) -> str:
    wide = any(cell_len(unmarked(row[0])) > WIDE for row in table.rows)
    columns = (r"p{0.3\linewidth}" if wide else "l") + "".join("r" if numeric else "l" for numeric in table.numeric[1:])
    rows = "\n".join(" & ".join(map(shown, row)) + r" \\" for row in table.rows)
    note = rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {shown(table.note)}}}" + "\n" if table.note else ""
    return (
        "\\begin{table}\n\\centering\n"
        f"\\caption{{{shown(table.caption)}.}}\n\\label{{tab:probtruth-{name}}}\n"
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{' & '.join(map(shown, table.heads))} \\\\\n\\midrule\n"
        f"{rows}\n\\bottomrule\n\\end{{tabular}}\n{note}\\end{{table}}\n"
    )
