"""Parameters of commands as options, on the command line and in its help: one line an option, in panels."""

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from probtruth.cli.options import ARGUMENTS, FLAGS, OPTIONS, PANELS

WIDTH = 100  # Columns that help needs for one line an option
LONGEST = 44  # Columns for an option and its value; a longer one has a line of its own
FIRST = ("predictions", "annotations")  # Options with which the help begins
# Options that other commands, or the functions in Python, call so, and what they are called here.
OTHER_NAMES = {"--method": "--truth", "--truth": "--method", "--models": "--predictions", "--labels": "--annotations"}

UsageError: Any = typer.BadParameter.__base__


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its dataclasses as options of their own."""
    name = function.__name__
    parameters = [_with_option(one, name) for one in _parameters(function)]

    def command(**values: Any) -> None:
        function(**_arguments(function, values))

    command.__name__, command.__doc__, command.__module__ = name, function.__doc__, function.__module__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameters(block: Any) -> list[inspect.Parameter]:
    """Its own parameters, then those of its dataclasses; of two with one name the first."""
    found: dict[str, inspect.Parameter] = {}
    parameters = inspect.signature(block, eval_str=True).parameters.values()
    for one in sorted(parameters, key=lambda one: is_dataclass(one.annotation)):
        for each in _parameters(one.annotation) if is_dataclass(one.annotation) else [one]:
            found.setdefault(each.name, each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    return list(found.values())


def _arguments(block: Any, values: dict[str, Any]) -> dict[str, Any]:
    made = {}
    for name, one in inspect.signature(block, eval_str=True).parameters.items():
        kind: Any = one.annotation
        made[name] = kind(**_arguments(kind, values)) if is_dataclass(kind) else values[name]  # type: ignore[operator]
    return made


def _with_option(parameter: inspect.Parameter, command: str) -> inspect.Parameter:
    """The parameter with what typer needs to know of its option."""
    name, kind = parameter.name, parameter.annotation
    if kind is typer.Context:
        return parameter
    if name in ARGUMENTS:
        one = ARGUMENTS.get(f"{command}.{name}") or ARGUMENTS[name]
        how = typer.Argument(metavar=one.metavar, help=one.help, rich_help_panel=one.panel)
    else:
        one = OPTIONS.get(f"{command}.{name}") or OPTIONS[name]
        flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
        how = typer.Option(flag, metavar=one.metavar or None, help=one.help, rich_help_panel=one.panel)
    # a word that the library checks is `Any`, which typer knows as text from 0.28 on alone
    return parameter.replace(annotation=Annotated[str if kind is Any else kind, how])


class PanelCommand(TyperCommand):
    """A command that refuses repetitions and groups its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the words; an error says which option was probably meant."""
        known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        try:
            if not {"-h", "--help"} & set(args):
                order = self.make_parser(ctx).parse_args(list(args))[2]
                for one in order:
                    if one.param_type_name == "option" and not one.multiple and order.count(one) > 1:
                        raise UsageError(f"{one.opts[0]} stands twice: it takes one value. Leave one of them out.", ctx)
            return super().parse_args(ctx, args)
        except UsageError as error:
            meant = OTHER_NAMES.get(getattr(error, "option_name", ""))
            if meant in known:
                error.possibilities = [meant]
            if "extra argument" in error.message and "--predictions" in known:
                error.message += (
                    "; each file follows its option: --annotations FILE --predictions NAME=FILE --predictions NAME=FILE"
                )
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the options of each panel."""
        panels: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        for parameter in sorted(self.get_params(ctx), key=_importance):
            record = parameter.get_help_record(ctx)
            if record is not None:
                flag = str(parameter.metavar) if parameter.param_type_name == "argument" else record[0]
                panels[getattr(parameter, "rich_help_panel", None) or "Output"].append((flag, record[1]))
        for panel, rows in panels.items():
            if rows:
                with formatter.section(panel):
                    formatter.write_dl(rows, col_max=LONGEST)


def _importance(parameter: Any) -> int:
    """Arguments first, then what a command needs, the others in the order of the dictionary; `--help` last."""
    if "--help" in parameter.opts:
        return 1000
    if parameter.param_type_name == "argument":
        return -2
    return -1 if parameter.required or parameter.name in FIRST else list(OPTIONS).index(parameter.name)
