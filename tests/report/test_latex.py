"""Tables for a paper, in which nothing of a name is a command.

Read by a small reader of LaTeX that knows the commands of `ESCAPES` and no other, so that what it reads back is what a
reader of the paper sees; compiled too where a TeX is on the path.
"""

import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probtruth.report import tables
from probtruth.report.latex import ESCAPES, latex
from probtruth.report.latex import shown as escape

BACK = {written: chr(read) for read, written in ESCAPES.items()}
SPECIAL = set("\\{}$&#%_~^")


def read(text: str) -> str:
    """The text that LaTeX would set; an unknown command, or a bare special character, is an error."""
    shown, at = "", 0
    known = sorted(BACK, key=len, reverse=True)
    while at < len(text):
        token = next((one for one in known if text.startswith(one, at)), None)
        if token is not None:
            shown += BACK[token]
            at += len(token)
            continue
        assert text[at] not in SPECIAL, text[at : at + 20]
        shown += text[at]
        at += 1
    return shown


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.text(st.characters(exclude_characters="\x02\x03")))
def test_every_text_is_read_back(text):
    assert read(escape(text)) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        (r"\write18{rm}", r"\textbackslash{}write18\{rm\}"),
        ("100% a_b & c#1 ~ x^2", r"100\% a\_b \& c\#1 \textasciitilde{} x\textasciicircum{}2"),
        ("$x$", r"\$x\$"),
        ("a--b---c", "a-{}-{}b-{}-{}-{}c"),
        ("[2em]", "{[}2em{]}"),
        ("*", "{*}"),
        ("?`", r"?{}\textasciigrave{}"),
        ("^^5c", r"\textasciicircum{}\textasciicircum{}5c"),
        ("−0.1 × ∞", r"$-$0.1 $\times$ $\infty$"),
        ("=1+1", "=1+1"),
    ],
)
def test_written(text, written):
    assert escape(text) == written


def test_no_name_is_a_command(odd):
    text = latex(odd)
    commands = set(re.findall(r"\\[A-Za-z]+", text))
    ours = r"\begin\end\centering\caption\label\toprule\midrule\bottomrule\usepackage\par\smallskip\parbox\linewidth"
    ours += r"\footnotesize" + "".join(ESCAPES.values())
    assert commands <= set(re.findall(r"\\[A-Za-z]+", ours))
    assert "\u202e" not in text
    for name in ("<script>alert(1)</script>", "שלום עולם", "😀 👩‍🔬 & co | *x* $y$", "=1+1�gnp.exe"):
        assert escape(name) in text


@pytest.mark.parametrize("table", ["models", "pairs"])
def test_rows_have_the_columns_that_the_head_declares(odd, table):
    text = latex(odd).split(r"\end{table}")[["models", "pairs"].index(table)]
    columns = re.search(r"\\begin\{tabular\}\{(.*)\}\n", text)
    n = len(columns[1])
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {n}
    assert len(rows) == {"models": 5, "pairs": 7}[table]
    assert not any(row.startswith(("[", "*")) for row in rows)


def test_numbers_are_those_of_the_page(result):
    text = latex(result)
    row = next(line for line in text.splitlines() if line.startswith(escape("nearest-neighbours")))
    assert [cell.strip() for cell in row.split("&")][1] == tables.models(result).rows[0][1]
    assert r"\label{tab:probtruth-models}" in text


@pytest.mark.process
def test_it_compiles(odd, tmp_path):
    engine = next((found for name in ("lualatex", "xelatex", "tectonic") if (found := shutil.which(name))), None)
    if engine is None:
        pytest.skip("no TeX here: the tables are read by the test's own reader only")
    names = ("[2]*", "a_b & 100% #1 {x} ~ ^", r"\input{x}", "--?`")
    body = latex(odd)
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{escape(''.join(names))}{body}"
    (tmp_path / "t.tex").write_text(document + r"\end{document}", encoding="utf-8")
    done = subprocess.run([engine, "-interaction=nonstopmode", "t.tex"], cwd=tmp_path, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
