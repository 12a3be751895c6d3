r"""Tables for a paper: LaTeX with booktabs, in which no name of a model can become a command.

Accented Latin letters compile with every engine; names in other scripts and emoji need XeLaTeX or LuaLaTeX with a font
that has them.
"""

from collections.abc import Callable, Sequence

from probtruth.line.result import Result
from probtruth.report import tables
from probtruth.report.names import unmarked
from probtruth.report.tables import Table

TABLES: dict[str, Callable[[Result], Table | None]] = {"models": tables.models, "pairs": tables.pairs}
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


def latex(result: Result) -> str:
    parts = ["% Tables of probtruth: needs \\usepackage{booktabs}. Names outside Latin need XeLaTeX or LuaLaTeX.\n"]
    for name, make in TABLES.items():
        table = make(result)
        if table is not None:
            parts.append(_environment(table, name))
    return "\n".join(parts)


def shown(text: str) -> str:
    """Text that LaTeX sets as it is: no command, no group, no mathematics."""
    return unmarked(text).translate(ESCAPES)


def _environment(table: Table, name: str) -> str:
    columns = "".join(["r" if numeric else "l" for numeric in table.numeric])
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
