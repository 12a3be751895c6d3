"""The wheel as a user gets it: what is in it, what it says of itself, and its types under a strict checker."""

import email
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import trove_classifiers
import yaml

import probtruth

REPOSITORY = Path(__file__).parents[1]
DATA = {
    "probtruth/py.typed",
    "probtruth/report/page.js",
    "probtruth/report/style.css",
    "probtruth/demo/LICENSE.txt",
    "probtruth/demo/annotations.parquet",
    "probtruth/demo/digits.parquet",
    *(
        f"probtruth/demo/predictions-{name}.parquet"
        for name in ("logistic", "nearest-neighbours", "neural-network", "support-vector")
    ),
}  # Everything in the wheel that is no module
PYTHONS = {f"Programming Language :: Python :: 3.{minor}" for minor in (12, 13, 14)}
LARGEST = 1_000_000  # Bytes of the wheel

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
}  # Lines that a checker must refuse, which it would not if it took the package for untyped
SETTINGS = """
[mypy]
strict = true
[mypy-jax.*,jaxlib.*,numpyro.*,arviz.*,scipy.*,matplotlib.*,xarray.*,pandas.*,narwhals.*,pyarrow.*,h5py.*]
follow_imports = skip
[mypy-distributed.*,dask.*,polars.*,typer.*,rich.*,pydantic.*,deltalake.*]
follow_imports = skip
"""  # Other packages are not looked into, which takes most of the time


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
    assert said["Version"] == probtruth.__version__
    assert said["Summary"] == project["description"]
    assert said.get_payload().strip() == (REPOSITORY / "README.md").read_text().strip()
    classifiers = said.get_all("Classifier")
    assert set(classifiers) <= trove_classifiers.classifiers
    assert {"Typing :: Typed", *PYTHONS} <= set(classifiers)
    needed = [line for line in said.get_all("Requires-Dist") if "extra ==" not in line]
    assert all(re.fullmatch(r"[a-z0-9-]+(!=[0-9.]+\*,)?>=[0-9.]+", line) for line in needed), needed
    assert points.split() == ["[console_scripts]", "probtruth", "=", "probtruth.cli:main"]


TOP = {
    ".ci", ".github", ".python-version", ".readthedocs.yaml", "CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md",
    "docs", "examples", "probtruth", "pyproject.toml", "tests",
}  # fmt: skip
"""What the repository holds at its top, and so the source distribution. Hatchling adds two files of its making."""
MADE = {"__pycache__", "_build", "reference"}  # Folders below that are made from the others


def test_the_source_distribution_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = pytest.importorskip("hatchling.build")
    monkeypatch.chdir(REPOSITORY)
    with tarfile.open(tmp_path / str(build.build_sdist(str(tmp_path)))) as file:
        packed = {Path(*Path(name).parts[1:]) for name in file.getnames()}
    assert {path.parts[0] for path in packed} == TOP | {"PKG-INFO", ".gitignore"}
    there = set()
    for folder in (REPOSITORY / name for name in TOP):
        for path in [folder] if folder.is_file() else folder.rglob("*"):
            inside = path.relative_to(REPOSITORY)
            if path.is_file() and not MADE & set(inside.parts):
                there.add(inside)
    assert there <= packed


def test_one_version() -> None:
    """CITATION.cff has no way to read it from the package."""
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == probtruth.__version__
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "probtruth/version.py"
    assert f"## {probtruth.__version__}" in (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    assert (cited["license"], cited["title"].partition(":")[0]) == (project["project"]["license"], "probtruth")


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
