"""Defaults of options from `probtruth.toml`, or `[tool.probtruth]` in `pyproject.toml`; the command line wins."""

import os
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from probtruth.check import did_you_mean, quote
from probtruth.errors import InputError
from probtruth.io import addresses
from probtruth.io.formats import MaybeText
from probtruth.redaction import redacted

FILE, PROJECT = "probtruth.toml", "pyproject.toml"
OFF = "off"  # In place of a file: none is read


def load(option: MaybeText, context: Any) -> MaybeText:
    """Gives the commands the defaults of the file that is named, or of the nearest; says and returns its name."""
    if option == OFF:
        return None
    for path in _near(Path.cwd()) if option is None else [Path(option)]:
        table = _table(path)
        if table is not None:
            name = os.path.relpath(path) if option is None else option
            context.default_map = _defaults(table, name, path.parent, context)
            print(f"settings from {name}", file=sys.stderr)
            return name
    if option is not None:
        raise InputError("no table [tool.probtruth]", "one", f"Add it, or write {FILE}.", option)
    return None


def command_line(file: MaybeText) -> str:
    """The command as it was typed, with the file of settings that it took."""
    words = sys.argv[1:]
    if file is not None and not any(word.startswith("--config") for word in words):
        words = ["--config", file, *words]
    return redacted(shlex.join(["probtruth", *words]))


def _near(here: Path) -> Iterator[Path]:
    """The files that may hold settings, nearest first: here, or above as far as the root of the repository."""
    roots = [folder for folder in (here, *here.parents) if (folder / ".git").exists()]
    for folder in (here, *here.parents):
        for name in (FILE, PROJECT):
            if (folder / name).is_file():
                yield folder / name
        if not roots or folder == roots[0]:
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
    table = content.get("tool", {}).get("probtruth")
    if table is not None and not isinstance(table, dict):
        raise InputError(quote(table), "a table", "Write [tool.probtruth].", f"{path}, tool.probtruth")
    return table


def _defaults(table: Mapping[str, Any], name: str, folder: Path, context: Any) -> dict[str, dict[str, Any]]:
    """The values of parameters by command: what stands above the tables is for every command that has the option."""
    options = {command: _options(parsed) for command, parsed in context.command.commands.items()}
    made: dict[str, dict[str, Any]] = {command: {} for command in options}
    for key, value in table.items():
        command = key.replace("_", "-")
        commands = [*options]
        values = {key: value}
        where = name
        if command in options and isinstance(value, dict):
            commands = [command]
            values = value
            where = f"{name}, [{command}]"
        for option, typed in values.items():
            word = option.replace("_", "-")
            having = [one for one in commands if word in options[one]]
            if not having:
                names = {name for one in commands for name in options[one]}
                raise InputError(
                    quote(option),
                    "an option, or a table of a command",
                    f"Write a table [{word}]." if word in options else did_you_mean(word, sorted({*names, *options})),
                    where,
                )
            for one in having:
                param = options[one][word]
                made[one][param.name] = _value(param, word, typed, folder)
    return made


def _value(param: Any, word: str, value: Any, folder: Path) -> Any:
    """The value of a parameter, which is checked as if it were typed; paths are seen from the folder of the file."""
    if getattr(param, "is_flag", False):
        return value == (f"--{word}" in param.opts) if isinstance(value, bool) else value
    several = param.nargs != 1 or getattr(param, "multiple", False)
    names_several = "," in (param.metavar or "")
    listed = value if isinstance(value, list) and (several or names_several) else [value]
    if isinstance(value, dict):
        listed = [f"{name}={one}" for name, one in value.items()]
    metavar = param.metavar or ""
    is_column = metavar == "FILE|COL" and not (folder / str(value)).is_file()
    if not is_column and any(name in metavar for name in ("FILE", "DIR", "SCORES")):
        listed = [_from_here(str(one), folder) for one in listed]
    texts = [str(one) for one in listed]
    return texts if several else ",".join(texts)


def _options(command: Any) -> dict[str, Any]:
    """The parameters of a command by the words that name them."""
    words = {}
    for param in command.params:
        for flag in (*param.opts, *param.secondary_opts):
            words[flag.removeprefix("--")] = param
    return words


def _from_here(word: str, folder: Path) -> str:
    """A path, or that in `NAME=FILE`, as seen from the current folder."""
    name, path = addresses.named(word)
    if addresses.is_address(path or word):
        return word
    path = os.path.normpath(os.path.join(os.path.relpath(folder), path))
    return f"{name}={path}" if name else path
