"""The wheel as a user gets it: what is in it, what it says of itself, and its types under a strict checker."""

import email
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
DATA = {
    "probtruth/py.typed",
    "probtruth/report/page.js",
    "probtruth/report/style.css",
    "probtruth/demo/annotations.parquet",
    "probtruth/demo/digits.parquet",
    *(
        f"probtruth/demo/predictions-{name}.parquet"
        for name in ("logistic", "nearest-neighbours", "neural-network", "support-vector")
    ),
}
"""Everything in the wheel that is no module."""
LARGEST = 1_000_000
"""Bytes of the wheel."""

SCRIPT = '''
"""What a user writes."""

import numpy as np

import probtruth as pt

annotations = pt.read_annotations("labels.csv")
predictions = pt.read_predictions({"ours": "ours.csv", "theirs": "theirs.csv"}, index=annotations.index)
truth: pt.Truth = pt.infer_truth(annotations, method="dawid-skene-em", seed=1)
scores: pt.Scores = pt.score(predictions, truth, rule="brier")
comparison: pt.Comparison = pt.compare(scores, rope=0.01, engine="exact")
best: str = comparison.ranking().row(0, named=True)["model"]
result = pt.evaluate(annotations, predictions, rule=pt.rules.power(2.0))
pt.write_report(result, "out")
logs = pt.loaders.read_lm_eval_samples({"small": "logs/small"}, metric="acc")
loss: float = float(np.mean(logs.values))
for warning in result.warnings:
    print(warning.upper(), best, loss, result.audit.dropped)
'''
WRONG = {
    'pt.compare(scores, engin="exact")': "Unexpected keyword argument",
    "pt.compare(scores).rankin()": 'has no attribute "rankin"',
    "number: int = result.warnings": "Incompatible types in assignment",
}
"""Lines that a checker must refuse, which it would not if it took the package for untyped."""
SETTINGS = """
[mypy]
strict = true
[mypy-jax.*,jaxlib.*,numpyro.*,arviz.*,scipy.*,matplotlib.*,xarray.*,pandas.*,narwhals.*,pyarrow.*,h5py.*]
follow_imports = skip
[mypy-distributed.*,dask.*,typer.*,rich.*,pydantic.*,deltalake.*]
follow_imports = skip
"""
"""Other packages are not looked into, which takes most of the time."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = pytest.importorskip("hatchling.build")
    place = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        return place / str(build.build_wheel(str(place)))


def test_the_wheel_has_what_it_needs_and_nothing_else(wheel: Path) -> None:
    modules = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "probtruth").rglob("*.py")}
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if ".dist-info/" not in name}
        about = {name.partition(".dist-info/")[2] for name in file.namelist()} - {""}
    assert names == modules | DATA
    assert about == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert wheel.stat().st_size < LARGEST


def test_what_it_says_of_itself(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith("METADATA"))
        text = file.read(name).decode()
        (points,) = (file.read(name).decode() for name in file.namelist() if name.endswith("entry_points.txt"))
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    said = email.message_from_string(text)
    assert said["Name"] == "probtruth"
    assert said["Version"] == project["version"]
    assert said["Summary"] == project["description"]
    assert said.get_payload().strip() == (REPOSITORY / "README.md").read_text().strip()
    assert "Typing :: Typed" in said.get_all("Classifier")
    needed = [line for line in said.get_all("Requires-Dist") if "extra ==" not in line]
    assert all(re.fullmatch(r"[a-z0-9-]+(!=[0-9.]+\*,)?>=[0-9.]+", line) for line in needed), needed
    assert points.split() == ["[console_scripts]", "probtruth", "=", "probtruth.cli:main"]


@pytest.mark.process
def test_types_work_for_a_user_under_a_strict_checker(wheel: Path, tmp_path: Path) -> None:
    """In an environment of its own, which finds the wheel's package first and the other packages where they are."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    (site / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    (tmp_path / "user.py").write_text(SCRIPT + "\n".join(WRONG) + "\n")
    python = tmp_path / "env" / "bin" / "python"
    command = [sys.executable, "-m", "mypy", "--python-executable", str(python), "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, "user.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    faults = [line for line in done.stdout.splitlines() if ": error: " in line]
    first = SCRIPT.count("\n") + 1
    assert [int(line.split(":")[1]) for line in faults] == list(range(first, first + len(WRONG))), done.stdout
    for line, said in zip(faults, WRONG.values(), strict=True):
        assert said in line
