"""Options for repeated runs: `probtruth.toml`, or `[tool.probtruth]` in `pyproject.toml`; the command line wins."""

import os
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from probtruth import check
from probtruth.cli.console import Console
from probtruth.errors import InputError

FILE, PROJECT = "probtruth.toml", "pyproject.toml"
OFF = "off"
"""In place of a file: none is read."""
SHARED = (
    *("seed", "quiet", "json", "strict", "engine", "rule", "floor", "rope", "kind", "memory"),
    *("item", "annotator", "label", "replicate", "model", "group", "cluster"),
    *("higher-is-better", "lower-is-better"),
)
"""Options that may stand above the tables, for every command that has them; the others differ from one to another."""


def load(asked: str | None, context: Any) -> tuple[str | None, dict[str, dict[str, Any]]]:
    """The file that is used (None: none) and, for each command, the values of its parameters.

    Arguments: `asked` is a path, `off`, or None for the file of the current folder or, in a repository, of the nearest
    folder above it that has one; `context` is that of the group of commands.

    Errors: `InputError` for a file that cannot be read, an unknown command or option, or a value of another type.
    """
    if asked == OFF:
        return None, {}
    found = _search(Path.cwd()) if asked is None else _table(Path(asked))
    if found is None:
        if asked is not None:
            raise InputError("no table [tool.probtruth]", "one", f"Add it, or write {FILE}.", asked)
        return None, {}
    path, table, head = found
    name = os.path.relpath(path) if asked is None else str(path)
    return name, _defaults(table, context, name, head, _folder(path))


def _search(here: Path) -> tuple[Path, dict[str, Any], str] | None:
    """The nearest file that holds settings: here, or above as far as the root of the repository."""
    above = [here, *here.parents]
    root = next((place for place, folder in enumerate(above) if (folder / ".git").exists()), 0)
    for folder in above[: root + 1]:
        for name in (FILE, PROJECT):
            if (folder / name).is_file():
                found = _table(folder / name)
                if found is not None:
                    return found
    return None


def _table(path: Path) -> tuple[Path, dict[str, Any], str] | None:
    """The file's table of settings, and its name; None where a `pyproject.toml` has none."""
    from probtruth.io.tables.read import read_bytes, shown, utf8

    name = shown(path)
    try:
        read = tomllib.loads(utf8(read_bytes(path), name).decode())
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"no TOML ({error})", "TOML", "Mend that place, or write --config off.", name) from None
    if path.name != PROJECT:
        return path, read, ""
    tool = read.get("tool")
    table = tool.get("probtruth") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise InputError(_words(table), "a table", "Write [tool.probtruth].", f"{path}, tool.probtruth")
    return path, table, "tool.probtruth"


def _folder(path: Path) -> str:
    """The folder that the file's paths are relative to, as seen from the current one; empty where it is that one."""
    folder = os.path.relpath(path.parent)
    return "" if folder == os.curdir else folder


def _defaults(table: Mapping[str, Any], context: Any, name: str, head: str, folder: str) -> dict[str, dict[str, Any]]:
    commands = context.command.commands
    options = {command: dict(_options(made)) for command, made in commands.items()}
    values: dict[str, dict[str, Any]] = {command: {} for command in commands}
    known = (*SHARED, *commands)
    for key, value in table.items():
        word = key.replace("_", "-")
        if word in commands and isinstance(value, dict):
            continue
        where = f"{name}, [{head}]" if head else name
        if word not in SHARED:
            raise _unknown(key, word, known, commands, options, where)
        for command, own in options.items():
            if word in own:
                values[command] |= _value(context, own[word], word, value, folder, f"{where}, {key!r}")
    for command, own in options.items():
        inner = table.get(command)
        for key, value in inner.items() if isinstance(inner, dict) else ():
            word = key.replace("_", "-")
            where = f"{name}, [{'.'.join(filter(None, (head, command)))}]"
            if word not in own:
                raise InputError(
                    f"the option {check.quote(key)} of `probtruth {command}`",
                    f"one of {check.shortlist(sorted(own), 40)}",
                    check.did_you_mean(word, own),
                    where,
                )
            values[command] |= _value(context, own[word], word, value, folder, f"{where}, {key!r}")
    return values


