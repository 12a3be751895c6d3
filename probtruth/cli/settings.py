"""Defaults of options from `probtruth.toml`, or `[tool.probtruth]` in `pyproject.toml`; the command line wins."""

import os
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
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
    for path in _near(Path.cwd()) if option is None else [Path(option)]:
        table = _table(path)
        if table is not None:
            name = os.path.relpath(path) if option is None else option
            context.default_map = Defaults(context, path.parent).of_file(table, name)
            return name
    if option is not None:
        raise InputError("no table [tool.probtruth]", "one", f"Add it, or write {FILE}.", option)
    return None


def command_line(file: str | None) -> str:
    """The command as it was typed, with the file of settings that it took."""
    words = sys.argv[1:]
    if file is not None and not any(word.startswith("--config") for word in words):
        words = ["--config", file, *words]
    return redacted(shlex.join(["probtruth", *words]))


def _near(here: Path) -> Iterator[Path]:
    """The files that may hold settings, nearest first: here, or above as far as the root of the repository."""
    above = [here]
    if any((folder / ".git").exists() for folder in here.parents):
        above += here.parents
    for folder in above:
        for name in (FILE, PROJECT):
            if (folder / name).is_file():
                yield folder / name
        if (folder / ".git").exists():
            return


def _table(path: Path) -> dict[str, Any] | None:
    """The file's table of settings; None if a `pyproject.toml` has none."""
    try:
        content = tomllib.loads(path.read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"no TOML ({error})", "TOML", "Correct that, or write --config off.", str(path)) from None
    except OSError as error:
        raise InputError(str(error.strerror).lower(), "a file of settings", "Check the path.", str(path)) from None
    if path.name != PROJECT:
        return content
    tool = content.get("tool")
    table = tool.get("probtruth") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise InputError(_typed(table), "a table", "Write [tool.probtruth].", f"{path}, tool.probtruth")
    return table


class Defaults:
    """The values that a file of settings in a folder gives to the parameters of the commands."""

    def __init__(self, context: Any, folder: Path) -> None:
        self.context = context
        self.folder = folder
        self.options = {name: _options(command) for name, command in context.command.commands.items()}
        self.made: dict[str, dict[str, Any]] = {name: {} for name in self.options}

    def of_file(self, table: Mapping[str, Any], name: str) -> dict[str, dict[str, Any]]:
        """By command: what stands above the tables is for every command that has the option."""
        tables: dict[str, Any] = {}
        for key, value in table.items():
            command = _word(key)
            if command in self.options and isinstance(value, dict):
                tables[command] = value
            else:
                self._add(key, value, list(self.options), name)
        for command, own in tables.items():
            for key, value in own.items():
                self._add(key, value, [command], f"{name}, [{command}]")
        return self.made

    def _add(self, key: str, value: Any, commands: Sequence[str], where: str) -> None:
        """The value for each of these commands that has the option."""
        word = _word(key)
        having = [command for command in commands if word in self.options[command]]
        if not having:
            names = {name for command in commands for name in self.options[command]}
            hint = check.did_you_mean(word, sorted(names.union(self.options)))
            if word in self.options:
                hint = f"Write a table [{word}]."
            raise InputError(check.quote(key), "an option, or a table of a command", hint, where)
        for command in having:
            param = self.options[command][word]
            self.made[command][param.name] = self._value(param, word, value, f"{where}, {key!r}")

    def _value(self, param: Any, word: str, value: Any, where: str) -> Any:
        """The value of a parameter; paths are seen from the file."""
        if getattr(param, "is_flag", False):
            if not isinstance(value, bool):
                raise InputError(_typed(value), "true or false", "Write it without quotation marks.", where)
            return value == (f"--{word}" in param.opts)
        several = getattr(param, "multiple", False) or param.nargs != 1
        listed = [value]
        if several and isinstance(value, dict):
            listed = [f"{name}={_text(one, where)}" for name, one in value.items()]
        elif several and isinstance(value, list):
            listed = value
        values = [_text(one, where) for one in listed]
        if any(name in (param.metavar or "") for name in ("FILE", "DIR", "SCORES", "TABLE")):
            values = [_from_here(one, self.folder) for one in values]
        typed = values if several else values[0]
        try:
            param.process_value(self.context, typed)
        except typer.BadParameter as error:
            raise InputError(check.shortlist(values), "a value of that option", str(error.message), where) from None
        return typed


def _word(key: str) -> str:
    return key.replace("_", "-")


def _options(command: Any) -> dict[str, Any]:
    """The parameters of a command by the words that name them."""
    words: dict[str, Any] = {}
    for param in command.params:
        if param.param_type_name == "argument":
            words[param.name] = param
            continue
        for flag in (*param.opts, *param.secondary_opts):
            words[flag.removeprefix("--")] = param
    words.pop("help", None)
    return words


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
