"""What the text of a message proposes to type: options with their values, whole commands, arguments of a call."""

import re
import shlex
from typing import Any

import typer

from probtruth.cli import app

COMMANDS: dict[str, Any] = {command.name: command for command in typer.main.get_command(app).commands.values()}
WORD = re.compile(r"'(?:[^']|'\\'')*'|\"[^\"]*\"|[^\s,;)]+(?:,[^\s,;)]+)*")
PROSE = {"or", "and", "to", "with", "of", "is", "for", "says", "in", "go"}  # What follows an option that is only named


def values_of(command: str) -> dict[str, int]:
    """How many values each option of a command takes."""
    found: dict[str, int] = {}
    for param in COMMANDS[command].params:
        for flag in (*param.opts, *param.secondary_opts):
            found[flag] = 0 if getattr(param, "is_flag", False) else param.nargs
    return found


def hint_of(message: str) -> str:
    return message.partition("Hint: ")[2] or message


def options_in(message: str, command: str) -> list[tuple[str, ...]]:
    """The options that a hint proposes for a command, with their values; those side by side are one proposal."""
    text = hint_of(message)
    values = values_of(command)
    found: list[tuple[str, ...]] = []
    end = -1
    for match in re.finditer(r"(?<![\w-])--[a-z][a-z0-9-]+", text):
        if match[0] not in values:
            continue
        value = re.match(rf"(?:[ =]({WORD.pattern})){{{values[match[0]]}}}", text[match.end() :])
        words = (match[0], *shlex.split(value[0].lstrip("=").rstrip(".,;"))) if value is not None else ()
        if not words or any(word.startswith(("(", "--")) or word in PROSE for word in words[1:]):
            continue  # a name alone
        if end >= 0 and text[end : match.start()].strip() == "":
            found[-1] = (*found[-1], *words)
        else:
            found.append(words)
        end = match.end() + len(value[0])
    return list(dict.fromkeys(found))


def with_options(words: list[str], options: tuple[str, ...], repeated: frozenset[str] = frozenset()) -> list[str]:
    """A command with options; of those that take one value, what it had before goes."""
    values = values_of(words[0])
    named = {word for word in options if word.startswith("--")} - repeated
    left: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, _ = word.partition("=")
        if name in named:
            for _ in range(0 if equals else values[name]):
                next(rest, None)
            continue
        left.append(word)
    return [*left, *options]
