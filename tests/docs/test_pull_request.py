"""The check of a pull request: the action's shell steps run."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pages
import pytest

yaml = pytest.importorskip("yaml")

ACTION = pages.REPOSITORY / ".github" / "actions" / "compare" / "action.yml"
PAGE = pages.REPOSITORY / "docs" / "how-to" / "pull-request.md"
LOW, HIGH = (lambda i: f"0.{i % 7}"), (lambda i: f"0.{3 * i % 7 + 2}")
TABLES = {
    name: "item,model,score\n" + "".join(f"q{i},main,{main(i)}\nq{i},branch,{branch(i)}\n" for i in range(40))
    for name, main, branch in (("worse", LOW, HIGH), ("better", HIGH, LOW))
}


def action() -> dict[str, Any]:
    """The action as a runner reads it."""
    read: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    return read


def file_of_page(name: str) -> str:
    """The text of a named block of the page."""
    (body,) = [block.body for block in pages.blocks(PAGE.read_text(encoding="utf-8")) if block.name == name]
    return body


def test_every_input_is_declared_and_used_and_none_is_text_of_a_script() -> None:
    read = action()
    steps = read["runs"]["steps"]
    assert all("${{" not in step["run"] and step["shell"] == "bash" for step in steps)
    used = {
        name
        for step in steps
        for value in step.get("env", {}).values()
        for name in re.findall(r"inputs\.([\w-]+)", value)
    }
    assert used == set(read["inputs"])
    assert all(one.get("required") or "default" in one for one in read["inputs"].values())


def test_the_page_passes_inputs_that_exist() -> None:
    workflow = yaml.safe_load(file_of_page("pull-request.yml"))
    (step,) = [step for step in workflow["jobs"]["compare"]["steps"] if "actions/compare" in step.get("uses", "")]
    assert step["uses"].split("/", 2)[2].partition("@")[0] == str(ACTION.parent.relative_to(pages.REPOSITORY))
    assert set(step["with"]) <= set(action()["inputs"])


def environment(folder: Path, **given: str) -> dict[str, str]:
    """The environment of a step: this Python first on the path, and this package."""
    path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(pages.REPOSITORY), "MPLBACKEND": "Agg", **given}


@pytest.mark.process
def test_it_installs_the_repository_that_it_came_with(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    stub = tmp_path / "bin" / "python"
    stub.write_text('#!/usr/bin/env bash\nrealpath "${@: -1}"\n')
    stub.chmod(0o755)
    script = action()["runs"]["steps"][0]["run"]
    variables = environment(tmp_path, GITHUB_ACTION_PATH=str(ACTION.parent))
    done = subprocess.run(["bash", "-e", "-c", script], env=variables, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == pages.REPOSITORY.resolve()


@pytest.mark.process
@pytest.mark.parametrize(("table", "status"), [("worse", 1), ("better", 0)])
def test_it_compares(table: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(TABLES[table])
    step = action()["runs"]["steps"][1]
    values = {name: one.get("default", "") for name, one in action()["inputs"].items()}
    values |= {"scores": "scores.csv\n", "better": "lower", "baseline": "main", "rope": "0.01"}
    names = {variable: re.findall(r"inputs\.([\w-]+)", value)[0] for variable, value in step["env"].items()}
    inputs = {variable: values[name] for variable, name in names.items()}
    variables = environment(tmp_path, GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"), **inputs)
    command = ["bash", "-e", "-c", step["run"]]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert "branch" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert (tmp_path / "probtruth-report" / "report.html").exists()
