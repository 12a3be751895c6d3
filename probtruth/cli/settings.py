"""Options for repeated runs: `probtruth.toml`, or `[tool.probtruth]` in `pyproject.toml`; the command line wins."""

import os
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from probtruth import check
from probtruth.cli.console import Console
from probtruth.errors import InputError
from probtruth.io import addresses
from probtruth.redaction import redacted

FILE, PROJECT = "probtruth.toml", "pyproject.toml"
OFF = "off"
"""In place of a file: none is read."""
STORE = "storage_options"
"""The table of options with which polars reads addresses: it is of no command."""
SHARED = (
    *("seed", "quiet", "json", "strict", "engine", "rule", "floor", "rope", "kind", "renormalise", "memory", "time"),
    *("item", "annotator", "label", "replicate", "model", "group", "cluster"),
    *("higher-is-better", "lower-is-better"),
)
"""Options that may stand above the tables, for every command that has them; the others differ from one to another."""


def load(option: str | None, context: Any) -> tuple[str | None, dict[str, dict[str, Any]]]:
    """The file that is used (None: none) and the default map: for each command, the values of its parameters.

    Arguments: `option` is a path, `off`, or None for the file of the current folder or, in a repository, of the nearest
    folder above it that has one; `context` is that of the group of commands.

    Errors: `InputError` for a file that cannot be read, an unknown command or option, or a value of another type.
    """
    if option == OFF:
        return None, {}
    path = _nearest(Path.cwd()) if option is None else Path(option)
    table = None if path is None else _table(path)
    if path is None or table is None:
        if option is not None:
            raise InputError("no table [tool.probtruth]", "one", f"Add it, or write {FILE}.", option)
        return None, {}
    name = os.path.relpath(path) if option is None else str(path)
    addresses.use(addresses.StoreOptions.of(table.get(STORE, {}), f"{name}, [{STORE}]"))
    values: dict[str, dict[str, Any]] = {}
    for command, word, value, where in _entries(table, context.command.commands, name, path.name == PROJECT):
        param = dict(_options(context.command.commands[command]))[word]
        values.setdefault(command, {})[param.name] = _value(context, param, word, value, path.parent, where)
    return name, values


def _nearest(here: Path) -> Path | None:
    """The nearest file that holds settings: here, or above as far as the root of the repository."""
    above = [here, *here.parents]
    root = next((depth for depth, folder in enumerate(above) if (folder / ".git").exists()), 0)
    files = (folder / name for folder in above[: root + 1] for name in (FILE, PROJECT))
    return next((file for file in files if file.is_file() and _table(file) is not None), None)


def _table(path: Path) -> dict[str, Any] | None:
    """The file's table of settings; None if a `pyproject.toml` has none."""
    from probtruth.io.tables.read import read_bytes, shown, utf8

    name = shown(path)
    try:
        content = tomllib.loads(utf8(read_bytes(path), name).decode())
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"no TOML ({error})", "TOML", "Correct that line, or write --config off.", name) from None
    if path.name != PROJECT:
        return content
    tool = content.get("tool")
    table = tool.get("probtruth") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise InputError(_typed(table), "a table", "Write [tool.probtruth].", f"{path}, tool.probtruth")
    return table


def _entries(
    table: Mapping[str, Any], commands: Mapping[str, Any], name: str, in_project: bool
) -> Iterator[tuple[str, str, Any, str]]:
    """Each value with its command, its option and where it stands; those above the tables for every command.

    Errors: `InputError` for an option or a command that there is not.
    """
    head = "tool.probtruth" if in_project else ""
    options = {command: dict(_options(click)) for command, click in commands.items()}
    for key, value in table.items():
        if key == STORE:
            continue
        word, where = key.replace("_", "-"), f"{name}, [{head}]" if head else name
        if word in commands and isinstance(value, dict):
            continue
        if word not in SHARED:
            raise _unknown(key, word, options, where)
        yield from ((command, word, value, f"{where}, {key!r}") for command, own in options.items() if word in own)
    for command, own in options.items():
        inner = table.get(command)
        where = f"{name}, [{'.'.join(filter(None, (head, command)))}]"
        for key, value in inner.items() if isinstance(inner, dict) else ():
            word = key.replace("_", "-")
            if word not in own:
                raise InputError(
                    f"the option {check.quote(key)} of `probtruth {command}`",
                    f"one of {check.shortlist(sorted(own), 40)}",
                    check.did_you_mean(word, own),
                    where,
                )
            yield command, word, value, f"{where}, {key!r}"


def _unknown(key: str, word: str, options: Mapping[str, Mapping[str, Any]], where: str) -> InputError:
    having = [command for command, own in options.items() if word in own]
    if word in options:
        hint = f"Write a table [{word}]."
    elif having:
        hint = f"It differs between commands: put it below [{having[0]}]."
    else:
        hint = check.did_you_mean(word, (*SHARED, *options))
    return InputError(f"the key {check.quote(key)}", "an option of all commands, or a table of one", hint, where)


