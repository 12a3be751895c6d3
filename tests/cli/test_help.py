"""What `--help` and `--version` print."""

from importlib.metadata import version

import pytest
import typer

from probtruth.cli import app
from probtruth.cli.blocks import PANELS, WIDTH

COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.fixture
def wide(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_one_line_in_its_panel(run, command: str) -> None:
    lines = run(command, "--help").out.splitlines()
    heads = [line.removesuffix(":") for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert heads == [panel for panel in PANELS if panel in heads]
    assert heads[-1] == "Output"
    start = lines.index(f"{heads[0]}:")
    rows = [line for line in lines[start:] if line.startswith("  ")]
    broken = [row for row in rows if row.startswith("   ") or len(row.strip().split("  ", 1)) < 2]
    assert not broken
    assert all(len(row) <= WIDTH and not row.endswith("...") for row in rows)


@pytest.mark.usefixtures("wide")
def test_run_is_grouped_by_what_options_are_for(run) -> None:
    text = run("run", "--help").out
    panels = {panel: text.split(f"{panel}:\n")[1].split("\n\n")[0] for panel in PANELS}
    for panel, options in {
        "Input": ("--predictions", "--annotations", "--kind", "--item", "--memory"),
        "Question": ("--estimand", "--rule", "--rope", "--groups"),
        "Model": ("--truth", "--engine", "--seed"),
        "Output": ("--out", "--json", "--fail-if", "--help"),
    }.items():
        assert all(f" {option} " in f"{panels[panel]} " for option in options), panel
    assert panels["Input"].strip().startswith("--predictions")


@pytest.mark.usefixtures("wide")
def test_commands_are_not_cut(run) -> None:
    lines = run("--help").out.split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in lines] == [
        *("demo", "run", "truth", "score", "compare", "check", "info", "monitor", "plan", "choose-gold", "validate")
    ]
    assert not any(line.endswith("...") for line in lines)


def test_version(run) -> None:
    assert run("--version").out == f"probtruth {version('probtruth')}\n"


def test_shared_options_stand_once() -> None:
    """The blocks of options: plan and validate have the same pilot, and the same words for it."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    helps: dict[str, set[str]] = {}
    for command in ("plan", "validate"):
        for option in commands[command].params:
            helps.setdefault(option.name, set()).add(str(option.help))
    assert {name for name, words in helps.items() if len(words) > 1} == {"items"}
