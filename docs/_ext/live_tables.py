"""Tables that are made from the code when the documentation is built: the rules, the methods, names of types."""

import ast
import inspect
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import typer.main

from probtruth.cli import app
from probtruth.scoring.rules import NAMED, ScoringRule
from probtruth.truth.infer import DEFAULTS, METHODS
from probtruth.types import arguments

_DOI = re.compile(r"doi:(\S+)")


def rules() -> tuple[Sequence[str], list[Sequence[str]]]:
    """Every scoring rule that has a name, from the facts that it carries."""
    head = ("rule", "loss if the label is y", "range", "proper", "local", "first published by")
    return head, [
        (
            f"`{rule.name}`",
            f"`{rule.formula}`",
            _range(rule),
            _proper(rule),
            "yes" if rule.local else "no",
            _linked(rule.source),
        )
        for rule in NAMED.values()
    ]


def _proper(rule: ScoringRule) -> str:
    return "strictly" if rule.strictly_proper else "yes" if rule.proper else "**no**"


def _linked(source: str) -> str:
    """A source with its DOI as a link."""
    return _DOI.sub(lambda doi: f"[{doi[0]}](<https://doi.org/{quote(doi[1], safe='/()')}>)", source)


def _range(rule: ScoringRule) -> str:
    if rule.range_by_labels is not None:
        return "0 to K - 1"
    return " to ".join(f"{bound:g}" for bound in rule.range)


def methods() -> tuple[Sequence[str], list[Sequence[str]]]:
    """Every truth method: what it answers, the options it takes, and the first sentence of its description."""
    head = ("method", "estimand", "model", "options")
    return head, [
        (
            f"`{name}`" + (" (default)" if DEFAULTS[method.estimand] == name else ""),
            method.estimand,
            f"`{(method.fit.__doc__ or '').strip().splitlines()[0].rstrip('.')}`",
            ", ".join(f"`{option}`" for option in method.options) or "-",
        )
        for name, method in METHODS.items()
    ]


def types() -> tuple[Sequence[str], list[Sequence[str]]]:
    """The names of the types that several functions take, from the module that defines them."""
    source = inspect.getsource(arguments)
    lines = source.splitlines()
    named = [node for node in ast.parse(source).body if isinstance(node, ast.TypeAlias)]
    return ("name", "meaning", "values"), [
        (f"`{node.name.id}`", _comment(lines, node), f"`{ast.unparse(node.value)}`") for node in named
    ]


def _comment(lines: Sequence[str], node: ast.TypeAlias) -> str:
    """The comment at the end of a definition, or in the lines above it."""
    found = [lines[(node.end_lineno or 0) - 1][node.end_col_offset or 0 :].strip()]
    if not found[0]:
        above = itertools.takewhile(lambda line: line.startswith("#"), reversed(lines[: node.lineno - 1]))
        found = list(above)[::-1]
    return " ".join(line.strip("# ") for line in found)


TABLES: dict[str, Callable[[], tuple[Sequence[str], list[Sequence[str]]]]] = {
    "rules": rules,
    "methods": methods,
    "types": types,
}


def as_markdown(name: str) -> str:
    """A table of that name as Markdown."""
    head, rows = TABLES[name]()
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def commands() -> str:
    """Every command of the command line with its options, as Markdown."""
    group: Any = typer.main.get_command(app)
    return "\n\n".join(_command(name, command) for name, command in group.commands.items())


def _command(name: str, command: Any) -> str:
    rows = [("argument or option", "meaning", "default"), ("---", "---", "---")]
    for option in command.params:
        if "--help" in option.opts:
            continue
        shown = ", ".join([] if option.param_type_name == "argument" else option.opts)
        value = "" if getattr(option, "is_flag", False) else option.metavar or option.type.name.upper()
        silent = option.default is None or option.default is False or callable(option.default)
        default = "required" if option.required else "" if silent else f"`{option.default}`"
        rows.append((f"`{f'{shown} {value}'.strip()}`", option.help or "", default))
    table = "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows)
    return f"## `probtruth {name}`\n\n{command.help}\n\n{table}"
