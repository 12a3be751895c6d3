"""Commands that take blocks of options, and help that shows every option on one line, in panels."""

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

PANELS = ("Input", "Question", "Model", "Output")
"""The panels of the help in order: what is read, what is asked of it, how it is answered, where the answer goes."""
INPUT, QUESTION, MODEL, OUTPUT = PANELS
WIDTH = 100
"""Columns that help needs for one line an option."""
FIRST = ("predictions", "table")
"""Options that a command needs unless another stands for them: the help begins with them."""
LONGEST = 44
"""Columns for an option and its value; a longer one has a line of its own."""

OTHER_NAMES = {"--method": "--truth", "--truth": "--method", "--models": "--predictions", "--labels": "--annotations"}
"""Options that other commands, or the functions in Python, call so, and what they are called here."""
FIRST_OPTION = "--predictions"
FOLLOWS = "; each file follows its option: --annotations FILE --predictions NAME=FILE --predictions NAME=FILE"

UsageError: Any = typer.BadParameter.__base__


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its blocks as options of their own.

    A block is a parameter whose type is a dataclass or a named tuple; its fields may be blocks again.
    """
    parameters = _parameters(function)

    def command(**values: Any) -> None:
        function(**_arguments(function, values))

    command.__name__, command.__doc__, command.__module__ = function.__name__, function.__doc__, function.__module__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _is_block(parameter: inspect.Parameter) -> bool:
    return is_dataclass(parameter.annotation) or hasattr(parameter.annotation, "_fields")


def _parameters(block: Callable[..., Any]) -> list[inspect.Parameter]:
    """Its own parameters, then those of its blocks."""
    parameters = inspect.signature(block, eval_str=True).parameters.values()
    own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters if not _is_block(one)]
    return own + [field for one in parameters if _is_block(one) for field in _parameters(one.annotation)]


def _arguments(block: Callable[..., Any], values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: parameter.annotation(**_arguments(parameter.annotation, values)) if _is_block(parameter) else values[name]
        for name, parameter in inspect.signature(block, eval_str=True).parameters.items()
    }


class PanelCommand(TyperCommand):
    """A command whose help groups options by what they are for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the words; an error about a word says which option was probably meant."""
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
            meant = OTHER_NAMES.get(getattr(error, "option_name", ""))
            if meant in known:
                error.possibilities = [meant]
            if "extra argument" in error.message and FIRST_OPTION in known:
                error.message += FOLLOWS
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the options of each panel."""
        panels: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        for parameter in sorted(self.get_params(ctx), key=_importance):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            rows = panels[getattr(parameter, "rich_help_panel", None) or OUTPUT]
            if parameter.param_type_name == "argument":
                rows.append((parameter.metavar or parameter.name, record[1]))
            elif parameter.secondary_opts:
                rows += [(parameter.opts[0], record[1]), (parameter.secondary_opts[0], "The opposite.")]
            else:
                rows.append(record)
        for panel, rows in panels.items():
            if rows:
                with formatter.section(panel):
                    formatter.write_dl(rows, col_max=LONGEST)


def _importance(parameter: Any) -> int:
    """Arguments first, then what a command needs; `--help` last."""
    if "--help" in parameter.opts:
        return 3
    if parameter.param_type_name == "argument":
        return 0
    return 1 if parameter.required or parameter.name in FIRST else 2


class PanelGroup(TyperGroup):
    """The group of commands, with help of one line for each option and command."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the options, then the first sentence of each command."""
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([(name, text.split(", to copy")[0]) for name, text in filter(None, records)])
        self.format_commands(ctx, formatter)
