"""The code of the README and of the tutorial under a type checker, which also refuses a misspelt method."""

import doctest
import subprocess
import sys
from pathlib import Path

import pages
import pytest

CHECKED = [pages.README, *sorted((pages.REPOSITORY / "docs").glob("tutorial*.md"))]
SETTINGS = """
[mypy]
disable_error_code = name-defined, valid-type
[mypy-probtruth.*]
ignore_errors = true
[mypy-jax.*,jaxlib.*,numpyro.*,arviz.*,scipy.*,matplotlib.*,xarray.*,pandas.*,pyarrow.*,h5py.*,distributed.*]
ignore_missing_imports = true
follow_imports = skip
[mypy-dask.*,polars.*,narwhals.*,typer.*,rich.*,pydantic.*,deltalake.*]
ignore_missing_imports = true
follow_imports = skip
"""  # Other packages are not looked into, which takes most of the time
MISSPELT = 'pt.infer_truth(annotations, method="dawid-skene-emm")'


def code_of(page: Path) -> str:
    """The Python of a page, each line where it stands there."""
    lines = [""] * (page.read_text(encoding="utf-8").count("\n") + 1)
    for block in pages.blocks(page.read_text(encoding="utf-8")):
        if block.kind == "python":
            lines[block.line - 1 : block.line - 1 + block.body.count("\n")] = block.body.splitlines()
        elif block.kind == "pycon":
            for example in doctest.DocTestParser().get_examples(block.body):
                start = block.line - 1 + example.lineno
                source = example.source.splitlines()
                lines[start : start + len(source)] = source
    return "\n".join(lines) + "\n"


def test_the_code_of_a_page_keeps_its_lines(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Words.\n\n```python\nx = 1\n```\n\n```pycon\n>>> x\n1\n>>> for y in [x]:\n...     y\n1\n```\n")
    assert code_of(page).splitlines()[3:11] == ["x = 1", "", "", "", "x", "", "for y in [x]:", "    y"][:8]


@pytest.mark.process
def test_the_code_of_readme_and_tutorial_is_typed_and_a_misspelt_method_is_refused(tmp_path: Path) -> None:
    for page in CHECKED:
        (tmp_path / f"{page.stem.lower()}.py").write_text(code_of(page), encoding="utf-8")
    wrong = tmp_path / "misspelt.py"
    wrong.write_text(f"import probtruth as pt\n\ndef f(annotations: pt.Annotations) -> None:\n    {MISSPELT}\n")
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    files = sorted(path.name for path in tmp_path.glob("*.py"))
    assert len(files) == len(CHECKED) + 1
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", str(tmp_path / "cache"), *files],
        cwd=tmp_path,
        env={"MYPYPATH": str(pages.REPOSITORY), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    faults = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(faults) == 1, done.stdout + done.stderr
    assert faults[0].startswith("misspelt.py:4: "), done.stdout
    assert "infer_truth" in faults[0]
    assert "[arg-type]" in faults[0]
