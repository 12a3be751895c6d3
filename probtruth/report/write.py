"""A result as a folder: the page, the numbers, the draws, the tables and the figures, whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

from probtruth.io.output.csv_safe import write_csv
from probtruth.io.output.folder import whole
from probtruth.io.output.jsonable import dumps
from probtruth.line.result import Result
from probtruth.report.contents import Extras, contents
from probtruth.report.html import html
from probtruth.report.latex import latex
from probtruth.report.markdown import markdown
from probtruth.report.plots.svg import alone
from probtruth.types import Comparison
from probtruth.types.arguments import StrPath


def write_report(
    result: Result | Comparison,
    out: StrPath,
    *,
    command: str | None = None,
    texts: Mapping[str, str] | None = None,
    images: Mapping[str, str] | None = None,
) -> None:
    """Writes the report and what it stands on into the folder `out`.

    These are report.html, report.md (the same for a pull request), report.tex (tables for a paper), result.json,
    posterior.nc, pairwise.csv, models.csv, figures/ (each as SVG and PDF) and, where the items are known,
    items.parquet.

    Arguments:
        result: what `evaluate` or `compare` returned.
        out: may be absent, empty, or hold an earlier result of probtruth, which is replaced in one step.
        command: the command line that made the result, for the page to show.
        texts: what the items are, by name, for the page to hold.
        images: as data URIs; what the items are, by name, for the page to hold.

    Errors: `InputError` for something else than a result, or where `out` holds anything else or cannot be written; then
    nothing was written.

    >>> import probtruth as pt, pathlib, tempfile
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> scores = pt.Scores.from_frame(frame, higher_is_better=False)
    >>> out = pathlib.Path(tempfile.mkdtemp()) / "out"
    >>> pt.write_report(pt.compare(scores, engine="exact"), out)
    >>> sorted(path.name for path in out.iterdir())[:5]
    ['figures', 'items.parquet', 'models.csv', 'pairwise.csv', 'posterior.nc']
    """
    result = Result.of(result)
    with whole(out) as folder:
        content = contents(result, Extras(command, texts or {}, images or {}))
        (folder / "figures").mkdir()
        for figure in content.figures:
            _write_text(folder / "figures" / f"{figure.name}.svg", alone(figure.svg))
            (folder / "figures" / f"{figure.name}.pdf").write_bytes(figure.pdf)
        _write_text(folder / "report.html", html(result, content))
        _write_text(folder / "report.md", markdown(result, content))
        _write_text(folder / "report.tex", latex(result))
        _write_text(folder / "result.json", dumps(result.to_dict()))
        result.comparison.save(folder / "posterior.nc")
        write_csv(result.comparison.pairwise(), folder / "pairwise.csv")
        write_csv(result.comparison.ranking(), folder / "models.csv")
        if result.analysis.items is not None:
            result.analysis.items.write_parquet(folder / "items.parquet")


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
