"""What messages, notes and help name exists: every option, every command, every call with its arguments."""

import builtins
import inspect
import re
from types import ModuleType
from typing import Any

import pytest
import typer
from hint_texts import Text, texts

import probtruth as pt
from probtruth.cli import app

TEXTS = [text for text in texts() if not text.content.startswith("svg text{")]  # a style sheet
COMMANDS = {command.name: command for command in typer.main.get_command(app).commands.values()}


def flags(command: Any) -> set[str]:
    return {flag for param in command.params for flag in (*param.opts, *param.secondary_opts)}


def options_of(command: str) -> set[str]:
    return flags(COMMANDS[command]) | {"--help"}


OPTIONS = set().union(*map(flags, COMMANDS.values()), flags(typer.main.get_command(app)))
# Options of other programs, and those that every command line has.
OTHERS = {"--help", "--install-completion", "--log_samples", "--log", "--to", "--output"}
# Functions of other packages, and words before a parenthesis that are no call.
FOREIGN = re.compile(
    r"(np|tensor|multiprocessing|joblib|pandas|sklearn|jax)\..*|make_scorer|(.*\.)?(reset|sort)_index|cpu|detach|lambda"
)
NO_CALLS = {
    "P",
    "E",
    "H",
    "KL",
    "f",
    "G",
    "U",
    "L",
    "R",
    "g",
    "h",
    "n",
    "p",
    "s",
    "exp",
    "log",
    "sqrt",
    "url",
    "rotate",
}


def public() -> dict[str, Any]:
    """What users can call, by its name with the module or class before it, and by its last name alone."""
    found: dict[str, Any] = {}

    def add(prefix: str, owner: object, names: list[str]) -> None:
        for name in names:
            value = getattr(owner, name, None)
            if callable(value):
                found.setdefault(f"{prefix}{name}", value)
                found.setdefault(name, value)
            if isinstance(value, type):
                add(f"{name}.", value, [one for one in dir(value) if not one.startswith("_")])

    add("pt.", pt, list(pt.__all__))
    for name in pt.__all__:
        value = getattr(pt, name)
        if isinstance(value, ModuleType):
            add(f"{name}.", value, list(getattr(value, "__all__", dir(value))))
            add(f"pt.{name}.", value, list(getattr(value, "__all__", dir(value))))
    return found


PUBLIC = public()


def parameters(function: Any) -> set[str] | None:
    """The names of the arguments; None where all are taken."""
    try:
        listed = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(one.kind is one.VAR_KEYWORD for one in listed):
        return None
    return {one.name for one in listed}


ARGUMENTS = {name for function in PUBLIC.values() for name in parameters(function) or ()}
PROPOSING = [text for text in TEXTS if text.options or text.commands or text.calls or text.keywords]


def test_texts_are_found() -> None:
    assert len(PROPOSING) > 150
    assert any("--higher-is-better" in text.options for text in TEXTS)
    assert any(name.endswith("read_chaosnli") for text in TEXTS for name, _ in text.calls)


@pytest.mark.parametrize("text", PROPOSING, ids=lambda text: text.where)
def test_what_is_named_exists(text: Text) -> None:
    for option in text.options:
        assert option in OPTIONS | OTHERS, f"{text.where}: no option {option}: {text.content}"
    for command, options in text.commands:
        assert command in COMMANDS, f"{text.where}: no command {command}: {text.content}"
        for option in options:
            assert option in options_of(command), f"{text.where}: {command} has no {option}: {text.content}"
    for name, arguments in text.calls:
        check_call(name, arguments, text)


def check_call(name: str, arguments: str, text: Text) -> None:
    last = name.rpartition(".")[2]
    if FOREIGN.fullmatch(name) or last in NO_CALLS or hasattr(builtins, last) or "{}" in name:
        return
    function = PUBLIC.get(name) or PUBLIC.get(last)
    assert function is not None, f"{text.where}: no function {name}: {text.content}"
    known = parameters(function)
    for keyword in re.findall(r"(?<![\w.])([a-z_]\w*)=(?!=)", re.sub(r"\([^()]*\)|'[^']*'", "", arguments)):
        assert known is None or keyword in known, f"{text.where}: {name} has no argument {keyword}: {text.content}"
