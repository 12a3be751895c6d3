"""What the text of a message proposes to type: options with their values, whole commands, arguments of a call."""

import ast
import re
import shlex
from collections.abc import Iterator
from typing import Any

import typer

from probtruth.cli import app

COMMANDS: dict[str, Any] = {command.name: command for command in typer.main.get_command(app).commands.values()}  # type: ignore[attr-defined]
WORD = re.compile(r"'(?:[^']|'\\'')*'|\"[^\"]*\"|[^\s,;)]+")
RUN = re.compile(r"Run: (probtruth .+)$")
KEYWORD = re.compile(r"(?<![\w.-])([a-z_][a-z_0-9]*)=('[^']*'|\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|True|False|-?[\d.]+\d)")


def flags_of(command: str) -> dict[str, bool]:
    """Whether each option of a command is a switch without a value."""
    found: dict[str, bool] = {}
    for param in COMMANDS[command].params:
        for flag in (*param.opts, *param.secondary_opts):
            found[flag] = bool(getattr(param, "is_flag", False))
    return found


def hint_of(message: str) -> str:
    return message.partition("Hint: ")[2] or message


def whole_command(message: str) -> list[str] | None:
    """The words of `Run: probtruth ...`, without the program."""
    match = RUN.search(message.strip())
    return None if match is None else shlex.split(match[1])[1:]


def options_in(message: str, command: str) -> list[tuple[str, ...]]:
    """The options that a hint proposes with a value (or that are switches), for a command; those side by side are one."""
    text = RUN.sub("", hint_of(message))
    flags = flags_of(command)
    found: list[tuple[str, ...]] = []
    end = -1
    for match in re.finditer(r"(?<![\w-])--[a-z][a-z0-9-]+", text):
        option = match[0]
        if option not in flags:
            continue
        rest = text[match.end() :]
        word = re.match(r"[ =](" + WORD.pattern + ")", rest)
        if flags[option]:
            words, stop = (option,), match.end()
        elif word is not None and not word[1].startswith("-") and not rest.startswith(" ("):
            words, stop = (option, *shlex.split(word[1].rstrip("."))), match.end() + word.end()
        else:
            continue  # a name alone
        together = end >= 0 and text[end : match.start()].strip() == ""
        if together:
            found[-1] = (*found[-1], *words)
        else:
            found.append(words)
        end = stop
    return list(dict.fromkeys(found))


def keywords_in(message: str) -> list[dict[str, Any]]:
    """The arguments with literal values that a hint proposes."""
    return list(_literals(RUN.sub("", hint_of(message))))


def _literals(text: str) -> Iterator[dict[str, Any]]:
    for name, value in dict.fromkeys(KEYWORD.findall(text)):
        try:
            yield {name: ast.literal_eval(value)}
        except (ValueError, SyntaxError):
            continue


def with_options(words: list[str], options: tuple[str, ...], repeated: frozenset[str] = frozenset()) -> list[str]:
    """A command with options; of those that take one value, what it had before goes."""
    flags = flags_of(words[0])
    named = {word for word in options if word.startswith("--")} - repeated
    left: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, _ = word.partition("=")
        if name in named:
            if not equals and not flags[name]:
                next(rest, None)
            continue
        left.append(word)
    return [*left, *options]