def _options(command: Any) -> Iterator[tuple[str, Any]]:
    """The parameters of a command by the words that name them."""
    for param in command.params:
        if param.param_type_name == "argument":
            yield param.name, param
        elif "--help" not in param.opts:
            yield from ((flag[2:], param) for flag in (*param.opts, *param.secondary_opts) if flag.startswith("--"))


def _value(context: Any, param: Any, word: str, value: Any, folder: Path, where: str) -> Any:
    """The parameter's value as the command line would give it: text, a truth value, or a list of text."""
    if getattr(param, "is_flag", False):
        if not isinstance(value, bool):
            raise InputError(_typed(value), "true or false", "Write it without quotation marks.", where)
        return value != (f"--{word}" in param.secondary_opts)
    metavar = (param.metavar or "").upper()
    several = getattr(param, "multiple", False) or param.nargs != 1
    if isinstance(value, dict) and several and "=" in metavar:
        words = [f"{name}={_text(one, where)}" for name, one in value.items()]
    else:
        words = [_text(one, where) for one in (value if isinstance(value, list) and several else [value])]
    if param.nargs > 1 and len(words) != param.nargs:
        raise InputError(f"{len(words)} values", f"{param.nargs}", f"Write a list of {param.nargs}.", where)
    if _is_path(param):
        words = [_from_here(word, folder, "=" in metavar) for word in words]
    try:
        param.process_value(context, words if several else words[0])
    except typer.BadParameter as error:
        raise InputError(check.shortlist(words), "a value of that option", str(error.message), where) from None
    return words if several else words[0]


def _is_path(param: Any) -> bool:
    return any(name in (param.metavar or "").upper() for name in ("FILE", "DIR", "SCORES"))


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(_typed(value), "text or a number", "See `probtruth COMMAND --help`.", where)
    return str(value)


def _from_here(word: str, folder: Path, named: bool) -> str:
    """A path (`FILE`, `FILE:COL` or, where they have names, `NAME=FILE`) as seen from the current folder."""
    relative = os.path.relpath(folder)
    name, equals, path = word.rpartition("=") if named else ("", "", word)
    if relative == os.curdir or _address_in(word):
        return word
    return f"{name}{equals}{os.path.join(relative, path)}"


def _address_in(word: str) -> str:
    """The address in `FILE` or `NAME=FILE`; empty where there is none."""
    path = addresses.named(word)[1] or word
    return path if addresses.is_address(path) else ""


def _typed(value: Any) -> str:
    return f"{type(value).__name__} {check.quote(value)}"


def console(context: Any, json: bool, quiet: bool = False) -> Console:
    """The console of a command, with the command line that it had; notes the file of settings."""
    file = context.parent.obj if context.parent is not None else None
    made = Console(json, quiet, _command_line(context, file))
    if file is not None:
        made.note(f"settings from {file}")
        if _from_file(context, "dask"):  # not only a note: nothing connects anywhere unseen
            print(f"connects to Dask ({check.quote(context.params['dask'])}), as {file} says", file=sys.stderr)
        for line in _connections(context, file):
            print(line, file=sys.stderr)
    return made


def _connections(context: Any, file: str) -> Iterator[str]:
    """What a run reads from elsewhere because the file of settings says so, or as it says."""
    read = [
        (param, address)
        for param in context.command.params
        if (value := context.params.get(param.name)) is not None and _is_path(param)
        for word in (value if isinstance(value, list | tuple) else [value])
        if (address := _address_in(str(word)))
    ]
    for param, address in read:
        if _from_file(context, param.name):
            yield f"reads {redacted(address)}, as {file} says"
    if read and (options := addresses.in_use().words()):
        yield f"reads addresses with the {STORE} of {file}: {options}"


def _from_file(context: Any, name: str) -> bool:
    """Whether a parameter has its value from the file of settings."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "DEFAULT_MAP"


def _command_line(context: Any, file: str | None) -> str:
    """The command with the values that the file of settings added to it, so that it works without the file."""
    words = sys.argv[1:]
    if file is None:
        return redacted(shlex.join(["probtruth", *words]))
    start = 0
    while words[start].startswith("-"):
        start += 2 if words[start] == "--config" else 1
    added: list[str] = []
    for param in context.command.params:
        if _from_file(context, param.name):
            added += _as_words(param, context.default_map[param.name])
    return redacted(shlex.join(["probtruth", "--config", OFF, context.info_name, *words[start + 1 :], *added]))


def _as_words(param: Any, value: Any) -> list[str]:
    """The words that give a parameter its value."""
    if getattr(param, "is_flag", False):
        return list(param.opts[:1] if value else param.secondary_opts[:1])
    values = list(value) if isinstance(value, list) else [value]
    if param.param_type_name == "argument":
        return values
    if param.nargs > 1:
        return [param.opts[0], *values]
    return [word for one in values for word in (param.opts[0], one)]
