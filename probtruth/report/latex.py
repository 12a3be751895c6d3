r"""Tables for a paper: LaTeX with booktabs, in which no name of a model can become a command.

Accented Latin letters compile with every engine; names in other scripts and emoji need XeLaTeX or LuaLaTeX with a font
that has them.
"""

from collections.abc import Callable, Sequence

from rich.cells import cell_len

from probtruth import check
from probtruth.line.result import Result
from probtruth.report import tables
from probtruth.report.names import MARKED, unmarked
from probtruth.report.table import Table

TABLES: dict[str, Callable[[Result], Table | None]] = {"models": tables.models, "pairs": tables.pairs}
LONG = 30  # Columns from which on a name is set in a paragraph that may break anywhere
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

    Arguments:
        result: what `evaluate` returned.
        table: "models" (mean score, interval, P(best), ranks) or "pairs" (differences, intervals and P(a better)), of
            two models or more.

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
    known = _tables(result)
    name = check.one_of(table, tuple(known), "table")
    return _environment(known[name], name)


def latex(result: Result) -> str:
    parts = ["% Tables of probtruth: needs \\usepackage{booktabs}. Names outside Latin need XeLaTeX or LuaLaTeX.\n"]
    parts += [_environment(made, name) for name, made in _tables(result).items()]
    return "\n".join(parts)


def _tables(result: Result) -> dict[str, Table]:
    made = {name: make(result) for name, make in TABLES.items()}
    return {name: table for name, table in made.items() if table is not None}


def shown(text: str) -> str:
    """Text that LaTeX sets as it is: no command, no group, no mathematics; long names may break anywhere."""
    pieces = MARKED.split(text)
    pieces[::2] = [piece.translate(ESCAPES) for piece in pieces[::2]]
    pieces[1::2] = [_name(name) for name in pieces[1::2]]
    return "".join(pieces)


def _name(name: str) -> str:
    if cell_len(name) <= LONG:
        return name.translate(ESCAPES)
    pieces = [name[start : start + 10] for start in range(0, len(name), 10)]
    return r"\allowbreak{}".join(piece.translate(ESCAPES) for piece in pieces)


def _environment(table: Table, name: str) -> str:
    longest = max(cell_len(unmarked(row[0])) for row in table.rows)
    columns = r"p{0.3\linewidth}" if longest > LONG else "l"
    for numeric in table.numeric[1:]:
        columns += "r" if numeric else "l"
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{shown(table.caption)}.}}",
        rf"\label{{tab:probtruth-{name}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row(table.heads),
        r"\midrule",
        *map(_row, table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if table.note:
        lines.append(rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {shown(table.note)}}}")
    lines.append("\\end{table}\n")
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return rf"{' & '.join(map(shown, cells))} \\"
