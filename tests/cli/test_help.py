"""What `--help` and `--version` print."""

import pytest
import typer

from probtruth.cli import app
from probtruth.cli.options import PANELS, WIDTH

COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.fixture
def wide(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("command", COMMANDS)
def test_options_stand_in_panels(run, command: str) -> None:
    lines = run(command, "--help").out.splitlines()
    heads = [line.removesuffix(":") for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert heads == [panel for panel in PANELS if panel in heads]
    start = lines.index(f"{heads[0]}:")
    rows = [line for line in lines[start:] if line.startswith("  ")]
    broken = [row for row in rows if row.startswith("   ")]
    assert len(broken) <= len(rows) / 4
    assert all(len(row) <= WIDTH for row in rows)


@pytest.mark.usefixtures("wide")
def test_run_is_grouped_by_what_options_are_for(run) -> None:
    text = run("run", "--help").out
    panels = {panel: text.split(f"{panel}:\n")[1].split("\n\n")[0] for panel in PANELS}
    for panel, options in {
        "Input": ("--predictions", "--annotations", "--item", "--gold"),
        "Question": ("--estimand", "--rule", "--rope", "--groups", "--truth"),
        "Output": ("--out", "--json", "--fail-if", "--help"),
        "Advanced": ("--engine", "--seed", "--memory", "--kind", "--weights"),
    }.items():
        assert all(f" {option} " in f"{panels[panel]} " for option in options), panel
    assert text.index("Advanced:") == max(text.index(f"{panel}:") for panel in PANELS)
    n_options = len(typer.main.get_command(app).commands["run"].params) - 1  # type: ignore[attr-defined]  # TABLE
    assert n_options <= 30


@pytest.mark.usefixtures("wide")
def test_commands_are_not_cut(run) -> None:
    lines = run("--help").out.split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in lines] == [
        *("demo", "run", "truth", "score", "compare", "check", "plan", "choose-gold", "monitor", "validate")
    ]
    assert not any(line.endswith("...") for line in lines)


def test_items_are_found_only_beside_another_table(run) -> None:
    for command, found in (("run", True), ("score", True), ("check", False), ("compare", False), ("truth", False)):
        assert ("found by its values" in " ".join(run(command, "--help").out.split())) is found
