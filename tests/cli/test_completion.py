"""What the shell completes, and progress that stays off where nobody sees it."""

import io
import sys

import pytest

from probtruth.cli.console import Console


def test_scripts_for_the_shells_can_be_installed(run) -> None:
    shown = run("--help").out
    assert "--install-completion" in shown
    assert "--show-completion" in shown


class Terminal(io.StringIO):
    """Standard error, as if somebody looked at it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("console", "stream", "shown"),
    [
        (Console(json=False), Terminal(), True),
        (Console(json=True), Terminal(), False),
        (Console(json=False), io.StringIO(), False),
    ],
    ids=["a terminal", "json", "no terminal"],
)
def test_progress(console: Console, stream: io.StringIO, shown: bool, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with console.progress("sampling") as on_progress:
        on_progress(1, 4)
    assert ("sampling" in stream.getvalue()) == shown
    assert capsys.readouterr().out == ""
