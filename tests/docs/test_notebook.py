"""The notebook runs as it stands, and the majority reverses its verdict; a build of the pages runs it in a kernel."""

from pathlib import Path

import pages
import pytest

NOTEBOOK = pages.REPOSITORY / "docs" / "notebook.md"


@pytest.mark.page
def test_the_majority_reverses_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names = pages.run_page(NOTEBOOK, tmp_path)
    chance = {
        truth: {(row["a"], row["b"]): row["p_a_better"] for row in comparison.pairwise().iter_rows(named=True)}[
            "logistic", "neural-network"
        ]
        for truth, comparison in names["real"].items()
    }
    assert chance["vote shares"] > 0.6  # 0.70: 0.89 without the annotators, whose variance scores bring with them
    assert chance["majority"] < 0.001
    assert names["made"]["vote shares"]["p_a_better"] > 0.9  # 0.93, with the annotators' part of the variance
    assert names["made"]["majority"]["p_a_better"] < 0.001


def test_it_is_a_notebook_that_a_build_executes() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert text.startswith("---\njupytext:\n")
    assert "kernelspec:" in text
    assert {block.kind for block in pages.blocks(text)} == {"{code-cell} ipython3"}
