"""Options for repeated runs: `probtruth.toml`, or `[tool.probtruth]` in `pyproject.toml`; the command line wins."""

import os
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from probtruth import check
from probtruth.errors import InputError
from probtruth.io import addresses
from probtruth.redaction import redacted

FILE, PROJECT = "probtruth.toml", "pyproject.toml"
OFF = "off"  # In place of a file: none is read
# Options that may stand above the tables, for every command that has them; the others differ from one to another.
SHARED = (
    *("seed", "json", "strict", "engine", "rule", "floor", "rope", "kind", "renormalise", "memory"),
    *("item", "annotator", "label", "replicate", "model", "group", "cluster"),
    *("higher-is-better", "lower-is-better"),
)


@dataclass
class Settings:
    """What a file says, and the words that it adds to the command of this run."""

    name: str
    folder: Path
    table: Mapping[str, Any]
    commands: Mapping[str, Any]
    added: tuple[str, ...] = ()

    def completed(self, context: Any, args: list[str], typed: Sequence[Any]) -> list[str]:
        """The words of a command line and those of the file for parameters that it leaves out."""
        options: dict[str, Any] = _options(context.command)
        words: list[str] = []
        for word, value, where in self._entries(context.info_name):
            if options[word] not in typed:
                words += self._words(context, options[word], word, value, where)
        self.added = tuple(words)
        return [*args, *words]

    def _entries(self, command: str) -> Iterator[tuple[str, Any, str]]:
        """Each option of a command, its value and where it stands; those above the tables are for every command."""
        options = {name: _options(one) for name, one in self.commands.items()}
        for key, value in self.table.items():
            word, where = key.replace("_", "-"), f"{self.name}, {key!r}"
            if word in options and isinstance(value, dict):
                continue
            if word not in SHARED:
                having = next((name for name, own in options.items() if word in own), None)
                hint = (
                    f"Write a table [{word}]." if word in options
                    else f"It differs between commands: put it below [{having}]." if having
                    else check.did_you_mean(word, (*SHARED, *options))
                )  # fmt: skip
                expected = "an option of all commands, or a table of one"
                raise InputError(f"the key {check.quote(key)}", expected, hint, self.name)
            if word in options[command]:
                yield word, value, where
        for key, value in self.table.get(command, {}).items():
            word, where = key.replace("_", "-"), f"{self.name}, [{command}]"
            if word not in options[command]:
                expected = f"one of {check.shortlist(sorted(options[command]), 40)}"
                hint = check.did_you_mean(word, options[command])
                raise InputError(f"the option {check.quote(key)} of `probtruth {command}`", expected, hint, where)
            yield word, value, f"{where}, {key!r}"

    def _words(self, context: Any, param: Any, word: str, value: Any, where: str) -> list[str]:
        """The words that give a parameter its value; paths are seen from the file."""
        if getattr(param, "is_flag", False):
            if not isinstance(value, bool):
                raise InputError(_typed(value), "true or false", "Write it without quotation marks.", where)
            opposite = param.secondary_opts if f"--{word}" in param.opts else param.opts
            return [f"--{word}"] if value else list(opposite[:1])
        several = getattr(param, "multiple", False) or param.nargs != 1
        if isinstance(value, dict) and several:
            value = [f"{name}={_text(one, where)}" for name, one in value.items()]
        values = [_text(one, where) for one in (value if isinstance(value, list) and several else [value])]
        if any(name in (param.metavar or "") for name in ("FILE", "DIR", "SCORES", "TABLE")):
            values = [self._from_here(one) for one in values]
        try:
            param.process_value(context, values if several else values[0])
        except typer.BadParameter as error:
            hint = str(error.message)
            raise InputError(check.shortlist(values), "a value of that option", hint, where) from None
        if param.param_type_name == "argument":
            return values
        if param.nargs > 1:
            return [f"--{word}", *values]
        return [part for one in values for part in (f"--{word}", one)]

    def _from_here(self, word: str) -> str:
        """A path, or that in `NAME=FILE`, as seen from the current folder."""
        name, path = addresses.named(word)
        relative = os.path.relpath(self.folder)
        if relative == os.curdir or addresses.is_address(path or word):
            return word
        return f"{name}={os.path.join(relative, path)}" if name else os.path.join(relative, word)


def load(option: str | None, commands: Mapping[str, Any]) -> Settings | None:
    """The settings that are named, or the nearest; None without any."""
    if option == OFF:
        return None
    path = _nearest(Path.cwd()) if option is None else Path(option)
    table = None if path is None else _table(path)
    if path is None or table is None:
        if option is not None:
            raise InputError("no table [tool.probtruth]", "one", f"Add it, or write {FILE}.", option)
        return None
    return Settings(os.path.relpath(path) if option is None else str(path), path.parent, table, commands)


def _nearest(here: Path) -> Path | None:
    """The nearest file that holds settings: here, or above as far as the root of the repository."""
    above = [here, *here.parents]
    root = next((depth for depth, folder in enumerate(above) if (folder / ".git").exists()), 0)
    files = (folder / name for folder in above[: root + 1] for name in (FILE, PROJECT))
    return next((file for file in files if file.is_file() and _table(file) is not None), None)


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


def _options(command: Any) -> dict[str, Any]:
    """The parameters of a command by the words that name them."""
    named = {param.name: param for param in command.params if param.param_type_name == "argument"}
    flags = {flag[2:]: param for param in command.params for flag in (*param.opts, *param.secondary_opts)}
    return {**{word: param for word, param in flags.items() if word not in ("", "help")}, **named}


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(_typed(value), "text or a number", "See `probtruth COMMAND --help`.", where)
    return str(value)


def _typed(value: Any) -> str:
    return f"{type(value).__name__} {check.quote(value)}"


def command_line(settings: Settings | None) -> str:
    """The command with what the file of settings added to it, so that it works without the file."""
    words = sys.argv[1:]
    if settings is None:
        return redacted(shlex.join(["probtruth", *words]))
    start = next((at for at, word in enumerate(words) if word in settings.commands), 0)
    return redacted(shlex.join(["probtruth", "--config", OFF, *words[start:], *settings.added]))
