"""Every block of README.md and of the documentation runs, and shows what it prints."""

from collections.abc import Iterator
from pathlib import Path

import pages
import polars
import pytest

PROSE = {"text", "csv", "json", "jsonl", "toml", "yaml", "bibtex"}
"""Kinds of blocks that are read and not run (those with a file name above them are written)."""
RUN_HERE = [page for page in pages.PAGES if page.stem != "notebook"]  # which test_notebook runs
RUN = {"python", "pycon", "console", "bash", "sh", "{code-cell} ipython3"}


def readme_files(place: Path) -> None:
    """The files that the README's commands name."""
    from probtruth import demo

    annotations, predictions = demo.paths()
    polars.read_parquet(annotations).write_csv(place / "labels.csv")
    polars.read_parquet(predictions["logistic"]).write_csv(place / "mine.csv")
    (place / "theirs.parquet").write_bytes(predictions["neural-network"].read_bytes())


@pytest.mark.page
@pytest.mark.parametrize("page", RUN_HERE, ids=lambda page: str(page.relative_to(pages.REPOSITORY)))
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("COLUMNS", "120")
    if page == pages.README:
        readme_files(tmp_path)
    with polars.Config():
        pages.run_page(page, tmp_path)


def unknown_blocks(page: Path) -> Iterator[str]:
    """The blocks of a page whose kind says neither that they run nor that they are read."""
    known = PROSE | RUN | ({""} if page == pages.README else set())
    for block in pages.blocks(page.read_text(encoding="utf-8")):
        directive = block.kind.startswith("{") and not block.kind.startswith("{code")
        if not directive and block.kind not in known:
            yield f"{page.name}, line {block.line}: block of kind {block.kind!r}"


def test_blocks_are_of_known_kinds(tmp_path: Path) -> None:
    assert [fault for page in pages.PAGES for fault in unknown_blocks(page)] == []
    (tmp_path / "page.md").write_text("```pythn\n1\n```\n")
    assert list(unknown_blocks(tmp_path / "page.md")) == ["page.md, line 2: block of kind 'pythn'"]


def test_commands_are_found() -> None:
    body = "$ probtruth check \\\n    a.csv\na.csv: fine\n$ cat a.csv\nx\nprobtruth demo  # all of it\n"
    assert list(pages.commands(body)) == [
        (["probtruth", "check", "a.csv"], ["a.csv: fine"]),
        (["probtruth", "demo"], []),
    ]


def test_files_are_found() -> None:
    (block,) = pages.blocks("Text\n\n`a.csv`\n\n```csv\nitem\n1\n```\n")
    assert (block.name, block.body, block.line) == ("a.csv", "item\n1\n", 6)


def test_a_wrong_output_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for shown in ("```console\n$ probtruth --version\nno such line\n```\n", "```pycon\n>>> 1 + 1\n3\n\n```\n"):
        page = tmp_path / "page.md"
        page.write_text(shown)
        monkeypatch.setattr(pages, "REPOSITORY", tmp_path)
        with pytest.raises(AssertionError):
            pages.run_page(page, tmp_path)
