"""The command line: one function for each command, each in the file of its name."""

import sys
from typing import Annotated

import typer

from probtruth.cli import options as opt
from probtruth.cli import settings
from probtruth.cli.blocks import WIDTH, PanelCommand, PanelGroup, spread
from probtruth.cli.commands.check import check
from probtruth.cli.commands.choose_gold import choose_gold
from probtruth.cli.commands.compare import compare
from probtruth.cli.commands.demo import demo
from probtruth.cli.commands.info import info
from probtruth.cli.commands.monitor import monitor
from probtruth.cli.commands.plan import plan
from probtruth.cli.commands.run import run
from probtruth.cli.commands.score import score
from probtruth.cli.commands.truth import truth
from probtruth.cli.commands.validate import validate

COMMANDS = (demo, run, truth, score, compare, check, info, monitor, plan, choose_gold, validate)

app = typer.Typer(
    name="probtruth",
    cls=PanelGroup,
    help="Which probabilistic model is better when the reference labels are uncertain.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
)
for command in COMMANDS:
    app.command(cls=PanelCommand)(spread(command))


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"probtruth {version('probtruth')}")
        raise typer.Exit


@app.callback()
def every_command(
    context: opt.Context,
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Options of repeated runs (probtruth.toml if there is one), or 'off'."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Which probabilistic model is better when the reference labels are uncertain."""
    if {"-h", "--help"} & set(sys.argv):
        return
    context.obj, context.default_map = settings.load(config, context)
