"""The direction of imports, and that the package's front door loads nothing heavy."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import probtruth
from tests import house

ROOT = Path(__file__).parent.parent


@pytest.mark.process
def test_imports_run_one_way():
    run = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as main; main()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_no_module_imports_itself_through_others():
    """Imports inside functions and names in strings count too."""
    assert house.circles(house.imports()) == []


def test_a_circle_is_found():
    graph = {"a": {"b", "d"}, "b": {"c"}, "c": {"a"}, "d": {"c", "e"}, "e": set()}
    assert house.circles(graph) == [["a", "b", "c", "d"]]
    tree = ast.parse("def late():\n    from p import q\nimport_module('p.r')\nif TYPE_CHECKING:\n    from p import s")
    assert set(house._modules_named(tree, {"p.q", "p.r", "p.s"})) == {"p.q", "p.r"}


@pytest.mark.process
def test_studies_run(tmp_path):
    """Nothing else runs `tests/slow`, whose studies take minutes: two were broken for as long as they were not run."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.slow", "few_clusters", "2", "--out", tmp_path, "--begin-all"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert len((tmp_path / "clusters-tied.csv").read_text().splitlines()) == 31


def test_every_public_name_is_there():
    for name in probtruth.__all__:
        assert getattr(probtruth, name) is not None
    assert set(probtruth.__all__) <= set(dir(probtruth))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_thing"):
        probtruth.no_such_thing  # noqa: B018


def test_nothing_imports_what_a_short_command_would_wait_for():
    """Together 0.6 of the 2.5 s of a short command; what is seldom asked for may import them where it does."""
    slow = re.compile(r"^(from|import) scipy\.(stats|signal)\b|^from scipy import .*\b(stats|signal)\b", re.MULTILINE)
    sources = {path.name: path.read_text() for path in (ROOT / "probtruth").rglob("*.py")}
    assert [name for name, text in sources.items() if slow.search(text)] == []
    assert slow.search("import numpy\nfrom scipy.stats import norm\n")
