"""Defaults of options from `probtruth.toml`, or `[tool.probtruth]` in `pyproject.toml`; the command line wins."""

import os
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from probtruth import check
from probtruth.errors import InputError
from probtruth.io import addresses
from probtruth.redaction import redacted

FILE, PROJECT = "probtruth.toml", "pyproject.toml"
OFF = "off"  # In place of a file: none is read


def load(option: str | None, context: Any) -> str | None:
    """Gives the commands the defaults of the file that is named, or of the nearest; returns its name."""
    if option == OFF:
        return None
    files = _near(Path.cwd()) if option is None else [Path(option)]
    path, table = next(((file, table) for file in files if (table := _table(file)) is not None), (Path(), None))
    if table is None:
        if option is not None:
            raise InputError("no table [tool.probtruth]", "one", f"Add it, or write {FILE}.", option)
        return None
    name = os.path.relpath(path) if option is None else str(path)
    context.default_map = _defaults(table, name, path.parent, context)
    return name


def command_line(file: str | None) -> str:
    """The command as it was typed, with the file of settings that it took."""
    words = sys.argv[1:]
    if file is not None and not any(word.startswith("--config") for word in words):
        words = ["--config", file, *words]
    return redacted(shlex.join(["probtruth", *words]))


def _near(here: Path) -> Iterator[Path]:
    """The files that may hold settings, nearest first: here, or above as far as the root of the repository."""
    above = [here, *here.parents]
    root = next((depth for depth, folder in enumerate(above) if (folder / ".git").exists()), 0)
    files = (folder / name for folder in above[: root + 1] for name in (FILE, PROJECT))
    return (file for file in files if file.is_file())


def _table(path: Path) -> dict[str, Any] | None:
    """The file's table of settings; None if a `pyproject.toml` has none."""
    try:
        content = tomllib.loads(path.read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"no TOML ({error})", "TOML", "Correct that, or write --config off.", str(path)) from None
    except OSError as error:
        raise InputError(str(error.strerror).lower(), "a file of settings", "Check the path.", str(path)) from None
    tool = content.get("tool")
    table = content if path.name != PROJECT else tool.get("probtruth") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise InputError(_typed(table), "a table", "Write [tool.probtruth].", f"{path}, tool.probtruth")
    return table


def _defaults(table: Mapping[str, Any], name: str, folder: Path, context: Any) -> dict[str, dict[str, Any]]:
    """The values by command and parameter: what stands above the tables is for every command that has the option."""
    options = {command: _options(one) for command, one in context.command.commands.items()}
    made: dict[str, dict[str, Any]] = {command: {} for command in options}
    for key, value in sorted(table.items(), key=lambda entry: isinstance(entry[1], dict)):
        command = key.replace("_", "-")
        own = value if command in options and isinstance(value, dict) else {key: value}
        where = name if own is not value else f"{name}, [{command}]"
        for inner, one in own.items():
            word = inner.replace("_", "-")
            having = [other for other in options if word in options[other] and (own is not value or other == command)]
            if not having:
                known = (*options[command],) if own is value else (*options, *(w for o in options.values() for w in o))
                hint = f"Write a table [{word}]." if word in options else check.did_you_mean(word, known)
                raise InputError(f"{check.quote(inner)}", "an option, or a table of a command", hint, where)
            for other in having:
                made[other] |= _value(options[other][word], word, one, f"{where}, {inner!r}", folder, context)
    return made


def _options(command: Any) -> dict[str, Any]:
    """The parameters of a command by the words that name them."""
    named = {param.name: param for param in command.params if param.param_type_name == "argument"}
    flags = {flag[2:]: param for param in command.params for flag in (*param.opts, *param.secondary_opts)}
    return {**{word: param for word, param in flags.items() if word not in ("", "help")}, **named}


def _value(param: Any, word: str, value: Any, where: str, folder: Path, context: Any) -> dict[str, Any]:
    """A parameter with its value; paths are seen from the file."""
    if getattr(param, "is_flag", False):
        if not isinstance(value, bool):
            raise InputError(_typed(value), "true or false", "Write it without quotation marks.", where)
        return {param.name: value == (f"--{word}" in param.opts)}
    several = getattr(param, "multiple", False) or param.nargs != 1
    if isinstance(value, dict) and several:
        value = [f"{name}={_text(one, where)}" for name, one in value.items()]
    values = [_text(one, where) for one in (value if isinstance(value, list) and several else [value])]
    if any(name in (param.metavar or "") for name in ("FILE", "DIR", "SCORES", "TABLE")):
        values = [_from_here(one, folder) for one in values]
    given = values if several else values[0]
    try:
        param.process_value(context, given)
    except typer.BadParameter as error:
        raise InputError(check.shortlist(values), "a value of that option", str(error.message), where) from None
    return {param.name: given}


def _from_here(word: str, folder: Path) -> str:
    """A path, or that in `NAME=FILE`, as seen from the current folder."""
    name, path = addresses.named(word)
    relative = os.path.relpath(folder)
    if relative == os.curdir or addresses.is_address(path or word):
        return word
    return f"{name}={os.path.join(relative, path)}" if name else os.path.join(relative, word)


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(_typed(value), "text or a number", "See `probtruth COMMAND --help`.", where)
    return str(value)


def _typed(value: Any) -> str:
    return f"{type(value).__name__} {check.quote(value)}"
