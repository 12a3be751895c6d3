"""The workflows: actions are pinned, rights are few, and all that is supported is tested."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
PINNED = re.compile(r"^[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$")


def workflow(name: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yml").read_text(encoding="utf-8"))
    return read


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yml")), ids=lambda path: path.stem)
def test_actions_are_pinned_and_rights_are_few(path: Path) -> None:
    used = re.findall(r"^\s*- uses: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    assert [name for name in used if not PINNED.match(name)] == []
    read = workflow(path.stem)
    assert read["permissions"] == {"contents": "read"}
    for job in read["jobs"].values():
        assert job["timeout-minutes"] <= 60
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), "values reach a shell as variables, never as text of a script"
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_every_supported_python_and_system_is_tested_weekly() -> None:
    read = workflow("tests")
    assert read[True]["schedule"]  # YAML reads `on` as true
    matrix = read["jobs"]["quick"]["strategy"]["matrix"]
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    supported = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    assert matrix["python"] == supported
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    commands = {step.get("run") for job in read["jobs"].values() for step in job["steps"]}
    assert {"bash .ci/run", "bash .ci/lowest"} <= commands


def test_only_the_job_that_publishes_can_and_only_after_the_tests() -> None:
    read = workflow("release")
    assert read[True] == {"push": {"tags": ["v*"]}}
    build = read["jobs"]["build"]
    publish = read["jobs"]["publish"]
    assert "bash .ci/run" in [step.get("run") for step in build["steps"]]
    assert (publish["needs"], publish["environment"], publish["permissions"]) == (
        "build",
        "pypi",
        {"id-token": "write"},
    )
    assert publish["steps"][-1]["with"] == {"attestations": True}


@pytest.mark.parametrize("script", ["run", "lowest", "vectors"])
def test_scripts_name_tests_that_exist(script: str) -> None:
    text = (ROOT / ".ci" / script).read_text(encoding="utf-8")
    named = re.findall(r"(?<![\w/])tests/[\w/]+(?:\.py)?", text)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
