import pytest


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line of what a command says is broken."""
    monkeypatch.setenv("COLUMNS", "200")