def _unknown(
    key: str,
    word: str,
    known: Sequence[str],
    commands: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    where: str,
) -> InputError:
    having = [command for command, own in options.items() if word in own]
    if word in commands:
        hint = f"Write a table [{word}]."
    elif having:
        hint = f"It differs between commands: put it below [{having[0]}]."
    else:
        hint = check.did_you_mean(word, known)
    return InputError(f"the key {check.quote(key)}", "an option of all commands, or a table of one", hint, where)


def _options(command: Any) -> Iterator[tuple[str, Any]]:
    """The parameters of a command by the words that name them."""
    for param in command.params:
        if param.param_type_name == "argument":
            yield param.name, param
        elif "--help" not in param.opts:
            for flag in (*param.opts, *param.secondary_opts):
                if flag.startswith("--"):
                    yield flag[2:], param


def _value(context: Any, param: Any, word: str, given: Any, folder: str, where: str) -> dict[str, Any]:
    """The parameter's value as the command line would give it: text, truth values, or a list of them."""
    if getattr(param, "is_flag", False):
        if not isinstance(given, bool):
            raise InputError(_words(given), "true or false", "Write it without quotation marks.", where)
        return {param.name: given != (f"--{word}" in param.secondary_opts)}
    shape = (param.metavar or "").upper()
    several = getattr(param, "multiple", False) or param.nargs != 1
    if isinstance(given, dict) and several and "=" in shape:
        listed = [f"{name}={_text(value, where)}" for name, value in given.items()]
    elif isinstance(given, list) and several:
        listed = [_text(value, where) for value in given]
    else:
        listed = [_text(given, where)]
    if param.nargs > 1 and len(listed) != param.nargs:
        raise InputError(f"{len(listed)} values", f"{param.nargs}", f"Write a list of {param.nargs}.", where)
    made = [_placed(text, shape, folder) for text in listed]
    value = made if several else made[0]
    try:
        param.process_value(context, value)
    except typer.BadParameter as error:
        raise InputError(check.shortlist(made), "a value of that option", str(error.message), where) from None
    return {param.name: value}


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(_words(value), "text or a number", "See `probtruth COMMAND --help`.", where)
    return str(value)


def _placed(text: str, shape: str, folder: str) -> str:
    """A path as seen from the current folder; anything else as it is."""
    if not folder or not any(word in shape for word in ("FILE", "DIR", "SCORES")):
        return text
    if "=" in shape and "=" in text:
        name, _, path = text.rpartition("=")
        return f"{name}={os.path.join(folder, path)}"
    return os.path.join(folder, text)  # FILE:COL too, since its path comes first


def _words(value: Any) -> str:
    return f"{type(value).__name__} {check.quote(value)}"


def command_line(context: Any) -> str:
    """The command as it was given, with what the file of settings added to it, so that it does without the file."""
    words = sys.argv[1:]
    if _file(context) is None:
        return shlex.join(["probtruth", *words])
    place = 0
    while words[place].startswith("-"):
        place += 2 if words[place] == "--config" else 1
    rest = words[place + 1 :]
    added: list[str] = []
    for param in context.command.params:
        source = context.get_parameter_source(param.name)
        if source is not None and source.name == "DEFAULT_MAP":
            added += _said(param, context.default_map[param.name])
    return shlex.join(["probtruth", "--config", OFF, context.info_name, *rest, *added])


def console(context: Any, json: bool, quiet: bool) -> Console:
    """The console of a command, which knows how it was called; notes the file of settings."""
    made = Console(json, quiet, command_line(context))
    if _file(context) is not None:
        made.note(f"settings from {_file(context)}")
    return made


def _file(context: Any) -> str | None:
    used: str | None = context.parent.obj if context.parent is not None else None
    return used


def _said(param: Any, value: Any) -> list[str]:
    """The words that give a parameter its value."""
    if getattr(param, "is_flag", False):
        return list(param.opts[:1] if value else param.secondary_opts[:1])
    listed = list(value) if isinstance(value, list) else [value]
    if param.param_type_name == "argument":
        return listed
    if param.nargs > 1:
        return [param.opts[0], *listed]
    return [word for one in listed for word in (param.opts[0], one)]
